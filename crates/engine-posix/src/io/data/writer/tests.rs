//! Truncating a data file after a failed write, while its bytes are lent.

use std::{io, result::Result};

use isotach_object::SharedBytes;

use super::*;
use crate::{
    format::extent::ExtentPart,
    io::{
        data::DataReader,
        disk::{self, Stat},
    },
};

/// A file on a disk with space for half of the next write.
#[derive(Debug)]
struct Full(Arc<dyn File>);

impl File for Full {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.read_at(buffer, position)
    }
    fn read_cached(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.read_cached(buffer, position)
    }
    fn append(&self, bytes: &[u8]) -> io::Result<Option<u64>> {
        self.0.append(bytes)
    }
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_all_at(&bytes[..bytes.len() / 2], position)?;
        Err(io::ErrorKind::StorageFull.into())
    }
    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_length(length)
    }
    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }
    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn punch(&self, position: u64, length: u64) -> io::Result<()> {
        self.0.punch(position, length)
    }
    fn try_lock(&self) -> Result<(), TryLockError> {
        self.0.try_lock()
    }
    fn share(&self, position: u64, length: u64) -> io::Result<SharedBytes> {
        self.0.share(position, length)
    }
}

/// Lends all bytes of an extent from a map.
fn lent(reader: &DataReader, extent: &Extent) -> SharedBytes {
    reader.share(&ExtentPart { offset: 0, length: extent.length, skip: 0, extent: extent.clone() }).unwrap()
}

#[test]
fn lent_bytes_survive_the_truncation_after_a_failed_write() {
    let place = tempfile::tempdir().unwrap();
    let folder = Arc::new(Directory::open(&*disk::system(), place.path()).unwrap());
    let (mut writer, reader) = (DataWriter::new(&folder, false), DataReader::new(&folder));
    // Its last page is not full, so the cut is within the page that is mapped.
    let bytes = vec![7; DIRECT + 100];
    let extent = writer.append(&bytes).unwrap();
    writer.write_out().unwrap();
    let lent = lent(&reader, &extent);

    // Part of a frame that was abandoned is behind it.
    let mark = writer.mark();
    writer.append(&vec![8; 3 * DIRECT]).unwrap();
    writer.rewind(mark);
    let current = writer.current.as_mut().unwrap();
    current.file = Arc::new(Full(Arc::clone(&current.file)));
    assert!(matches!(writer.append(&vec![9; 3 * DIRECT]), Err(Error::NoSpace { .. })));

    let end = extent.position + extent.length;
    assert_eq!(reader.length(extent.file).unwrap(), end, "the file was cut");
    // Reading a page behind the end of the file would end the process.
    assert!(lent[..] == bytes[..]);
}

#[test]
fn lent_bytes_survive_the_removal_of_their_file() {
    let place = tempfile::tempdir().unwrap();
    let folder = Arc::new(Directory::open(&*disk::system(), place.path()).unwrap());
    let (mut writer, reader) = (DataWriter::new(&folder, false), DataReader::new(&folder));
    let bytes = vec![7; DIRECT];
    let extent = writer.append(&bytes).unwrap();
    let lent = lent(&reader, &extent);
    writer.discard();
    reader.close();
    assert!(reader.file(extent.file).is_err(), "it is gone");
    assert!(lent[..] == bytes[..]);
}

#[test]
fn regions_that_could_not_be_filled_free_their_space_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let place = tempfile::tempdir().unwrap();
        let folder = Arc::new(Directory::open(&*disk::system(), place.path()).unwrap());
        let (mut writer, reader) = (DataWriter::new(&folder, false), DataReader::new(&folder));
        let kept = writer.append(&vec![1; DIRECT + 1]).unwrap();
        let regions = [DIRECT + 3, DIRECT, DIRECT + 5].map(|length| writer.reserve(length as u64).unwrap());
        regions.iter().for_each(|region| region.write(&folder, &vec![2; region.length as usize]).unwrap());
        // The second is filled, the others are given back.
        for number in order {
            match number {
                1 => drop(writer.filled(&regions[1])),
                other => writer.free(&regions[other]),
            }
        }
        let filled = regions[1].extent(Sums::of(&vec![2; DIRECT]));
        let last = writer.append(&vec![3; DIRECT]).unwrap();
        for (extent, byte) in [(&kept, 1), (&filled, 2), (&last, 3)] {
            let bytes = reader.read_extent(extent).unwrap();
            assert!(bytes.iter().all(|found| *found == byte), "{order:?}: {extent:?}");
        }
        let ends = [&kept, &filled, &last].map(|extent| extent.position..extent.position + extent.length);
        assert!(ends[0].end <= ends[1].start && ends[1].end <= ends[2].start, "{order:?}: {ends:?}");
    }
}

#[test]
fn a_region_of_a_full_file_is_synced_and_stays_locked_until_it_is_in_the_log() {
    let place = tempfile::tempdir().unwrap();
    let folder = Arc::new(Directory::open(&*disk::system(), place.path()).unwrap());
    let mut writer = DataWriter::new(&folder, true);
    let late = writer.reserve(DIRECT as u64).unwrap();
    // The file is full, and another one follows.
    writer.current.as_mut().unwrap().roll = 0;
    let next = writer.append(&vec![1; DIRECT]).unwrap();
    assert_ne!(next.file, late.number);
    let before = writer.unsynced();
    writer.filled(&late);
    writer.synced(&before);
    writer.release(&before);
    assert_eq!((writer.rolled.len(), writer.held.len()), (1, 1), "filled after that sync began");
    let after = writer.unsynced();
    after.sync().unwrap();
    writer.synced(&after);
    writer.release(&after);
    assert_eq!((writer.rolled.len(), writer.held.len()), (0, 0));
}

#[test]
fn extents_begin_at_cache_lines_and_not_where_buffers_often_begin() {
    let begins = [0, 1, 64, 100, 128, 4000, 4095, 4096, 4097].map(|end| aligned(end, ALIGNED_MIN));
    assert_eq!(begins, [128, 128, 128, 128, 128, 4032, 4224, 4224, 4224]);
    assert_eq!(aligned(1, ALIGNED_MIN - 1), 1);
}
