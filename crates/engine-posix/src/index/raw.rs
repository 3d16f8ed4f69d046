//! Entries that are decoded only when needed.
//!
//! Most entries go from the log to a run, and from run to run, as they are: their bytes are copied. The tag and the front of the payload
//! tell the kind of an entry and whether anything older can matter.

use isotach_object::{Error, Result};

use crate::index::entry::{Entry, Versioned, tag};

/// An entry in the form of a run (FORMAT.md section 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a> {
    pub(crate) epoch: u64,
    pub(crate) tag: u8,
    pub(crate) payload: &'a [u8],
    /// Its file, for messages.
    pub(crate) place: &'a str,
}

impl Raw<'_> {
    pub(crate) fn decode(&self) -> Result<Versioned> {
        let entry = Entry::decode(self.tag, self.payload);
        let entry = entry.ok_or_else(|| Error::corrupt("an entry of a run", self.place))?;
        Ok(Versioned { epoch: self.epoch, entry })
    }

    /// Whether it is in its shortest form and stays as it is if nothing lies under it.
    fn is_settled(&self) -> bool {
        self.tag != tag::BYTES || Entry::is_one_write(self.payload)
    }
}

/// An entry of a layer, or of several layers together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LazyEntry<'a> {
    Encoded(Raw<'a>),
    /// Combined, or changed in memory.
    Decoded(Versioned),
}

impl LazyEntry<'_> {
    pub(crate) fn epoch(&self) -> u64 {
        match self {
            Self::Encoded(raw) => raw.epoch,
            Self::Decoded(versioned) => versioned.epoch,
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::Encoded(raw) => raw.tag == tag::CUT,
            Self::Decoded(versioned) => versioned.entry == Entry::Cut,
        }
    }

    /// Whether anything older can still matter.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Encoded(raw) => raw.tag != tag::BYTES || Entry::says_complete(raw.payload),
            Self::Decoded(versioned) => versioned.entry.is_complete(),
        }
    }

    /// Whether readers see it.
    pub(crate) fn is_live(&self) -> Result<bool> {
        Ok(match self {
            Self::Encoded(raw) if raw.tag == tag::BYTES => raw.decode()?.entry.is_live(),
            Self::Encoded(raw) => matches!(raw.tag, tag::VALUE | tag::VALUE_EXTENT),
            Self::Decoded(versioned) => versioned.entry.is_live(),
        })
    }

    pub(crate) fn into_versioned(self) -> Result<Versioned> {
        match self {
            Self::Encoded(raw) => raw.decode(),
            Self::Decoded(versioned) => Ok(versioned),
        }
    }

    /// The same if nothing lies under it, in its shortest form.
    pub(crate) fn settled(self) -> Result<Self> {
        if matches!(&self, Self::Encoded(raw) if raw.is_settled()) {
            return Ok(self);
        }
        let Versioned { epoch, entry } = self.into_versioned()?;
        let mut entry = entry.at_bottom();
        if let Entry::Bytes(bytes) = &mut entry {
            bytes.fold();
        }
        Ok(Self::Decoded(Versioned { epoch, entry }))
    }
}
