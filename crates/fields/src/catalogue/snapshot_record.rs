//! Snapshot records: what a root stores for each snapshot, a header and the snapshot's datasets.
//!
//! What must stay true: a header with its maker's number is written once, together with all its datasets, and removed
//! together with them. So data read under a name belongs to one snapshot if the same maker's header exists afterwards.

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_mars::Key;
use isotach_object::{Error as ObjectError, Label};

use crate::{Error, Result, catalogue::layout::numbered_label};

/// The version of the record of a snapshot.
const RECORD_VERSION: u8 = 1;

/// A snapshot of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSnapshot {
    /// Its name.
    pub name: Label,
    /// When it was created, in microseconds since 1970 UTC.
    pub created_us: u64,
    /// The request that chose its datasets.
    pub request: String,
    /// Its datasets.
    pub datasets: Vec<Key>,
    /// Whether it can be read. If not, its maker or remover is still working or was killed, and it can be removed.
    pub is_complete: bool,
}

/// The state of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Being created, or its maker was killed.
    Making = 0,
    /// Readable.
    Whole = 1,
    /// Being removed, or its remover was killed. This state is final.
    Removing = 2,
}

/// The header of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) state: State,
    /// A random number of its maker, so that a process recognizes its own snapshot.
    pub(crate) maker: u64,
    pub(crate) created_us: u64,
    pub(crate) request: String,
}

impl Header {
    /// The same snapshot in another state.
    pub(crate) fn to(&self, state: State) -> Self {
        Self { state, ..self.clone() }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![RECORD_VERSION, self.state as u8, 0, 0];
        out.extend_from_slice(&self.maker.to_le_bytes());
        out.extend_from_slice(&self.created_us.to_le_bytes());
        out.put_text(&self.request);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let [RECORD_VERSION, state, 0, 0] = reader.array::<4>()? else { return None };
        let state = [State::Making, State::Whole, State::Removing].into_iter().find(|s| *s as u8 == state)?;
        let (maker, created_us) = (reader.u64()?, reader.u64()?);
        let request = reader.text()?.to_owned();
        Some(Self { state, maker, created_us, request })
    }
}

/// The identity of one snapshot, distinct from later snapshots of the same name.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotId {
    pub(crate) name: Label,
    pub(crate) maker: u64,
    /// The name of the containers' own snapshots. It contains the maker's number, so that no process removes another's.
    pub(crate) container_snapshot: Label,
}

impl SnapshotId {
    pub(crate) fn new(name: &Label, maker: u64) -> Result<Self> {
        Ok(Self { name: name.clone(), maker, container_snapshot: numbered_label(name.as_str(), maker)? })
    }

    /// The error of a snapshot that does not exist or is not whole.
    pub(crate) fn absent(name: &Label) -> Error {
        ObjectError::not_found(format!("snapshot {name}")).into()
    }
}

/// The key of a snapshot's dataset in the root: the name, `@`, the dataset's text.
pub(crate) fn snapshot_key(name: &Label, dataset: &str) -> String {
    format!("{name}@{dataset}")
}

/// Reads [`snapshot_key`] back. A name holds no `@`, so its own entry is none of these.
pub(crate) fn parse_snapshot_key(key: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(key).ok()?.split_once('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_and_a_key_read_back() {
        for state in [State::Making, State::Whole, State::Removing] {
            let header = Header { state, maker: 9, created_us: 7, request: "class=od".to_owned() };
            let bytes = header.encode();
            assert_eq!(Header::decode(&bytes), Some(header));
            for cut in 0..bytes.len() {
                assert_eq!(Header::decode(&bytes[..cut]), None, "cut at {cut}");
            }
        }
        let name: Label = "a.b:c-d_e".parse().unwrap();
        let key = snapshot_key(&name, "od@1 class,expver");
        assert_eq!(parse_snapshot_key(key.as_bytes()), Some((name.as_str(), "od@1 class,expver")));
        assert_eq!(parse_snapshot_key(name.as_str().as_bytes()), None);
    }

    #[test]
    fn containers_call_snapshots_of_one_name_differently() {
        let name: Label = "x".repeat(127).parse().unwrap();
        let container_snapshot =
            [1, 2].map(|maker| SnapshotId::new(&name, maker).unwrap().container_snapshot);
        assert_ne!(container_snapshot[0], container_snapshot[1]);
    }
}
