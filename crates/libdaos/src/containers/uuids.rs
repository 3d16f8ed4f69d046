//! UUIDs of pools and containers.

use md5::{Digest, Md5};

use crate::{abi::stored, runtime::error::Result};

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

/// A UUID as text.
pub(crate) fn uuid_text(uuid: &[u8; 16]) -> String {
    let digits: Vec<String> = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [&digits[..4], &digits[4..6], &digits[6..8], &digits[8..10], &digits[10..]]
        .map(<[String]>::concat)
        .join("-")
}
