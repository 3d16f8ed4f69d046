//! What is live in each data file, and what the runs of a new generation will take.

use std::collections::HashMap;

use isotach_object::Result;

use super::Stretch;
use crate::{
    checkpoint,
    entry::{Entry, tag},
    merge::Merge,
    raw::{Kept, Raw},
};

/// Bytes of an entry before its path and payload.
const ENTRY_HEAD: u64 = 24;

/// What was measured.
#[derive(Debug, Default)]
pub(super) struct Live {
    files: HashMap<u64, u64>,
    /// About what the new runs will take.
    pub(super) run_bytes: u64,
}

impl Live {
    /// Bytes of a data file that will be referred to.
    pub(super) fn in_file(&self, number: u64) -> u64 {
        self.files.get(&number).copied().unwrap_or(0)
    }

    fn add(&mut self, file: u64, bytes: u64) {
        *self.files.entry(file).or_default() += bytes;
    }
}

/// Whether an entry may refer to a data file.
pub(super) fn refers(kept: &Kept<'_>) -> bool {
    match kept {
        Kept::Raw(raw) => matches!(raw.tag, tag::VALUE_EXTENT | tag::BYTES),
        Kept::Own(own) => matches!(own.entry, Entry::ValueExtent(..) | Entry::Bytes(_)),
    }
}

/// Goes through everything that the new runs will hold.
pub(super) fn measure(stretches: &[Stretch]) -> Result<Live> {
    let mut live = Live::default();
    let mut last = Vec::new();
    for (number, stretch) in stretches.iter().enumerate() {
        let to = stretch.last().map_or(0, |run| run.span().to);
        let mut merge = Merge::of_runs(stretch)?;
        while let Some((path, kept)) = merge.next()? {
            let Some(kept) = checkpoint::needed(kept, number == 0, to)? else { continue };
            let shared = path.iter().zip(&last).take_while(|(a, b)| a == b).count();
            let payload = match &kept {
                Kept::Raw(Raw { payload, .. }) => payload.len(),
                Kept::Own(own) => {
                    let mut payload = Vec::new();
                    own.entry.encode(&mut payload);
                    payload.len()
                }
            };
            live.run_bytes += ENTRY_HEAD + (path.len() - shared + payload) as u64;
            path.clone_into(&mut last);
            if !refers(&kept) {
                continue;
            }
            match kept.into_versioned()?.entry {
                Entry::ValueExtent(extent, _) => live.add(extent.file, extent.length),
                Entry::Bytes(mut bytes) => {
                    bytes.fold();
                    bytes.parts().for_each(|part| live.add(part.extent.file, part.length));
                }
                Entry::Value(_) | Entry::Removed | Entry::Cut => {}
            }
        }
    }
    Ok(live)
}
