//! The binary interface: the types, constants and error numbers that a program compiled for DAOS expects.
//!
//! Names are those of the C interface, so that a reader who knows DAOS finds them. Sizes and offsets are asserted where
//! each structure is defined: a program that was compiled elsewhere shares memory with us, so a layout that drifts must
//! not compile. The module needs nothing but `core`. The C header in `include/` says the same: `tests/c/layout.c`
//! checks its layouts, and the tests in `header` its numbers.

#![expect(non_camel_case_types, reason = "the types carry the names that C programs use")]

pub mod acl;
pub mod classes;
pub mod constants;
pub mod errors;
#[cfg(test)]
mod header;
pub mod info;
pub mod properties;
pub mod types;
