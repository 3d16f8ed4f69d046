//! The purge manifest: the file that a purge publishes, which decides the runs that are valid (FORMAT.md section 7.6). On disk its name is
//! `floor.<sequence>`.
//!
//! Before the manifest's epoch the log may be a hole, and data files that it refers to may be gone. The runs of the manifest's generation
//! contain all that is visible of it. The manifest with the greatest sequence counts.

use std::{collections::BTreeMap, io};

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{Error, Result};

use crate::{
    format::{check, checked},
    index::run::Span,
    io::{
        disk::{File, if_there},
        storage::Storage,
    },
};

/// The prefix of temporary names of a purge.
pub(crate) const TEMPORARY: &str = "purge.";
/// Bytes of the log that are kept before the manifest's epoch, so that only a process that was stopped for long misses a verdict.
pub(crate) const LOG_KEPT: u64 = 1 << 20;
const PREFIX: &str = "floor.";
const MAGIC: &[u8; 8] = b"ISOTFLR1";
const SIZE: usize = 64;
/// Bytes for each data file after the first [`SIZE`].
const ENDS: usize = 16;
/// How often a listing is repeated when the manifest in it is gone.
const TRIES: usize = 20;

/// The end of the named bytes of each data file, by its number.
pub(crate) type Ends = BTreeMap<u64, u64>;

/// The result of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PurgeManifest {
    /// Counts the purges of the container.
    pub(crate) sequence: u64,
    /// The runs of the generation contain everything up to here.
    pub(crate) epoch: u64,
    /// Up to here, from the first block on, the log may be a hole.
    pub(crate) hole_end: u64,
    /// The generation; never 0.
    pub(crate) tag: u64,
}

impl PurgeManifest {
    pub(crate) fn file_name(sequence: u64) -> String {
        format!("{PREFIX}{sequence:016x}")
    }

    /// The sequence in a file name, if it is a manifest's.
    pub(crate) fn of_file_name(name: &str) -> Option<u64> {
        let sequence = u64::from_str_radix(name.strip_prefix(PREFIX)?, 16).ok()?;
        (Self::file_name(sequence) == name).then_some(sequence)
    }

    pub(crate) fn encode(&self, uuid: [u8; 16]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&uuid);
        for number in [self.sequence, self.epoch, self.hole_end, self.tag] {
            bytes.put_u64(number);
        }
        checked(bytes, SIZE)
    }

    fn decode(bytes: &[u8; SIZE], uuid: [u8; 16]) -> Option<Self> {
        let mut reader = check(bytes)?;
        let right = reader.take(MAGIC.len())? == MAGIC && reader.take(uuid.len())? == uuid;
        let mut number = || reader.u64();
        let manifest = Self { sequence: number()?, epoch: number()?, hole_end: number()?, tag: number()? };
        (right && manifest.tag != 0 && manifest.hole_end <= manifest.epoch).then_some(manifest)
    }

    /// The manifest that counts among these names; `None` if there is none. After an error the caller lists again: a newer one may have
    /// replaced it.
    fn among(storage: &Storage, names: &[String]) -> io::Result<Option<Result<Self>>> {
        let Some(sequence) = names.iter().filter_map(|name| Self::of_file_name(name)).max() else {
            return Ok(None);
        };
        let name = Self::file_name(sequence);
        let mut bytes = [0; SIZE];
        let file = storage.directory.read(&name)?;
        let file: &dyn File = &*file;
        let filled = file.read_full_at(&mut bytes, 0)?;
        let manifest = Self::decode(&bytes, storage.uuid);
        let manifest = manifest.filter(|manifest| filled == SIZE && manifest.sequence == sequence);
        let damaged =
            || Error::corrupt("the purge manifest", storage.directory.path_of(&name).display().to_string());
        Ok(Some(manifest.ok_or_else(damaged)))
    }

    /// The names in a container's directory, and the manifest that counts.
    pub(crate) fn list(storage: &Storage) -> Result<(Vec<String>, Option<Self>)> {
        let mut tries = TRIES;
        loop {
            let names = storage.directory.names()?;
            match Self::among(storage, &names) {
                Ok(manifest) => return Ok((names, manifest.transpose()?)),
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries > 0 => tries -= 1,
                Err(error) => return Err(storage.directory.failed("read", PREFIX, error)),
            }
        }
    }

    /// The manifest that counts.
    pub(crate) fn current(storage: &Storage) -> Result<Option<Self>> {
        Self::list(storage).map(|(_, manifest)| manifest)
    }

    /// The end of the named bytes of each data file at this manifest's epoch. What named them may be gone. `None` if the manifest does not
    /// contain it, as those of older programs, or is gone meanwhile.
    pub(crate) fn ends(&self, storage: &Storage) -> Result<Option<Ends>> {
        let name = Self::file_name(self.sequence);
        let read = || storage.directory.read_all(&name, storage.directory.stat(&name)?.length as usize);
        let bytes = if_there(read()).map_err(|error| storage.directory.failed("read", &name, error))?;
        let Some(bytes) = bytes.filter(|bytes| bytes.len() > SIZE) else { return Ok(None) };
        decode_ends(&bytes[SIZE..]).map(Some).ok_or_else(|| {
            let what = "the list of data files in a purge manifest; the next purge writes it anew";
            Error::corrupt(what, storage.directory.path_of(&name).display().to_string())
        })
    }

    /// Publishes this manifest with the ends of the named bytes. Fails if there is one with its sequence. `temporary` is a free name.
    pub(crate) fn publish(&self, storage: &Storage, temporary: &str, ends: &Ends) -> Result<()> {
        let name = Self::file_name(self.sequence);
        let directory = &storage.directory;
        let publish = || {
            let file = directory.create(temporary)?;
            file.write_all_at(&[self.encode(storage.uuid), encode_ends(ends)].concat(), 0)?;
            file.sync()?;
            directory.link(temporary, &name)?;
            directory.sync()
        };
        let outcome = publish().map_err(|error| directory.failed("create", &name, error));
        let _ = directory.remove(temporary);
        outcome
    }

    /// Whether a run is valid under this manifest or none.
    pub(crate) fn validates(manifest: Option<&Self>, span: &Span) -> bool {
        match manifest {
            None => span.tag == 0,
            Some(manifest) => span.tag == manifest.tag || (span.tag == 0 && span.from >= manifest.epoch),
        }
    }
}

/// Whether a purge is writing a generation that does not count yet, or died while it did.
pub(crate) fn has_begun(storage: &Storage) -> Result<bool> {
    let (names, manifest) = PurgeManifest::list(storage)?;
    let is_of_it = |span: Span| span.tag != 0 && !PurgeManifest::validates(manifest.as_ref(), &span);
    Ok(names.iter().any(|name| name.starts_with(TEMPORARY) || Span::of_file_name(name).is_some_and(is_of_it)))
}

/// A temporary name of the purge that writes a generation.
pub(crate) fn temporary(tag: u64) -> String {
    format!("{TEMPORARY}{tag:016x}")
}

fn encode_ends(ends: &Ends) -> Vec<u8> {
    let size = ENDS * ends.len() + 4;
    let mut bytes = Vec::with_capacity(size);
    for (file, end) in ends {
        bytes.put_u64(*file);
        bytes.put_u64(*end);
    }
    checked(bytes, size)
}

fn decode_ends(bytes: &[u8]) -> Option<Ends> {
    let Reader(pairs) = check(bytes)?;
    let pair = |pair: &[u8]| Some((Reader(pair).u64()?, Reader(&pair[ENDS / 2..]).u64()?));
    let ends = pairs.chunks_exact(ENDS).map(pair).collect::<Option<Ends>>();
    ends.filter(|_| pairs.len().is_multiple_of(ENDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_data_files_read_back_and_any_damage_is_noticed() {
        let ends = Ends::from([(3, 900), (u64::MAX, 1 << 40)]);
        let good = encode_ends(&ends);
        assert_eq!(decode_ends(&good), Some(ends));
        assert_eq!(decode_ends(&encode_ends(&Ends::new())), Some(Ends::new()));
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode_ends(&bad), None, "bit {bit}");
        }
        (1..good.len()).for_each(|length| assert_eq!(decode_ends(&good[..length]), None, "{length} bytes"));
    }

    #[test]
    fn a_purge_manifest_reads_back_and_any_flipped_bit_is_noticed() {
        let manifest = PurgeManifest { sequence: 1, epoch: 900, hole_end: 400, tag: 7 };
        let good: [u8; SIZE] = manifest.encode([3; 16]).try_into().unwrap();
        assert_eq!(PurgeManifest::decode(&good, [3; 16]), Some(manifest));
        assert_eq!(PurgeManifest::decode(&good, [4; 16]), None);
        for bit in 0..SIZE * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(PurgeManifest::decode(&bad, [3; 16]), None, "bit {bit}");
        }
    }

    #[test]
    fn runs_are_valid_in_the_generation_or_behind_the_manifest() {
        let manifest = PurgeManifest { sequence: 1, epoch: 100, hole_end: 0, tag: 7 };
        let span = |from, to, tag| Span { from, to, tag };
        for (span, with, without) in [
            (span(0, 100, 7), true, false),
            (span(0, 150, 7), true, false),
            (span(0, 100, 8), false, false),
            (span(0, 100, 0), false, true),
            (span(99, 200, 0), false, true),
            (span(100, 200, 0), true, true),
        ] {
            assert_eq!(PurgeManifest::validates(Some(&manifest), &span), with, "{span:?}");
            assert_eq!(PurgeManifest::validates(None, &span), without, "{span:?}");
        }
    }

    #[test]
    fn sequences_read_back_from_file_names_and_other_names_have_none() {
        assert_eq!(PurgeManifest::of_file_name(&PurgeManifest::file_name(0xab)), Some(0xab));
        for name in ["floor.1", "floor.00000000000000AB", "log.0000000000000001"] {
            assert_eq!(PurgeManifest::of_file_name(name), None, "{name}");
        }
    }
}
