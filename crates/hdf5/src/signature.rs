//! What all ranks must have changed alike: which links, attributes and objects, with the types, extents and storage of datasets. The first
//! rank's commit counts for all, so a rank with other changes would lose them.
//!
//! Values of attributes, times, comments and encoded property lists are not compared: ranks may read different clocks, and the first one's
//! count.

use isotach_engine_kit::bytes::{Put as _, Reader};
use isotach_object::ObjectId;
use sha2::{Digest as _, Sha256};

use crate::{
    Data, Error, File, Header, Result, Space,
    changes::Change,
    layout::{ATTRIBUTE, HEADER, LINK, is_metadata, name_in},
    ranks::{Call, Team},
    records::{bytes, put_bytes},
    session::Session,
};

/// A changed entry: the number of the object, the key, and what of the value must be the same.
type Mark = (u64, Vec<u8>, Vec<u8>);

impl File {
    /// Fails on all ranks unless all have changed the same.
    pub(crate) fn check_changes(&self, session: &Session, team: &Team, ready: Result<()>) -> Result<()> {
        let marks: Vec<Mark> =
            session.changes.iter().filter_map(|(object, key, change)| mark(object, key, change)).collect();
        let mut entries = Vec::new();
        for (number, key, value) in &marks {
            entries.put_u64(*number);
            put_bytes(&mut entries, key);
            put_bytes(&mut entries, value);
        }
        let sum = Sha256::digest(&entries).to_vec();
        let sums = team.gather(Call::Changes, ready.map(|()| sum))?;
        if sums.iter().all(|sum| Some(sum) == sums.first()) {
            return Ok(());
        }
        let all = team.gather::<Error>(Call::Entries, Ok(entries))?;
        let all: Vec<Vec<Mark>> = all.iter().map(|entries| decode(entries)).collect();
        let first = all.first().cloned().unwrap_or_default();
        let found = all.iter().enumerate().find_map(|(rank, other)| difference(&first, rank, other));
        let found = found.unwrap_or_else(|| "other changes, of which a message cannot be read".to_owned());
        Err(Error::invalid(found, "the same changes on all ranks"))
    }
}

fn mark(object: ObjectId, key: &[u8], change: &Change) -> Option<Mark> {
    if !is_metadata(object) {
        return None;
    }
    let value = match &change.value {
        None => b"removed".to_vec(),
        Some(value) if key.first() == Some(&LINK) => value.clone(),
        Some(value) if key == HEADER => {
            Header::decode(value, "a change").map_or_else(|_| Vec::new(), |header| compared(&header).encode())
        }
        Some(_) => Vec::new(),
    };
    Some((object.lo(), key.to_vec(), value))
}

/// A header without what ranks may have otherwise.
fn compared(header: &Header) -> Header {
    Header { created: None, modified: None, creation: Vec::new(), comment: None, ..header.clone() }
}

/// What the bytes of a dataset's chunks depend on, in a number.
pub(crate) fn layout_of(header: &Header) -> u64 {
    let data = header.data.clone().map(|data| Data { space: Space::Null, ..data });
    let header = Header { references: 0, data, ..compared(header) };
    Sha256::digest(header.encode()).first_chunk().map_or(0, |sum| u64::from_le_bytes(*sum))
}

/// The first change that a rank and the first one have not made alike. Both lists are sorted.
fn difference(first: &[Mark], rank: usize, other: &[Mark]) -> Option<String> {
    let same = first.iter().zip(other).take_while(|(first, other)| first == other).count();
    let place = |mark: &Mark| (mark.0, mark.1.clone());
    let (first, other) = (first.get(same), other.get(same));
    let (first_at, other_at) = (first.map(place), other.map(place));
    let described = |mark: Option<&Mark>| mark.map(described);
    if first_at == other_at {
        return Some(format!("rank {rank} has changed {} otherwise than rank 0", described(first)?));
    }
    // The earlier one is missing on the other side.
    let is_extra = first_at.is_none_or(|first| other_at.is_some_and(|other| other < first));
    Some(if is_extra {
        format!("rank {rank} has changed {}, and rank 0 has not", described(other)?)
    } else {
        format!("rank 0 has changed {}, and rank {rank} has not", described(first)?)
    })
}

fn decode(entries: &[u8]) -> Vec<Mark> {
    let mut reader = Reader(entries);
    std::iter::from_fn(|| Some((reader.u64()?, bytes(&mut reader)?, bytes(&mut reader)?))).collect()
}

fn described((number, key, _): &Mark) -> String {
    let name = name_in(key, "a change").unwrap_or_default();
    match key.first() {
        Some(&LINK) => format!("link {name:?} of object {number}"),
        Some(&ATTRIBUTE) => format!("attribute {name:?} of object {number}"),
        _ => format!("object {number}, its type, its extent, its storage or the links to it"),
    }
}
