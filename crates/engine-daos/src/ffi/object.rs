//! Objects addressed by distribution key and attribute key: values, and records of one byte.

use std::{borrow::Cow, ffi::c_int, ptr, sync::Arc};

use isotach_daos_abi::{
    constants::{DAOS_COND_AKEY_FETCH, DAOS_IOD_ARRAY, DAOS_IOD_SINGLE, DAOS_OO_RW},
    errors::{DER_NONEXIST, DER_REC2BIG},
    types::{
        d_iov_t, d_sg_list_t, daos_event_t, daos_handle_t, daos_iod_t, daos_key_t, daos_obj_id_t, daos_recx_t,
    },
};

use super::{Cont, Der, Tx, api::Functions, queue::Operation, transaction::handle_of};

/// The bytes of a value that are fetched before its size is known.
const GUESS: usize = 4096;

/// An open object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(super) container: Arc<Cont>,
    pub(super) handle: daos_handle_t,
}

pub(super) fn vector(bytes: &[u8]) -> d_iov_t {
    let length = bytes.len() as u64;
    // libdaos only reads what a key or an update points to.
    d_iov_t { iov_buf: bytes.as_ptr().cast_mut().cast(), iov_buf_len: length, iov_len: length }
}

impl Object {
    /// Opens an object, which need not have content.
    pub(crate) fn open(container: &Arc<Cont>, (hi, lo): (u64, u64)) -> Result<Self, Der> {
        let (open, id) = (container.functions().obj_open, daos_obj_id_t { lo, hi });
        // SAFETY: a place for the handle, alive for the call.
        let handle = container
            .ask(|handle| unsafe { open(container.handle, id, DAOS_OO_RW, handle, ptr::null_mut()) })?;
        Ok(Self { container: Arc::clone(container), handle })
    }

    pub(super) fn functions(&self) -> &'static Functions {
        self.container.functions()
    }

    /// A value, or `None` if it does not exist.
    ///
    /// DAOS's client answers a conditional fetch with `DER_NONEXIST` both where there is no value and where the only target that could
    /// have it is lost. A fetch without conditions finds nothing in the first case, and has the same error only in the second.
    pub(crate) fn value(
        self: &Arc<Self>,
        tx: Option<&Tx>,
        dkey: &[u8],
        akey: &[u8],
    ) -> Result<Option<Vec<u8>>, Der> {
        let mut fetch = Fetch::of_guess(self, tx, dkey, akey);
        loop {
            match fetch.run() {
                // Other processes may enlarge it repeatedly.
                Err(Der(DER_REC2BIG)) if fetch.size() > fetch.capacity() => {
                    fetch = Fetch::of_value(self, tx, dkey, akey, fetch.size());
                }
                Err(Der(DER_NONEXIST)) if fetch.conditions != 0 => {
                    fetch = Fetch::of_look(self, tx, dkey, akey);
                }
                outcome => {
                    outcome.map_err(Der::of_look)?;
                    let exists = fetch.conditions != 0 || fetch.size() > 0;
                    return Ok(exists.then(|| fetch.into_value()));
                }
            }
        }
    }

    /// Reads a value that may not exist, so that the transaction notices changes of it.
    pub(crate) fn look(self: &Arc<Self>, tx: Option<&Tx>, dkey: &[u8], akey: &[u8]) -> Result<(), Der> {
        Fetch::of_look(self, tx, dkey, akey).run().map_err(Der::of_look)
    }

    /// Removes everything.
    pub(crate) fn punch(&self, tx: Option<&Tx>) -> Result<(), Der> {
        // SAFETY: a handle that is open.
        self.container
            .check(unsafe { (self.functions().obj_punch)(self.handle, handle_of(tx), 0, ptr::null_mut()) })
    }

    /// Removes a distribution key.
    pub(crate) fn punch_dkey(&self, tx: Option<&Tx>, dkey: &[u8]) -> Result<(), Der> {
        let mut dkey = vector(dkey);
        let punch = self.functions().obj_punch_dkeys;
        // SAFETY: one key, alive for the call.
        self.container.check(unsafe { punch(self.handle, handle_of(tx), 0, 1, &mut dkey, ptr::null_mut()) })
    }

    /// Removes attribute keys.
    pub(crate) fn punch_akeys(&self, tx: Option<&Tx>, dkey: &[u8], akeys: &[&[u8]]) -> Result<(), Der> {
        let (mut dkey, count) = (vector(dkey), akeys.len() as u32);
        let mut akeys: Vec<daos_key_t> = akeys.iter().map(|akey| vector(akey)).collect();
        let (punch, th) = (self.functions().obj_punch_akeys, handle_of(tx));
        // SAFETY: a key and a list of so many keys, alive for the call.
        self.container.check(unsafe {
            punch(self.handle, th, 0, &mut dkey, count, akeys.as_mut_ptr(), ptr::null_mut())
        })
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.container.is_of_this_process() {
            // SAFETY: open, and not closed before; no operation is under way, since each has a share of it.
            unsafe { (self.functions().obj_close)(self.handle, ptr::null_mut()) };
        }
    }
}

fn iod(akey: &[u8], kind: c_int, size: u64, records: &mut [daos_recx_t]) -> daos_iod_t {
    let (iod_nr, iod_recxs) = match kind {
        DAOS_IOD_SINGLE => (1, ptr::null_mut()),
        _ => (records.len() as u32, records.as_mut_ptr()),
    };
    daos_iod_t { iod_name: vector(akey), iod_type: kind, iod_size: size, iod_flags: 0, iod_nr, iod_recxs }
}

/// A fetch of one value, or of one range of records.
#[derive(Debug)]
pub(crate) struct Fetch {
    object: Arc<Object>,
    tx: daos_handle_t,
    dkey: Vec<u8>,
    akey: Vec<u8>,
    /// Nothing for a value.
    records: Vec<daos_recx_t>,
    buffer: Vec<u8>,
    /// The conditions of the fetch. They alone distinguish a value without bytes from no value.
    conditions: u64,
    raw: Raw,
}

/// The structures for libdaos, filled when their addresses are final.
#[derive(Debug, Default)]
struct Raw {
    dkey: daos_key_t,
    iods: Vec<daos_iod_t>,
    vectors: Vec<Vec<d_iov_t>>,
    lists: Vec<d_sg_list_t>,
}

// SAFETY: the pointers are to memory of the operation around it.
unsafe impl Send for Raw {}
// SAFETY: as above; a shared one is only looked at.
unsafe impl Sync for Raw {}

impl Raw {
    fn add(&mut self, iod: daos_iod_t, vectors: Vec<d_iov_t>) {
        self.iods.push(iod);
        self.vectors.push(vectors);
    }

    /// Makes a list of each part's vectors, which stay where they are.
    fn finish(&mut self, dkey: &[u8]) {
        self.dkey = vector(dkey);
        let list = |vectors: &mut Vec<d_iov_t>| d_sg_list_t {
            sg_nr: vectors.len() as u32,
            sg_nr_out: 0,
            // libdaos follows any pointer but null, even for a number of 0.
            sg_iovs: if vectors.is_empty() { ptr::null_mut() } else { vectors.as_mut_ptr() },
        };
        self.lists = self.vectors.iter_mut().map(list).collect();
    }
}

impl Fetch {
    /// A fetch of a value of unknown size. A longer value than usual fails with `DER_REC2BIG`. A missing value and a lost target fail with
    /// `DER_NONEXIST`: see [`Object::value`].
    pub(crate) fn of_guess(object: &Arc<Object>, tx: Option<&Tx>, dkey: &[u8], akey: &[u8]) -> Self {
        Self::of_value(object, tx, dkey, akey, GUESS)
    }

    /// A fetch of a value that may not exist and then has no bytes. It fails with `DER_NONEXIST` only for a lost target.
    pub(crate) fn of_look(object: &Arc<Object>, tx: Option<&Tx>, dkey: &[u8], akey: &[u8]) -> Self {
        Self { conditions: 0, ..Self::of_guess(object, tx, dkey, akey) }
    }

    fn of_value(object: &Arc<Object>, tx: Option<&Tx>, dkey: &[u8], akey: &[u8], room: usize) -> Self {
        Self::new(object, tx, dkey, akey, Vec::new(), vec![0; room])
    }

    /// A fetch of records. Unwritten bytes are zeros.
    pub(crate) fn of_records(
        object: &Arc<Object>,
        tx: Option<&Tx>,
        (dkey, akey): (&[u8], &[u8]),
        offset: u64,
        length: usize,
    ) -> Self {
        let records = vec![daos_recx_t { rx_idx: offset, rx_nr: length as u64 }];
        Self::new(object, tx, dkey, akey, records, vec![0; length])
    }

    fn new(
        object: &Arc<Object>,
        tx: Option<&Tx>,
        dkey: &[u8],
        akey: &[u8],
        records: Vec<daos_recx_t>,
        buffer: Vec<u8>,
    ) -> Self {
        let (object, tx, raw) = (Arc::clone(object), handle_of(tx), Raw::default());
        let (dkey, akey) = (dkey.to_vec(), akey.to_vec());
        let conditions = if records.is_empty() { DAOS_COND_AKEY_FETCH } else { 0 };
        Self { object, tx, dkey, akey, records, buffer, conditions, raw }
    }

    fn capacity(&self) -> usize {
        self.buffer.len()
    }

    /// The size of the value after the end, or 0 without one.
    fn size(&self) -> usize {
        self.raw.iods.first().map_or(0, |iod| iod.iod_size as usize)
    }

    /// The value, once it has ended.
    pub(crate) fn into_value(mut self) -> Vec<u8> {
        self.buffer.truncate(self.size());
        self.buffer
    }

    /// The bytes of records, once it has ended.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.buffer
    }
}

impl Operation for Fetch {
    fn container(&self) -> &Arc<Cont> {
        &self.object.container
    }

    fn launch(&mut self, functions: &Functions, event: *mut daos_event_t) -> c_int {
        self.raw = Raw::default();
        let (kind, size) = if self.records.is_empty() { (DAOS_IOD_SINGLE, 0) } else { (DAOS_IOD_ARRAY, 1) };
        let length = self.buffer.len() as u64;
        let vector =
            d_iov_t { iov_buf: self.buffer.as_mut_ptr().cast(), iov_buf_len: length, iov_len: length };
        self.raw.add(iod(&self.akey, kind, size, &mut self.records), vec![vector]);
        self.raw.finish(&self.dkey);
        let (raw, object, fetch) = (&mut self.raw, self.object.handle, functions.obj_fetch);
        let (iods, lists, no_maps) = (raw.iods.as_mut_ptr(), raw.lists.as_mut_ptr(), ptr::null_mut());
        // SAFETY: keys, descriptions and buffers are of this operation, which stays until the event has come.
        unsafe { fetch(object, self.tx, self.conditions, &mut raw.dkey, 1, iods, lists, no_maps, event) }
    }
}

/// A change of one attribute key.
#[derive(Debug)]
pub(crate) enum AkeyUpdate<'d> {
    /// A value.
    Value { akey: Cow<'d, [u8]>, bytes: Cow<'d, [u8]> },
    /// Records: bytes at offsets.
    Records { akey: Cow<'d, [u8]>, extents: Vec<(u64, Cow<'d, [u8]>)> },
    /// Records to punch: offsets and lengths.
    Punch { akey: Cow<'d, [u8]>, ranges: Vec<(u64, u64)> },
}

/// Changes under one distribution key, which are atomic.
#[derive(Debug)]
pub(crate) struct Update<'d> {
    object: Arc<Object>,
    tx: daos_handle_t,
    dkey: Cow<'d, [u8]>,
    parts: Vec<AkeyUpdate<'d>>,
    records: Vec<Vec<daos_recx_t>>,
    raw: Raw,
}

impl<'d> Update<'d> {
    pub(crate) fn new(
        object: &Arc<Object>,
        tx: Option<&Tx>,
        dkey: impl Into<Cow<'d, [u8]>>,
        parts: Vec<AkeyUpdate<'d>>,
    ) -> Self {
        let (dkey, tx) = (dkey.into(), handle_of(tx));
        Self { object: Arc::clone(object), tx, dkey, parts, records: Vec::new(), raw: Raw::default() }
    }

    /// With copies of what it refers to.
    pub(crate) fn into_owned(self) -> Update<'static> {
        let own = |bytes: Cow<'_, [u8]>| Cow::Owned(bytes.into_owned());
        let part = |part| match part {
            AkeyUpdate::Value { akey, bytes } => AkeyUpdate::Value { akey: own(akey), bytes: own(bytes) },
            AkeyUpdate::Records { akey, extents } => {
                let extents = extents.into_iter().map(|(offset, bytes)| (offset, own(bytes))).collect();
                AkeyUpdate::Records { akey: own(akey), extents }
            }
            AkeyUpdate::Punch { akey, ranges } => AkeyUpdate::Punch { akey: own(akey), ranges },
        };
        Update {
            object: self.object,
            tx: self.tx,
            dkey: own(self.dkey),
            parts: self.parts.into_iter().map(part).collect(),
            records: Vec::new(),
            raw: Raw::default(),
        }
    }

    fn describe(part: &AkeyUpdate<'_>, records: &mut Vec<daos_recx_t>) -> (daos_iod_t, Vec<d_iov_t>) {
        match part {
            AkeyUpdate::Value { akey, bytes } => {
                (iod(akey, DAOS_IOD_SINGLE, bytes.len() as u64, &mut []), vec![vector(bytes)])
            }
            AkeyUpdate::Records { akey, extents } => {
                let range = |(offset, bytes): &(u64, Cow<'_, [u8]>)| daos_recx_t {
                    rx_idx: *offset,
                    rx_nr: bytes.len() as u64,
                };
                *records = extents.iter().map(range).collect();
                (
                    iod(akey, DAOS_IOD_ARRAY, 1, records),
                    extents.iter().map(|(_, bytes)| vector(bytes)).collect(),
                )
            }
            AkeyUpdate::Punch { akey, ranges } => {
                *records = ranges.iter().map(|&(rx_idx, rx_nr)| daos_recx_t { rx_idx, rx_nr }).collect();
                (iod(akey, DAOS_IOD_ARRAY, 0, records), Vec::new())
            }
        }
    }
}

impl Operation for Update<'_> {
    fn container(&self) -> &Arc<Cont> {
        &self.object.container
    }

    fn launch(&mut self, functions: &Functions, event: *mut daos_event_t) -> c_int {
        self.raw = Raw::default();
        self.records = self.parts.iter().map(|_| Vec::new()).collect();
        for (part, records) in self.parts.iter().zip(&mut self.records) {
            let (iod, vectors) = Self::describe(part, records);
            self.raw.add(iod, vectors);
        }
        self.raw.finish(&self.dkey);
        let (raw, count) = (&mut self.raw, self.parts.len() as u32);
        let (iods, lists) = (raw.iods.as_mut_ptr(), raw.lists.as_mut_ptr());
        // SAFETY: keys, descriptions and bytes are of this operation, which stays until the event has come.
        unsafe {
            (functions.obj_update)(self.object.handle, self.tx, 0, &mut raw.dkey, count, iods, lists, event)
        }
    }
}
