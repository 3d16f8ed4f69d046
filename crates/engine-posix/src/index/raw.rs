//! Entries as layers keep them: encoded, and decoded only when somebody looks inside.
//!
//! Most entries go from the log to a run, and from run to run, unseen. Their bytes are copied and nothing else; what must be
//! known on the way (what kind, whether anything older can matter) stands at the front.

use isotach_object::{Error, Result};

use crate::index::entry::{Entry, Versioned, tag};

/// An entry as a run has it (FORMAT.md section 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a> {
    pub(crate) epoch: u64,
    pub(crate) tag: u8,
    pub(crate) payload: &'a [u8],
    /// What it stands in, for messages.
    pub(crate) place: &'a str,
}

impl Raw<'_> {
    pub(crate) fn decode(&self) -> Result<Versioned> {
        let entry = Entry::decode(self.tag, self.payload);
        let entry = entry.ok_or_else(|| Error::corrupt("an entry of a run", self.place))?;
        Ok(Versioned { epoch: self.epoch, entry })
    }

    /// Whether it is the same entry when nothing lies under it, in the form that takes least room.
    fn is_settled(&self) -> bool {
        self.tag != tag::BYTES || Entry::is_one_write(self.payload)
    }
}

/// What a layer, or several of them together, know of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept<'a> {
    Raw(Raw<'a>),
    /// Combined, or changed in memory.
    Own(Versioned),
}

impl Kept<'_> {
    pub(crate) fn epoch(&self) -> u64 {
        match self {
            Self::Raw(raw) => raw.epoch,
            Self::Own(versioned) => versioned.epoch,
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::Raw(raw) => raw.tag == tag::CUT,
            Self::Own(versioned) => versioned.entry == Entry::Cut,
        }
    }

    /// Whether anything older can still matter.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Raw(raw) => raw.tag != tag::BYTES || Entry::says_complete(raw.payload),
            Self::Own(versioned) => versioned.entry.is_complete(),
        }
    }

    /// Whether it is something that a reader sees.
    pub(crate) fn is_live(&self) -> Result<bool> {
        Ok(match self {
            Self::Raw(raw) if raw.tag == tag::BYTES => raw.decode()?.entry.is_live(),
            Self::Raw(raw) => matches!(raw.tag, tag::VALUE | tag::VALUE_EXTENT),
            Self::Own(versioned) => versioned.entry.is_live(),
        })
    }

    pub(crate) fn into_versioned(self) -> Result<Versioned> {
        match self {
            Self::Raw(raw) => raw.decode(),
            Self::Own(versioned) => Ok(versioned),
        }
    }

    /// The same with nothing under it, in its shortest form.
    pub(crate) fn settled(self) -> Result<Self> {
        if matches!(&self, Self::Raw(raw) if raw.is_settled()) {
            return Ok(self);
        }
        let Versioned { epoch, entry } = self.into_versioned()?;
        let mut entry = entry.at_bottom();
        if let Entry::Bytes(bytes) = &mut entry {
            bytes.fold();
        }
        Ok(Self::Own(Versioned { epoch, entry }))
    }
}
