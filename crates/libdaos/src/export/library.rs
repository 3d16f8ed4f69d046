//! Beginning and end, and texts.

use std::ffi::{CStr, CString, c_char, c_int};

use isotach_object::ObjectClass;

use super::{Text, export};
use crate::{
    abi::{classes::OC_RP_XSF, errors},
    containers::{pools, redundancy::COPIES_MAX},
    runtime::{error::Result, locked},
};

#[export]
fn daos_init() -> Result<()> {
    pools::init()
}

#[export]
fn daos_fini() -> Result<()> {
    pools::fini()
}

/// Does nothing: the next call of a child process notices the fork. The child opens its pools and containers anew.
#[export]
fn daos_reinit() -> c_int {
    0
}

/// The name of an error, such as `DER_NONEXIST`.
#[export]
fn d_errstr(number: c_int) -> *const c_char {
    leaked(errors::name(number))
}

/// The description of an error.
#[export]
fn d_errdesc(number: c_int) -> *const c_char {
    leaked(errors::text(number))
}

/// A text that is never freed. There is at most one for each error.
fn leaked(text: &'static str) -> *const c_char {
    use std::{
        collections::HashMap,
        sync::{LazyLock, Mutex},
    };
    static TEXTS: LazyLock<Mutex<HashMap<&'static str, &'static CStr>>> = LazyLock::new(Mutex::default);
    let mut texts = locked(&TEXTS);
    let make = || &*Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str());
    texts.entry(text).or_insert_with(make).as_ptr()
}

/// The number of the object class with a name, or 0.
#[export]
fn daos_oclass_name2id(name: Text) -> c_int {
    match name.text() {
        Err(_) => 0,
        Ok(COPIES_MAX) => OC_RP_XSF as c_int,
        Ok(name) => name.parse::<ObjectClass>().map_or(0, |class| class.id() as c_int),
    }
}

/// The name of an object class, of at most 24 characters. Returns -1 for a class without a name.
#[export]
unsafe fn daos_oclass_id2name(class: u32, name: *mut c_char) -> c_int {
    let class = match class {
        OC_RP_XSF => COPIES_MAX.to_owned(),
        _ => ObjectClass::from_parts((class >> 24) as u8, class as u16).to_string(),
    };
    if name.is_null() || class.starts_with("0x") {
        return -1;
    }
    for (at, byte) in class.bytes().chain([0]).enumerate() {
        // SAFETY: BUFFER for `name`, of the 24 bytes that the longest name has, as the header says.
        unsafe { name.add(at).write(byte as c_char) };
    }
    0
}
