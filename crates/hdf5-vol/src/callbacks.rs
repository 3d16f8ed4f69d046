//! The functions that HDF5 calls. Each exists once for each library of a process (`K`), guards its body, and leaves out what no body
//! needs: transfer property lists of metadata, access property lists of objects, and requests of calls that are complete when they return: all but transfers.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::{
    abi::{
        AttributeGetArgs, AttributeSpecificArgs, BlobSpecificArgs, ConnectorClass, DatasetGetArgs,
        DatasetSpecificArgs, DatatypeGetArgs, DatatypeSpecificArgs, FileGetArgs, FileSpecificArgs,
        GroupGetArgs, GroupSpecificArgs, Herr, Hid, LinkCreateArgs, LinkGetArgs, LinkSpecificArgs, LocParams,
        ObjectGetArgs, ObjectSpecificArgs, OptionalArgs, RequestCallback, RequestSpecificArgs, Token,
    },
    attribute::{self, NewAttribute},
    blob,
    crossing::Crossing,
    dataset::{self, Many, NewDataset},
    datatype::{self, NewDatatype},
    error::Error,
    file,
    forward::{self, LinkEnds},
    group, guard, introspect, link, map,
    object::{self, Copy},
    request, through, token,
};

type Object = *mut c_void;
type Loc = *const LocParams;
type Name = *const c_char;
type Request = *mut *mut c_void;

/// Calls the native connector for an object of a native file, and the body for one of ours. A path of ours that leads into a native file
/// begins again there: with the location's path, or with the name.
macro_rules! forward {
    ($library:ident, $kind:ident, $arguments:tt, [], $ours:expr) => { $ours };
    ($library:ident, $kind:ident, $arguments:tt, [else $function:path => $($passed:expr),*], $ours:expr) => {
        match $function($library, $($passed),*)? {
            Some(done) => Ok(done),
            None => $ours,
        }
    };
    ($library:ident, $kind:ident, ($($argument:ident),*), [close $class:ident $object:ident], $ours:expr) => {
        match through::object_of($object) {
            Some(native) => {
                let (through, $object) = ($object, native);
                through::closed(through, through::class($library)?.$class.close.map(|call| call($($argument),*)))
            }
            None => $ours,
        }
    };
    ($library:ident, $kind:ident, ($($argument:ident),*), [$class:ident.$call:ident $object:ident], $ours:expr) => {
        match through::object_of($object) {
            Some($object) => through::$kind(through::class($library)?.$class.$call.map(|call| call($($argument),*))),
            None => $ours,
        }
    };
    ($library:ident, $kind:ident, ($($argument:ident),*), [$class:ident.$call:ident $object:ident $loc:ident], $ours:expr) => {
        match forward!($library, $kind, ($($argument),*), [$class.$call $object], $ours) {
            Err(Error::Elsewhere { there, .. }) => {
                let there = Crossing::of(there)?;
                let loc = there.location($loc);
                let ($object, $loc) = (there.file(), &raw const loc);
                there.leave(through::$kind(through::class($library)?.$class.$call.map(|call| call($($argument),*))))
            }
            outcome => outcome,
        }
    };
    ($library:ident, $kind:ident, ($($argument:ident),*), [$class:ident.$call:ident $object:ident $loc:ident $name:ident], $ours:expr) => {
        match forward!($library, $kind, ($($argument),*), [$class.$call $object], $ours) {
            Err(Error::Elsewhere { there, .. }) => {
                let there = Crossing::of(there)?;
                let loc = there.root();
                let ($object, $loc, $name) = (there.file(), &raw const loc, there.name());
                there.leave(through::$kind(through::class($library)?.$class.$call.map(|call| call($($argument),*))))
            }
            outcome => outcome,
        }
    };
}

/// Declares callbacks that return a status or a pointer; in brackets how a call on something in a native file is passed on.
macro_rules! callbacks {
    ($($kind:ident $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty [$($native:tt)*] { $body:path => $($passed:expr),* })*) => {
        $(
            pub(crate) unsafe extern "C" fn $name<const K: usize>($($argument: $type),*) -> $result {
                // The library passes more than the body needs.
                $(let _ = &$argument;)*
                // SAFETY: HDF5 calls with what its headers promise; the body says what it uses.
                guard::$kind(K, |library| unsafe {
                    forward!(library, $kind, ($($argument),*), [$($native)*], $body(library, $($passed),*))
                })
            }
        )*
    };
}

callbacks! {
    pointer attribute_create(obj: Object, loc: Loc, name: Name, kind: Hid, space: Hid, acpl: Hid, aapl: Hid, dxpl: Hid, req: Request) -> Object [attribute.create obj loc] {
        attribute::create => obj, loc, name, NewAttribute { kind, space, acpl }
    }
    pointer attribute_open(obj: Object, loc: Loc, name: Name, aapl: Hid, dxpl: Hid, req: Request) -> Object [attribute.open obj loc] {
        attribute::open => obj, loc, name
    }
    status attribute_read(attr: Object, kind: Hid, buf: *mut c_void, dxpl: Hid, req: Request) -> Herr [attribute.read attr] {
        attribute::read => attr, kind, buf, dxpl
    }
    status attribute_write(attr: Object, kind: Hid, buf: *const c_void, dxpl: Hid, req: Request) -> Herr [attribute.write attr] {
        attribute::write => attr, kind, buf, dxpl
    }
    status attribute_get(obj: Object, args: *mut AttributeGetArgs, dxpl: Hid, req: Request) -> Herr [attribute.get obj] { attribute::get => obj, args }
    status attribute_specific(obj: Object, loc: Loc, args: *mut AttributeSpecificArgs, dxpl: Hid, req: Request) -> Herr [attribute.specific obj loc] {
        attribute::specific => obj, loc, args
    }
    status attribute_optional(obj: Object, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [attribute.optional obj] { attribute::optional => obj, args }
    status attribute_close(obj: Object, dxpl: Hid, req: Request) -> Herr [close attribute obj] { attribute::close => obj }

    pointer dataset_create(
        obj: Object, loc: Loc, name: Name, lcpl: Hid, kind: Hid, space: Hid, dcpl: Hid, dapl: Hid, dxpl: Hid, req: Request
    ) -> Object [dataset.create obj loc name] {
        dataset::create => obj, loc, name, NewDataset { lcpl, kind, space, dcpl, dapl }
    }
    pointer dataset_open(obj: Object, loc: Loc, name: Name, dapl: Hid, dxpl: Hid, req: Request) -> Object [dataset.open obj loc name] { dataset::open => obj, loc, name, dapl }
    status dataset_read(
        count: usize, datasets: *mut Object, memory_types: *mut Hid, memory_spaces: *mut Hid, file_spaces: *mut Hid, dxpl: Hid,
        buffers: *mut *mut c_void, req: Request
    ) -> Herr [] {
        forward::read => Many { count, datasets, memory_types, memory_spaces, file_spaces, dxpl }, buffers, req
    }
    status dataset_write(
        count: usize, datasets: *mut Object, memory_types: *mut Hid, memory_spaces: *mut Hid, file_spaces: *mut Hid, dxpl: Hid,
        buffers: *mut *const c_void, req: Request
    ) -> Herr [] {
        forward::write => Many { count, datasets, memory_types, memory_spaces, file_spaces, dxpl }, buffers, req
    }
    status dataset_get(obj: Object, args: *mut DatasetGetArgs, dxpl: Hid, req: Request) -> Herr [dataset.get obj] { dataset::get => obj, args }
    status dataset_specific(obj: Object, args: *mut DatasetSpecificArgs, dxpl: Hid, req: Request) -> Herr [dataset.specific obj] { dataset::specific => obj, args }
    status dataset_optional(obj: Object, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [dataset.optional obj] { dataset::optional => obj, args }
    status dataset_close(obj: Object, dxpl: Hid, req: Request) -> Herr [close dataset obj] { dataset::close => obj }

    pointer datatype_commit(obj: Object, loc: Loc, name: Name, kind: Hid, lcpl: Hid, tcpl: Hid, tapl: Hid, dxpl: Hid, req: Request) -> Object [datatype.commit obj loc name] {
        datatype::commit => obj, loc, name, NewDatatype { kind, lcpl, tcpl }
    }
    pointer datatype_open(obj: Object, loc: Loc, name: Name, tapl: Hid, dxpl: Hid, req: Request) -> Object [datatype.open obj loc name] { datatype::open => obj, loc, name }
    status datatype_get(obj: Object, args: *mut DatatypeGetArgs, dxpl: Hid, req: Request) -> Herr [datatype.get obj] { datatype::get => obj, args }
    status datatype_specific(obj: Object, args: *mut DatatypeSpecificArgs, dxpl: Hid, req: Request) -> Herr [datatype.specific obj] { datatype::specific => obj, args }
    status datatype_optional(obj: Object, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [datatype.optional obj] { datatype::optional => obj, args }
    status datatype_close(obj: Object, dxpl: Hid, req: Request) -> Herr [close datatype obj] { datatype::close => obj }

    pointer file_create(name: Name, flags: c_uint, fcpl: Hid, fapl: Hid, dxpl: Hid, req: Request) -> Object [] {
        file::create => name, flags, fcpl, fapl, dxpl
    }
    pointer file_open(name: Name, flags: c_uint, fapl: Hid, dxpl: Hid, req: Request) -> Object [] { file::open => name, flags, fapl, dxpl }
    status file_get(obj: Object, args: *mut FileGetArgs, dxpl: Hid, req: Request) -> Herr [file.get obj] { file::get => obj, args }
    status file_specific(obj: Object, args: *mut FileSpecificArgs, dxpl: Hid, req: Request) -> Herr [else forward::file_specific => obj, args, dxpl, req] { file::specific => obj, args }
    status file_optional(obj: Object, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [else forward::file_optional => obj, args, dxpl, req] { file::optional => obj, args }
    status file_close(obj: Object, dxpl: Hid, req: Request) -> Herr [close file obj] { file::close => obj }

    pointer group_create(obj: Object, loc: Loc, name: Name, lcpl: Hid, gcpl: Hid, gapl: Hid, dxpl: Hid, req: Request) -> Object [group.create obj loc name] {
        group::create => obj, loc, name, lcpl, gcpl
    }
    pointer group_open(obj: Object, loc: Loc, name: Name, gapl: Hid, dxpl: Hid, req: Request) -> Object [group.open obj loc name] { group::open => obj, loc, name }
    status group_get(obj: Object, args: *mut GroupGetArgs, dxpl: Hid, req: Request) -> Herr [group.get obj] { group::get => obj, args }
    status group_specific(obj: Object, args: *mut GroupSpecificArgs, dxpl: Hid, req: Request) -> Herr [else forward::group_specific => obj, args, dxpl, req] { group::specific => obj, args }
    status group_optional(obj: Object, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [group.optional obj] { group::optional => obj, args }
    status group_close(obj: Object, dxpl: Hid, req: Request) -> Herr [close group obj] { group::close => obj }

    status link_create(args: *mut LinkCreateArgs, obj: Object, loc: Loc, lcpl: Hid, lapl: Hid, dxpl: Hid, req: Request) -> Herr [else forward::link_create => args, obj, loc, (lcpl, lapl, dxpl), req] {
        link::create => args, obj, loc, lcpl
    }
    status link_copy(source: Object, from: Loc, target: Object, to: Loc, lcpl: Hid, lapl: Hid, dxpl: Hid, req: Request) -> Herr [else forward::link_copy => LinkEnds { source, from, target, to, lcpl, lapl, dxpl, request: req }, false] {
        link::copy => source, from, target, to, lcpl
    }
    status link_rename(source: Object, from: Loc, target: Object, to: Loc, lcpl: Hid, lapl: Hid, dxpl: Hid, req: Request) -> Herr [else forward::link_copy => LinkEnds { source, from, target, to, lcpl, lapl, dxpl, request: req }, true] {
        link::rename => source, from, target, to, lcpl
    }
    status link_get(obj: Object, loc: Loc, args: *mut LinkGetArgs, dxpl: Hid, req: Request) -> Herr [link.get obj loc] { link::get => obj, loc, args }
    status link_specific(obj: Object, loc: Loc, args: *mut LinkSpecificArgs, dxpl: Hid, req: Request) -> Herr [link.specific obj loc] {
        link::specific => obj, loc, args
    }
    status link_optional(obj: Object, loc: Loc, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [link.optional obj loc] { link::optional => obj, loc, args }

    pointer object_open(obj: Object, loc: Loc, opened: *mut c_int, dxpl: Hid, req: Request) -> Object [object.open obj loc] { object::open => obj, loc, opened }
    status object_copy(
        source: Object, source_loc: Loc, source_name: Name, target: Object, target_loc: Loc, target_name: Name, ocpypl: Hid, lcpl: Hid,
        dxpl: Hid, req: Request
    ) -> Herr [else forward::object_copy => Copy { source, source_loc, source_name, target, target_loc, target_name, ocpypl, lcpl }, dxpl, req] {
        object::copy => Copy { source, source_loc, source_name, target, target_loc, target_name, ocpypl, lcpl }
    }
    status object_get(obj: Object, loc: Loc, args: *mut ObjectGetArgs, dxpl: Hid, req: Request) -> Herr [object.get obj loc] { object::get => obj, loc, args }
    status object_specific(obj: Object, loc: Loc, args: *mut ObjectSpecificArgs, dxpl: Hid, req: Request) -> Herr [object.specific obj loc] {
        object::specific => obj, loc, args
    }
    status object_optional(obj: Object, loc: Loc, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [object.optional obj loc] {
        object::optional => obj, loc, args
    }

    status optional(obj: Object, args: *mut OptionalArgs, dxpl: Hid, req: Request) -> Herr [else forward::optional => obj] {
        map::optional => obj, args, dxpl
    }

    status connector(obj: Object, level: c_int, class: *mut *const ConnectorClass) -> Herr [] { introspect::class => obj, level, class }
    status capabilities(info: *const c_void, flags: *mut u64) -> Herr [] { introspect::capabilities => info, flags }
    status optional_query(obj: Object, subclass: c_int, op: c_int, flags: *mut u64) -> Herr [introspect.optional_query obj] {
        introspect::optional_query => obj, subclass, op, flags
    }

    status request_wait(req: Object, timeout: u64, status: *mut c_int) -> Herr [] { request::wait => req, timeout, status }
    status request_notify(req: Object, call: Option<RequestCallback>, context: *mut c_void) -> Herr [] { request::notify => req, call, context }
    status request_cancel(req: Object, status: *mut c_int) -> Herr [] { request::cancel => req, status }
    status request_specific(req: Object, args: *mut RequestSpecificArgs) -> Herr [] { request::specific => req, args }
    status request_optional(req: Object, args: *mut OptionalArgs) -> Herr [] { request::optional => req, args }
    status request_free(req: Object) -> Herr [] { request::free => req }

    status blob_put(obj: Object, bytes: *const c_void, size: usize, id: *mut c_void, context: *mut c_void) -> Herr [blob.put obj] {
        blob::store => obj, bytes, size, id
    }
    status blob_get(obj: Object, id: *const c_void, buf: *mut c_void, size: usize, context: *mut c_void) -> Herr [blob.get obj] {
        blob::get => obj, id, buf, size
    }
    status blob_specific(obj: Object, id: *mut c_void, args: *mut BlobSpecificArgs) -> Herr [blob.specific obj] { blob::specific => obj, id, args }
    status blob_optional(obj: Object, id: *mut c_void, args: *mut OptionalArgs) -> Herr [blob.optional obj] { blob::optional => obj, id, args }

    status token_compare(obj: Object, one: *const Token, other: *const Token, result: *mut c_int) -> Herr [token.compare obj] {
        token::compare => obj, one, other, result
    }
    status token_to_text(obj: Object, kind: c_int, token: *const Token, text: *mut *mut c_char) -> Herr [token.to_text obj] {
        token::to_text => obj, kind, token, text
    }
    status token_from_text(obj: Object, kind: c_int, text: *const c_char, token: *mut Token) -> Herr [token.from_text obj] {
        token::from_text => obj, kind, text, token
    }
}
