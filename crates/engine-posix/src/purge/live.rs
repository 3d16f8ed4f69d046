//! Measuring the live bytes of each data file, and the size of the runs of a new generation.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use isotach_object::Result;

use crate::index::{
    checkpoint,
    entry::{Entry, tag},
    merge::Merge,
    raw::{LazyEntry, Raw},
    run::{Run, common},
    state::State,
    system,
};

/// Bytes of an entry before its path and payload.
const ENTRY_HEAD: u64 = 24;

/// Runs that one run of the new generation replaces.
pub(super) type Stretch = Vec<Arc<Run>>;

/// The runs of a state, divided at the live snapshots.
pub(super) fn stretches(state: &State) -> Result<Vec<Stretch>> {
    let cuts: HashSet<u64> = system::snapshots(state)?.iter().map(|snapshot| snapshot.epoch.0).collect();
    let mut stretches = vec![Stretch::new()];
    for run in &state.runs {
        if let Some(last) = stretches.last_mut() {
            last.push(Arc::clone(run));
        }
        if cuts.contains(&run.span().to) {
            stretches.push(Stretch::new());
        }
    }
    stretches.retain(|stretch| !stretch.is_empty());
    Ok(stretches)
}

/// The measured sizes.
#[derive(Debug, Default)]
pub(super) struct Live {
    files: BTreeMap<u64, u64>,
    /// The approximate size of the new runs.
    pub(super) run_bytes: u64,
}

impl Live {
    /// Bytes of a data file that will be referenced.
    pub(super) fn in_file(&self, number: u64) -> u64 {
        self.files.get(&number).copied().unwrap_or(0)
    }

    /// Whether anything refers to a data file, even to no byte of it.
    pub(super) fn refers_to(&self, number: u64) -> bool {
        self.files.contains_key(&number)
    }

    /// Adds the size of an entry in a run, and makes its path the last one.
    fn add_entry(&mut self, path: &[u8], last: &mut Vec<u8>, payload: usize) {
        self.run_bytes += ENTRY_HEAD + (path.len() - common(last, path) + payload) as u64;
        path.clone_into(last);
    }

    fn add(&mut self, file: u64, bytes: u64) {
        *self.files.entry(file).or_default() += bytes;
    }
}

/// Whether an entry may refer to a data file.
pub(super) fn refers(entry: &LazyEntry<'_>) -> bool {
    match entry {
        LazyEntry::Encoded(raw) => matches!(raw.tag, tag::VALUE_EXTENT | tag::BYTES),
        LazyEntry::Decoded(own) => matches!(own.entry, Entry::ValueExtent(..) | Entry::Bytes(_)),
    }
}

/// Measures everything that the new runs will contain.
pub(super) fn measure(stretches: &[Stretch]) -> Result<Live> {
    let mut live = Live::default();
    let mut last = Vec::new();
    for (number, stretch) in stretches.iter().enumerate() {
        let to = stretch.last().map_or(0, |run| run.span().to);
        let mut merge = Merge::of_runs(stretch)?;
        while let Some((path, entry)) = merge.next()? {
            if let LazyEntry::Encoded(Raw { tag: tag::BYTES, payload, .. }) = &entry
                && let Some(part) = Entry::one_write(payload)
            {
                // Most arrays are written once. Such an entry has the same length if nothing lies under it.
                live.add_entry(path, &mut last, payload.len());
                live.add(part.extent.file, part.length);
                continue;
            }
            let Some(entry) = checkpoint::needed(entry, number == 0, to)? else { continue };
            let payload = match &entry {
                LazyEntry::Encoded(Raw { payload, .. }) => payload.len(),
                LazyEntry::Decoded(own) => {
                    let mut payload = Vec::new();
                    own.entry.encode(&mut payload);
                    payload.len()
                }
            };
            live.add_entry(path, &mut last, payload);
            if !refers(&entry) {
                continue;
            }
            match entry.into_versioned()?.entry {
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
