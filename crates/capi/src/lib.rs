//! The C interface of the field store: `libisotach` and `isotach.h`.
//!
//! `export` holds the functions that C calls, and all unsafe code. `fields` and `report` are what two of its opaque types are; a store and a
//! transaction are those of `isotach-fields`.
//!
//! What must stay true:
//! - A status has the same number in every version, and stands for one stable code.
//! - No panic crosses the boundary, and no call writes a result when it fails, but for the size that a buffer needs.

mod export;
mod fields;
mod report;
mod status;
