//! What the C interfaces of the field store share: the memory of their callers, failures, and archiving messages.
//!
//! What must stay true: no panic crosses to C, and a pointer of a caller's is followed only in `pointers`.

mod failure;
mod messages;
mod pointers;

pub use failure::{CODE_INTERNAL, CODE_INVALID, Failure, Result, guarded};
pub use messages::{archive_messages, message_key};
pub use pointers::{Handle, In, Out, Text, bytes, bytes_mut, c_text, texts};
