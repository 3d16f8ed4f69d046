//! Arrays of bytes.

use std::{ffi::c_int, ptr, sync::Arc};

use isotach_daos_abi::{
    constants::DAOS_OO_RW,
    types::{
        d_iov_t, d_sg_list_t, daos_array_iod_t, daos_event_t, daos_handle_t, daos_obj_id_t, daos_range_t,
    },
};

use super::{Cont, Der, Tx, api::Functions, queue::Operation, transaction::handle_of};

/// An open array, of cells of one byte.
#[derive(Debug)]
pub(crate) struct Array {
    container: Arc<Cont>,
    handle: daos_handle_t,
}

impl Array {
    /// Opens an array, which need not have content, with `chunk` bytes under one distribution key.
    pub(crate) fn open(container: &Arc<Cont>, (hi, lo): (u64, u64), chunk: u64) -> Result<Self, Der> {
        let (open, none) = (container.functions().array_open_with_attr, handle_of(None));
        let id = daos_obj_id_t { lo, hi };
        // SAFETY: a place for the handle, alive for the call.
        let handle = container.ask(|handle| unsafe {
            open(container.handle, id, none, DAOS_OO_RW, 1, chunk, handle, ptr::null_mut())
        })?;
        Ok(Self { container: Arc::clone(container), handle })
    }

    fn functions(&self) -> &'static Functions {
        self.container.functions()
    }

    /// Its size in bytes, or 0 if it does not exist.
    pub(crate) fn size(&self, tx: Option<&Tx>) -> Result<u64, Der> {
        let get = self.functions().array_get_size;
        // SAFETY: a place for the answer, alive for the call.
        self.container.ask(|size| unsafe { get(self.handle, handle_of(tx), size, ptr::null_mut()) })
    }

    /// Truncates or extends it.
    pub(crate) fn set_size(&self, tx: Option<&Tx>, size: u64) -> Result<(), Der> {
        // SAFETY: numbers.
        self.container.check(unsafe {
            (self.functions().array_set_size)(self.handle, handle_of(tx), size, ptr::null_mut())
        })
    }

    /// Punches bytes.
    pub(crate) fn punch(&self, tx: Option<&Tx>, offset: u64, length: u64) -> Result<(), Der> {
        let mut range = daos_range_t { rg_idx: offset, rg_len: length };
        let mut described = described(&mut range);
        // SAFETY: a description of one range, alive for the call.
        self.container.check(unsafe {
            (self.functions().array_punch)(self.handle, handle_of(tx), &mut described, ptr::null_mut())
        })
    }

    /// Removes the whole object.
    pub(crate) fn destroy(&self, tx: Option<&Tx>) -> Result<(), Der> {
        // SAFETY: a handle that is open; it is closed when dropped, as it has to be.
        self.container
            .check(unsafe { (self.functions().array_destroy)(self.handle, handle_of(tx), ptr::null_mut()) })
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.container.is_of_this_process() {
            // SAFETY: open, and not closed before; no operation is under way, since each has a share of it.
            unsafe { (self.functions().array_close)(self.handle, ptr::null_mut()) };
        }
    }
}

fn described(range: &mut daos_range_t) -> daos_array_iod_t {
    daos_array_iod_t { arr_nr: 1, arr_rgs: range, arr_nr_short_read: 0, arr_nr_read: 0 }
}

/// The description of an operation on one range, filled when its address is final.
#[derive(Debug)]
struct Described {
    range: daos_range_t,
    iod: daos_array_iod_t,
    vector: d_iov_t,
    list: d_sg_list_t,
}

// SAFETY: the pointers are to parts of the same value and to bytes that belong to the operation around it.
unsafe impl Send for Described {}
// SAFETY: by a shared reference nothing is reached but numbers and addresses, which are not followed.
unsafe impl Sync for Described {}

impl Described {
    fn of(offset: u64) -> Self {
        let range = daos_range_t { rg_idx: offset, rg_len: 0 };
        let iod =
            daos_array_iod_t { arr_nr: 1, arr_rgs: ptr::null_mut(), arr_nr_short_read: 0, arr_nr_read: 0 };
        let list = d_sg_list_t { sg_nr: 1, sg_nr_out: 0, sg_iovs: ptr::null_mut() };
        Self { range, iod, vector: d_iov_t::default(), list }
    }

    /// Points to itself and to these bytes.
    fn point(&mut self, bytes: *mut u8, length: usize) {
        self.range.rg_len = length as u64;
        self.vector = d_iov_t { iov_buf: bytes.cast(), iov_buf_len: length as u64, iov_len: length as u64 };
        (self.iod.arr_rgs, self.list.sg_iovs) = (&raw mut self.range, &raw mut self.vector);
    }
}

/// A write of one range.
#[derive(Debug)]
pub(crate) struct Write<'d> {
    array: Arc<Array>,
    tx: daos_handle_t,
    data: std::borrow::Cow<'d, [u8]>,
    described: Described,
}

impl<'d> Write<'d> {
    pub(crate) fn new(
        array: &Arc<Array>,
        tx: Option<&Tx>,
        offset: u64,
        data: impl Into<std::borrow::Cow<'d, [u8]>>,
    ) -> Self {
        Self {
            array: Arc::clone(array),
            tx: handle_of(tx),
            data: data.into(),
            described: Described::of(offset),
        }
    }
}

impl Operation for Write<'_> {
    fn container(&self) -> &Arc<Cont> {
        &self.array.container
    }

    fn launch(&mut self, functions: &Functions, event: *mut daos_event_t) -> c_int {
        // libdaos only reads what a write points to.
        self.described.point(self.data.as_ptr().cast_mut(), self.data.len());
        let (write, described) = (functions.array_write, &mut self.described);
        // SAFETY: what is described is of this operation, which stays until the event has come.
        unsafe { write(self.array.handle, self.tx, &mut described.iod, &mut described.list, event) }
    }
}

/// The destination of a read.
#[derive(Debug)]
pub(crate) enum Buffer<'b> {
    Owned(Vec<u8>),
    Lent(&'b mut [u8]),
}

/// A read of one range.
#[derive(Debug)]
pub(crate) struct Read<'b> {
    array: Arc<Array>,
    tx: daos_handle_t,
    buffer: Buffer<'b>,
    described: Described,
}

impl<'b> Read<'b> {
    pub(crate) fn new(array: &Arc<Array>, tx: Option<&Tx>, offset: u64, buffer: Buffer<'b>) -> Self {
        Self { array: Arc::clone(array), tx: handle_of(tx), buffer, described: Described::of(offset) }
    }

    /// Whether all bytes were there, once it has ended.
    pub(crate) fn is_whole(&self) -> bool {
        self.described.iod.arr_nr_short_read == 0
    }

    /// The number of read bytes, once it has ended.
    fn filled(&self) -> usize {
        (self.described.range.rg_len - self.described.iod.arr_nr_short_read.min(self.described.range.rg_len))
            as usize
    }

    /// The whole buffer, for another read.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self.buffer {
            Buffer::Owned(bytes) => bytes,
            Buffer::Lent(bytes) => bytes.to_vec(),
        }
    }

    /// The read bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let filled = self.filled();
        match self.buffer {
            Buffer::Owned(mut bytes) => {
                bytes.truncate(filled);
                bytes
            }
            Buffer::Lent(bytes) => bytes[..filled].to_vec(),
        }
    }
}

impl Operation for Read<'_> {
    fn container(&self) -> &Arc<Cont> {
        &self.array.container
    }

    fn launch(&mut self, functions: &Functions, event: *mut daos_event_t) -> c_int {
        let bytes = match &mut self.buffer {
            Buffer::Owned(bytes) => bytes.as_mut_slice(),
            Buffer::Lent(bytes) => bytes,
        };
        self.described.point(bytes.as_mut_ptr(), bytes.len());
        let (read, described) = (functions.array_read, &mut self.described);
        // SAFETY: what is described, and the buffer, are of this operation, which stays until the event has come.
        unsafe { read(self.array.handle, self.tx, &mut described.iod, &mut described.list, event) }
    }
}
