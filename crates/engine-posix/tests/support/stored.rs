//! Finding bytes in the files of a pool.

/// The bytes of a salt, with which a frame's body may be masked.
const SALT: usize = 4;

/// The positions of `needle` in `bytes`, as it is or masked with the salt of its frame (FORMAT.md section 4). A salt repeats, so the
/// difference between a byte and the one a salt's length behind it does not depend on it.
pub(crate) fn positions(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    assert!(needle.len() >= 8 * SALT, "so few bytes may be found by accident");
    let differences = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().zip(bytes.iter().skip(SALT)).map(|(one, other)| one ^ other).collect()
    };
    let (haystack, wanted) = (differences(bytes), differences(needle));
    let is_wanted = |(at, window): (usize, &[u8])| (window == wanted).then_some(at);
    haystack.windows(wanted.len()).enumerate().filter_map(is_wanted).collect()
}

#[test]
fn bytes_are_found_as_they_are_and_under_any_salt() {
    let needle: Vec<u8> = (0..100_u8).map(|number| number.wrapping_mul(number)).collect();
    let mut bytes = vec![0; 1000];
    bytes[10..110].copy_from_slice(&needle);
    for (at, byte) in needle.iter().enumerate() {
        bytes[201 + at] = byte ^ [0xb9, 0x79, 0x37, 0x9e][at % SALT];
    }
    assert_eq!(positions(&bytes, &needle), [10, 201]);
}
