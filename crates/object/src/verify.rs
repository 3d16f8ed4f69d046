//! Verifying a container: what was looked at, and what was found damaged.
//!
//! Verifying reads and changes nothing. It goes on after damage, so that one look tells of all of it.

use std::fmt;

use crate::ObjectId;

/// How much to verify, and with how many hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verify {
    /// Also the bytes of arrays and records, each against its checksum. Else only whether they are there.
    pub data: bool,
    /// How many threads read; at least one does.
    pub threads: usize,
}

/// How far a verification is: bytes read so far, and bytes that will be read in all, as far as that is known yet. Called
/// from several threads.
pub type VerifyProgress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// What a verification looked at and found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// What was looked at: the engine's own words for its parts, and how many of each.
    pub checked: Vec<(&'static str, u64)>,
    /// How many bytes were read.
    pub bytes: u64,
    /// What is damaged, or contradicts the format.
    pub findings: Vec<Finding>,
    /// Stored bytes that nothing names: what was archived and never flushed, or what has lost its entries. No damage by itself.
    pub unnamed: Vec<Unnamed>,
    /// How many more findings there are than are told: a lost device would fill memory with them.
    pub more_findings: u64,
}

impl Verified {
    /// Whether everything is as it should be.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Stored bytes that nothing names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unnamed {
    /// The file, or what the engine has in its place.
    pub place: String,
    /// The first of them.
    pub from: u64,
    /// How many there are.
    pub length: u64,
}

/// Which part of a container is damaged, and so what is lost with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What says that it is a container and how to read it. Without it nothing can be read.
    Description,
    /// What happened in it. What comes after the damage cannot be known from there.
    History,
    /// The end of what happened is missing, though it was flushed. What came before it can be read; what other files prove of it
    /// can be brought back.
    End,
    /// What was derived from the history to save work. Nothing is lost: it can be set aside and made anew.
    Derived,
    /// The bytes of one cell. All other cells can be read.
    Bytes,
}

impl Part {
    /// A stable word for it.
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

/// One thing that is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which part of the container.
    pub part: Part,
    /// What is wrong and how it was noticed.
    pub what: String,
    /// The file, or what the engine has in its place.
    pub place: String,
    /// The first byte of the damage in that file, if there is one to name.
    pub byte: Option<u64>,
    /// The cell whose contents are at stake, if it is one.
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

/// What was set aside of a container, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAside {
    /// The folder, or what the engine has in its place.
    pub place: String,
    /// What was moved there, by the names it had.
    pub moved: Vec<String>,
    /// What was missing and was made anew, by the names it has.
    pub made: Vec<String>,
    /// What came of a lost end of the history, if it was lost.
    pub restored: Option<Restored>,
}

/// What a repair could do about the lost end of a history: the container can be used again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The epoch up to which what happened is known again.
    pub epoch: u64,
    /// Bytes of the history behind that epoch that nothing could bring back.
    pub lost: u64,
    /// Stored bytes that nothing names, which may be of what was lost, and where they are kept.
    pub unnamed: Vec<Unnamed>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObjectClass, ObjectType};

    #[test]
    fn a_finding_names_what_where_and_whose() {
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
