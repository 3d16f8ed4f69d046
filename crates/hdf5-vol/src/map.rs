//! `H5M`: maps. Libraries that are built without this interface never ask for it, and cannot open a map.
//!
//! Keys and values are converted to the form of the file with their variable-length data [apart](crate::apart), and then packed: the model
//! gets bytes that name nothing in the file but objects.

use std::{ffi::c_void, slice, sync::Arc};

use isotach_hdf5::{Error as FileError, Header, Kind, Object};
use isotach_hdf5_types::{Datatype, Error as TypeError, ReferenceKind, Stored, Unpacked};

use crate::{
    abi::{
        Herr, Hid, MapAnswer, MapArgs, MapCreate, MapDelete, MapIterate, MapOpen, MapSpecific, OptionalArgs,
        SPACE_SCALAR, by, map_get, map_op, map_specific,
    },
    apart,
    create::{self, Spot},
    error::{Error, Result},
    handle::{OpenMap, handle, take},
    id::{Id, yes},
    iterate,
    library::Library,
    place::{self, Place},
    plist, transfer,
    types::{self, FileType},
    view::View,
};

/// The types of a map's keys or values.
struct Form {
    kind: Arc<FileType>,
    /// The same in the form of the file, for packing.
    datatype: Datatype,
}

/// The types of a map.
struct Forms {
    key: Form,
    value: Form,
}

/// A map that a call is about.
struct Open<'m> {
    view: Arc<View>,
    object: &'m Object,
    forms: &'m Forms,
    dxpl: Hid,
}

/// The error for a map that is damaged.
fn damaged(map: &Object) -> impl Fn(TypeError) -> Error {
    move |error| FileError::corrupt(error.to_string(), map.to_string()).into()
}

fn decoded(stored: &[u8]) -> Result<Datatype, TypeError> {
    Stored::parse(stored)?.datatype()
}

impl Forms {
    fn new(view: &Arc<View>, object: &Object) -> Result<Self> {
        let header = object.header()?;
        let form = |stored: &[u8]| {
            let datatype =
                decoded(stored).and_then(|datatype| datatype.file_form()).map_err(damaged(object))?;
            let kind = view.file_type(stored)?;
            if kind.size != datatype.size as usize {
                let what = format!("elements of {} bytes, of a datatype of {}", kind.size, datatype.size);
                return Err(Error::from(FileError::corrupt(what, object.to_string())));
            }
            Ok(Form { kind, datatype })
        };
        Ok(Self { key: form(&header.key_datatype)?, value: form(&header.datatype)? })
    }
}

/// # Safety
/// The pointer is from a callback of this connector.
unsafe fn opened<'m>(map: *const c_void, dxpl: Hid) -> Result<Open<'m>> {
    // SAFETY: the caller's promise.
    let handle = unsafe { handle(map) }?;
    let (view, open) = (handle.view()?, handle.map()?);
    if open.kept.get().is_none() {
        // Another thread's are the same.
        let _ = open.kept.set(Box::new(Forms::new(&view, &open.node.object)?));
    }
    let forms = open.kept.get().and_then(|kept| kept.downcast_ref());
    let forms = forms.ok_or_else(|| Error::argument("not a map"))?;
    Ok(Open { view, object: &open.node.object, forms, dxpl })
}

impl Open<'_> {
    /// An element of the program's, packed. What its type in memory does not have is as in `before`.
    ///
    /// # Safety
    /// The buffer is null, or holds an element of this type.
    unsafe fn pack(
        &self,
        form: &Form,
        memory_type: Hid,
        buffer: *const c_void,
        before: Option<&[u8]>,
    ) -> Result<Vec<u8>> {
        let library = self.view.library;
        let size = library.H5Tget_size(memory_type);
        if buffer.is_null() || size == 0 {
            return Err(Error::argument("no key or value of a map, or no type of it, was given"));
        }
        // SAFETY: the caller's promise.
        let mut element = unsafe { slice::from_raw_parts(buffer.cast::<u8>(), size) }.to_vec();
        let mut blobs = Vec::new();
        if !yes(library.H5Tequal(memory_type, form.kind.file.raw()), "H5Tequal")? {
            let width = size.max(form.kind.size);
            let mut background = Vec::new();
            if let Some(before) = before {
                let unpacked = form.datatype.unpack(before).map_err(damaged(self.object))?;
                (background, blobs) = (unpacked.element, unpacked.blobs);
            }
            element.resize(width, 0);
            background.resize(width, 0);
            let to = form.kind.file.raw();
            blobs = apart::with(blobs, || {
                transfer::convert(&self.view, memory_type, to, 1, &mut element, &mut background, self.dxpl)
            })?;
            element.truncate(form.kind.size);
        }
        let packed = form.datatype.pack(&element, &mut |name| {
            Unpacked::blob(&blobs, name).map(<[u8]>::to_vec).ok_or_else(|| "it is missing".into())
        });
        packed.map_err(|error| match error {
            TypeError::Unpackable { what } => Error::unsupported(format!("{what} in a map")),
            error => Error::argument(error.to_string()),
        })
    }

    /// Gives a packed element to the program.
    ///
    /// # Safety
    /// The buffer is null, or has room for an element of this type.
    unsafe fn unpack(&self, form: &Form, packed: &[u8], memory_type: Hid, buffer: *mut c_void) -> Result<()> {
        let library = self.view.library;
        let size = library.H5Tget_size(memory_type);
        if buffer.is_null() || size == 0 {
            return Err(Error::argument("no buffer for a key or a value of a map, or no type, was given"));
        }
        let Unpacked { mut element, blobs } = form.datatype.unpack(packed).map_err(damaged(self.object))?;
        let from = form.kind.file.raw();
        if !yes(library.H5Tequal(memory_type, from), "H5Tequal")? {
            let width = size.max(form.kind.size);
            element.resize(width, 0);
            let mut background = vec![0; width];
            // SAFETY: the caller's promise; what the conversion does not set stays as it is.
            unsafe { background.as_mut_ptr().copy_from_nonoverlapping(buffer.cast(), size) };
            apart::with(blobs, || {
                transfer::convert(&self.view, from, memory_type, 1, &mut element, &mut background, self.dxpl)
            })?;
        }
        // SAFETY: the caller's promise; the element has been made as long as either type needs.
        unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(element.as_ptr(), size) };
        Ok(())
    }

    /// # Safety
    /// The buffer is null, or holds a key of this type.
    unsafe fn key(&self, memory_type: Hid, buffer: *const c_void) -> Result<Vec<u8>> {
        // SAFETY: the caller's promise.
        unsafe { self.pack(&self.forms.key, memory_type, buffer, None) }
    }

    fn absent(&self) -> Error {
        Error::not_found(format!("the key in the map {}", self.object))
    }
}

/// Does what a program asks of maps.
pub(crate) unsafe fn optional(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut OptionalArgs,
    dxpl: Hid,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    if arguments.op == map_op::CLOSE {
        // SAFETY: HDF5 closes an object of this connector.
        return create::close(unsafe { take(object) }?);
    }
    if !(map_op::CREATE..map_op::CLOSE).contains(&arguments.op) {
        return Err(Error::unsupported(format!("the optional operation {}", arguments.op)));
    }
    // SAFETY: these operations have the arguments of maps.
    let args = unsafe { arguments.args.cast::<MapArgs>().as_mut() };
    let args = args.ok_or_else(|| Error::argument("no arguments"))?;
    // SAFETY: HDF5 passes an object of this connector; the number says which member of the union is set.
    unsafe {
        match arguments.op {
            map_op::CREATE => create_map(library, object, &mut args.create)?,
            map_op::OPEN => open_map(object, &mut args.open)?,
            map_op::GET_VALUE => {
                let (map, wanted) = (opened(object, dxpl)?, args.get_value);
                let key = map.key(wanted.key_type, wanted.key)?;
                let value = map.object.map_value(&key)?.ok_or_else(|| map.absent())?;
                map.unpack(&map.forms.value, &value, wanted.value_type, wanted.value)?;
            }
            map_op::EXISTS => {
                let map = opened(object, dxpl)?;
                let key = map.key(args.exists.key_type, args.exists.key)?;
                args.exists.exists = map.object.has_map_key(&key)?;
            }
            map_op::PUT => put_value(&opened(object, dxpl)?, args)?,
            map_op::GET => args.get.answer = answer(library, &handle(object)?.view()?, object, args.get.op)?,
            map_op::SPECIFIC => return specific(library, object, &mut args.specific, dxpl),
            other => return Err(Error::unsupported(format!("the operation {other} on maps"))),
        }
    }
    Ok(0)
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn create_map(library: &'static Library, object: *mut c_void, new: &mut MapCreate) -> Result<()> {
    // SAFETY: the caller's promise.
    let spot = unsafe { Spot::find(object, &raw const new.loc, new.name, new.lcpl) }?;
    let key = types::encode(spot.view(), new.key_type)?;
    let value = types::encode(spot.view(), new.value_type)?;
    let references = [ReferenceKind::Object, ReferenceKind::Region, ReferenceKind::Standard];
    let kind = |stored: &[u8]| decoded(stored).map_err(|error| Error::argument(error.to_string()));
    let (key_type, value_type) = (kind(&key)?, kind(&value)?);
    if references.into_iter().any(|kind| key_type.has_reference(kind)) {
        return Err(Error::unsupported("references in keys of maps"));
    }
    if value_type.has_reference(ReferenceKind::Region) {
        return Err(Error::unsupported("region references in maps"));
    }
    let mut header = Header::map(key, value);
    header.tracks_attribute_order = plist::tracks_attribute_order(library, new.mcpl)?;
    header.creation = plist::encode(library, new.mcpl)?;
    create::set_times(&mut header, plist::tracks_times(library, new.mcpl)?, create::now());
    new.map = spot.create(header)?.open_map(new.mapl)?;
    Ok(())
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn open_map(object: *mut c_void, wanted: &mut MapOpen) -> Result<()> {
    // SAFETY: the caller's promise.
    let found = unsafe { create::existing(object, &raw const wanted.loc, wanted.name, Kind::Map) }?;
    wanted.map = found.open_map(wanted.mapl)?;
    Ok(())
}

/// # Safety
/// The arguments are those of a put.
unsafe fn put_value(map: &Open<'_>, args: &MapArgs) -> Result<()> {
    map.view.writable()?;
    // SAFETY: the caller's promise.
    let new = unsafe { args.put };
    // SAFETY: the program's buffers hold a key and a value.
    let key = unsafe { map.key(new.key_type, new.key) }?;
    let form = &map.forms.value;
    let before = if form.kind.contents.has_fields { map.object.map_value(&key)? } else { None };
    // SAFETY: as above.
    let value = unsafe { map.pack(form, new.value_type, new.value, before.as_deref()) }?;
    map.view.noting(|| false, || Ok(map.object.put_map_value(&key, value)?))
}

/// # Safety
/// The pointer is from a callback of this connector.
unsafe fn answer(
    library: &'static Library,
    view: &Arc<View>,
    object: *const c_void,
    question: i32,
) -> Result<MapAnswer> {
    // SAFETY: the caller's promise.
    let map: &OpenMap = unsafe { handle(object) }?.map()?;
    let header = map.node.object.header()?;
    let id = match question {
        map_get::ACCESS => match &map.mapl {
            Some(mapl) => Id::new(library, library.H5Pcopy(mapl.raw()), "H5Pcopy")?.give(),
            None => plist::decode(library, &[], library.H5P_CLS_MAP_ACCESS_ID_g())?.give(),
        },
        map_get::CREATION => {
            plist::decode(library, &header.creation, library.H5P_CLS_MAP_CREATE_ID_g())?.give()
        }
        map_get::KEY_TYPE => types::open(view, &header.key_datatype)?,
        map_get::VALUE_TYPE => types::open(view, &header.datatype)?,
        map_get::COUNT => return Ok(MapAnswer { count: map.node.object.map_count()? }),
        other => return Err(Error::unsupported(format!("the question {other} about maps"))),
    };
    Ok(MapAnswer { id })
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn specific(
    library: &'static Library,
    object: *mut c_void,
    arguments: &mut MapSpecific,
    dxpl: Hid,
) -> Result<Herr> {
    match arguments.op {
        map_specific::ITERATE => {
            // SAFETY: the number says which member of the union is set.
            let wanted = unsafe { &mut arguments.args.iterate };
            // SAFETY: the caller's promise.
            let found = unsafe { place::place(object, &raw const wanted.loc) }?;
            // SAFETY: as above.
            unsafe { each_key(library, &found, wanted, dxpl) }
        }
        map_specific::DELETE => {
            // SAFETY: as above.
            let MapDelete { loc, key_type, key } = unsafe { arguments.args.delete };
            if loc.by != by::SELF {
                return Err(Error::unsupported("removing a key of a map that is named by a path"));
            }
            // SAFETY: the caller's promise; the program's buffer holds a key.
            let (map, key) = unsafe {
                let map = opened(object, dxpl)?;
                let key = map.key(key_type, key)?;
                (map, key)
            };
            map.view.writable()?;
            map.view.noting(|| false, || Ok(map.object.remove_map_key(&key)?))?;
            Ok(0)
        }
        other => Err(Error::unsupported(format!("the operation {other} on maps"))),
    }
}

/// Calls the program's function for each key that there is at the beginning.
///
/// # Safety
/// The arguments are those of an iteration.
unsafe fn each_key(
    library: &'static Library,
    found: &Place,
    wanted: &mut MapIterate,
    dxpl: Hid,
) -> Result<Herr> {
    let op = wanted.op.ok_or_else(|| Error::argument("no function to call for each key"))?;
    if found.object().kind() != Kind::Map {
        return Err(Error::argument("not a map"));
    }
    let keys = found.object().map_keys()?;
    let forms = Forms::new(&found.view, found.object())?;
    let id = iterate::register(library, found.clone())?;
    let map = Open { view: Arc::clone(&found.view), object: found.object(), forms: &forms, dxpl };
    let size = library.H5Tget_size(wanted.key_type);
    // As programs align what they read through a pointer.
    let mut buffer = vec![0_u64; size.div_ceil(8)];
    let allocates = types::contents(library, wanted.key_type)?.has_blobs;
    let space = Id::new(library, library.H5Screate(SPACE_SCALAR), "H5Screate")?;
    let (key_type, data) = (wanted.key_type, wanted.data);
    let call = |key: Vec<u8>| {
        buffer.fill(0);
        let room: *mut c_void = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer has room for a key. What was allocated for it is freed once.
        unsafe {
            map.unpack(&map.forms.key, &key, key_type, room)?;
            let status = op(id.raw(), room.cast_const(), data);
            if allocates {
                library.H5Treclaim(key_type, space.raw(), dxpl, room);
            }
            Ok(status)
        }
    };
    // SAFETY: the index is in the arguments.
    unsafe { iterate::each(&raw mut wanted.at, keys, call) }
}
