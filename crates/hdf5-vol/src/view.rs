//! A view: one opening of a file by one library. All handles that come from it hold it, and the last one closes it.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

use isotach_hdf5::{Access, Error as FileError, File, Last, Object, Resolved, Site};

use crate::{
    abi::{Hid, LAYOUT_COMPACT, LAYOUT_CONTIGUOUS, NAME, access},
    background, crossing,
    error::{Error, Result},
    handle::{Body, Handle, is_type_of, take},
    id::{Id, yes},
    library::Library,
    plist, search,
    shadow::{self, Shadow},
    types::FileType,
};

/// How many plain types are kept for comparing.
const PLAIN_TYPES: usize = 4;

/// One opening of a file.
pub(crate) struct View {
    pub(crate) library: &'static Library,
    pub(crate) file: Arc<File>,
    pub(crate) site: Site,
    /// The name as the program gave it.
    pub(crate) name: String,
    intent: AtomicU32,
    /// The last transaction that was started through it.
    started: AtomicU64,
    pub(crate) fapl: Option<Id>,
    /// The types that are in use, by their stored form. Before `host` and the shadow, which they refer to.
    types: Mutex<BTreeMap<Vec<u8>, Arc<FileType>>>,
    /// Some of them that are plain.
    plain_types: Mutex<Vec<Arc<FileType>>>,
    /// The last list of [`Self::encoded_creation`], and its stored form.
    encoded_creation: Mutex<Option<(Id, Vec<u8>)>>,
    /// The file object that types in the form of the file belong to; HDF5 asks it for blobs.
    host: Host,
    pub(crate) shadow: Arc<Shadow>,
    /// How many ids of the file are open.
    file_handles: AtomicUsize,
    /// The last known path of objects.
    paths: Mutex<HashMap<u64, String>>,
    /// Whether replaced blobs are kept, since others may name them.
    pub(crate) keeps_blobs: AtomicBool,
    /// How many blobs were stored and removed.
    pub(crate) blob_changes: AtomicUsize,
    /// Why a blob was not stored or removed in the conversion that goes on.
    blob_failure: Mutex<Option<Error>>,
}

/// A file that another one names.
pub(crate) enum Beside {
    /// One of ours.
    Ours(Arc<View>),
    /// The id of a native one.
    Native(Id),
}

impl View {
    pub(crate) fn new(
        library: &'static Library,
        site: Site,
        file: Arc<File>,
        name: &str,
        intent: c_uint,
        fapl: Option<Id>,
    ) -> Result<Arc<Self>> {
        shadow::prepare(library)?;
        let shadow = shadow::lend(library, file.number())?;
        background::enter(file.number());
        Ok(Arc::new_cyclic(|view: &Weak<Self>| Self {
            library,
            file,
            site,
            name: name.to_owned(),
            intent: AtomicU32::new(intent),
            started: AtomicU64::new(0),
            fapl,
            types: Mutex::default(),
            plain_types: Mutex::default(),
            encoded_creation: Mutex::default(),
            host: Host(Handle::host(library, view.clone())),
            shadow,
            file_handles: AtomicUsize::new(0),
            paths: Mutex::default(),
            keeps_blobs: AtomicBool::new(false),
            blob_changes: AtomicUsize::new(0),
            blob_failure: Mutex::default(),
        }))
    }

    /// Another opening of the file by the same name.
    pub(crate) fn reopen(&self) -> Result<Arc<Self>> {
        let fapl = self.fapl.as_ref().map(|fapl| Id::share(self.library, fapl.raw())).transpose()?;
        Self::new(self.library, self.site.clone(), Arc::clone(&self.file), &self.name, self.intent(), fapl)
    }

    /// Opens another file: as this one was opened, but for the flags and the property list that are given.
    pub(crate) fn open_beside(&self, name: &str, flags: c_uint, fapl: Option<&Id>) -> Result<Beside> {
        let intent = if flags == access::DEFAULT { self.intent() } else { flags & access::KEPT };
        // Each rank opens it alone, and none could tell the others' changes from its own.
        let intent = if self.file.is_shared() { 0 } else { intent };
        let wanted = if intent & access::READ_WRITE == 0 { Access::ReadOnly } else { Access::ReadWrite };
        let fapl = fapl.or(self.fapl.as_ref());
        let file = match self.site.open(name, wanted) {
            Err(FileError::Foreign { .. }) => {
                return crossing::open_beside(self.library, name, intent, fapl).map(Beside::Native);
            }
            file => file?,
        };
        let fapl = fapl.map(|fapl| Id::new(self.library, self.library.H5Pcopy(fapl.raw()), "H5Pcopy"));
        Self::new(self.library, self.site.clone(), file, name, intent, fapl.transpose()?).map(Beside::Ours)
    }

    /// `H5F_ACC_*` as the program gave them, but for those of creation.
    pub(crate) fn intent(&self) -> c_uint {
        self.intent.load(Ordering::Relaxed)
    }

    /// Says that readers go along while this view writes.
    pub(crate) fn start_swmr(&self) {
        self.intent.fetch_or(access::SWMR_WRITE, Ordering::Relaxed);
    }

    /// Does what writes, and remembers its failure if some of it was done or the store failed: nothing is committed after it. Blobs that were
    /// stored or removed count as done.
    pub(crate) fn noting<T>(
        &self,
        has_begun: impl FnOnce() -> bool,
        write: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let before = self.blob_changes.load(Ordering::Relaxed);
        let written = write();
        if let Err(error) = &written
            && (has_begun() || error.is_of_store() || self.blob_changes.load(Ordering::Relaxed) != before)
        {
            self.file.note_failure(error.to_string());
        }
        written
    }

    /// Keeps the failure of a blob for the end of the conversion. HDF5 must not see it: it would free the elements that it has converted as if
    /// they were in memory.
    pub(crate) fn keep_failure(&self, error: Error) {
        self.blob_failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The failure of a blob in the conversion that has ended.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.blob_failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes that the program has started a transaction through this view.
    pub(crate) fn note_started(&self, number: u64) {
        self.started.store(number, Ordering::Relaxed);
    }

    /// Waits for what goes on in the background.
    pub(crate) fn wait(&self) {
        background::wait(self.file.number());
    }

    /// Commits what was written, when the file is closed. A transaction that was started through this view and not ended is given up.
    pub(crate) fn end(&self) -> Result<()> {
        self.wait();
        let started =
            self.file.started_transaction().filter(|number| *number == self.started.load(Ordering::Relaxed));
        let Some(number) = started else { return self.settle_rest() };
        self.file.leave_transaction()?;
        let what = format!("close of file {} while transaction {number} is started", self.name);
        let expected = "that it is finished or aborted first; what was changed in it is given up, and its number stays open";
        Err(FileError::invalid(what, expected).into())
    }

    /// As [`settle`](Self::settle), where there is no later commit: what was changed in objects that others have removed is given up with an error,
    /// and the rest is committed.
    fn settle_rest(&self) -> Result<()> {
        let settled = self.settle();
        let is_conflict = matches!(&settled, Err(Error::File(error)) if error.is_conflict());
        if is_conflict && !self.file.is_shared() && self.file.has_changes() {
            // If this fails, too, the first error is the one to know.
            drop(self.file.commit());
        }
        settled
    }

    /// Commits what was written, if anything was and no transaction is started. After a failed write through any opening nothing is committed
    /// until all are closed: readers keep the last whole version. An opening for reading leaves to the others of the file when they commit.
    pub(crate) fn settle(&self) -> Result<()> {
        self.wait();
        if self.writable().is_err() || !self.file.is_writable() {
            return Ok(());
        }
        if self.file.is_shared() {
            // Whether there is anything to commit, the ranks find out together.
            self.file.commit()?;
            return Ok(());
        }
        if let Some(cause) = self.file.failure() {
            return Err(FileError::WriteFailed { what: self.name.clone(), cause }.into());
        }
        if self.file.started_transaction().is_some() || !self.file.has_changes() {
            return Ok(());
        }
        self.file.commit()?;
        Ok(())
    }

    /// Whether closing this handle commits what several ranks have written.
    pub(crate) fn ends_for_ranks(&self) -> bool {
        let is_last = self.file_handles.load(Ordering::Relaxed) == 1;
        is_last && self.file.is_shared() && self.writable().is_ok() && self.file.is_writable()
    }

    /// Commits when an object is flushed. Ranks can only do it together, which programs know of files; native HDF5 refuses it, too.
    pub(crate) fn settle_object(&self) -> Result<()> {
        if self.file.is_shared() {
            return Err(Error::unsupported("flushing one object in a file of several ranks: flush the file"));
        }
        self.settle()
    }

    /// Fails if the program opened the file for reading.
    pub(crate) fn writable(&self) -> Result<()> {
        if self.intent() & access::READ_WRITE == 0 {
            return Err(FileError::ReadOnly { what: self.name.clone() }.into());
        }
        Ok(())
    }

    /// The object that HDF5 passes to blob callbacks.
    pub(crate) fn host(&self) -> *mut c_void {
        self.host.0
    }

    /// A new handle on the file.
    pub(crate) fn file_handle(self: &Arc<Self>) -> *mut c_void {
        self.file_handles.fetch_add(1, Ordering::Relaxed);
        Handle::give(Arc::clone(self), Body::File)
    }

    pub(crate) fn close_file_handle(&self) {
        self.file_handles.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn has_file_handles(&self) -> bool {
        self.file_handles.load(Ordering::Relaxed) > 0
    }

    /// The type in the form of the file, for a stored type.
    pub(crate) fn file_type(self: &Arc<Self>, stored: &[u8]) -> Result<Arc<FileType>> {
        let known = self.types.lock().unwrap_or_else(PoisonError::into_inner).get(stored).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let new = Arc::new(FileType::new(self, stored)?);
        self.types.lock().unwrap_or_else(PoisonError::into_inner).insert(stored.to_vec(), Arc::clone(&new));
        Ok(new)
    }

    /// Some plain types that were encoded: encoding one again would take ten times as long as comparing.
    pub(crate) fn plain_types(&self) -> Vec<Arc<FileType>> {
        self.plain_types.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a plain type that was encoded, if there is room.
    pub(crate) fn note_plain_type(&self, kind: Arc<FileType>) {
        let mut known = self.plain_types.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < PLAIN_TYPES {
            known.push(kind);
        }
    }

    /// The stored form of a dataset creation property list. Programs create many datasets with equal lists, and encoding one takes far longer
    /// than comparing. `H5Pequal` takes some lists for equal that are not: it ignores the last dimension of a chunk, and where the selections of
    /// virtual data lie.
    pub(crate) fn encoded_creation(&self, list: Hid) -> Result<Vec<u8>> {
        if ![LAYOUT_COMPACT, LAYOUT_CONTIGUOUS].contains(&self.library.H5Pget_layout(list)) {
            return plist::encode(self.library, list);
        }
        let mut kept = self.encoded_creation.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, encoded)) = &*kept
            && yes(self.library.H5Pequal(list, known.raw()), "H5Pequal")?
        {
            return Ok(encoded.clone());
        }
        let copy = Id::new(self.library, self.library.H5Pcopy(list), "H5Pcopy")?;
        let encoded = plist::encode(self.library, copy.raw())?;
        *kept = Some((copy, encoded.clone()));
        Ok(encoded)
    }

    /// Notes the path by which an object was reached.
    pub(crate) fn note_path(&self, number: u64, path: Option<&str>) {
        if let Some(path) = path {
            self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(number, path.to_owned());
        }
    }

    /// A path that leads to the object now: the one it was opened by, another that was used, or one that a search finds.
    pub(crate) fn path_of(&self, object: &Object, opened: Option<&str>) -> Result<Option<String>> {
        let root = self.file.root()?;
        if object.number() == root.number() {
            return Ok(Some("/".to_owned()));
        }
        let noted = self.paths.lock().unwrap_or_else(PoisonError::into_inner).get(&object.number()).cloned();
        for path in opened.map(str::to_owned).into_iter().chain(noted) {
            if self.leads_to(&root, &path, object)? {
                return Ok(Some(path));
            }
        }
        let found = search::path_to(&self.file, object.number())?;
        self.note_path(object.number(), found.as_deref());
        Ok(found)
    }

    fn leads_to(&self, root: &Object, path: &str, object: &Object) -> Result<bool> {
        match self.file.resolve(root, path, Last::Follow) {
            Ok(Resolved::Object(found)) => Ok(found.number() == object.number()),
            Ok(_) | Err(FileError::NotFound { .. } | FileError::InvalidInput { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps replaced blobs while the result lives.
    pub(crate) fn keep_blobs(&self) -> impl Drop {
        self.keeps_blobs.store(true, Ordering::Relaxed);
        KeptBlobs(&self.keeps_blobs)
    }

    /// The id of this connector.
    pub(crate) fn connector(&self) -> Result<Id> {
        shadow::connector(self.library, NAME)
    }

    /// Whether what has this shadow was opened through this view.
    pub(crate) fn owns(&self, shadow: *const c_void, kind: c_int) -> bool {
        !shadow.is_null() && (ptr::eq(self.shadow.object(kind), shadow) || is_type_of(shadow, self))
    }
}

struct KeptBlobs<'a>(&'a AtomicBool);

impl Drop for KeptBlobs<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The file object of a view that types belong to.
struct Host(*mut c_void);

impl Drop for View {
    fn drop(&mut self) {
        background::leave(self.file.number());
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: it comes from `Handle::host`, and the types that refer to it are closed.
        drop(unsafe { take(self.0) });
    }
}
