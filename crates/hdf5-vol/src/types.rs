//! Datatypes: their stored form, their form in the file, and committed ones.
//!
//! The stored form is a version, the number of the committed datatype in the same file (0 for none), and what `H5Tencode` gives.

use std::{ptr, sync::Arc};

use isotach_hdf5::{Data, Error as FileError, Object};
use isotach_hdf5_types::{Datatype, Error as TypeError};

use crate::{
    abi::{Hid, id_type, type_class},
    error::{Error, Result},
    handle::{Body, Handle, Node, TypeShadow, committed_number},
    id::{Id, check, yes},
    library::Library,
    view::View,
};

const VERSION: u8 = 1;
const HEAD: usize = 9;

/// The stored form of a type of the program's.
pub(crate) fn encode(view: &Arc<View>, kind: Hid) -> Result<Vec<u8>> {
    let library = view.library;
    if yes(library.H5Tcommitted(kind), "H5Tcommitted")? {
        let number = committed_number(library.H5VLobject(kind), view.file.number()).unwrap_or(0);
        return encode_with(library, kind, number);
    }
    match library.H5Tget_class(kind) {
        // Equal ones of other classes may have other orders of members, or other tags.
        type_class::INTEGER | type_class::FLOAT | type_class::STRING => {
            for known in view.plain_types() {
                if yes(library.H5Tequal(kind, known.memory.raw()), "H5Tequal")? {
                    return Ok(known.stored.clone());
                }
            }
            let stored = encode_plain(library, kind)?;
            view.note_plain_type(view.file_type(&stored)?);
            Ok(stored)
        }
        _ => encode_plain(library, kind),
    }
}

/// The stored form of a type that is to be committed itself.
pub(crate) fn encode_plain(library: &'static Library, kind: Hid) -> Result<Vec<u8>> {
    encode_with(library, kind, 0)
}

fn encode_with(library: &'static Library, kind: Hid, number: u64) -> Result<Vec<u8>> {
    let mut size = 0;
    // SAFETY: without a buffer the library tells the size.
    check(unsafe { library.H5Tencode(kind, ptr::null_mut(), &raw mut size) }, "H5Tencode")?;
    let mut stored = vec![0; HEAD + size];
    stored[0] = VERSION;
    stored[1..HEAD].copy_from_slice(&number.to_le_bytes());
    // SAFETY: the buffer has the size that the library told behind the head.
    let status = unsafe { library.H5Tencode(kind, stored[HEAD..].as_mut_ptr().cast(), &raw mut size) };
    check(status, "H5Tencode")?;
    Ok(stored)
}

fn parts(stored: &[u8]) -> Result<(u64, &[u8])> {
    match stored {
        [VERSION, rest @ ..] if rest.len() > 8 => {
            let (number, encoded) = rest.split_at(8);
            Ok((number.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)), encoded))
        }
        [version, ..] if *version > VERSION => {
            Err(FileError::Newer { what: format!("a datatype is stored in version {version}") }.into())
        }
        _ => Err(FileError::corrupt("a datatype of an unknown form", "a header or an attribute").into()),
    }
}

/// The number of the committed type that a stored type is of; 0 for none.
pub(crate) fn committed(stored: &[u8]) -> Result<u64> {
    parts(stored).map(|(number, _)| number)
}

/// What `H5Tencode` gave for a stored type.
pub(crate) fn encoded(stored: &[u8]) -> Result<&[u8]> {
    parts(stored).map(|(_, encoded)| encoded)
}

/// A stored type in the form of memory.
pub(crate) fn decode(library: &'static Library, stored: &[u8]) -> Result<Id> {
    let encoded = encoded(stored)?;
    // The library's function is not told the length: a damaged type would lead it beyond the end.
    Datatype::decode(encoded).map_err(|error| match error {
        TypeError::Newer { what } => FileError::Newer { what: format!("a datatype is of {what}") },
        error => FileError::corrupt(error.to_string(), "a header or an attribute"),
    })?;
    let decoded = Id::new(library, library.decode_type(encoded), "H5Tdecode")?;
    // References within other types have no place after decoding; the copy gives them one in memory.
    Id::new(library, library.H5Tcopy(decoded.raw()), "H5Tcopy")
}

/// A stored type as the program gets it: the committed type itself, or a type in the form of memory.
pub(crate) fn open(view: &Arc<View>, stored: &[u8]) -> Result<Hid> {
    let number = committed(stored)?;
    if number != 0 {
        match view.file.object(number) {
            Ok(object) => return open_committed(view, object),
            Err(FileError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let kind = view.file_type(stored)?;
    Id::new(view.library, view.library.H5Tcopy(kind.memory.raw()), "H5Tcopy").map(Id::give)
}

fn open_committed(view: &Arc<View>, object: Object) -> Result<Hid> {
    let shadow = shadow(view, &object)?;
    let handle = Handle::give(Arc::clone(view), Body::Datatype(Node { object, path: None }, shadow));
    // SAFETY: the library takes the handle over, and closes it with the id.
    let id = unsafe { view.library.H5VLwrap_register(handle, id_type::DATATYPE) };
    if id < 0 {
        // SAFETY: the library has not taken it.
        drop(unsafe { crate::handle::take(handle) }?);
    }
    check(if id < 0 { -1 } else { 0 }, "H5VLwrap_register")?;
    Ok(id)
}

/// A native committed type for a committed type.
pub(crate) fn shadow(view: &Arc<View>, object: &Object) -> Result<TypeShadow> {
    let kind = decode(view.library, &object.header()?.datatype)?;
    Ok(TypeShadow::new(view, view.shadow.commit_type(kind.raw())?, object.number()))
}

/// A type in the form of the file and in that of memory.
pub(crate) struct FileType {
    pub(crate) stored: Vec<u8>,
    pub(crate) file: Id,
    pub(crate) memory: Id,
    /// The bytes of an element in the file.
    pub(crate) size: usize,
    pub(crate) contents: Contents,
}

/// What a type is made of that conversions must know.
#[derive(Clone, Copy, Default)]
pub(crate) struct Contents {
    /// Elements have fields, so a conversion may set some and keep others.
    pub(crate) has_fields: bool,
    /// Elements name blobs or objects.
    pub(crate) has_blobs: bool,
    /// Elements name blobs.
    pub(crate) stores_blobs: bool,
}

impl FileType {
    pub(crate) fn new(view: &Arc<View>, stored: &[u8]) -> Result<Self> {
        let library = view.library;
        let memory = decode(library, stored)?;
        let connector = view.connector()?;
        // SAFETY: the host is a file object of this connector that outlives the types of the view.
        let file = unsafe { library.H5VLget_file_type(view.host(), connector.raw(), memory.raw()) };
        let file = Id::new(library, file, "H5VLget_file_type")?;
        let size = library.H5Tget_size(file.raw());
        if size == 0 {
            return Err(Error::Library("H5Tget_size"));
        }
        let contents = contents(library, memory.raw())?;
        Ok(Self { stored: stored.to_vec(), file, memory, size, contents })
    }

    /// Refuses data whose elements are of another size, since buffers are made for those of the type.
    pub(crate) fn check(&self, data: &Data) -> Result<()> {
        if data.element as usize != self.size {
            return Err(self.mismatch("elements", data.element as usize));
        }
        data.fill.as_deref().map_or(Ok(()), |fill| self.check_element(fill))
    }

    /// Refuses an element of another size.
    pub(crate) fn check_element(&self, element: &[u8]) -> Result<()> {
        if element.len() == self.size { Ok(()) } else { Err(self.mismatch("a fill value", element.len())) }
    }

    fn mismatch(&self, what: &str, size: usize) -> Error {
        let what = format!("{what} of {size} bytes, of a datatype of {}", self.size);
        FileError::corrupt(what, "the header of a dataset").into()
    }
}

/// What a type is made of.
pub(crate) fn contents(library: &'static Library, kind: Hid) -> Result<Contents> {
    let mut found = Contents::default();
    match library.H5Tget_class(kind) {
        type_class::COMPOUND => {
            found.has_fields = true;
            let count = check(library.H5Tget_nmembers(kind), "H5Tget_nmembers")?;
            for member in 0..count.unsigned_abs() {
                let member =
                    Id::new(library, library.H5Tget_member_type(kind, member), "H5Tget_member_type")?;
                let member = contents(library, member.raw())?;
                found.has_blobs |= member.has_blobs;
                found.stores_blobs |= member.stores_blobs;
            }
        }
        type_class::ARRAY => {
            let base = Id::new(library, library.H5Tget_super(kind), "H5Tget_super")?;
            found = contents(library, base.raw())?;
        }
        type_class::STRING => {
            found.has_blobs = yes(library.H5Tis_variable_str(kind), "H5Tis_variable_str")?;
            found.stores_blobs = found.has_blobs;
        }
        type_class::VLEN => (found.has_blobs, found.stores_blobs) = (true, true),
        type_class::REFERENCE => {
            // One of HDF5's first kind is the token of an object.
            (found.has_blobs, found.stores_blobs) = (true, library.H5Tget_size(kind) > size_of::<u64>());
        }
        class => drop(check(class, "H5Tget_class")?),
    }
    Ok(found)
}
