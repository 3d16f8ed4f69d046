//! [`File`]: an open file, shared by all its handles in the process.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use isotach_object::{Container, Epoch};

use crate::{
    BlobId, Error, Header, Kind, Object, Result,
    layout::{FILE, PROPERTIES_KEY, ROOT, new_file},
    participant::Own,
    ranks::Team,
    session::Session,
    store::Store,
};

/// An open file: one per container and process, shared by all its handles. What is written is seen through every handle of the process
/// at once and by others after [`File::commit`]. Dropping the last handle gives up what was not committed.
#[derive(Debug)]
pub struct File {
    name: String,
    number: u64,
    root: u64,
    pub(crate) store: Store,
    /// The file that stands in its place in the file system.
    pub(crate) stub: Option<PathBuf>,
    is_writable: AtomicBool,
    session: Mutex<Session>,
    /// Held by commits alone, and shared by those that read and write data. Before `session`, if both are held.
    gate: RwLock<()>,
    /// How many handles each object has.
    handles: Mutex<BTreeMap<u64, u64>>,
    /// The ranks that have it open together, if there are several.
    team: OnceLock<Team>,
    /// Why a write failed in part, if one did.
    failure: Mutex<Option<String>>,
    transactions: Mutex<Own>,
    /// How many [`Stay`](crate::Stay)s there are.
    pub(crate) stays: AtomicUsize,
}

impl File {
    /// The file in a container, which [`crate::layout::check`] has read the number of the root from.
    pub(crate) fn new(
        name: &str,
        container: Arc<dyn Container>,
        root: u64,
        is_writable: bool,
    ) -> Result<Self> {
        let session = Session::new(container.clone(), false)?;
        Ok(Self::with_session(name, container, root, is_writable, session))
    }

    /// The file in a container of the past.
    pub(crate) fn of_past(name: &str, container: Arc<dyn Container>, root: u64) -> Result<Self> {
        let session = Session::of_past(container.clone())?;
        Ok(Self::with_session(name, container, root, false, session))
    }

    /// The file in a container whose content is not to count: it is replaced with the first commit.
    pub(crate) fn truncated(
        name: &str,
        container: Arc<dyn Container>,
        root: &Header,
        properties: &[u8],
    ) -> Result<Self> {
        let mut session = Session::new(container.clone(), true)?;
        for (object, key, value) in new_file(root, properties, seconds()) {
            session.put(object, key, value);
        }
        Ok(Self::with_session(name, container, ROOT, true, session))
    }

    fn with_session(
        name: &str,
        container: Arc<dyn Container>,
        root: u64,
        is_writable: bool,
        session: Session,
    ) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            name: name.to_owned(),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            root,
            store: Store::new(container),
            stub: None,
            is_writable: AtomicBool::new(is_writable),
            session: Mutex::new(session),
            gate: RwLock::new(()),
            handles: Mutex::default(),
            team: OnceLock::new(),
            failure: Mutex::default(),
            stays: AtomicUsize::new(0),
            transactions: Mutex::default(),
        }
    }

    /// The same with the stub that stands in its place.
    pub(crate) fn with_stub(mut self, stub: Option<PathBuf>) -> Self {
        self.stub = stub;
        self
    }

    /// Several ranks have it open together, from this version on, unless they have already.
    pub(crate) fn join(&self, team: Team, version: Epoch) {
        let mut session = self.session();
        if self.team.get().is_none() {
            (session.is_shared, session.is_follower) = (true, !team.is_first());
            session.rebase(version);
        }
        // Another opening by the same ranks goes on with the first one's.
        let _ = self.team.set(team);
    }

    pub(crate) fn team(&self) -> Option<&Team> {
        self.team.get()
    }

    /// Whether several ranks have it open together.
    pub fn is_shared(&self) -> bool {
        self.team().is_some()
    }

    /// The name it was first opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A number that no other open file of the process has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.is_writable.load(Ordering::Acquire)
    }

    pub(crate) fn make_writable(&self) {
        self.is_writable.store(true, Ordering::Release);
    }

    /// Refuses changes of a file that is open for reading.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.is_writable() { Ok(()) } else { Err(Error::ReadOnly { what: self.name.clone() }) }
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(|poisoned| {
            // A panic has left a change half made.
            self.note_failure("an internal error in the middle of a change".to_owned());
            poisoned.into_inner()
        })
    }

    /// Held while data is read or written, so that no commit destroys what is read.
    pub(crate) fn shared(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn transactions(&self) -> MutexGuard<'_, Own> {
        self.transactions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what reads from the file. If what it needs is gone because the engine shows only the present, and others have changed it since,
    /// it is done again with what is there now.
    pub(crate) fn read_again<T>(&self, mut read: impl FnMut() -> Result<T>) -> Result<T> {
        const TIMES: u32 = 16;
        for _ in 0..TIMES {
            match read() {
                Err(error @ Error::Corrupt { .. }) => {
                    if !self.session().forget_stale()? {
                        return Err(error);
                    }
                }
                outcome => return outcome,
            }
        }
        read()
    }

    /// The encoded creation property list of the file.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn properties(&self) -> Result<Vec<u8>> {
        Ok(self.session().get(FILE, PROPERTIES_KEY)?.unwrap_or_default())
    }

    /// The root group.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn root(self: &Arc<Self>) -> Result<Object> {
        self.object(self.root)
    }

    /// The object with this number.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Object`.
    pub fn object(self: &Arc<Self>, number: u64) -> Result<Object> {
        let header = self.session().header(number)?;
        let header = header.ok_or_else(|| Error::not_found(format!("object {number} of {}", self.name)))?;
        Ok(Object::open(self.clone(), number, header.kind))
    }

    /// Creates an object without a link; [`Header::references`] counts as 0. It is removed when its last handle is dropped and no hard link
    /// leads to it.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for data that cannot be stored; `Unsupported` for a required filter that is not known; `Object`.
    pub fn create_object(self: &Arc<Self>, header: Header) -> Result<Object> {
        self.check_writable()?;
        check_header(&header)?;
        let mut header = header;
        if let Some(data) = &mut header.data {
            crate::filters::localised(&mut data.filters, data.element);
        }
        let number = match self.team() {
            Some(team) => team.number(&self.store)?,
            None => self.store.number()?,
        };
        let kind = header.kind;
        {
            let mut session = self.session();
            session.new.insert(number);
            session.put_header(number, Header { references: 0, ..header });
        }
        Ok(Object::open(self.clone(), number, kind))
    }

    /// Notes that a write failed and may have been done in part: from now on nothing is committed, through no handle of the process. The
    /// first failure is kept.
    pub fn note_failure(&self, what: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    /// Fails after a write that failed.
    pub(crate) fn check_failure(&self) -> Result<()> {
        match self.failure() {
            Some(cause) => Err(Error::WriteFailed { what: self.name.clone(), cause }),
            None => Ok(()),
        }
    }

    pub(crate) fn forget_failure(&self) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The failure that was noted.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Commits everything that was written through this process's handles or, if several ranks have the file open together, by all of them, as one version, and makes it durable. Returns the new version.
    /// Of several processes that change one entry the last one wins; ranges of a chunk are merged.
    ///
    /// # Errors
    /// `AlreadyExists` if another process has created one of the links; what was written stays uncommitted. `WriteFailed` after
    /// [`File::note_failure`]; `InvalidInput` after a fork, and while a [transaction](File::start_transaction) is started. `Object`.
    pub fn commit(&self) -> Result<u64> {
        if let Some(team) = self.team() {
            return self.commit_together(team);
        }
        let _alone = self.alone();
        self.check_failure()?;
        if let Some(number) = self.started_transaction() {
            let what = format!("a commit of file {} while transaction {number} is started", self.name);
            return Err(Error::invalid(what, "that it is finished or aborted first"));
        }
        let mut session = self.session();
        if self.is_writable() {
            if session.has_changes() {
                self.store.check_process()?;
            }
            session.commit(&self.store)?;
            if let Some(bytes) = session.counted.take() {
                self.set_stub_length(bytes);
            }
        }
        Ok(session.version.0)
    }

    /// Gives up what was not committed.
    ///
    /// # Errors
    /// `InvalidInput` after a fork.
    pub fn discard(&self) -> Result<()> {
        self.store.check_process()?;
        let _alone = self.alone();
        self.session().discard(&self.store);
        Ok(())
    }

    /// Goes to the newest version. What was written and not committed stays. Several ranks stay at their version: it changes only with their
    /// commits.
    ///
    /// # Errors
    /// `Object`.
    pub fn refresh(&self) -> Result<()> {
        if self.is_shared() {
            return Ok(());
        }
        let _alone = self.alone();
        self.session().go_to_newest(&self.store)
    }

    /// Whether something was written and not committed.
    pub fn has_changes(&self) -> bool {
        self.session().has_changes()
    }

    /// The number of the version that is read: greater is newer.
    pub fn version(&self) -> u64 {
        self.session().version.0
    }

    /// Stores a piece of variable-length data. An empty one is [`BlobId::NULL`].
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for 4 GiB and more; `Object`.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<BlobId> {
        self.check_writable()?;
        self.session().put_blob(&self.store, bytes)
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Object`.
    pub fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        self.read_again(|| self.session().blob(&self.store, id))
    }

    /// Removes a blob; one that is not there is fine.
    ///
    /// # Errors
    /// `ReadOnly`, `Corrupt`, `Object`.
    pub fn remove_blob(&self, id: &BlobId) -> Result<()> {
        self.check_writable()?;
        self.session().remove_blob(id)
    }

    pub(crate) fn handles(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_handle(&self, number: u64) {
        *self.handles().entry(number).or_default() += 1;
    }

    /// A handle was dropped. An object without links goes with its last one.
    pub(crate) fn remove_handle(&self, number: u64) {
        {
            let mut handles = self.handles();
            if let Some(count) = handles.get_mut(&number).filter(|count| **count > 1) {
                *count -= 1;
                return;
            }
            handles.remove(&number);
        }
        if self.is_writable() && !self.is_shared() {
            // What cannot be removed loses only space.
            let _ = self.remove_unlinked(&mut self.session(), number);
        }
    }

    fn remove_unlinked(&self, session: &mut Session, number: u64) -> Result<()> {
        match session.header(number)? {
            Some(header) if header.references == 0 && !self.handles().contains_key(&number) => {
                let targets = delete(session, number, &header)?;
                self.unlink(session, targets)
            }
            _ => Ok(()),
        }
    }

    /// Takes a reference from each object, and removes those without any that are not open. Several ranks remove them when they commit.
    pub(crate) fn unlink(&self, session: &mut Session, mut targets: Vec<u64>) -> Result<()> {
        while let Some(number) = targets.pop() {
            let Some(header) = session.header(number)? else { continue };
            let references = header.references.saturating_sub(1);
            session.put_header(number, Header { references, ..(*header).clone() });
            if references == 0 && !self.is_shared() && !self.handles().contains_key(&number) {
                targets.extend(delete(session, number, &header)?);
            }
        }
        Ok(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if self.is_writable() && self.store.check_process().is_ok() {
            self.session().discard(&self.store);
        }
    }
}

/// Removes an object. Returns what its hard links led to.
pub(crate) fn delete(session: &mut Session, number: u64, header: &Header) -> Result<Vec<u64>> {
    let targets = match header.kind {
        Kind::Group => crate::links::hard_targets(session, number)?,
        _ => Vec::new(),
    };
    session.remove_object(number)?;
    Ok(targets)
}

/// Refuses a header whose data cannot be stored.
pub(crate) fn check_header(header: &Header) -> Result<()> {
    match (&header.data, header.kind) {
        (Some(data), Kind::Dataset) => {
            data.check()?;
            crate::grid::Grid::of(data)?;
            crate::filters::check(&data.filters)
        }
        (None, Kind::Dataset) => Err(Error::invalid("a dataset without data", "its element and extent")),
        (Some(_), _) => Err(Error::invalid(format!("data of a {:?}", header.kind), "a dataset")),
        (None, Kind::Map) if header.key_datatype.is_empty() || header.datatype.is_empty() => {
            Err(Error::invalid("a map without datatypes", "one of its keys and one of its values"))
        }
        (None, _) => Ok(()),
    }
}

pub(crate) fn seconds() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs().cast_signed())
}
