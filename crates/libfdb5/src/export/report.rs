//! Wipes and purges, and their reports.

use std::ffi::{CString, c_char};

use isotach_mars::Request;

use super::{Bool, Handle, Next, Out, Result, export};
use crate::{handle::Fdb, reports::Report};

/// What `fdb_wipe_element_t` and `fdb_purge_element_t` are.
type Element = CString;

#[export]
fn fdb_wipe(
    fdb: Handle<Fdb>,
    request: Handle<Request>,
    doit: Bool,
    porcelain: Bool,
    _unsafe_wipe_all: Bool,
    it: Out<Handle<Report>>,
) -> Result<()> {
    let (fdb, request) = (fdb.get("fdb")?, request.get("req")?);
    it.fill("it", || fdb.wipe(request, doit != 0, porcelain != 0))
}

#[export]
fn fdb_purge(
    fdb: Handle<Fdb>,
    request: Handle<Request>,
    doit: Bool,
    porcelain: Bool,
    it: Out<Handle<Report>>,
) -> Result<()> {
    let (fdb, request) = (fdb.get("fdb")?, request.get("req")?);
    it.fill("it", || fdb.purge(request, doit != 0, porcelain != 0))
}

#[export(fdb_purge_iterator_next)]
fn fdb_wipe_iterator_next(it: Handle<Report>, element: Out<Handle<Element>>) -> Result<Next> {
    // The second name repeats the parameters, where `mut` would have no effect.
    let mut it = it;
    let report = it.get_mut("it")?;
    element.check("element")?;
    let next = report.next()?;
    let answer = if next.is_some() { Next::There } else { Next::End };
    // FDB gives an element at the end, too, and programs delete it.
    element.put("element", Handle::new(next.unwrap_or_default()))?;
    Ok(answer)
}

#[export(fdb_delete_purge_iterator)]
fn fdb_delete_wipe_iterator(it: Handle<Report>) -> Result<()> {
    if it.is_null() { Ok(()) } else { it.take("it").map(drop) }
}

#[export(fdb_purge_element_string)]
fn fdb_wipe_element_string(element: Handle<Element>, str: Out<*const c_char>) -> Result<()> {
    str.put("str", element.get("element")?.as_ptr())
}

#[export(fdb_delete_purge_element)]
fn fdb_delete_wipe_element(element: Handle<Element>) -> Result<()> {
    element.take("element").map(drop)
}
