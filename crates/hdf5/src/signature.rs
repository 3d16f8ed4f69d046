//! What all ranks must have changed alike: which links, attributes and objects, with the extents of datasets. The first rank's commit counts
//! for all, so a rank with other changes would lose them.
//!
//! Values of attributes and times are not compared: ranks may read different clocks, and the first one's count.

use isotach_engine_kit::bytes::{Put as _, Reader};
use isotach_object::ObjectId;
use sha2::{Digest as _, Sha256};

use crate::{
    Error, File, Header, Result,
    layout::{ATTRIBUTE, HEADER, LINK, is_metadata, name_in},
    ranks::{Call, Team},
    records::{bytes, put_bytes},
    session::{Change, Session},
};

/// A changed entry: the number of the object, the key, and what of the value must be the same.
type Mark = (u64, Vec<u8>, Vec<u8>);

impl File {
    /// Fails on all ranks unless all have changed the same.
    pub(crate) fn check_changes(&self, session: &Session, team: &Team, ready: Result<()>) -> Result<()> {
        let marks: Vec<Mark> = session.changes.iter().filter_map(mark).collect();
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
        for (rank, other) in all.iter().enumerate() {
            let extra = other.iter().find(|mark| !first.contains(mark)).map(|mark| (mark, true));
            let missing = || first.iter().find(|mark| !other.contains(mark)).map(|mark| (mark, false));
            if let Some((mark, is_extra)) = extra.or_else(missing) {
                let what = described(mark);
                let what = if is_extra {
                    format!("rank {rank} has changed {what}, and rank 0 has not, or otherwise")
                } else {
                    format!("rank 0 has changed {what}, and rank {rank} has not")
                };
                return Err(Error::invalid(what, "the same changes on all ranks"));
            }
        }
        Err(Error::invalid(
            "changes that the ranks have made in another order",
            "the same order on all ranks",
        ))
    }
}

fn mark(((object, key), change): (&(ObjectId, Vec<u8>), &Change)) -> Option<Mark> {
    if !is_metadata(*object) {
        return None;
    }
    let value = match &change.value {
        None => b"removed".to_vec(),
        Some(value) if key.first() == Some(&LINK) => value.clone(),
        Some(value) if key == HEADER => Header::decode(value, "a change").map_or_else(
            |_| Vec::new(),
            |header| {
                let extent = header.data.map(|data| data.space);
                format!("{:?} {} {extent:?}", header.kind, header.references).into_bytes()
            },
        ),
        Some(_) => Vec::new(),
    };
    Some((object.lo(), key.clone(), value))
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
        _ => format!("object {number}, its extent or the links to it"),
    }
}
