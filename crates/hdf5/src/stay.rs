//! [`Stay`]: keeps a file at its version for work that was put off.

use std::sync::{Arc, atomic::Ordering};

use crate::File;

/// While it lasts, opening the file once more in this process does not take it to a newer version.
#[derive(Debug)]
pub struct Stay(Arc<File>);

impl Stay {
    /// The file that stays.
    pub fn file(&self) -> &Arc<File> {
        &self.0
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.0.stays.fetch_sub(1, Ordering::Release);
    }
}

impl File {
    /// Keeps the file at its version. Refreshing it by [`File::refresh`] does not heed this.
    pub fn stay(self: &Arc<Self>) -> Stay {
        self.stays.fetch_add(1, Ordering::Relaxed);
        Stay(Arc::clone(self))
    }

    /// Whether it is to stay.
    pub(crate) fn is_to_stay(&self) -> bool {
        self.stays.load(Ordering::Acquire) > 0
    }
}
