//! [`Stored`]: the form in which the connector keeps datatypes.

use crate::{Datatype, Error, Result, error::damaged};

const VERSION: u8 = 1;
const HEAD: usize = 9;

/// A datatype as the connector keeps it: a version, the number of the committed datatype in the same file, and what `H5Tencode` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored<'s> {
    /// The number of the committed datatype that it is, or 0.
    pub committed: u64,
    /// What `H5Tencode` wrote.
    pub encoded: &'s [u8],
}

impl<'s> Stored<'s> {
    /// Takes the stored form apart.
    ///
    /// # Errors
    /// `Damaged`; `Newer` for a newer form.
    pub fn parse(stored: &'s [u8]) -> Result<Self> {
        match stored {
            [VERSION, rest @ ..] => {
                let (number, encoded) = rest.split_first_chunk().ok_or_else(|| damaged("it is cut short"))?;
                Ok(Self { committed: u64::from_le_bytes(*number), encoded })
            }
            [newer, ..] if *newer > VERSION => Err(Error::Newer { what: format!("the stored form {newer}") }),
            _ => Err(damaged("its stored form is not known")),
        }
    }

    /// The stored form.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut stored = Vec::with_capacity(HEAD + self.encoded.len());
        stored.push(VERSION);
        stored.extend_from_slice(&self.committed.to_le_bytes());
        stored.extend_from_slice(self.encoded);
        stored
    }

    /// Decodes the datatype.
    ///
    /// # Errors
    /// As [`Datatype::decode`].
    pub fn datatype(&self) -> Result<Datatype> {
        Datatype::decode(self.encoded)
    }
}
