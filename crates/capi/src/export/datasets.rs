//! Axes, status, wipes, deletions and purges, and their reports.

use std::ffi::{c_char, c_int};

use isotach_fields::{Answer, FieldStore};

use super::{Found, Handle, Out, Result, Text, export, retrieve::request_of};
use crate::report::Report;

#[export]
fn isotach_axes(store: Handle<FieldStore>, request: Text, report: Out<Handle<Report>>) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    report.fill("report", || Ok(Report::of(store.axes(&request)?)))
}

#[export]
fn isotach_status_of(store: Handle<FieldStore>, request: Text, report: Out<Handle<Report>>) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    report.fill("report", || Ok(Report::of(Answer { found: store.status(&request)?, unusable: Vec::new() })))
}

#[export]
fn isotach_wipe(
    store: Handle<FieldStore>,
    request: Text,
    doit: c_int,
    report: Out<Handle<Report>>,
) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    report.fill("report", || {
        let found = store.wipe(&request, doit != 0)?.datasets;
        Ok(Report::of(Answer { found, unusable: Vec::new() }))
    })
}

#[export]
fn isotach_delete(
    store: Handle<FieldStore>,
    request: Text,
    doit: c_int,
    report: Out<Handle<Report>>,
) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    report.fill("report", || {
        let found = store.delete(&request, doit != 0)?.datasets;
        Ok(Report::of(Answer { found, unusable: Vec::new() }))
    })
}

#[export]
fn isotach_purge(
    store: Handle<FieldStore>,
    request: Text,
    doit: c_int,
    report: Out<Handle<Report>>,
) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    report.fill("report", || Ok(Report::of(store.purge(&request, doit != 0)?)))
}

#[export]
fn isotach_report_next(mut report: Handle<Report>) -> Result<Found> {
    Ok(report.get_mut("report")?.advance()?.into())
}

#[export]
fn isotach_report_text(
    report: Handle<Report>,
    name: Text,
    at: usize,
    text: Out<*const c_char>,
) -> Result<Found> {
    let report = report.get("report")?;
    text.check("text")?;
    let Some(found) = report.text(name.get("name")?, at)? else { return Ok(Found::No) };
    text.put("text", found.as_ptr())?;
    Ok(Found::Yes)
}

#[export]
fn isotach_report_number(report: Handle<Report>, name: Text, number: Out<u64>) -> Result<()> {
    number.put("number", report.get("report")?.number(name.get("name")?)?)
}

#[export]
fn isotach_report_free(report: Handle<Report>) {
    report.free();
}
