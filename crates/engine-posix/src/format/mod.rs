//! The bytes on the device: each file encodes and decodes one part of `docs/FORMAT.md`.
//!
//! What must stay true: decoding never reads past its input, whatever the bytes are.

pub(crate) mod extent;
pub(crate) mod frame;
pub(crate) mod path;
pub(crate) mod record;
pub(crate) mod superblock;
