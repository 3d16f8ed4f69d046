//! The record of a key of a map.

use std::fmt;

use crate::{
    Result,
    records::{Place, VERSION, What},
};

/// What the entries of a map hold of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MapEntry {
    pub(crate) value: Place,
    /// The length of the value.
    pub(crate) length: u64,
}

impl MapEntry {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = vec![VERSION];
        self.value.put(self.length, &mut record);
        record
    }

    pub(crate) fn decode(record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "entry of a map", place: &place }.decode(record, |reader| {
            let (value, length) = Place::take(reader)?;
            Some(Self { value, length })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn an_entry_is_what_it_was_encoded_from_and_any_other_bytes_are_refused() {
        for (value, length) in [(Place::Inline(b"abc".to_vec()), 3), (Place::Array(77), 1 << 40)] {
            let entry = MapEntry { value, length };
            let record = entry.encode();
            assert_eq!(MapEntry::decode(&record, "here").unwrap(), entry);
            let longer = [&record[..], b"x"].concat();
            for damaged in [&record[..record.len() - 1], &longer, &record[..1], &[]] {
                let error = MapEntry::decode(damaged, "here").unwrap_err();
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            }
        }
    }
}
