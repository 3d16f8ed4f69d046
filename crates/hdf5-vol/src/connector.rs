//! The class of the connector, once for each library of a process.

use std::{
    ffi::{CStr, c_int, c_uint, c_void},
    ptr,
};

use crate::{
    abi::{
        AttributeClass, BlobClass, CAPABILITIES, CLASS_VERSION, ConnectorClass, DatasetClass, DatatypeClass,
        FileClass, GroupClass, InfoClass, IntrospectClass, LinkClass, ObjectClass, RequestClass, TokenClass,
        WrapClass,
    },
    callbacks as call,
    handle::shadow_of,
    library::Library,
    site,
    tables::{self, SLOTS},
};

/// What `HDF5_VOL_CONNECTOR` calls the connector.
pub(crate) const NAME: &CStr = c"isotach";
pub(crate) const NAME_TEXT: &str = "isotach";
/// The value of the class: 512 to 65535 are for connectors that The HDF Group has registered, 256 to 511 for others.
const VALUE: c_int = 505;
const VERSION: c_uint = 1;

static CLASSES: [ConnectorClass; SLOTS] = [
    class_of_slot::<0>(),
    class_of_slot::<1>(),
    class_of_slot::<2>(),
    class_of_slot::<3>(),
    class_of_slot::<4>(),
    class_of_slot::<5>(),
    class_of_slot::<6>(),
    class_of_slot::<7>(),
    class_of_slot::<8>(),
];

/// The class for a slot of the tables.
pub(crate) fn class(slot: usize) -> Option<&'static ConnectorClass> {
    CLASSES.get(slot)
}

/// The class for a library.
pub(crate) fn class_of(library: &'static Library) -> Option<*const ConnectorClass> {
    (0..SLOTS)
        .find(|slot| tables::library(*slot).is_some_and(|known| ptr::eq(known, library)))
        .and_then(class)
        .map(ptr::from_ref)
}

/// The native object behind one of ours (see `shadow.rs`).
unsafe extern "C" fn get_object(object: *const c_void) -> *mut c_void {
    // SAFETY: HDF5 passes an object of this connector, which it may be closing.
    unsafe { shadow_of(object) }
}

const fn class_of_slot<const K: usize>() -> ConnectorClass {
    ConnectorClass {
        version: CLASS_VERSION,
        value: VALUE,
        name: NAME.as_ptr(),
        connector_version: VERSION,
        capabilities: CAPABILITIES,
        initialize: None,
        terminate: None,
        info: InfoClass {
            size: 0,
            copy: Some(site::copy),
            compare: Some(site::compare),
            free: Some(site::free),
            to_text: Some(site::to_text),
            from_text: Some(site::from_text),
        },
        wrap: WrapClass {
            get_object: Some(get_object),
            get_context: None,
            wrap: None,
            unwrap: None,
            free_context: None,
        },
        attribute: AttributeClass {
            create: Some(call::attribute_create::<K>),
            open: Some(call::attribute_open::<K>),
            read: Some(call::attribute_read::<K>),
            write: Some(call::attribute_write::<K>),
            get: Some(call::attribute_get::<K>),
            specific: Some(call::attribute_specific::<K>),
            optional: Some(call::attribute_optional::<K>),
            close: Some(call::attribute_close::<K>),
        },
        dataset: DatasetClass {
            create: Some(call::dataset_create::<K>),
            open: Some(call::dataset_open::<K>),
            read: Some(call::dataset_read::<K>),
            write: Some(call::dataset_write::<K>),
            get: Some(call::dataset_get::<K>),
            specific: Some(call::dataset_specific::<K>),
            optional: Some(call::dataset_optional::<K>),
            close: Some(call::dataset_close::<K>),
        },
        datatype: DatatypeClass {
            commit: Some(call::datatype_commit::<K>),
            open: Some(call::datatype_open::<K>),
            get: Some(call::datatype_get::<K>),
            specific: Some(call::datatype_specific::<K>),
            optional: Some(call::datatype_optional::<K>),
            close: Some(call::datatype_close::<K>),
        },
        file: FileClass {
            create: Some(call::file_create::<K>),
            open: Some(call::file_open::<K>),
            get: Some(call::file_get::<K>),
            specific: Some(call::file_specific::<K>),
            optional: Some(call::file_optional::<K>),
            close: Some(call::file_close::<K>),
        },
        group: GroupClass {
            create: Some(call::group_create::<K>),
            open: Some(call::group_open::<K>),
            get: Some(call::group_get::<K>),
            specific: Some(call::group_specific::<K>),
            optional: Some(call::group_optional::<K>),
            close: Some(call::group_close::<K>),
        },
        link: LinkClass {
            create: Some(call::link_create::<K>),
            copy: Some(call::link_copy::<K>),
            rename: Some(call::link_rename::<K>),
            get: Some(call::link_get::<K>),
            specific: Some(call::link_specific::<K>),
            optional: Some(call::link_optional::<K>),
        },
        object: ObjectClass {
            open: Some(call::object_open::<K>),
            copy: Some(call::object_copy::<K>),
            get: Some(call::object_get::<K>),
            specific: Some(call::object_specific::<K>),
            optional: Some(call::object_optional::<K>),
        },
        introspect: IntrospectClass {
            connector: Some(call::connector::<K>),
            capabilities: Some(call::capabilities::<K>),
            optional_query: Some(call::optional_query::<K>),
        },
        request: RequestClass {
            wait: Some(call::request_wait::<K>),
            notify: Some(call::request_notify::<K>),
            cancel: Some(call::request_cancel::<K>),
            specific: Some(call::request_specific::<K>),
            optional: Some(call::request_optional::<K>),
            free: Some(call::request_free::<K>),
        },
        blob: BlobClass {
            put: Some(call::blob_put::<K>),
            get: Some(call::blob_get::<K>),
            specific: Some(call::blob_specific::<K>),
            optional: Some(call::blob_optional::<K>),
        },
        token: TokenClass {
            compare: Some(call::token_compare::<K>),
            to_text: Some(call::token_to_text::<K>),
            from_text: Some(call::token_from_text::<K>),
        },
        optional: None,
    }
}
