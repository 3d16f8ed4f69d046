//! Jump indexes and messages. An index that is read is written with the same bytes. Points of a message that are decoded
//! alone are those of the message decoded whole, by one thread, by several, or in one pass without an index.
#![no_main]

use std::ops::Range;

use isotach_grib::{GridPoints, JumpError, JumpInfo, PackedMessage};

/// More would be decoded for minutes, of a few bytes that claim so many. Three threads share these.
const POINTS_MAX: u64 = 3 << 16;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(info) = JumpInfo::of(bytes) {
        let stored = info.to_bytes();
        let read = JumpInfo::from_bytes(&stored).expect("an index is read back");
        assert_eq!(read.to_bytes(), stored);
        compare(&read, bytes, 3, &some(info.points()), true);
    }
    in_one_pass(bytes);
    if let Ok(info) = JumpInfo::from_bytes(bytes) {
        let _ = extract(&info, bytes, &some(info.points()));
    }
    foreign(bytes);
    if let Ok(points) = GridPoints::of_section(bytes) {
        let _ = points.nearest(12.0, 34.0);
    }
});

/// Decodes a message without an index. What is decoded with one is the same.
fn in_one_pass(bytes: &[u8]) {
    let Ok(packed) = PackedMessage::of(bytes) else { return };
    if packed.points() > POINTS_MAX {
        return;
    }
    let mut values = vec![0.0; packed.points() as usize];
    let decoded = packed.decode_into(&mut values);
    if let Ok(expected) = JumpInfo::of(bytes).and_then(|info| info.decode(bytes, 1)) {
        decoded.expect("what is decoded with an index is decoded without");
        assert!(values.iter().zip(&expected).all(|(one, other)| one.to_bits() == other.to_bits()));
    }
}

/// Decodes a message by an index that need not be its own. The input has the length of the index, a number of threads and two
/// points in 256ths of all points, each in a byte, then the index, then the message.
fn foreign(bytes: &[u8]) -> Option<()> {
    let (&[length, threads, one, other], rest) = bytes.split_first_chunk()?;
    let (index, message) = rest.split_at_checked(length.into())?;
    let info = JumpInfo::from_bytes(index).ok()?;
    let stored = info.to_bytes();
    assert_eq!(JumpInfo::from_bytes(&stored).map(|info| info.to_bytes()), Ok(stored));
    let place = |number: u8| info.points() * u64::from(number) / 256;
    let ranges = [place(one.min(other))..place(one.max(other)), place(other)..info.points().min(place(other) + 9)];
    // The counts of an index contradict the bitmap of another message, and what then is decoded is anybody's guess.
    compare(&info, message, threads.into(), &ranges, !info.has_missing());
    Some(())
}

/// Decodes a message whole and in parts. What is decoded whole `is_same` in parts.
fn compare(info: &JumpInfo, message: &[u8], threads: usize, ranges: &[Range<u64>], is_same: bool) {
    if info.points() > POINTS_MAX {
        return;
    }
    let parts = extract(info, message, ranges);
    let shared = info.decode(message, threads);
    let Ok(whole) = info.decode(message, 1) else { return };
    if is_same {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let expected = ranges.iter().flat_map(|range| bits(&whole[range.start as usize..range.end as usize]));
        let parts = parts.expect("what is decoded whole is decoded in parts");
        assert!(expected.eq(bits(&parts)));
        assert!(bits(&shared.expect("what one thread decodes, several decode")) == bits(&whole));
    }
}

/// Some ranges of points.
fn some(points: u64) -> [Range<u64>; 3] {
    [points / 2..points.min(points / 2 + 3), 0..points.min(40), points.saturating_sub(1)..points]
}

fn extract(info: &JumpInfo, message: &[u8], ranges: &[Range<u64>]) -> Result<Vec<f64>, JumpError> {
    let read = |range: Range<u64>| {
        let bytes = message.get(range.start as usize..range.end as usize);
        bytes.ok_or(JumpError::ShortRead { start: range.start, end: range.end, found: 0 })
    };
    info.extract(ranges, read)
}
