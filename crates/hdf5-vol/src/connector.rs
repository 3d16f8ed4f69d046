//! The class of the connector, once for each library of a process.

use std::ffi::{c_int, c_uint, c_void};

use crate::{
    abi::{
        AttributeClass, BlobClass, CAPABILITIES, CLASS_VERSION, ConnectorClass, DatasetClass, DatatypeClass,
        FileClass, GroupClass, InfoClass, IntrospectClass, LinkClass, NAME, ObjectClass, RequestClass,
        TokenClass, WrapClass,
    },
    callbacks as call,
    handle::shadow_of,
    site,
    tables::SLOTS,
    through,
};

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
            get_context: Some(through::wrap_context),
            wrap: Some(through::wrap),
            unwrap: Some(through::unwrap),
            free_context: Some(through::free_context),
        },
        attribute: attribute_class::<K>(),
        dataset: dataset_class::<K>(),
        datatype: datatype_class::<K>(),
        file: file_class::<K>(),
        group: group_class::<K>(),
        link: link_class::<K>(),
        object: object_class::<K>(),
        introspect: introspect_class::<K>(),
        request: request_class::<K>(),
        blob: blob_class::<K>(),
        token: token_class::<K>(),
        optional: Some(call::optional::<K>),
    }
}

const fn attribute_class<const K: usize>() -> AttributeClass {
    AttributeClass {
        create: Some(call::attribute_create::<K>),
        open: Some(call::attribute_open::<K>),
        read: Some(call::attribute_read::<K>),
        write: Some(call::attribute_write::<K>),
        get: Some(call::attribute_get::<K>),
        specific: Some(call::attribute_specific::<K>),
        optional: Some(call::attribute_optional::<K>),
        close: Some(call::attribute_close::<K>),
    }
}

const fn dataset_class<const K: usize>() -> DatasetClass {
    DatasetClass {
        create: Some(call::dataset_create::<K>),
        open: Some(call::dataset_open::<K>),
        read: Some(call::dataset_read::<K>),
        write: Some(call::dataset_write::<K>),
        get: Some(call::dataset_get::<K>),
        specific: Some(call::dataset_specific::<K>),
        optional: Some(call::dataset_optional::<K>),
        close: Some(call::dataset_close::<K>),
    }
}

const fn datatype_class<const K: usize>() -> DatatypeClass {
    DatatypeClass {
        commit: Some(call::datatype_commit::<K>),
        open: Some(call::datatype_open::<K>),
        get: Some(call::datatype_get::<K>),
        specific: Some(call::datatype_specific::<K>),
        optional: Some(call::datatype_optional::<K>),
        close: Some(call::datatype_close::<K>),
    }
}

const fn file_class<const K: usize>() -> FileClass {
    FileClass {
        create: Some(call::file_create::<K>),
        open: Some(call::file_open::<K>),
        get: Some(call::file_get::<K>),
        specific: Some(call::file_specific::<K>),
        optional: Some(call::file_optional::<K>),
        close: Some(call::file_close::<K>),
    }
}

const fn group_class<const K: usize>() -> GroupClass {
    GroupClass {
        create: Some(call::group_create::<K>),
        open: Some(call::group_open::<K>),
        get: Some(call::group_get::<K>),
        specific: Some(call::group_specific::<K>),
        optional: Some(call::group_optional::<K>),
        close: Some(call::group_close::<K>),
    }
}

const fn link_class<const K: usize>() -> LinkClass {
    LinkClass {
        create: Some(call::link_create::<K>),
        copy: Some(call::link_copy::<K>),
        rename: Some(call::link_rename::<K>),
        get: Some(call::link_get::<K>),
        specific: Some(call::link_specific::<K>),
        optional: Some(call::link_optional::<K>),
    }
}

const fn object_class<const K: usize>() -> ObjectClass {
    ObjectClass {
        open: Some(call::object_open::<K>),
        copy: Some(call::object_copy::<K>),
        get: Some(call::object_get::<K>),
        specific: Some(call::object_specific::<K>),
        optional: Some(call::object_optional::<K>),
    }
}

const fn introspect_class<const K: usize>() -> IntrospectClass {
    IntrospectClass {
        connector: Some(call::connector::<K>),
        capabilities: Some(call::capabilities::<K>),
        optional_query: Some(call::optional_query::<K>),
    }
}

const fn request_class<const K: usize>() -> RequestClass {
    RequestClass {
        wait: Some(call::request_wait::<K>),
        notify: Some(call::request_notify::<K>),
        cancel: Some(call::request_cancel::<K>),
        specific: Some(call::request_specific::<K>),
        optional: Some(call::request_optional::<K>),
        free: Some(call::request_free::<K>),
    }
}

const fn blob_class<const K: usize>() -> BlobClass {
    BlobClass {
        put: Some(call::blob_put::<K>),
        get: Some(call::blob_get::<K>),
        specific: Some(call::blob_specific::<K>),
        optional: Some(call::blob_optional::<K>),
    }
}

const fn token_class<const K: usize>() -> TokenClass {
    TokenClass {
        compare: Some(call::token_compare::<K>),
        to_text: Some(call::token_to_text::<K>),
        from_text: Some(call::token_from_text::<K>),
    }
}
