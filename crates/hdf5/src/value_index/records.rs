//! The records of value indexes: `docs/hdf5-layout.md` describes each.
//!
//! What cannot be read counts as absent, since an index only repeats what the chunks hold. Then the chunks are read.

use isotach_engine_kit::bytes::{Put, Reader};

use crate::query::KeyRange;

/// The version of all records that this program writes. What has another one is absent.
const VERSION: u8 = 1;

/// What is indexed of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// A number that no other settings have. Entries name it.
    pub(crate) number: u64,
    pub(crate) has_bins: bool,
    /// The paths of the members; an empty path is the element itself.
    pub(crate) members: Vec<Vec<String>>,
}

impl Settings {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = vec![VERSION];
        record.put_u64(self.number);
        record.put_u8(self.has_bins.into());
        record.put_u16(u16::try_from(self.members.len()).unwrap_or(u16::MAX));
        for path in &self.members {
            record.put_u16(u16::try_from(path.len()).unwrap_or(u16::MAX));
            path.iter().for_each(|name| record.put_text(name));
        }
        record
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let mut reader = Reader(record);
        (reader.u8()? == VERSION).then_some(())?;
        let (number, has_bins) = (reader.u64()?, reader.u8()? == 1);
        let mut members = Vec::new();
        for _ in 0..reader.u16()? {
            let path = (0..reader.u16()?).map(|_| reader.text().map(str::to_owned));
            members.push(path.collect::<Option<_>>()?);
        }
        reader.is_empty().then_some(Self { number, has_bins, members })
    }
}

/// What the index holds of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The number of the settings that it was built with.
    pub(crate) settings: u64,
    /// The array of the chunk that it was built from. With another one, or in another form, the chunk is not what is described here.
    pub(crate) array: u64,
    /// How many elements of the chunk along each dimension are described; empty for all.
    pub(crate) covered: Vec<u64>,
    /// One for each member of the settings.
    pub(crate) summaries: Vec<Summary>,
}

/// What is known of a member in a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// How many are not a number.
    pub(crate) nans: u64,
    /// The least and the greatest key of the others, if there are any.
    pub(crate) keys: Option<KeyRange>,
    pub(crate) bins: Option<BinsAt>,
}

/// Where the bins of a member in a chunk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinsAt {
    /// The number of an array.
    pub(crate) array: u64,
    /// The length of its directory in bytes.
    pub(crate) head: u32,
}

impl Summary {
    /// Counts an element. `all` are the keys of all numbers.
    pub(crate) fn add(&mut self, all: KeyRange, key: u64) {
        if !all.contains(key) {
            self.nans += 1;
            return;
        }
        let KeyRange { low, high } = self.keys.unwrap_or(KeyRange { low: key, high: key });
        self.keys = Some(KeyRange { low: low.min(key), high: high.max(key) });
    }

    /// Whether all elements have a key in a range, or none.
    pub(crate) fn decide(&self, keys: KeyRange) -> Option<bool> {
        match self.keys {
            None => Some(false),
            Some(found) if found.high < keys.low || keys.high < found.low => Some(false),
            Some(found) if self.nans == 0 && keys.low <= found.low && found.high <= keys.high => Some(true),
            Some(_) if keys.low > keys.high => Some(false),
            Some(_) => None,
        }
    }
}

impl Entry {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = vec![VERSION];
        record.put_u64(self.settings);
        record.put_u64(self.array);
        record.put_u8(u8::try_from(self.covered.len()).unwrap_or(u8::MAX));
        self.covered.iter().for_each(|length| record.put_u64(*length));
        for summary in &self.summaries {
            record.put_u64(summary.nans);
            record.put_u8(u8::from(summary.keys.is_some()) | u8::from(summary.bins.is_some()) << 1);
            if let Some(keys) = summary.keys {
                record.put_u64(keys.low);
                record.put_u64(keys.high);
            }
            if let Some(bins) = summary.bins {
                record.put_u64(bins.array);
                record.put_u32(bins.head);
            }
        }
        record
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let mut reader = Reader(record);
        (reader.u8()? == VERSION).then_some(())?;
        let (settings, array, rank) = (reader.u64()?, reader.u64()?, reader.u8()?);
        let covered = (0..rank).map(|_| reader.u64()).collect::<Option<_>>()?;
        let mut summaries = Vec::new();
        while !reader.is_empty() {
            let (nans, flags) = (reader.u64()?, reader.u8()?);
            let keys = if flags & 1 != 0 {
                Some(KeyRange { low: reader.u64()?, high: reader.u64()? })
            } else {
                None
            };
            let bins = if flags & 2 != 0 {
                Some(BinsAt { array: reader.u64()?, head: reader.u32()? })
            } else {
                None
            };
            summaries.push(Summary { nans, keys, bins });
        }
        Some(Self { settings, array, covered, summaries })
    }

    /// The arrays that a record of an entry names. Also one that was built with other settings has them.
    pub(crate) fn arrays(record: &[u8]) -> Vec<u64> {
        let summaries = Self::decode(record).map(|entry| entry.summaries).unwrap_or_default();
        summaries.iter().filter_map(|summary| Some(summary.bins?.array)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_and_never_beyond_their_end() {
        let settings = Settings {
            number: 7,
            has_bins: true,
            members: vec![Vec::new(), vec!["wind".to_owned(), "speed".to_owned()]],
        };
        assert_eq!(Settings::decode(&settings.encode()), Some(settings.clone()));
        let bins = Some(BinsAt { array: 9, head: 100 });
        let summaries = vec![
            Summary { nans: 3, keys: Some(KeyRange { low: 1, high: u64::MAX }), bins },
            Summary { nans: 4, keys: None, bins: None },
        ];
        let entry = Entry { settings: 7, array: 20, covered: vec![3, 4], summaries };
        assert_eq!(Entry::decode(&entry.encode()), Some(entry.clone()));
        assert_eq!(Entry::arrays(&entry.encode()), [9]);
        let record = settings.encode();
        assert!((0..record.len()).all(|length| Settings::decode(&record[..length]).is_none()));
        let record = entry.encode();
        for length in 0..record.len() {
            let cut = Entry::decode(&record[..length]);
            assert!(cut.is_none_or(|cut| cut.summaries.len() < 2), "{length} bytes");
        }
    }
}
