//! Readers.

use std::ffi::{c_long, c_void};

use isotach_capi_kit::Failure;

use super::{Handle, Out, Result, bytes_mut, export};
use crate::reader::Reader;

/// A size as C has it.
fn long(number: u64) -> c_long {
    c_long::try_from(number).unwrap_or(c_long::MAX)
}

#[export]
fn fdb_new_datareader(dr: Out<Handle<Reader>>) -> Result<()> {
    dr.fill("dr", || Ok(Reader::default()))
}

#[export]
fn fdb_datareader_open(mut dr: Handle<Reader>, size: Out<c_long>) -> Result<()> {
    size.put_if_any(long(dr.get_mut("dr")?.open()?));
    Ok(())
}

#[export]
fn fdb_datareader_close(mut dr: Handle<Reader>) -> Result<()> {
    dr.get_mut("dr")?.close()
}

#[export]
fn fdb_datareader_tell(dr: Handle<Reader>, pos: Out<c_long>) -> Result<()> {
    pos.put("pos", long(dr.get("dr")?.position()?))
}

#[export]
fn fdb_datareader_seek(mut dr: Handle<Reader>, pos: c_long) -> Result<()> {
    dr.get_mut("dr")?.seek(pos)
}

#[export]
fn fdb_datareader_skip(mut dr: Handle<Reader>, count: c_long) -> Result<()> {
    dr.get_mut("dr")?.skip(count)
}

#[export]
fn fdb_datareader_size(dr: Handle<Reader>, size: Out<c_long>) -> Result<()> {
    size.put("size", long(dr.get("dr")?.size()?))
}

#[export]
unsafe fn fdb_datareader_read(
    mut dr: Handle<Reader>,
    buf: *mut c_void,
    count: c_long,
    read: Out<c_long>,
) -> Result<()> {
    let reader = dr.get_mut("dr")?;
    read.check("read")?;
    if buf.is_null() {
        return Err(Failure::invalid("buf is NULL"));
    }
    let count = usize::try_from(count).map_err(|_| Failure::invalid(format!("count is {count}")))?;
    // SAFETY: BUFFER for `buf`, of `count`.
    let buffer = unsafe { bytes_mut("buf", buf.cast(), count) }?;
    read.put("read", long(reader.read(buffer)? as u64))
}

#[export]
fn fdb_delete_datareader(dr: Handle<Reader>) -> Result<()> {
    dr.take("dr").map(drop)
}
