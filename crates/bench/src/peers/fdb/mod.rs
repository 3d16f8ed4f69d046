//! ECMWF's FDB through its C interface, with raw bytes and keys, so that neither GRIB nor Python is measured.

#![expect(
    unsafe_code,
    reason = "FDB is a C++ library with a C interface; all calls into it are made in this module"
)]

mod api;

use std::{
    ffi::{CString, c_char, c_int, c_long},
    ptr,
};

use isotach_mars::{Key, Request};

pub(crate) use self::api::Library;
use self::api::{Owned, Raw, length_of};
use crate::{Error, Result, workloads::client::Target};

/// Bytes of one read of many fields: about 4 MiB of whole fields.
const PIECE: usize = 4 << 20;
/// The level of detail of a listing of single fields.
const FIELDS: c_int = 3;

pub(crate) struct Fdb {
    library: Library,
    handle: Owned,
    piece: Vec<u8>,
    size: usize,
}

impl Fdb {
    /// `size` is that of all fields.
    pub(crate) fn open(library: Library, size: usize) -> Result<Self> {
        let handle = handle(&library)?;
        Ok(Self { library, handle, piece: vec![0; size * (PIECE / size).max(1)], size })
    }

    fn request<'v>(&self, pairs: impl Iterator<Item = (&'v str, &'v [String])>) -> Result<Owned> {
        let api = &self.library.functions;
        // SAFETY: the function creates a request and stores it in `place`.
        let make = |place| unsafe { (api.fdb_new_request)(place) };
        let request = self.library.make("make a request", make, api.fdb_delete_request)?;
        for (name, values) in pairs {
            let (name, values) =
                (text(name)?, values.iter().map(|value| text(value)).collect::<Result<Vec<_>>>()?);
            let pointers: Vec<*const c_char> = values.iter().map(|value| value.as_ptr()).collect();
            // SAFETY: the request is ours; name and values are C strings, as many as the count says, and are copied.
            let status = unsafe {
                (api.fdb_request_add)(request.raw, name.as_ptr(), pointers.as_ptr(), pointers.len() as c_int)
            };
            self.library.check("add to a request", status)?;
        }
        Ok(request)
    }

    fn request_of(&self, text: &str) -> Result<Owned> {
        let request: Request = text.parse().map_err(isotach_fields::Error::from)?;
        let pairs: Vec<(String, Vec<String>)> = request
            .iter()
            .map(|(name, values)| (name.to_owned(), values.iter().map(ToString::to_string).collect()))
            .collect();
        self.request(pairs.iter().map(|(name, values)| (&**name, &values[..])))
    }

    /// Opens a reader of the fields of a request.
    fn read(&self, request: &Owned) -> Result<Reader<'_>> {
        let api = &self.library.functions;
        // SAFETY: the function creates a reader and stores it in `place`.
        let make = |place| unsafe { (api.fdb_new_datareader)(place) };
        let raw = self.library.make("make a reader", make, api.fdb_delete_datareader)?;
        // SAFETY: handle, request and reader are ours and outlive the call.
        let status = unsafe { (api.fdb_retrieve)(self.handle.raw, request.raw, raw.raw) };
        self.library.check("retrieve", status)?;
        let mut length: c_long = 0;
        // SAFETY: the reader is ours and has its fields; `length` is valid for writes.
        let status = unsafe { (api.fdb_datareader_open)(raw.raw, &raw mut length) };
        self.library.check("open a reader", status)?;
        Ok(Reader { library: &self.library, raw })
    }
}

fn handle(library: &Library) -> Result<Owned> {
    let api = &library.functions;
    // SAFETY: the function creates a handle and stores it in `place`.
    let make = |place| unsafe { (api.fdb_new_handle)(place) };
    library.make("open", make, api.fdb_delete_handle)
}

fn text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::invalid(format!("{text:?}"), "text without a zero byte"))
}

struct Reader<'l> {
    library: &'l Library,
    raw: Owned,
}

impl Reader<'_> {
    /// Reads until the buffer is full or the data end. Returns the number of bytes.
    fn fill(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let rest = &mut buffer[filled..];
            let mut got: c_long = 0;
            // SAFETY: the reader is ours and open, and `rest` has as many bytes as the length says.
            let status = unsafe {
                (self.library.functions.fdb_datareader_read)(
                    self.raw.raw,
                    rest.as_mut_ptr().cast(),
                    rest.len() as c_long,
                    &raw mut got,
                )
            };
            self.library.check("read", status)?;
            match usize::try_from(got) {
                Ok(got @ 1..) => filled += got.min(rest.len()),
                _ => break,
            }
        }
        Ok(filled)
    }

    fn close(self) -> Result<()> {
        // SAFETY: the reader is ours and open.
        let status = unsafe { (self.library.functions.fdb_datareader_close)(self.raw.raw) };
        self.library.check("close a reader", status)
    }
}

impl Target for Fdb {
    fn archive(&mut self, key: &Key, bytes: &[u8]) -> Result<()> {
        let api = &self.library.functions;
        // SAFETY: the function creates a key and stores it in `place`.
        let make = |place| unsafe { (api.fdb_new_key)(place) };
        let made = self.library.make("make a key", make, api.fdb_delete_key)?;
        for (name, value) in key.iter() {
            let (name, value) = (text(name)?, text(value)?);
            // SAFETY: the key is ours; both arguments are C strings, and are copied.
            let status = unsafe { (api.fdb_key_add)(made.raw, name.as_ptr(), value.as_ptr()) };
            self.library.check("add to a key", status)?;
        }
        // SAFETY: handle and key are ours; there are as many bytes as the length says.
        let status =
            unsafe { (api.fdb_archive)(self.handle.raw, made.raw, bytes.as_ptr().cast(), bytes.len()) };
        self.library.check("archive", status)
    }

    fn flush(&mut self) -> Result<()> {
        // SAFETY: the handle is ours.
        self.library.check("flush", unsafe { (self.library.functions.fdb_flush)(self.handle.raw) })
    }

    fn retrieve(&mut self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>> {
        let pairs: Vec<(&str, [String; 1])> =
            key.iter().map(|(name, value)| (name, [value.to_owned()])).collect();
        let request = self.request(pairs.iter().map(|(name, value)| (*name, &value[..])))?;
        let reader = self.read(&request)?;
        let length = reader.fill(buffer)?;
        reader.close()?;
        Ok(Some(length))
    }

    fn keeps_order(&self) -> bool {
        false
    }

    fn retrieve_all(&mut self, request: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let request = self.request_of(request)?;
        let mut piece = std::mem::take(&mut self.piece);
        let reader = self.read(&request)?;
        loop {
            let filled = reader.fill(&mut piece)?;
            // A truncated field has another length, which `each` detects.
            piece[..filled].chunks(self.size).try_for_each(&mut *each)?;
            if filled < piece.len() {
                break;
            }
        }
        reader.close()?;
        self.piece = piece;
        Ok(())
    }

    fn list(&mut self, request: &str, _as_json: bool, each: &mut dyn FnMut(u64)) -> Result<()> {
        let api = &self.library.functions;
        let request = self.request_of(request)?;
        // SAFETY: handle and request are ours; the function stores the iterator in `place`.
        let make =
            |place: *mut Raw| unsafe { (api.fdb_list)(self.handle.raw, request.raw, place, false, FIELDS) };
        let listing = self.library.make("list", make, api.fdb_delete_listiterator)?;
        // SAFETY: the function creates a key and stores it in `place`.
        let make = |place| unsafe { (api.fdb_new_splitkey)(place) };
        let key = self.library.make("make a key", make, api.fdb_delete_splitkey)?;
        // SAFETY: the iterator is ours.
        while self.library.check_next("list", unsafe { (api.fdb_listiterator_next)(listing.raw) })? {
            let (mut uri, mut offset, mut length) = (ptr::null(), 0, 0);
            // SAFETY: the iterator is ours and has an element; the pointers have the types that it fills.
            let status = unsafe {
                (api.fdb_listiterator_attrs)(listing.raw, &raw mut uri, &raw mut offset, &raw mut length)
            };
            self.library.check("list", status)?;
            // SAFETY: iterator and key are ours.
            let status = unsafe { (api.fdb_listiterator_splitkey)(listing.raw, key.raw) };
            self.library.check("list", status)?;
            std::hint::black_box((uri, offset, self.touch(&key)?));
            each(length as u64);
        }
        Ok(())
    }

    fn wipe(&mut self, _request: &str) -> Result<u64> {
        Err(Error::invalid("wipe", "an operation that peers are compared in: archive, retr1, bulk, list"))
    }

    fn reopen(&mut self) -> Result<()> {
        self.handle = handle(&self.library)?;
        Ok(())
    }
}

impl Fdb {
    /// Reads every pair of a key, as a program that lists would.
    fn touch(&self, key: &Owned) -> Result<usize> {
        let api = &self.library.functions;
        let mut sum = 0;
        loop {
            let (mut name, mut value, mut level) = (ptr::null(), ptr::null(), 0);
            // SAFETY: the key is ours; the pointers have the types that it fills.
            let status = unsafe {
                (api.fdb_splitkey_next_metadata)(key.raw, &raw mut name, &raw mut value, &raw mut level)
            };
            if !self.library.check_next("list", status)? {
                return Ok(sum);
            }
            sum += length_of(name) + length_of(value);
        }
    }
}
