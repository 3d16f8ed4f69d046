//! Printing access control lists on standard output.

use std::ffi::CString;

use super::{acl::list_bytes, many, value_or_none};
use crate::{
    abi::info::{daos_ace, daos_acl},
    containers::acl::{ENTRY_HEAD, Entry, List},
};

/// Prints lines through C's library, which keeps them in order with the program's own output.
fn print(lines: &[String]) {
    if let Ok(text) = CString::new(lines.join("\n")) {
        // SAFETY: a `CString` ends with a NUL, and lives for the call.
        unsafe { libc::puts(text.as_ptr()) };
    }
}

fn line(entry: &Entry, tabs: usize) -> String {
    // An entry whose alerts differ from its permissions has no text.
    format!("{}{}", "\t".repeat(tabs), entry.text().unwrap_or_else(|_| format!("{entry:?}")))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_dump(list: *mut daos_acl) {
    // SAFETY: STRUCT for `list`.
    let list = unsafe { list_bytes(list) }.and_then(List::read);
    let entries = match list {
        Ok(list) => list.entries().iter().map(|entry| line(entry, 1)).collect(),
        Err(_) => vec!["\tno list".to_owned()],
    };
    print(&[vec!["Access control list:".to_owned()], entries].concat());
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_dump(entry: *mut daos_ace, tabs: u32) {
    // SAFETY: STRUCT for `entry`.
    let bytes = unsafe { value_or_none(entry) }
        .map_or(0, |head| ENTRY_HEAD as u64 + u64::from(head.dae_principal_len));
    // SAFETY: STRUCT for `entry`: behind its head there are the `dae_principal_len` bytes of a name.
    let read = unsafe { many(entry.cast_const().cast(), bytes) }.and_then(Entry::read);
    let tabs = tabs as usize;
    print(&[read.map_or_else(|_| format!("{}no entry", "\t".repeat(tabs)), |(entry, _)| line(&entry, tabs))]);
}
