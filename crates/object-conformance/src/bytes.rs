//! Bytes for tests, generated from a seed so that any mix of two values is noticed.

use isotach_engine_kit::random::Seeded;

/// Bytes that look random and are the same for the same seed.
pub(super) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Seeded(seed);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&random.number().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A value that identifies itself: its number, then noise generated from the number. The length varies with
/// the number, so that a size and bytes of two values do not fit either.
pub(super) fn numbered(number: u64, length: usize) -> Vec<u8> {
    let mut value = number.to_le_bytes().to_vec();
    value.extend(noise(number, length + (number % 61) as usize));
    value
}

/// The number of a value that [`numbered`] generated with this length. Panics if it is torn or mixed.
pub(super) fn number_of(value: &[u8], length: usize) -> u64 {
    let number = number(value);
    assert!(value == numbered(number, length), "value {number} of {} bytes is not whole", value.len());
    number
}

/// The number in the first 8 bytes.
pub(super) fn number(value: &[u8]) -> u64 {
    let first = value.first_chunk().expect("a value that begins with its number");
    u64::from_le_bytes(*first)
}

/// Keys that an engine could get wrong: separators, terminators, prefixes of each other, the longest.
pub(super) fn awkward_keys() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = [
        &b"\0"[..],
        b"\0\0",
        b"\xff",
        b"\xff\xff",
        b"a",
        b"a\0",
        b"a\0b",
        b"ab",
        b"/",
        b"..",
        b"\r\n",
        b"\x80",
        "step=6,param=\u{fc}".as_bytes(),
    ]
    .map(<[u8]>::to_vec)
    .into();
    keys.push(vec![0xff; isotach_object::MAX_KEY]);
    keys.push(vec![0; isotach_object::MAX_KEY]);
    keys.extend((0..=255).map(|byte| vec![b'k', byte]));
    keys
}
