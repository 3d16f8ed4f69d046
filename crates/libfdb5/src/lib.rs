//! FDB's C interface over a field store: a program that was built for `fdb_c.h` runs on Isotach.
//!
//! `export` holds the functions that C calls, and all unsafe code. The safe modules beside it are what its opaque types are: `handle`,
//! `listing`, `reader`, `reports`; a key and a request are those of `isotach-mars`.
//!
//! What must stay true:
//! - A function has the number, the types and the effect that it has in FDB 5.25. docs/libfdb5.md lists each difference.
//! - No panic crosses the boundary. A failure is a number, a text, and a call of the failure handler.
//!
//! The interface is described by FDB's `fdb_c.h`; the header in `include` is written anew.

mod config;
mod export;
mod handle;
mod listing;
mod reader;
mod reports;
