//! Runs: immutable sorted files of entries, the checkpoints of the log (FORMAT.md section 7).
//!
//! A run contains the result of the log from one epoch to another. The state of a container is a chain of runs, each of which begins where
//! the previous one ends, and the tail of the log after the last. A run is written under a temporary name, synced, and renamed, so it
//! exists completely or not at all.

mod check;
mod claim;
mod cursor;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod read;
mod write;

pub(crate) use cursor::RunCursor;
pub(crate) use read::Run;
pub(crate) use write::{RunWriter, common};

/// Bytes of a run's header.
const HEADER: usize = 96;
const MAGIC: &[u8; 8] = b"ISOTRUN1";
/// A block is closed when it holds this many bytes.
const BLOCK: usize = 8 * 1024;
/// Bytes of an entry before its suffix and payload.
const ENTRY_HEAD: usize = 24;

/// The epochs that a run covers, after `from` and up to `to` inclusive, and its generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The generation that a purge gave it; 0 for a run that was made of the log alone.
    pub(crate) tag: u64,
}

impl Span {
    pub(crate) fn file_name(self) -> String {
        match self.tag {
            0 => format!("run.{:016x}-{:016x}", self.from, self.to),
            tag => format!("run.{tag:016x}.{:016x}-{:016x}", self.from, self.to),
        }
    }

    /// The span in a file name, if it is a run's.
    pub(crate) fn of_file_name(name: &str) -> Option<Self> {
        let (start, to) = name.strip_prefix("run.")?.split_once('-')?;
        let (tag, from) = start.split_once('.').unwrap_or(("0000000000000000", start));
        let number =
            |digits: &str| (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten();
        let span = Self { from: number(from)?, to: number(to)?, tag: number(tag)? };
        // Each span has one name.
        (span.from < span.to && span.file_name() == name).then_some(span)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        index::{
            entry::{Entry, Versioned},
            raw::LazyEntry,
        },
        io::{directory::Directory, disk},
    };

    fn value(at: u64) -> Versioned {
        Versioned { epoch: at, entry: Entry::Value(at.to_le_bytes().as_slice().into()) }
    }

    fn open(path: &std::path::Path) -> std::sync::Arc<Directory> {
        std::sync::Arc::new(Directory::open(&*disk::system(), path).unwrap())
    }

    fn path(at: u64) -> Vec<u8> {
        format!("object-of-16-byt{at:08}").into_bytes()
    }

    fn write(directory: &std::path::Path, count: u64) -> Run {
        let directory = &open(directory);
        let span = Span { from: 0, to: 1000, tag: 0 };
        let mut writer = RunWriter::claim(directory, [1; 16], span.from, 0).unwrap().unwrap();
        (0..count).for_each(|at| writer.push(&path(at * 2), &LazyEntry::Decoded(value(at))).unwrap());
        assert_eq!(writer.finish(span.to, 0).unwrap().span(), span);
        Run::open(directory, [1; 16], span).unwrap()
    }

    #[test]
    fn every_entry_is_found_by_its_path_and_no_other_is() {
        let directory = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, 1000, 5000] {
            let run = write(directory.path(), count);
            for at in 0..count {
                assert_eq!(run.get(&path(at * 2)).unwrap(), Some(value(at)));
                assert_eq!(run.get(&path(at * 2 + 1)).unwrap(), None);
            }
            assert_eq!(run.get(b"").unwrap(), None);
            assert_eq!(run.get(b"zzz").unwrap(), None);
        }
    }

    #[test]
    fn entries_are_found_in_any_order_of_look_ups() {
        let directory = tempfile::tempdir().unwrap();
        let run = write(directory.path(), 3000);
        // Forwards, backwards, the same one again, and strides within and across blocks. Every second path is absent.
        for stride in [1, 2, 5999, 6000, 7, 1009, 5993] {
            let mut at = 0;
            for _ in 0..6000 {
                let expected = (at % 2 == 0).then(|| value(at / 2));
                assert_eq!(run.get(&path(at)).unwrap(), expected, "{at} by {stride}");
                at = (at + stride) % 6000;
            }
        }
    }

    #[test]
    fn a_cursor_visits_all_entries_from_any_start() {
        let directory = tempfile::tempdir().unwrap();
        let run = std::sync::Arc::new(write(directory.path(), 3000));
        for start in [0, 1, 2999, 3000, 5998, 6000] {
            let mut cursor = RunCursor::seek(&run, &path(start)).unwrap();
            let mut expected = start.div_ceil(2);
            while let Some(raw) = cursor.current() {
                assert_eq!(cursor.path(), Some(&*path(expected * 2)));
                assert_eq!(raw.decode().unwrap(), value(expected));
                expected += 1;
                cursor.advance().unwrap();
            }
            assert_eq!(expected, 3000);
        }
    }

    #[test]
    fn a_flipped_bit_is_corrupt_or_changes_no_answer() {
        let directory = tempfile::tempdir().unwrap();
        let run = write(directory.path(), 150);
        let file = directory.path().join(run.span().file_name());
        let good = fs::read(&file).unwrap();
        for bit in (0..good.len() * 8).step_by(11) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&file, &bad).unwrap();
            let Ok(run) = Run::open(&open(directory.path()), [1; 16], run.span()) else { continue };
            for at in (0..150).step_by(10) {
                match run.get(&path(at * 2)) {
                    Ok(found) => assert_eq!(found, Some(value(at)), "bit {bit}"),
                    Err(error) => assert_eq!(error.code(), "corrupt", "bit {bit}"),
                }
            }
        }
    }

    #[test]
    fn spans_read_back_from_file_names_and_other_names_have_none() {
        for span in [Span { from: 1, to: 0xabc, tag: 0 }, Span { from: 0, to: 9, tag: u64::MAX }] {
            assert_eq!(Span::of_file_name(&span.file_name()), Some(span));
        }
        let untagged = "run.0000000000000000.0000000000000001-0000000000000002";
        let reversed = "run.0000000000000002-0000000000000001";
        for name in ["run.1-2", reversed, untagged, "log.0000000000000001", "run."] {
            assert_eq!(Span::of_file_name(name), None, "{name}");
        }
    }
}
