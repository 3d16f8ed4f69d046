//! Bytes that are lent without a copy.

use std::{fmt, ops::Deref, ops::Range, sync::Arc};

/// A part of something that an engine keeps alive: a memory map, or a buffer.
#[derive(Clone)]
pub struct SharedBytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl SharedBytes {
    /// The part `range` of what `owner` holds, or `None` when it holds less.
    pub fn new(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize>) -> Option<Self> {
        let held = owner.as_ref().as_ref().get(range.clone()).is_some();
        held.then_some(Self { owner, range })
    }

    /// A part of these bytes, with the same owner, or `None` when they are fewer.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        self.get(range.clone())?;
        let start = self.range.start;
        Some(Self { owner: Arc::clone(&self.owner), range: start + range.start..start + range.end })
    }
}

impl Default for SharedBytes {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { owner: Arc::new(bytes), range }
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // In range by construction; the owner's bytes never shrink while it lives.
        self.owner.as_ref().as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBytes({} bytes)", self.range.len())
    }
}
