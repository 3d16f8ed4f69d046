//! Arrays: bytes by offset, with holes, grown and shrunk, read in one call or in many.

use super::{
    bytes::noise,
    trial::{OwnContainer, Trial, array_id, assert_written, label, refused, whole_array},
};
use isotach_engine_kit::checksum::crc32c;
use isotach_object::{Array, ArrayRead, Cell, Update};

fn whole(array: &Array<'_>) -> Vec<u8> {
    let size = usize::try_from(array.size().unwrap().unwrap()).unwrap();
    let mut buffer = vec![0xee; size + 10];
    assert_eq!(array.read_into(0, &mut buffer).unwrap(), size);
    assert_eq!(buffer[size..], [0xee; 10], "what lies past the end of a short read is left alone");
    buffer.truncate(size);
    buffer
}

/// The array as its own handle sees it and, once flushed, another.
fn same_for_all(place: &OwnContainer, expected: &[u8]) {
    assert_eq!(whole(&place.array(1)), expected);
    place.flush();
    let other = place.another();
    assert_eq!(whole(&Array::new(&*other, array_id(1)).unwrap()), expected);
}

pub fn ranges_come_back(trial: &Trial<'_>) {
    let (array, data) = (trial.array(1), noise(1, 300_000));
    array.write(0, &data[..100_000]).unwrap();
    array.write(100_000, &data[100_000..]).unwrap();
    assert_eq!(array.size().unwrap(), Some(300_000));
    for (from, to) in [(0, 1), (0, 300_000), (99_990, 100_010), (123, 123), (299_999, 300_000)] {
        assert!(array.read(from as u64, to - from).unwrap() == data[from..to], "{from}..{to}");
    }
    same_for_all(trial, &data);
}

pub fn an_absent_array_has_no_bytes(trial: &Trial<'_>) {
    let array = trial.array(1);
    assert_eq!((array.size().unwrap(), array.read(0, 10).unwrap()), (None, Vec::new()));
    assert_eq!(array.read_into(5, &mut [0; 4]).unwrap(), 0);
}

pub fn reads_past_the_end_are_short(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(0, b"0123456789").unwrap();
    assert_eq!(array.read(7, 100).unwrap(), b"789");
    assert_eq!(array.read(10, 1).unwrap(), b"");
    assert_eq!(array.read(u64::MAX, 1).unwrap(), b"");
    let mut buffer = [b'-'; 6];
    assert_eq!(array.read_into(8, &mut buffer).unwrap(), 2);
    assert_eq!(&buffer, b"89----");
    assert_eq!(array.read_into(u64::MAX, &mut buffer).unwrap(), 0);
}

pub fn overlapping_rewrites_show_the_last(trial: &Trial<'_>) {
    let array = trial.array(1);
    let writes: [(u64, &[u8]); 6] =
        [(0, b"aaaaaaaaaa"), (2, b"bbb"), (8, b"cccc"), (4, b"d"), (0, b"e"), (3, b"")];
    for (offset, data) in writes {
        array.write(offset, data).unwrap();
    }
    same_for_all(trial, b"eabbdaaacccc");
}

/// Writes of all sizes at all places agree with a plain vector.
pub fn many_small_writes_agree_with_a_vector(trial: &Trial<'_>) {
    let (array, mut mirror) = (trial.array(1), Vec::new());
    for step in 0..300_u64 {
        let random = noise(step, 4);
        let offset = usize::from(u16::from_le_bytes([random[0], random[1]])) % 5000;
        let data = noise(step + 1000, usize::from(random[2]) * usize::from(random[3] % 8));
        array.write(offset as u64, &data).unwrap();
        if !data.is_empty() {
            mirror.resize(mirror.len().max(offset + data.len()), 0);
            mirror[offset..offset + data.len()].copy_from_slice(&data);
        }
        if step % 50 == 0 {
            same_for_all(trial, &mirror);
        }
    }
    same_for_all(trial, &mirror);
}

pub fn holes_read_as_zeros(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(6, b"xy").unwrap();
    array.write(11, b"z").unwrap();
    same_for_all(trial, b"\0\0\0\0\0\0xy\0\0\0z");
    let mut buffer = [0xee; 4];
    assert_eq!(array.read_into(1, &mut buffer).unwrap(), 4);
    assert_eq!(buffer, [0; 4], "a hole overwrites the buffer");
}

pub fn growing_adds_a_hole(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(0, b"abc").unwrap();
    array.set_size(6).unwrap();
    assert_eq!(array.read(0, 99).unwrap(), b"abc\0\0\0");
    trial.array(2).set_size(3).unwrap();
    assert_eq!(trial.array(2).read(0, 99).unwrap(), b"\0\0\0", "setting the size creates");
    same_for_all(trial, b"abc\0\0\0");
}

pub fn bytes_dropped_by_shrinking_do_not_come_back(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(0, b"abcdefgh").unwrap();
    array.set_size(3).unwrap();
    assert_eq!(array.read(0, 99).unwrap(), b"abc");
    array.set_size(5).unwrap();
    array.write(6, b"g").unwrap();
    same_for_all(trial, b"abc\0\0\0g");
    array.set_size(0).unwrap();
    assert_eq!(array.size().unwrap(), Some(0), "an empty array is present");
    array.set_size(2).unwrap();
    same_for_all(trial, b"\0\0");
}

pub fn a_punch_makes_a_hole_and_keeps_the_size(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(0, b"abcdefgh").unwrap();
    array.punch(2, 3).unwrap();
    same_for_all(trial, b"ab\0\0\0fgh");
    array.punch(6, u64::MAX).unwrap();
    array.punch(100, 5).unwrap();
    array.punch(0, 0).unwrap();
    same_for_all(trial, b"ab\0\0\0f\0\0");
    array.write(3, b"X").unwrap();
    same_for_all(trial, b"ab\0X\0f\0\0");
}

pub fn a_punch_of_an_absent_array_creates_nothing(trial: &Trial<'_>) {
    trial.array(1).punch(0, 10).unwrap();
    assert_eq!(trial.array(1).size().unwrap(), None);
}

/// Checks the extents of the array: through its own handle and, once flushed, another, and one on a pool that is opened again.
fn extents_for_all(trial: &Trial<'_>, expected: &[(u64, u64)]) {
    let cell = Cell::array(array_id(1));
    assert_written(&trial.container, cell, (0, u64::MAX), expected);
    trial.flush();
    for other in [trial.another(), trial.reopened()] {
        assert_written(&other, cell, (0, u64::MAX), expected);
    }
}

pub fn extents_exclude_holes(trial: &Trial<'_>) {
    let array = trial.array(1);
    extents_for_all(trial, &[]);
    array.write(10, &[0; 10]).unwrap();
    array.write(40, b"0123456789").unwrap();
    extents_for_all(trial, &[(10, 20), (40, 50)]);
    array.write(20, b"touches").unwrap();
    array.write(12, b"over").unwrap();
    extents_for_all(trial, &[(10, 27), (40, 50)]);
    array.punch(15, 2).unwrap();
    array.punch(20, 20).unwrap();
    extents_for_all(trial, &[(10, 15), (17, 20), (40, 50)]);
    array.punch(45, u64::MAX).unwrap();
    extents_for_all(trial, &[(10, 15), (17, 20), (40, 45)]);
    assert_eq!(array.size().unwrap(), Some(50), "a punch keeps the size");
    array.write(14, b"again").unwrap();
    array.set_size(100).unwrap();
    extents_for_all(trial, &[(10, 20), (40, 45)]);
    array.set_size(12).unwrap();
    array.set_size(60).unwrap();
    extents_for_all(trial, &[(10, 12)]);
    array.write(50, b"").unwrap();
    extents_for_all(trial, &[(10, 12)]);
    array.punch(0, u64::MAX).unwrap();
    extents_for_all(trial, &[]);
    assert_eq!(array.size().unwrap(), Some(60));
    trial.update(Update::Destroy { object: array_id(1) });
    extents_for_all(trial, &[]);
}

pub fn extents_are_cut_to_the_range(trial: &Trial<'_>) {
    let (array, far) = (trial.array(1), i64::MAX as u64 - 9);
    array.write(0, &noise(1, 200_000)).unwrap();
    array.punch(100_000, 1).unwrap();
    array.write(far, b"far").unwrap();
    let extents_are = |offset, length, expected: &[(u64, u64)]| {
        assert_written(&trial.container, Cell::array(array_id(1)), (offset, length), expected);
    };
    extents_are(5, 10, &[(5, 15)]);
    extents_are(99_999, 3, &[(99_999, 100_000), (100_001, 100_002)]);
    extents_are(100_000, 1, &[]);
    extents_are(150_000, far, &[(150_000, 200_000), (far, far + 3)]);
    extents_are(far + 2, u64::MAX, &[(far + 2, far + 3)]);
    extents_are(7, 0, &[]);
    extents_are(far + 3, 9, &[]);
    extents_are(u64::MAX, u64::MAX, &[]);
}

pub fn a_write_of_no_bytes_creates_and_does_not_grow(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(50, b"").unwrap();
    assert_eq!(array.size().unwrap(), Some(0));
    array.write(0, b"abc").unwrap();
    array.write(50, b"").unwrap();
    same_for_all(trial, b"abc");
}

pub fn many_ranges_are_read_in_one_call(trial: &Trial<'_>) {
    let (one, two) = (noise(1, 50_000), noise(2, 70_000));
    trial.array(1).write(0, &one).unwrap();
    trial.array(2).write(0, &two).unwrap();
    let mut buffers = vec![vec![0xee; 1000]; 120];
    let mut reads: Vec<_> = (0_u64..).zip(&mut buffers).map(|(at, buffer)| read(at, buffer)).collect();
    trial.container.read_many(&mut reads).unwrap();
    let filled: Vec<_> = reads.iter().map(|read| read.filled).collect();
    for (at, (filled, buffer)) in filled.into_iter().zip(&buffers).enumerate() {
        let data = [&one[..], &two, &[]][at % 3];
        let expected = data.get(at * 950..).unwrap_or_default();
        let expected = &expected[..expected.len().min(1000)];
        assert_eq!(filled, expected.len(), "range {at}");
        assert!(buffer[..filled] == *expected, "range {at}");
    }
}

/// Read `at` of the batch: from the first array, the second, or one that is absent.
fn read(at: u64, buffer: &mut [u8]) -> ArrayRead<'_> {
    // The old value of `filled` must not matter.
    ArrayRead { cell: Cell::array(array_id(at % 3 + 1)), offset: at * 950, buffer, filled: 17 }
}

pub fn far_offsets_take_no_space(trial: &Trial<'_>) {
    let array = trial.array(1);
    let far = i64::MAX as u64 - 4;
    array.write(0, b"near").unwrap();
    array.write(1 << 40, b"middle").unwrap();
    array.write(far, b"far").unwrap();
    assert_eq!(array.size().unwrap(), Some(far + 3));
    assert_eq!(array.read((1 << 40) - 2, 10).unwrap(), b"\0\0middle\0\0");
    assert_eq!(array.read(far - 1, 10).unwrap(), b"\0far");
    array.set_size(1 << 62).unwrap();
    assert_eq!(array.read((1 << 62) - 5, 10).unwrap(), [0; 5]);
    trial.flush();
    let size = trial.pool.container_size(&label("case")).unwrap();
    assert!(size < 64 << 20, "{size} bytes are taken");
}

pub fn an_extent_past_the_largest_offset_is_refused(trial: &Trial<'_>) {
    let array = trial.array(1);
    refused(array.write(i64::MAX as u64, b"x"), "invalid-input");
    refused(array.write(u64::MAX, b"x"), "invalid-input");
    refused(array.set_size(1 << 63), "invalid-input");
    refused(array.punch(1 << 63, 1), "invalid-input");
    assert_eq!(array.size().unwrap(), None);
}

pub fn a_large_array_comes_back(trial: &Trial<'_>) {
    let data = noise(9, (32 << 20) + 7);
    trial.array(1).write(0, &data).unwrap();
    trial.flush();
    assert!(whole_array(&trial.another(), 1) == data);
}

pub fn a_destroyed_array_is_absent_and_can_be_written_again(trial: &Trial<'_>) {
    let array = trial.array(1);
    array.write(0, b"old and long").unwrap();
    trial.update(Update::Destroy { object: array_id(1) });
    assert_eq!((array.size().unwrap(), array.read(0, 9).unwrap()), (None, Vec::new()));
    array.write(4, b"new").unwrap();
    same_for_all(trial, b"\0\0\0\0new");
}

pub fn new_arrays_are_written_as_others(trial: &Trial<'_>) {
    let contents: Vec<_> = [0, 1, 5000, 300_000, 1 << 20].map(|length| noise(length, length as usize)).into();
    for (id, data) in (1..).zip(&contents) {
        let sum = trial.container.write_new(array_id(id), data).unwrap();
        assert_eq!(sum.unwrap_or(crc32c(data)), crc32c(data), "array {id}");
    }
    // A removed array is new again, and an array that is being written is changed.
    trial.update(Update::Destroy { object: array_id(4) });
    trial.container.write_new(array_id(4), &contents[3]).unwrap();
    trial.array(5).write(10, b"changed").unwrap();
    trial.flush();
    let mut expected = contents;
    expected[4][10..17].copy_from_slice(b"changed");
    let other = trial.another();
    for (id, data) in (1..).zip(&expected) {
        assert!(whole_array(&other, id) == *data, "array {id}");
    }
}

pub fn write_new_of_an_existing_array_writes_it_or_refuses_whole(trial: &Trial<'_>) {
    let (old, new) = (noise(1, 400_000), noise(2, 300_000));
    trial.array(1).write(0, &old).unwrap();
    trial.flush();
    let outcome = trial.container.write_new(array_id(1), &new).and_then(|_| trial.container.flush());
    let expected = match outcome {
        Ok(()) => [&new, &old[300_000..]].concat(),
        Err(error) => {
            assert_eq!(error.code(), "conflict", "{error}");
            old
        }
    };
    assert!(whole_array(&trial.another(), 1) == expected);
}

pub fn pending_reads_return_the_bytes_of_the_array(trial: &Trial<'_>) {
    let place = trial.place_with(|facets| facets.pending_reads.is_some(), "pending reads");
    let Some(place) = place else { return };
    let (array, data) = (place.array(1), noise(4, 300_000));
    array.write(0, &data).unwrap();
    let pending = place.container.pending_reads().unwrap();
    assert!(pending.depth() > 0, "at least one read can be under way");
    let begin =
        |id, offset, length| pending.begin_read(Cell::array(array_id(id)), offset, vec![0xee; length]);
    // More reads than the depth, in another order; one of them is never waited for.
    let ranges: Vec<(usize, usize)> = (0..50).map(|at| (at * 6000, 1 + at * 1000)).collect();
    let mut begun: Vec<_> =
        ranges.iter().map(|(offset, length)| begin(1, *offset as u64, *length).unwrap()).collect();
    begun.truncate(49);
    for (read, (offset, length)) in begun.into_iter().zip(ranges).rev() {
        let expected = &data[offset..data.len().min(offset + length)];
        assert!(read.wait().unwrap() == expected, "{length} bytes from {offset} on");
    }
    assert_eq!(begin(1, 299_990, 100).unwrap().wait().unwrap(), data[299_990..], "short past the end");
    assert_eq!(begin(1, u64::MAX, 1).unwrap().wait().unwrap(), b"");
    assert_eq!(begin(1, 5, 0).unwrap().wait().unwrap(), b"");
    assert_eq!(begin(2, 0, 10).unwrap().wait().unwrap(), b"", "an absent array has no bytes");
}

pub fn shared_bytes_are_right_and_never_change(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_lent_reads() else { return };
    let (array, data) = (place.array(1), noise(3, 200_000));
    array.write(0, &data).unwrap();
    assert_eq!(&*place.array(2).lend(0, 10).unwrap(), b"", "an absent array has no bytes");
    place.flush();
    let before = array.lend(1000, 150_000).unwrap();
    assert!(*before == data[1000..151_000]);
    assert_eq!(*array.lend(199_990, 100).unwrap(), data[199_990..], "short past the end");
    assert_eq!(&*array.lend(300_000, u64::MAX).unwrap(), b"");
    array.write(1000, b"changed").unwrap();
    array.punch(50_000, 1000).unwrap();
    let after = array.lend(998, 11).unwrap();
    assert_eq!(*after, [&data[998..1000], b"changed", &data[1007..1009]].concat());
    array.set_size(10).unwrap();
    place.update(Update::Destroy { object: array_id(1) });
    place.flush();
    assert!(*before == data[1000..151_000], "lent bytes stay");
}
