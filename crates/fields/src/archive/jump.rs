//! Making jump indexes of messages when they are archived. The program sets the function, because this crate knows no messages.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::FieldStore;

/// Makes the jump index of a message.
type MakeIndex = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

/// The function that makes jump indexes, once the program has set it.
#[derive(Clone, Default)]
pub(crate) struct Indexer(Arc<OnceLock<Box<MakeIndex>>>);

impl Indexer {
    /// The jump index of a message, if it has one.
    pub(crate) fn index(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.0.get()?(message)
    }
}

impl fmt::Debug for Indexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Indexer({})", self.0.get().is_some())
    }
}

impl FieldStore {
    /// Sets the function that makes the jump index of a message when it is archived. The index becomes visible with the
    /// field; see [`FieldStore::jump_indexes`]. The function returns `None` for a message that has none, and for one whose
    /// index takes too long to make. The first function that is set counts.
    pub fn index_messages_with(&self, make: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) {
        let _ = self.inner.indexer.0.set(Box::new(make));
    }
}
