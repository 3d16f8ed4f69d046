//! The regions of Legion. Each is divided into shards, and each shard is an array that its owner writes and any process may
//! read.

use serde::{Deserialize, Serialize};

use super::piece::{Piece, scaled};

const REGIONS: u64 = 2;
/// The shards of a process in each region.
const SHARDS: u64 = 2;
/// The values of a shard, at scale 1.
const VALUES: u64 = 1 << 17;
/// The number of writers whose shards a reader reads: its partner, and a neighbour for ghost cells.
const READ: u64 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Legion {
    values: u64,
}

impl Legion {
    pub(super) fn new(scale: f64) -> Self {
        Self { values: scaled(VALUES, scale) }
    }

    /// The shards of a process in all regions.
    pub(super) fn written(self, writer: u32) -> Vec<Piece> {
        let shards = u64::from(writer) * SHARDS..(u64::from(writer) + 1) * SHARDS;
        let all = (0..REGIONS).flat_map(|region| shards.clone().map(move |shard| (region, shard)));
        all.map(|(region, shard)| Piece {
            array: shard * REGIONS + region,
            start: 0,
            variable: region as u8,
            position: shard * self.values,
            count: self.values,
        })
        .collect()
    }

    /// The shards of the partner of a reader and of the next writer.
    pub(super) fn read(self, reader: u64, writers: u64) -> Vec<Piece> {
        let owners = (reader..reader + READ.min(writers)).map(|writer| (writer % writers) as u32);
        owners.flat_map(|owner| self.written(owner)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_shard_of_every_region_has_its_own_array_and_values() {
        let regions = Legion::new(0.001);
        let all: Vec<Piece> = (0..3).flat_map(|writer| regions.written(writer)).collect();
        let arrays: BTreeSet<_> = all.iter().map(|piece| piece.array).collect();
        let values: BTreeSet<_> = all.iter().map(|piece| (piece.variable, piece.position)).collect();
        assert_eq!((all.len(), arrays.len(), values.len()), (12, 12, 12));
    }

    #[test]
    fn a_reader_reads_the_shards_of_two_writers_or_of_the_only_one() {
        let regions = Legion::new(1.0);
        let two = [regions.written(2), regions.written(0)].concat();
        assert_eq!(regions.read(2, 3), two);
        assert_eq!(regions.read(0, 1), regions.written(0));
    }
}
