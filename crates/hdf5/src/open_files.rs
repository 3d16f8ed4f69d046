//! The open files of the process: one [`File`] for each container that is open in it.

use std::{
    collections::HashMap,
    process,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

use isotach_object::{Label, PoolUri};

use crate::{Error, File, Result, snapshots::Past};

/// What tells open files apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The URI of its pool.
    pub(crate) pool: String,
    pub(crate) label: Label,
    pub(crate) past: Option<Past>,
    /// The rank that has it open together with others.
    pub(crate) rank: Option<usize>,
}

impl Key {
    /// Of the newest version, for a process alone.
    pub(crate) fn of(pool: &PoolUri, label: &Label) -> Self {
        Self { pool: pool.to_string(), label: label.clone(), past: None, rank: None }
    }

    /// Refuses to open a file alone that several ranks have open, or the other way round: only all ranks together may commit.
    pub(crate) fn check_others(&self, open: &Open, name: &str) -> Result<()> {
        let is_other = |key: &Self| {
            let Self { pool, label, past, rank } = key;
            (pool, label, past) == (&self.pool, &self.label, &self.past)
                && rank.is_some() != self.rank.is_some()
        };
        if !open.iter().any(|(key, file)| is_other(key) && file.strong_count() > 0) {
            return Ok(());
        }
        let (how, expected) = match self.rank {
            Some(_) => ("alone", "a file that no rank has open alone"),
            None => ("together with other ranks", "the communicator of these ranks"),
        };
        Err(Error::invalid(format!("file {name}, which this process has open {how}"), expected))
    }
}

pub(crate) type Open = HashMap<Key, Weak<File>>;

pub(crate) fn open_files() -> MutexGuard<'static, Open> {
    static FILES: LazyLock<Mutex<Open>> = LazyLock::new(Mutex::default);
    static PROCESS: AtomicU32 = AtomicU32::new(0);
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if PROCESS.swap(process::id(), Ordering::Relaxed) != process::id() {
        // After a fork, those of the parent are not ours.
        files.clear();
    }
    files
}

/// Whether the file or a snapshot of it is open.
pub(crate) fn is_open(open: &Open, uri: &PoolUri, label: &Label) -> bool {
    let uri = uri.to_string();
    open.iter().any(|(key, file)| key.pool == uri && key.label == *label && file.strong_count() > 0)
}

/// The file as any rank and its snapshots, as far as they are open.
pub(crate) fn open_as_any(open: &Open, uri: &PoolUri, label: &Label) -> impl Iterator<Item = Arc<File>> {
    let uri = uri.to_string();
    let is_it = move |key: &Key| key.pool == uri && key.label == *label;
    open.iter().filter(move |(key, _)| is_it(key)).filter_map(|(_, file)| file.upgrade())
}

pub(crate) fn register(open: &mut Open, key: Key, file: File) -> Arc<File> {
    open.retain(|_, file| file.strong_count() > 0);
    let file = Arc::new(file);
    open.insert(key, Arc::downgrade(&file));
    file
}

/// The key of an open file, which from here on is that of a rank.
pub(crate) fn key_of_rank(file: &Arc<File>, rank: usize) -> Option<Key> {
    let mut open = open_files();
    let key = open.iter().find(|(_, other)| std::ptr::eq(other.as_ptr(), Arc::as_ptr(file)));
    let key = key.map(|(key, _)| key.clone())?;
    open.remove(&key);
    let key = Key { rank: Some(rank), ..key };
    open.insert(key.clone(), Arc::downgrade(file));
    Some(key)
}
