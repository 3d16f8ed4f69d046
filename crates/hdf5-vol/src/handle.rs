//! What HDF5 holds for an open file, object or attribute: a pointer to a [`Handle`].

use std::{
    any::Any,
    collections::BTreeMap,
    ffi::{CStr, c_char, c_int, c_void},
    mem::ManuallyDrop,
    ptr,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use isotach_hdf5::{Attribute, Kind, Object};

use crate::{
    abi::{Herr, id_type},
    error::{Error, Result},
    id::Id,
    library::Library,
    magic::{self, CLOSING, FAILED, HANDLE},
    shadow, through,
    view::View,
};

/// An open file, object or attribute.
#[repr(C)]
pub(crate) struct Handle {
    magic: u64,
    library: &'static Library,
    kind: c_int,
    view: ManuallyDrop<ViewOf>,
    pub(crate) body: ManuallyDrop<Body>,
}

/// The view of a handle; the one in the view itself must not keep it open.
enum ViewOf {
    Handle(Arc<View>),
    Host(Weak<View>),
}

/// What a handle is of.
pub(crate) enum Body {
    File,
    Group(Node),
    Dataset(OpenDataset),
    Datatype(Node, TypeShadow),
    Attribute(OpenAttribute),
    Map(OpenMap),
}

impl Body {
    /// `H5I_type_t` of the handle.
    fn kind(&self) -> c_int {
        match self {
            Self::File => id_type::FILE,
            Self::Group(_) => id_type::GROUP,
            Self::Dataset(_) => id_type::DATASET,
            Self::Datatype(..) => id_type::DATATYPE,
            Self::Attribute(_) => id_type::ATTRIBUTE,
            Self::Map(_) => id_type::MAP,
        }
    }
}

/// An open object, and the path by which it was opened.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) object: Object,
    pub(crate) path: Option<String>,
}

/// An open dataset.
pub(crate) struct OpenDataset {
    pub(crate) node: Node,
    /// The access property list, if the program gave one.
    pub(crate) dapl: Option<Id>,
    /// What transfers of its elements keep from one to the next.
    pub(crate) kept: OnceLock<Box<dyn Any>>,
}

impl OpenDataset {
    pub(crate) fn new(node: Node, dapl: Option<Id>) -> Self {
        Self { node, dapl, kept: OnceLock::new() }
    }
}

/// An open map.
pub(crate) struct OpenMap {
    pub(crate) node: Node,
    /// The access property list, if the program gave one.
    pub(crate) mapl: Option<Id>,
    /// What calls keep from one to the next.
    pub(crate) kept: OnceLock<Box<dyn Any>>,
}

/// An open attribute.
pub(crate) struct OpenAttribute {
    pub(crate) node: Node,
    /// What it was when it was opened, without its value.
    pub(crate) stored: Attribute,
    /// Bytes of its value then.
    pub(crate) length: usize,
    /// How many elements it had then: as many are in the program's buffers.
    pub(crate) count: usize,
}

/// The native committed type that stands for a committed type.
pub(crate) struct TypeShadow {
    view: Arc<View>,
    pub(crate) object: *mut c_void,
}

/// The committed type behind each shadow of one: its view (by address), the number of its file, and its own number.
static TYPES: Mutex<BTreeMap<usize, (usize, u64, u64)>> = Mutex::new(BTreeMap::new());

/// Whether a shadow stands for a committed type that was opened through this view.
pub(crate) fn is_type_of(shadow: *const c_void, view: &View) -> bool {
    let types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
    types.get(&shadow.addr()).is_some_and(|(owner, ..)| *owner == ptr::from_ref(view).addr())
}

/// The number of the committed type in this file that a shadow stands for.
pub(crate) fn committed_number(shadow: *const c_void, file: u64) -> Option<u64> {
    let types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
    types.get(&shadow.addr()).filter(|(_, of, _)| *of == file).map(|(.., number)| *number)
}

impl TypeShadow {
    pub(crate) fn new(view: &Arc<View>, object: *mut c_void, number: u64) -> Self {
        let owner = Arc::as_ptr(view).addr();
        let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
        types.insert(object.addr(), (owner, view.file.number(), number));
        Self { view: Arc::clone(view), object }
    }
}

impl Drop for TypeShadow {
    fn drop(&mut self) {
        TYPES.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.object.addr());
        self.view.shadow.close_type(self.object);
    }
}

impl Handle {
    /// The file object of a view that types belong to.
    pub(crate) fn host(library: &'static Library, view: Weak<View>) -> *mut c_void {
        Self::allocate(library, ViewOf::Host(view), Body::File)
    }

    fn allocate(library: &'static Library, view: ViewOf, body: Body) -> *mut c_void {
        let kind = body.kind();
        let (view, body) = (ManuallyDrop::new(view), ManuallyDrop::new(body));
        Box::into_raw(Box::new(Self { magic: HANDLE, library, kind, view, body })).cast()
    }

    /// A new handle for HDF5 to hold; [`take`] ends it.
    pub(crate) fn give(view: Arc<View>, body: Body) -> *mut c_void {
        Self::allocate(view.library, ViewOf::Handle(view), body)
    }

    pub(crate) fn view(&self) -> Result<Arc<View>> {
        match &*self.view {
            ViewOf::Handle(view) => Ok(Arc::clone(view)),
            ViewOf::Host(view) => view.upgrade().ok_or_else(|| Error::argument("the file is closed")),
        }
    }

    /// The object that the handle is of: of a file its root group, of an attribute the object that has it.
    pub(crate) fn node(&self) -> Result<Node> {
        match &*self.body {
            Body::File => Ok(Node { object: self.view()?.file.root()?, path: Some("/".to_owned()) }),
            Body::Group(node) | Body::Datatype(node, _) => Ok(node.clone()),
            Body::Dataset(dataset) => Ok(dataset.node.clone()),
            Body::Attribute(attribute) => Ok(attribute.node.clone()),
            Body::Map(map) => Ok(map.node.clone()),
        }
    }

    /// The native object that stands for this one.
    fn shadow(&self) -> *mut c_void {
        match &*self.body {
            Body::Datatype(_, shadow) => shadow.object,
            _ => self.view().map_or(ptr::null_mut(), |view| view.shadow.object(self.kind)),
        }
    }

    pub(crate) fn dataset(&self) -> Result<&OpenDataset> {
        match &*self.body {
            Body::Dataset(dataset) => Ok(dataset),
            _ => Err(Error::argument("not a dataset")),
        }
    }

    pub(crate) fn map(&self) -> Result<&OpenMap> {
        match &*self.body {
            Body::Map(map) => Ok(map),
            _ => Err(Error::argument("not a map")),
        }
    }

    pub(crate) fn attribute(&self) -> Result<&OpenAttribute> {
        match &*self.body {
            Body::Attribute(attribute) => Ok(attribute),
            _ => Err(Error::argument("not an attribute")),
        }
    }
}

/// The handle behind a pointer of HDF5's, once no transfer of its file goes on in the background.
///
/// # Safety
/// The pointer is null, or comes from this connector and is not closed.
pub(crate) unsafe fn handle<'a>(pointer: *const c_void) -> Result<&'a Handle> {
    // SAFETY: the caller's promise.
    let handle = unsafe { handle_without_wait(pointer) }?;
    if let ViewOf::Handle(view) = &*handle.view {
        view.wait();
    }
    Ok(handle)
}

/// The same, without waiting: for what neither shows elements nor has to come after a transfer.
///
/// # Safety
/// As [`handle`].
pub(crate) unsafe fn handle_without_wait<'a>(pointer: *const c_void) -> Result<&'a Handle> {
    // SAFETY: the caller's promise; handles are only shared, what changes in them is behind locks. An object of a native file has another number.
    let handle: Option<&Handle> =
        unsafe { if magic::of(pointer) == HANDLE { pointer.cast::<Handle>().as_ref() } else { None } };
    handle.ok_or_else(|| Error::argument("no object was given"))
}

/// The native object that stands for one of ours. For one that is being closed it is one that is never closed.
///
/// # Safety
/// As [`handle`], but the handle may be in the middle of being closed.
pub(crate) unsafe fn shadow_of(pointer: *const c_void) -> *mut c_void {
    if pointer.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    if let Some(native) = unsafe { through::object_of(pointer) } {
        return native;
    }
    let pointer = pointer.cast::<Handle>();
    // SAFETY: the caller's promise. These members stay valid until the memory is freed, which is after everything else was closed.
    let (magic, library, kind) = unsafe { ((*pointer).magic, (*pointer).library, (*pointer).kind) };
    match magic {
        // SAFETY: the handle is open.
        HANDLE => unsafe { (*pointer).shadow() },
        CLOSING | FAILED => shadow::lasting(library).map_or(ptr::null_mut(), |shadow| shadow.object(kind)),
        _ => ptr::null_mut(),
    }
}

/// A handle that HDF5 closes. Its memory goes last, since closing the shadow makes HDF5 look at all ids.
pub(crate) struct Closing {
    handle: *mut Handle,
    has_failed: bool,
}

impl Closing {
    /// The view of the handle; nothing if an earlier closing failed, which ended all but the memory.
    pub(crate) fn view(&self) -> Result<Option<Arc<View>>> {
        // SAFETY: `take` checked the handle, and only `drop` changes it.
        unsafe { if (*self.handle).magic == FAILED { Ok(None) } else { (*self.handle).view().map(Some) } }
    }

    /// Ends the closing with an outcome. After a failure the memory stays, since the id may.
    pub(crate) fn end(mut self, outcome: Result<()>) -> Result<Herr> {
        self.has_failed = outcome.is_err();
        drop(self);
        outcome.map(|()| 0)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let handle = self.handle;
        // SAFETY: it comes from `Handle::allocate`, and its members are dropped once. Meanwhile `shadow_of` reads only those that are not.
        unsafe {
            if (*handle).magic == HANDLE {
                (*handle).magic = CLOSING;
                ManuallyDrop::drop(&mut (*handle).body);
                ManuallyDrop::drop(&mut (*handle).view);
            }
            if self.has_failed {
                (*handle).magic = FAILED;
            } else {
                (*handle).magic = 0;
                drop(Box::from_raw(handle));
            }
        }
    }
}

/// Ends a handle: HDF5 closes it.
///
/// # Safety
/// As [`handle`], but an earlier closing may have failed; and nothing uses the pointer after one that succeeds.
pub(crate) unsafe fn take(pointer: *mut c_void) -> Result<Closing> {
    let closing = Closing { handle: pointer.cast(), has_failed: false };
    // SAFETY: the caller's promise.
    if pointer.is_null() || !matches!(unsafe { (*closing.handle).magic }, HANDLE | FAILED) {
        std::mem::forget(closing);
        return Err(Error::argument("no object was given"));
    }
    Ok(closing)
}

/// A text of C.
///
/// # Safety
/// The pointer is null, or to bytes that end with a zero and outlive the result.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(Error::argument("no name was given"));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|_| Error::unsupported("names that are not UTF-8"))
}

/// `H5I_type_t` of objects of this kind.
pub(crate) fn id_type_of(kind: Kind) -> c_int {
    match kind {
        Kind::Group => id_type::GROUP,
        Kind::Dataset => id_type::DATASET,
        Kind::Datatype => id_type::DATATYPE,
        Kind::Map => id_type::MAP,
    }
}
