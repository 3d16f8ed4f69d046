//! `H5VL_class_t`: the table of a connector's callbacks.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{
    AttributeGetArgs, AttributeSpecificArgs, BlobSpecificArgs, DatasetGetArgs, DatasetSpecificArgs,
    DatatypeGetArgs, DatatypeSpecificArgs, FileGetArgs, FileSpecificArgs, GroupGetArgs, GroupSpecificArgs,
    Herr, Hid, LinkCreateArgs, LinkGetArgs, LinkSpecificArgs, LocParams, ObjectGetArgs, ObjectSpecificArgs,
    OptionalArgs, RequestCallback, RequestSpecificArgs, Token,
};

type Object = *mut c_void;
type Loc = *const LocParams;
type Name = *const c_char;
type Request = *mut *mut c_void;

/// Declares a struct of callbacks, each of which may be absent.
macro_rules! callbacks {
    ($(#[$about:meta])* $name:ident { $($member:ident ( $($kind:ty),* $(,)? ) -> $result:ty;)* }) => {
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $member: Option<unsafe extern "C" fn($($kind),*) -> $result>,)*
        }
    };
}

/// `H5VL_info_class_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct InfoClass {
    pub(crate) size: usize,
    pub(crate) copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    pub(crate) compare: Option<unsafe extern "C" fn(*mut c_int, *const c_void, *const c_void) -> Herr>,
    pub(crate) free: Option<unsafe extern "C" fn(*mut c_void) -> Herr>,
    pub(crate) to_text: Option<unsafe extern "C" fn(*const c_void, *mut *mut c_char) -> Herr>,
    pub(crate) from_text: Option<unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> Herr>,
}

callbacks! {
    /// `H5VL_wrap_class_t`.
    WrapClass {
        get_object(*const c_void) -> *mut c_void;
        get_context(*const c_void, *mut *mut c_void) -> Herr;
        wrap(Object, c_int, *mut c_void) -> *mut c_void;
        unwrap(Object) -> *mut c_void;
        free_context(*mut c_void) -> Herr;
    }
}
callbacks! {
    /// `H5VL_attr_class_t`.
    AttributeClass {
        create(Object, Loc, Name, Hid, Hid, Hid, Hid, Hid, Request) -> Object;
        open(Object, Loc, Name, Hid, Hid, Request) -> Object;
        read(Object, Hid, *mut c_void, Hid, Request) -> Herr;
        write(Object, Hid, *const c_void, Hid, Request) -> Herr;
        get(Object, *mut AttributeGetArgs, Hid, Request) -> Herr;
        specific(Object, Loc, *mut AttributeSpecificArgs, Hid, Request) -> Herr;
        optional(Object, *mut OptionalArgs, Hid, Request) -> Herr;
        close(Object, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_dataset_class_t`.
    DatasetClass {
        create(Object, Loc, Name, Hid, Hid, Hid, Hid, Hid, Hid, Request) -> Object;
        open(Object, Loc, Name, Hid, Hid, Request) -> Object;
        read(usize, *mut Object, *mut Hid, *mut Hid, *mut Hid, Hid, *mut *mut c_void, Request) -> Herr;
        write(usize, *mut Object, *mut Hid, *mut Hid, *mut Hid, Hid, *mut *const c_void, Request) -> Herr;
        get(Object, *mut DatasetGetArgs, Hid, Request) -> Herr;
        specific(Object, *mut DatasetSpecificArgs, Hid, Request) -> Herr;
        optional(Object, *mut OptionalArgs, Hid, Request) -> Herr;
        close(Object, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_datatype_class_t`.
    DatatypeClass {
        commit(Object, Loc, Name, Hid, Hid, Hid, Hid, Hid, Request) -> Object;
        open(Object, Loc, Name, Hid, Hid, Request) -> Object;
        get(Object, *mut DatatypeGetArgs, Hid, Request) -> Herr;
        specific(Object, *mut DatatypeSpecificArgs, Hid, Request) -> Herr;
        optional(Object, *mut OptionalArgs, Hid, Request) -> Herr;
        close(Object, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_file_class_t`.
    FileClass {
        create(Name, c_uint, Hid, Hid, Hid, Request) -> Object;
        open(Name, c_uint, Hid, Hid, Request) -> Object;
        get(Object, *mut FileGetArgs, Hid, Request) -> Herr;
        specific(Object, *mut FileSpecificArgs, Hid, Request) -> Herr;
        optional(Object, *mut OptionalArgs, Hid, Request) -> Herr;
        close(Object, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_group_class_t`.
    GroupClass {
        create(Object, Loc, Name, Hid, Hid, Hid, Hid, Request) -> Object;
        open(Object, Loc, Name, Hid, Hid, Request) -> Object;
        get(Object, *mut GroupGetArgs, Hid, Request) -> Herr;
        specific(Object, *mut GroupSpecificArgs, Hid, Request) -> Herr;
        optional(Object, *mut OptionalArgs, Hid, Request) -> Herr;
        close(Object, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_link_class_t`.
    LinkClass {
        create(*mut LinkCreateArgs, Object, Loc, Hid, Hid, Hid, Request) -> Herr;
        copy(Object, Loc, Object, Loc, Hid, Hid, Hid, Request) -> Herr;
        rename(Object, Loc, Object, Loc, Hid, Hid, Hid, Request) -> Herr;
        get(Object, Loc, *mut LinkGetArgs, Hid, Request) -> Herr;
        specific(Object, Loc, *mut LinkSpecificArgs, Hid, Request) -> Herr;
        optional(Object, Loc, *mut OptionalArgs, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_object_class_t`.
    ObjectClass {
        open(Object, Loc, *mut c_int, Hid, Request) -> Object;
        copy(Object, Loc, Name, Object, Loc, Name, Hid, Hid, Hid, Request) -> Herr;
        get(Object, Loc, *mut ObjectGetArgs, Hid, Request) -> Herr;
        specific(Object, Loc, *mut ObjectSpecificArgs, Hid, Request) -> Herr;
        optional(Object, Loc, *mut OptionalArgs, Hid, Request) -> Herr;
    }
}
callbacks! {
    /// `H5VL_introspect_class_t`.
    IntrospectClass {
        connector(Object, c_int, *mut *const ConnectorClass) -> Herr;
        capabilities(*const c_void, *mut u64) -> Herr;
        optional_query(Object, c_int, c_int, *mut u64) -> Herr;
    }
}
callbacks! {
    /// `H5VL_request_class_t`.
    RequestClass {
        wait(Object, u64, *mut c_int) -> Herr;
        notify(Object, Option<RequestCallback>, *mut c_void) -> Herr;
        cancel(Object, *mut c_int) -> Herr;
        specific(Object, *mut RequestSpecificArgs) -> Herr;
        optional(Object, *mut OptionalArgs) -> Herr;
        free(Object) -> Herr;
    }
}
callbacks! {
    /// `H5VL_blob_class_t`.
    BlobClass {
        put(Object, *const c_void, usize, *mut c_void, *mut c_void) -> Herr;
        get(Object, *const c_void, *mut c_void, usize, *mut c_void) -> Herr;
        specific(Object, *mut c_void, *mut BlobSpecificArgs) -> Herr;
        optional(Object, *mut c_void, *mut OptionalArgs) -> Herr;
    }
}
callbacks! {
    /// `H5VL_token_class_t`.
    TokenClass {
        compare(Object, *const Token, *const Token, *mut c_int) -> Herr;
        to_text(Object, c_int, *const Token, *mut *mut c_char) -> Herr;
        from_text(Object, c_int, *const c_char, *mut Token) -> Herr;
    }
}

/// `H5VL_class_t`.
#[repr(C)]
pub(crate) struct ConnectorClass {
    pub(crate) version: c_uint,
    pub(crate) value: c_int,
    pub(crate) name: *const c_char,
    pub(crate) connector_version: c_uint,
    pub(crate) capabilities: u64,
    pub(crate) initialize: Option<unsafe extern "C" fn(Hid) -> Herr>,
    pub(crate) terminate: Option<unsafe extern "C" fn() -> Herr>,
    pub(crate) info: InfoClass,
    pub(crate) wrap: WrapClass,
    pub(crate) attribute: AttributeClass,
    pub(crate) dataset: DatasetClass,
    pub(crate) datatype: DatatypeClass,
    pub(crate) file: FileClass,
    pub(crate) group: GroupClass,
    pub(crate) link: LinkClass,
    pub(crate) object: ObjectClass,
    pub(crate) introspect: IntrospectClass,
    pub(crate) request: RequestClass,
    pub(crate) blob: BlobClass,
    pub(crate) token: TokenClass,
    pub(crate) optional: Option<unsafe extern "C" fn(Object, *mut OptionalArgs, Hid, Request) -> Herr>,
}

// SAFETY: the class is never changed, and its name is a constant of the program.
unsafe impl Sync for ConnectorClass {}
// SAFETY: as above.
unsafe impl Send for ConnectorClass {}
