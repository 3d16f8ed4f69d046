//! The bytes on the device: each file here encodes and decodes one part of what `docs/FORMAT.md` specifies.
//!
//! What must stay true: nothing here reads past its input, whatever bytes it is given.

pub(crate) mod extent;
pub(crate) mod frame;
pub(crate) mod path;
pub(crate) mod record;
pub(crate) mod superblock;
