//! The record of a dataset in the root: where its container is, and which life of it this is.

use crate::bytes::{Reader, push_text};

/// The version of the record's layout.
const RECORD_VERSION: u8 = 1;

/// What the root says of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Changes whenever collocations are wiped, before and after; odd while a wipe is under way. A writer that sees
    /// another number puts collocations and axes again.
    pub(crate) generation: u32,
    /// Unique in this root: a dataset that was wiped and made again has another one.
    pub(crate) incarnation: u64,
    /// When it was made, in microseconds since 1970 UTC.
    pub(crate) created_us: u64,
    /// The digest of the schema that governs the dataset.
    pub(crate) schema: u64,
    /// The label of its container, in the catalogue's and in the store's pool.
    pub(crate) label: String,
    /// The store's pool; empty for the catalogue's own, so that such a store can be moved as a whole.
    pub(crate) store: String,
    /// The rule that made it.
    pub(crate) rule: String,
}

impl Record {
    /// The bytes that stand in the root.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![RECORD_VERSION, 0, 0, 0];
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.extend_from_slice(&self.created_us.to_le_bytes());
        out.extend_from_slice(&self.schema.to_le_bytes());
        push_text(&mut out, &self.label);
        push_text(&mut out, &self.store);
        push_text(&mut out, &self.rule);
        out
    }

    /// Reads [`Record::encode`] back.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        if reader.take::<4>()? != [RECORD_VERSION, 0, 0, 0] {
            return None;
        }
        Some(Self {
            generation: reader.u32()?,
            incarnation: reader.u64()?,
            created_us: reader.u64()?,
            schema: reader.u64()?,
            label: reader.text()?.to_owned(),
            store: reader.text()?.to_owned(),
            rule: reader.text()?.to_owned(),
        })
    }

    /// Whether a wipe of collocations is under way, or broke off.
    pub(crate) fn is_wiping(&self) -> bool {
        self.generation % 2 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_cut_one_is_refused() {
        let record = Record {
            generation: 1,
            incarnation: 2,
            created_us: 3,
            schema: 4,
            label: "od:0001".to_owned(),
            store: String::new(),
            rule: "[ class [ type [ step ]]]".to_owned(),
        };
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes), Some(record.clone()));
        assert!(record.is_wiping());
        for cut in 0..bytes.len() {
            assert!(Record::decode(&bytes[..cut]).is_none(), "cut at {cut}");
        }
    }
}
