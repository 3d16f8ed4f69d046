//! The library itself.

use std::ffi::{CStr, c_char};

use super::{Out, Result, export};

/// The version of FDB whose interface this is. Programs ask for a least one.
const FDB_VERSION: &CStr = c"5.25.0";

/// Name and version of this library, where FDB has the hash of a commit.
const OWN: &str = concat!("isotach-", env!("CARGO_PKG_VERSION"), "\0");

#[export]
fn fdb_initialise() -> Result<()> {
    Ok(())
}

#[export]
fn fdb_version(version: Out<*const c_char>) -> Result<()> {
    version.put("version", FDB_VERSION.as_ptr())
}

#[export]
fn fdb_vcs_version(sha1: Out<*const c_char>) -> Result<()> {
    sha1.put("sha1", OWN.as_ptr().cast())
}
