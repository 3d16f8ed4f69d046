//! Verifying a container: what was checked, and what is damaged.
//!
//! Verifying changes nothing. It continues after damage, so that one pass reports all of it.

use std::fmt;

use crate::ObjectId;

/// How much to verify, and with how many threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verify {
    /// Whether the bytes of arrays and records are checked against their checksums. Otherwise only their presence is.
    pub data: bool,
    /// The number of reading threads; 0 counts as 1.
    pub threads: usize,
}

/// Reports progress: the bytes read so far, and an estimate of all bytes that will be read. Called from several threads.
pub type VerifyProgress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// The checked parts, by the engine's own names, and how many of each.
    pub checked: Vec<(&'static str, u64)>,
    /// The number of bytes read.
    pub bytes: u64,
    /// Everything that is damaged or contradicts the format.
    pub findings: Vec<Finding>,
    /// Stored bytes that nothing names: never flushed, or without their entries. They are no damage by themselves.
    pub unnamed: Vec<Unnamed>,
    /// The number of further findings, which are not listed: those of a lost device would fill memory.
    pub more_findings: u64,
}

impl Verified {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Stored bytes that nothing names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unnamed {
    /// The file, or the engine's equivalent.
    pub place: String,
    /// The first of them.
    pub from: u64,
    /// Their number.
    pub length: u64,
}

/// The damaged part of a container, which decides what is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The description that identifies the container and its format. Without it nothing can be read.
    Description,
    /// The history. Its updates after the damage cannot be read from it.
    History,
    /// The flushed end of the history is missing. Everything before it can be read. A repair restores what other files prove of it.
    End,
    /// Data derived from the history to save work. Nothing is lost: it can be quarantined and derived again.
    Derived,
    /// The bytes of one cell. All other cells are readable.
    Bytes,
}

impl Part {
    /// Its stable name.
    pub fn code(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::History => "history",
            Self::End => "end",
            Self::Derived => "derived",
            Self::Bytes => "bytes",
        }
    }
}

/// One damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The damaged part of the container.
    pub part: Part,
    /// What is wrong, and how it was noticed.
    pub what: String,
    /// The file, or what the engine has in its place.
    pub place: String,
    /// The first damaged byte in that file, if it is known.
    pub byte: Option<u64>,
    /// The damaged cell, if it is known.
    pub cell: Option<FoundCell>,
}

/// The cell of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCell {
    /// Its object.
    pub object: ObjectId,
    /// The key of an entry of a key-value object, or the distribution key; empty for an array.
    pub dkey: Vec<u8>,
    /// The attribute key of a general object, else empty.
    pub akey: Vec<u8>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.what, self.place)?;
        if let Some(byte) = self.byte {
            write!(f, " at byte {byte}")?;
        }
        match &self.cell {
            Some(cell) => write!(f, " ({cell})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FoundCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}", self.object)?;
        let keys = [&self.dkey, &self.akey];
        keys.into_iter()
            .filter(|key| !key.is_empty())
            .try_for_each(|key| write!(f, ", key {}", key.escape_ascii()))
    }
}

/// The result of a quarantine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAside {
    /// The folder of the quarantine, or the engine's equivalent.
    pub place: String,
    /// The original names of the moved files.
    pub moved: Vec<String>,
    /// The names of missing files that were created again.
    pub made: Vec<String>,
    /// The outcome for a lost end of the history, if it was lost.
    pub restored: Option<Restored>,
}

/// The outcome of repairing the lost end of a history. The container can be used again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The epoch up to which the history is known again.
    pub epoch: u64,
    /// Bytes of the history after that epoch that could not be restored.
    pub lost: u64,
    /// Stored bytes that nothing names and that may belong to the lost end, with the place where they remain.
    pub unnamed: Vec<Unnamed>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObjectClass, ObjectType};

    #[test]
    fn a_finding_names_damage_place_and_cell() {
        let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 7);
        let cell = FoundCell { object, dkey: b"a\xff".to_vec(), akey: Vec::new() };
        let finding = Finding {
            part: Part::Bytes,
            what: "wrong sum".to_owned(),
            place: "data/1".to_owned(),
            byte: Some(9),
            cell: Some(cell),
        };
        assert_eq!(
            finding.to_string(),
            format!("wrong sum in data/1 at byte 9 (object {object}, key a\\xff)")
        );
    }
}
