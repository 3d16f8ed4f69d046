//! Jump indexes and messages. An index that is read is written with the same bytes. Points of a message that are decoded
//! alone are those of the message decoded whole.
#![no_main]

use std::ops::Range;

use isotach_grib::{GridPoints, JumpError, JumpInfo};

/// More would be decoded for minutes, of a few bytes that claim so many.
const POINTS_MAX: u64 = 1 << 16;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(info) = JumpInfo::from_bytes(bytes) {
        let stored = info.to_bytes();
        assert_eq!(JumpInfo::from_bytes(&stored).map(|info| info.to_bytes()).as_ref(), Ok(&stored));
        let _ = some(&info, bytes);
    }
    if let Ok(info) = JumpInfo::of(bytes) {
        let stored = info.to_bytes();
        let read = JumpInfo::from_bytes(&stored).expect("an index is read back");
        assert_eq!(read.to_bytes(), stored);
        if let (true, Ok(whole)) = (info.points() <= POINTS_MAX, info.decode(bytes, 1)) {
            let (ranges, found) = some(&read, bytes).expect("what is decoded whole is decoded in parts");
            let whole = ranges.into_iter().flat_map(|range| &whole[range.start as usize..range.end as usize]);
            assert!(whole.map(|value| value.to_bits()).eq(found.iter().map(|value| value.to_bits())));
        }
    }
    if let Ok(points) = GridPoints::of_section(bytes) {
        let _ = points.nearest(12.0, 34.0);
    }
});

/// Some ranges of points and their values.
fn some(info: &JumpInfo, message: &[u8]) -> Result<(Vec<Range<u64>>, Vec<f64>), JumpError> {
    let points = info.points();
    let ranges = vec![points / 2..points.min(points / 2 + 3), 0..points.min(40), points.saturating_sub(1)..points];
    let read = |range: Range<u64>| {
        let bytes = message.get(range.start as usize..range.end as usize);
        bytes.ok_or(JumpError::ShortRead { start: range.start, end: range.end, found: 0 })
    };
    let values = info.extract(&ranges, read)?;
    Ok((ranges, values))
}
