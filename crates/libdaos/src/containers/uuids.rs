//! UUIDs of pools and containers.

use md5::{Digest, Md5};

use crate::{
    abi::stored::{self, is_uuid},
    runtime::error::Result,
};

pub(crate) fn random_uuid() -> Result<[u8; 16]> {
    Ok(stored::random_uuid(isotach_engine_kit::random::bytes()?))
}

/// A UUID that is the same for everybody who knows the label.
pub(crate) fn uuid_of_label(label: &str) -> [u8; 16] {
    let mut uuid: [u8; 16] = Md5::digest(label).into();
    uuid[6] = uuid[6] & 0x0f | 0x30;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// The UUID that a text is.
pub(crate) fn uuid_in(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    is_uuid(text).then(|| std::array::from_fn(|at| digits[2 * at] << 4 | digits[2 * at + 1]))
}

/// A UUID as text.
pub(crate) fn uuid_text(uuid: &[u8; 16]) -> String {
    let digits: Vec<String> = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [&digits[..4], &digits[4..6], &digits[6..8], &digits[8..10], &digits[10..]]
        .map(<[String]>::concat)
        .join("-")
}
