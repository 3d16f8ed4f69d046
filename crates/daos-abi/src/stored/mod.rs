//! How the libdaos of this project keeps what DAOS knows of a container: entries of a map in it, which no program may open.
//!
//! `isotach container create --type` makes such containers without that library, and writes the same entries with the same encoding.

pub mod files;
pub mod list;

use crate::properties::DAOS_PROP_CO_LAYOUT_POSIX;

/// The high and the low half of the map's id: of DAOS's type with integer keys, with the last of all users' ids.
pub const OWN: (u64, u64) = (0x0901_0001_ffff_ffff, u64::MAX);
/// The key of the container's UUID, 16 bytes.
pub const UUID: &[u8] = b"uuid";
/// The label of the container that holds the attributes of its pool.
pub const OF_POOL: &str = "daos.pool-attributes";

/// The variable that says what becomes of a request for redundancy.
pub const REDUNDANCY: &str = "ISOTACH_DAOS_REDUNDANCY";
/// Its value by which such a request is ignored.
pub const IGNORE: &str = "ignore";
/// Why no file system is made that is to survive failures.
pub const ONE_COPY: &str = "a redundancy factor above 0: objects have one copy here; use rd_fac:0, or set ISOTACH_DAOS_REDUNDANCY=ignore";

/// The key of a property.
#[must_use]
pub const fn property_key(number: u32) -> [u8; 5] {
    let [a, b, c, d] = number.to_le_bytes();
    [b'p', a, b, c, d]
}

/// The value of a property that is a number: a byte that says so comes first.
#[must_use]
pub const fn number_value(value: u64) -> [u8; 9] {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    [0, a, b, c, d, e, f, g, h]
}

/// The value of a property that is text.
#[must_use]
pub fn text_value(text: &str) -> Vec<u8> {
    [&[1][..], text.as_bytes()].concat()
}

/// The value of a property that is bytes: an access control list or the roots, as they lie in memory.
#[must_use]
pub fn bytes_value(bytes: &[u8]) -> Vec<u8> {
    [&[2][..], bytes].concat()
}

/// The roots of a container with this layout, as they lie in memory: of a file system its superblock and its root directory, else
/// one object with the user's bits 0. They have one copy on one target.
#[must_use]
pub fn roots(layout: u64) -> Vec<u8> {
    let (first, second) = match layout {
        DAOS_PROP_CO_LAYOUT_POSIX => (files::SUPERBLOCK, files::ROOT),
        _ => (files::SUPERBLOCK, (0, 0)),
    };
    // The low half of an id comes first.
    let halves = [first.1, first.0, second.1, second.0, 0, 0, 0, 0];
    halves.iter().flat_map(|half: &u64| half.to_le_bytes()).collect()
}

/// The bits that make 16 random bytes a UUID of version 4.
#[must_use]
pub const fn random_uuid(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}

/// Whether a text is a UUID's.
#[must_use]
pub fn is_uuid(text: &str) -> bool {
    let at_dash = |at| [8, 13, 18, 23].contains(&at);
    text.len() == 36
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at_dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// Why no container that programs see can have this label; `None` where one can.
#[must_use]
pub fn wrong_label(label: &str) -> Option<&'static str> {
    match label {
        OF_POOL => Some("a label other than that of the container with the pool's attributes"),
        _ if is_uuid(label) => Some("a label that does not look like a UUID"),
        _ => None,
    }
}
