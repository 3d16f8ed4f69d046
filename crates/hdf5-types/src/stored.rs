//! [`Stored`] and [`StoredCreation`]: the forms in which the connector keeps datatypes and property lists.

use crate::{Datatype, Error, Result, error::damaged};

const VERSION: u8 = 1;
const HEAD: usize = 9;
/// The name of the property of the layout, and the number of virtual datasets.
const VIRTUAL: &[u8] = b"layout\0\x03";

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

/// The creation properties of a dataset as the connector keeps them: the length of a fill value that elements must not show, that fill
/// value, and what `H5Pencode2` writes of the list without any fill value. Without bytes they are the default ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredCreation<'s> {
    /// The fill value that elements which were never written must not show; mostly empty. One element, in the form of the file.
    pub unused_fill: &'s [u8],
    /// What `H5Pencode2` wrote.
    pub encoded: &'s [u8],
}

impl<'s> StoredCreation<'s> {
    /// Takes the stored form apart.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn parse(stored: &'s [u8]) -> Result<Self> {
        if stored.is_empty() {
            return Ok(Self::default());
        }
        let cut = || damaged("its creation properties are cut short");
        let (length, rest) = stored.split_first_chunk().ok_or_else(cut)?;
        let parts = rest.split_at_checked(u32::from_le_bytes(*length) as usize);
        let (unused_fill, encoded) = parts.ok_or_else(cut)?;
        Ok(Self { unused_fill, encoded })
    }

    /// Whether the elements of the dataset are those of other datasets.
    pub fn is_virtual(&self) -> bool {
        self.encoded.windows(VIRTUAL.len()).any(|part| part == VIRTUAL)
    }

    /// The stored form.
    pub fn to_vec(&self) -> Vec<u8> {
        if self.encoded.is_empty() {
            return Vec::new();
        }
        // An element has less than 4 GiB.
        let length = self.unused_fill.len() as u32;
        [&length.to_le_bytes()[..], self.unused_fill, self.encoded].concat()
    }
}
