//! The record of a dataset in the root: its containers, its incarnation, and the moves and wipes under way.
//!
//! What must stay true: an operation that removes fields first changes the record, on the condition that it is as it
//! was read. So a writer that reads the record after its puts knows which operations it may have met.

use isotach_engine_kit::bytes::{Put, Reader};

/// The version of the record's layout.
const RECORD_VERSION: u8 = 1;
/// The version of a record with overlays, which a program without overlays must not change.
const RECORD_VERSION_OVERLAYS: u8 = 2;

/// The record of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The move that has the dataset, or had it last.
    pub(crate) move_mark: MoveMark,
    /// The number of wipes of collocations that are under way, or were killed.
    pub(crate) wipes: u16,
    /// Changes whenever a wipe of collocations begins or ends. A writer that sees another generation puts collocations
    /// and axes again.
    pub(crate) generation: u32,
    /// The incarnation, unique in this root: a dataset that was wiped and created again has another one.
    pub(crate) incarnation: u64,
    /// When it was created, in microseconds since 1970 UTC.
    pub(crate) created_us: u64,
    /// The digest of the schema that governs the dataset.
    pub(crate) schema: u64,
    /// The label of its container, in the catalogue's and in the store's pool.
    pub(crate) label: String,
    /// The store's pool. Empty for the catalogue's own, so that such a store can be moved as a whole.
    pub(crate) store: String,
    /// The rule that it was created by.
    pub(crate) rule: String,
    /// The texts of the datasets that it shows below its own fields, the last laid first.
    pub(crate) overlays: Vec<String>,
}

impl Record {
    /// The encoded record.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let version = if self.overlays.is_empty() { RECORD_VERSION } else { RECORD_VERSION_OVERLAYS };
        let mut out = vec![version, self.move_mark.0];
        out.extend_from_slice(&self.wipes.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.extend_from_slice(&self.created_us.to_le_bytes());
        out.extend_from_slice(&self.schema.to_le_bytes());
        out.put_text(&self.label);
        out.put_text(&self.store);
        out.put_text(&self.rule);
        self.overlays.iter().for_each(|text| out.put_text(text));
        out
    }

    /// Reads [`Record::encode`] back.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let [version @ (RECORD_VERSION | RECORD_VERSION_OVERLAYS), move_mark, wipes @ ..] =
            reader.array::<4>()?
        else {
            return None;
        };
        let mut record = Self {
            move_mark: MoveMark(move_mark),
            wipes: u16::from_le_bytes(wipes),
            generation: reader.u32()?,
            incarnation: reader.u64()?,
            created_us: reader.u64()?,
            schema: reader.u64()?,
            label: reader.text()?.to_owned(),
            store: reader.text()?.to_owned(),
            rule: reader.text()?.to_owned(),
            overlays: Vec::new(),
        };
        while version == RECORD_VERSION_OVERLAYS && !reader.0.is_empty() {
            record.overlays.push(reader.text()?.to_owned());
        }
        Some(record)
    }

    /// The record with this mark.
    pub(crate) fn with_mark(&self, move_mark: MoveMark) -> Self {
        Self { move_mark, ..self.clone() }
    }

    /// The record with an overlay of the dataset with this text, as the first.
    pub(crate) fn with_overlay(&self, text: &str) -> Self {
        let mut record = self.without_overlay(text);
        record.overlays.insert(0, text.to_owned());
        record
    }

    /// The record without an overlay of the dataset with this text.
    pub(crate) fn without_overlay(&self, text: &str) -> Self {
        let overlays = self.overlays.iter().filter(|laid| *laid != text).cloned().collect();
        Self { overlays, ..self.clone() }
    }

    /// Whether no wipe of collocations is under way.
    pub(crate) fn is_settled(&self) -> bool {
        self.wipes == 0
    }

    /// The record with one more wipe of collocations under way.
    pub(crate) fn with_wipe(&self) -> Self {
        let generation = self.generation.wrapping_add(1);
        Self { wipes: self.wipes.saturating_add(1), generation, ..self.clone() }
    }

    /// The record without wipes of collocations under way.
    pub(crate) fn settled(&self) -> Self {
        let generation = self.generation.wrapping_add(u32::from(!self.is_settled()));
        Self { wipes: 0, generation, ..self.clone() }
    }

    /// The record with one wipe of collocations less.
    pub(crate) fn without_wipe(&self) -> Self {
        let generation = self.generation.wrapping_add(1);
        Self { wipes: self.wipes.saturating_sub(1), generation, ..self.clone() }
    }
}

/// The mark of the move that has a dataset: the number of the move, and its progress. A move that finds another mark
/// than its own has lost the dataset to a later move, or to an unlock, and must not wipe it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MoveMark(u8);

impl MoveMark {
    /// The bit that is set while the move is under way.
    const ON: u8 = 1 << 7;
    /// The bit that is set while it wipes.
    const WIPES: u8 = 1 << 6;

    pub(crate) fn is_on(self) -> bool {
        self.0 & Self::ON != 0
    }

    /// Whether the move has begun to wipe.
    pub(crate) fn is_wiping(self) -> bool {
        self.0 & Self::WIPES != 0
    }

    /// The mark of the next move. `None` while this one wipes, because it no longer checks who has the dataset.
    pub(crate) fn next(self) -> Option<Self> {
        (!self.is_wiping()).then_some(Self((self.0.wrapping_add(1) & !Self::WIPES) | Self::ON))
    }

    /// The mark when the move begins to wipe.
    pub(crate) fn wiping(self) -> Self {
        Self(self.0 | Self::WIPES)
    }

    /// The mark when the move has ended.
    pub(crate) fn off(self) -> Self {
        Self(self.0 & !(Self::ON | Self::WIPES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_cut_one_is_refused() {
        let record = Record {
            move_mark: MoveMark::default().wiping(),
            wipes: 259,
            generation: 1,
            incarnation: 2,
            created_us: 3,
            schema: 4,
            label: "od:0001".to_owned(),
            store: String::new(),
            rule: "[ class [ type [ step ]]]".to_owned(),
            overlays: Vec::new(),
        };
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes), Some(record));
        for cut in 0..bytes.len() {
            assert!(Record::decode(&bytes[..cut]).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn a_record_with_overlays_reads_back_and_has_a_version_of_its_own() {
        let record = Record::default().with_overlay("od:1 class,expver").with_overlay("rd:2 class,expver");
        assert_eq!(record.overlays, ["rd:2 class,expver", "od:1 class,expver"]);
        let bytes = record.encode();
        assert_eq!((bytes[0], Record::decode(&bytes)), (RECORD_VERSION_OVERLAYS, Some(record.clone())));
        assert!(Record::decode(&bytes[..bytes.len() - 1]).is_none());
        let first = record.with_overlay("od:1 class,expver");
        assert_eq!(first.overlays, ["od:1 class,expver", "rd:2 class,expver"]);
        let none = record.without_overlay("od:1 class,expver").without_overlay("rd:2 class,expver");
        assert_eq!((none.encode()[0], &none), (RECORD_VERSION, &Record::default()));
    }

    #[test]
    fn a_dataset_is_settled_when_as_many_wipes_have_ended_as_began() {
        let [first, second] = [Record::default().with_wipe(), Record::default().with_wipe().with_wipe()];
        let generations = [&first, &second, &second.without_wipe(), &second.without_wipe().without_wipe()];
        assert_eq!(generations.map(|record| record.generation), [1, 2, 3, 4]);
        assert_eq!(generations.map(Record::is_settled), [false, false, false, true]);
        let ended = second.settled();
        assert_eq!((ended.wipes, ended.generation, ended.settled().generation), (0, 3, 3));
    }

    #[test]
    fn a_later_move_has_another_mark_whether_the_one_before_has_ended_or_not() {
        let first = MoveMark::default().next().unwrap();
        assert!(first.is_on() && !first.off().is_on());
        assert_eq!(first.next(), first.off().next());
        let mut mark = first;
        for _ in 0..63 {
            mark = mark.next().unwrap();
            assert!(mark.is_on() && mark != first);
        }
        assert_eq!(mark.next(), Some(first));
    }

    #[test]
    fn a_move_that_wipes_has_its_dataset_until_it_ends() {
        let wiping = MoveMark::default().next().unwrap().wiping();
        assert!(wiping.is_on() && wiping.next().is_none());
        assert!(wiping.off().next().is_some());
    }
}
