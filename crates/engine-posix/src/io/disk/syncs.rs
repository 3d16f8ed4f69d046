//! The syncs of one open file.

use std::{io, sync::PoisonError};

use crate::sync::Mutex;

/// Lets one sync run at a time, and none after one that failed: the system reports a lost write once for each open file, to one of those who
/// sync it. Without this, another thread's sync could return without an error and its frame refer to bytes that are lost.
#[derive(Debug, Default)]
pub(super) struct Syncs(Mutex<bool>);

impl Syncs {
    /// Runs a sync, unless an earlier one failed.
    pub(super) fn run(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut has_failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *has_failed {
            return Err(io::Error::other("an earlier sync of this file failed"));
        }
        sync().inspect_err(|_| *has_failed = true)
    }
}

#[cfg(all(test, not(feature = "schedules")))]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn a_sync_beside_one_that_fails_fails_too() {
        let syncs = &Syncs::default();
        let (begun, is_begun) = mpsc::channel();
        let (asked, is_asked) = mpsc::channel();
        thread::scope(|scope| {
            let first = scope.spawn(move || {
                syncs.run(move || {
                    begun.send(()).unwrap();
                    is_asked.recv().unwrap();
                    Err(io::ErrorKind::StorageFull.into())
                })
            });
            is_begun.recv().unwrap();
            let second = scope.spawn(move || {
                asked.send(()).unwrap();
                // What the system says once the error has been reported.
                syncs.run(|| Ok(()))
            });
            assert!(first.join().unwrap().is_err() && second.join().unwrap().is_err());
        });
        assert!(syncs.run(|| Ok(())).is_err(), "what is lost stays lost");
    }
}
