//! Files that are kept open for ecCodes, which ends the process where it cannot open one of its own.
//!
//! What must stay true: whenever ecCodes is called, as many files can be opened as its nested definitions need, or it is
//! not called. Whoever else runs out of files meanwhile gets an error and can close some.

use std::{
    fs::File,
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::EccodesError;

/// How deep the definitions of ecCodes nest, each in a file that stays open while those within are read.
const FILES: usize = 8;

static HELD: Mutex<Held> = Mutex::new(Held { files: Vec::new(), lent: 0 });

#[derive(Debug)]
pub(crate) struct Held {
    files: Vec<File>,
    /// How many calls have the use of them.
    lent: usize,
}

/// Makes sure that the files are held, or are lent, which ends before they are lent again.
pub(crate) fn fill() -> Result<(), EccodesError> {
    held().fill().map_err(|reason| EccodesError::TooFewFiles { reason: reason.to_string() })
}

/// Lets go of the files until what this returns is dropped.
pub(crate) fn lend() -> Lent {
    let mut held = held();
    held.lent += 1;
    held.files.clear();
    Lent
}

/// While it lives, the files can be opened by ecCodes.
pub(crate) struct Lent;

impl Drop for Lent {
    fn drop(&mut self) {
        let mut held = held();
        held.lent -= 1;
        // If others were quicker, the next `fill` says so.
        let _ = held.fill();
    }
}

/// Waits until no other thread changes what is held. None does while the guard lives.
pub(crate) fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) fn is_in_use() -> bool {
    HELD.try_lock().is_err()
}

impl Held {
    fn fill(&mut self) -> io::Result<()> {
        while self.lent == 0 && self.files.len() < FILES {
            let file = match self.files.first() {
                Some(file) => file.try_clone()?,
                // A folder can always be opened, and nothing is read from it.
                None => File::open("/")?,
            };
            self.files.push(file);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_free_while_they_are_lent_and_held_again_after() {
        let mut held = Held { files: Vec::new(), lent: 0 };
        held.fill().unwrap();
        assert_eq!(held.files.len(), FILES);
        held.files.clear();
        held.lent = 1;
        held.fill().unwrap();
        assert!(held.files.is_empty(), "another thread took what was lent");
    }
}
