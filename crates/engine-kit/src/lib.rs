//! What several engines need and the object model does not: checksums, byte readers, aligned buffers, random bytes, a loader for vendor
//! libraries with their errors, and a wrapper that lets a test change what an engine does.

pub mod aligned;
pub mod bytes;
pub mod checksum;
pub mod context;
pub mod hooks;
pub mod library;
pub mod processor;
pub mod random;
