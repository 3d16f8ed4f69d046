//! Disks: everything that the engine does to files goes through [`Folder`] and [`File`].
//!
//! There is the disk of the system, and behind the feature `simulation` one in memory with injected losses, torn writes and errors. Both
//! run the same engine, so results on the second hold for the first as far as it keeps the promises of FORMAT.md section 9.

mod ahead;
mod detour;
mod open_file;
mod real;
mod scratch;
mod syncs;

use std::{ffi::OsString, fmt, fs::TryLockError, io, path::Path, sync::Arc, time::SystemTime};

use isotach_object::{Error, SharedBytes};
use rustix::io::Errno;

pub(crate) use real::system;
pub(crate) use scratch::{InMemory, Scratch};

/// The error for a path that ends at a symbolic link. The engine creates none, so it leads to something else.
#[derive(Debug)]
pub(crate) struct LinkRefused;

impl fmt::Display for LinkRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a symbolic link, which is not followed, stands")
    }
}

impl std::error::Error for LinkRefused {}

/// Whether the process or the system has too many open files. The call may succeed when others are closed.
pub(crate) fn may_open_no_more(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).map(Some).contains(&error.raw_os_error())
}

/// An error with the operation and the path.
pub(crate) fn failed(what: &str, path: &Path, error: io::Error) -> Error {
    match error.get_ref().is_some_and(|inner| inner.is::<LinkRefused>()) {
        true => Error::corrupt(LinkRefused.to_string(), path.display().to_string()),
        false => Error::from_io(error, format!("{what} {}", path.display())),
    }
}

/// The outcome for a file or folder that exists; `None` where there is none.
pub(crate) fn if_there<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// As [`failed`], for `map_err`.
pub(crate) fn failing<'p>(what: &'p str, path: &'p Path) -> impl Fn(io::Error) -> Error + 'p {
    move |error| failed(what, path, error)
}

/// The folder that contains a path; `None` for the root and the present folder.
pub(crate) fn above(path: &Path) -> Option<&Path> {
    let above = path.parent().filter(|_| path != Path::new("."))?;
    Some(if above.as_os_str().is_empty() { Path::new(".") } else { above })
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// For reading.
    Read,
    /// For reading and appending.
    Append,
    /// For reading, and for writing at positions.
    Change,
    /// For writing. The file must not exist.
    New,
}

/// How to treat folders that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// As a failure.
    Fail,
    /// As if they did not exist.
    Skip,
}

/// Who may remove names in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Every user who may create them.
    Shared,
    /// Only the owner of what they name, and the owner of the folder.
    Owned,
}

/// The metadata of a file or folder. A link is neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) length: u64,
    /// Allocated bytes, without holes; at most the length.
    pub(crate) allocated: u64,
    /// Distinguishes two files, whatever their names.
    pub(crate) identity: (u64, u64),
    pub(crate) modified: SystemTime,
    pub(crate) is_folder: bool,
}

/// The owner and the permissions of a file or folder in the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRights {
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) mode: u32,
    /// The access list, if it says more than the mode.
    pub(crate) list: Option<Vec<u8>>,
    /// Whether the file system has access lists.
    pub(crate) has_lists: bool,
}

/// Changes to a [`FileRights`]. Lists only where the file system has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewFileRights {
    pub(crate) owner: Option<u32>,
    pub(crate) group: Option<u32>,
    pub(crate) mode: u32,
    pub(crate) list: Option<Vec<u8>>,
    /// The list that a folder gives to new files in it.
    pub(crate) default: Option<Vec<u8>>,
}

/// The size and the kind of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// The kind of file system, as `statfs` numbers them.
    pub(crate) kind: u64,
    /// Its size in bytes.
    pub(crate) total: u64,
    /// Bytes that may be written.
    pub(crate) free: u64,
}

/// The files in a folder: all that a run needs to be written and read.
pub(crate) trait Files: fmt::Debug + Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>>;
    /// Gives a file or folder another name. A file or an empty folder that has the name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes the name of a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The metadata of a file or folder.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The names in this folder, in no order.
    fn names(&self) -> io::Result<Vec<OsString>>;
    /// Makes the names in this folder durable.
    fn sync(&self) -> io::Result<()>;
}

/// An open folder of a disk. A path that begins here may pass through symbolic links. A link at its end is not followed, unless a call says
/// so. A disk is the folder from which all its paths begin.
pub(crate) trait Folder: Files {
    /// Opens a folder. Fails if the path ends at a link and links are not to be followed.
    fn folder(&self, path: &Path, follow: bool) -> io::Result<Box<dyn Folder>>;
    /// Creates a folder in an existing one.
    fn make_folder(&self, path: &Path, naming: Naming) -> io::Result<()>;
    /// Gives a file a second name, which must be free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// The rights of files and folders; `None` on a disk without users.
    fn rights(&self) -> Option<&dyn FolderRights>;
    /// The size and the kind of the disk.
    fn space(&self) -> io::Result<Space>;
    /// The number that identifies this start of the machine; `None` where other machines may write to the disk, or where the number is
    /// unknown.
    fn boot(&self) -> io::Result<Option<u64>>;
    /// Whether other processes see the same files.
    fn is_shared(&self) -> bool;
}

/// The owners and permissions in a folder.
pub(crate) trait FolderRights {
    /// The rights of a file or folder.
    fn get(&self, path: &Path) -> io::Result<FileRights>;
    /// Changes the rights of a file or folder.
    fn set(&self, path: &Path, rights: &NewFileRights) -> io::Result<()>;
    /// The mode for new files in this folder; `None` where the file system derives it from the folder's default list.
    fn mode_of_files(&self) -> io::Result<Option<u32>>;
    /// Creates a file, with a mode that does not depend on the umask of this process if one is given.
    fn create(&self, path: &Path, mode: Option<u32>) -> io::Result<Arc<dyn File>>;
}

/// An open file.
pub(crate) trait File: fmt::Debug + Send + Sync {
    /// Reads at a position. Returns the number of bytes, 0 at the end.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    /// Reads at a position what is in memory, without waiting for the device, which then starts on the rest. Returns the number of bytes,
    /// which may be any up to the length of the buffer.
    fn read_cached(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    /// Appends in one write. Returns the file's length after it, or `None` if the write was cut short.
    fn append(&self, bytes: &[u8]) -> io::Result<Option<u64>>;
    /// Writes all of `bytes` at a position.
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// Truncates or extends the file.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// The metadata of the file.
    fn stat(&self) -> io::Result<Stat>;
    /// The length of the file.
    fn length(&self) -> io::Result<u64>;
    /// Makes its bytes and length durable.
    fn sync(&self) -> io::Result<()>;
    /// Lets the device start on bytes that a later [`sync`](Self::sync) waits for. It is a hint without a promise.
    fn begin_sync(&self, _position: u64, _length: u64) {}
    /// Frees the space of these bytes, which then read as zeros. The length stays.
    fn punch(&self, position: u64, length: u64) -> io::Result<()>;
    /// Takes the exclusive lock of the file. It is held until the process that took it closes the file or ends.
    fn try_lock(&self) -> Result<(), TryLockError>;
    /// Lends bytes within the file that do not change. The caller has checked both.
    fn share(&self, position: u64, length: u64) -> io::Result<SharedBytes>;
}

impl dyn File + '_ {
    /// Fills the buffer, or fails with `UnexpectedEof`.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        match self.read_full_at(buffer, position)? == buffer.len() {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Fills the buffer up to the end of the file. Returns the number of bytes.
    pub(crate) fn read_full_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_at(&mut buffer[filled..], position + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Operations made of the primitives.
impl dyn Folder + '_ {
    /// Whether a path exists. A path that cannot be checked is an error, not an absence.
    pub(crate) fn is_there(&self, path: &Path) -> io::Result<bool> {
        Ok(if_there(self.stat(path))?.is_some())
    }

    /// The first `length_max` bytes of a file.
    pub(crate) fn read(&self, path: &Path, length_max: usize) -> io::Result<Vec<u8>> {
        let file = self.open(path, Access::Read)?;
        let mut bytes = vec![0; length_max];
        let filled = file.read_full_at(&mut bytes, 0)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Writes a new file.
    pub(crate) fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<Arc<dyn File>> {
        let file = self.open(path, Access::New)?;
        file.write_all_at(bytes, 0)?;
        Ok(file)
    }

    /// Creates a folder and those above it, unless they exist.
    pub(crate) fn make_folders(&self, path: &Path) -> io::Result<()> {
        let mut made = self.make_folder(path, Naming::Shared);
        if let Err(error) = made.as_ref()
            && error.kind() == io::ErrorKind::NotFound
            && let Some(folder) = above(path)
        {
            self.make_folders(folder)?;
            // Once more only: some file systems report "not found" where no folder can ever be created.
            made = self.make_folder(path, Naming::Shared);
        }
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.folder(path, true).map(drop).map_err(|_| error)?;
            }
            outcome => outcome?,
        }
        self.sync_name(path)
    }

    /// Makes a name durable, also one that another process created and may not have synced before it died. A user who may not read the
    /// folder above it may not sync it either.
    pub(crate) fn sync_name(&self, path: &Path) -> io::Result<()> {
        match above(path).map_or(Ok(()), |above| self.sync_folder(above)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            outcome => outcome,
        }
    }

    /// The names in a folder.
    pub(crate) fn names_in(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.folder(path, true)?.names()
    }

    /// Makes the names in a folder durable.
    pub(crate) fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.folder(path, true)?.sync()
    }

    /// Removes a file, or a folder with everything in it. Never follows a link.
    pub(crate) fn remove_all(&self, path: &Path) -> io::Result<()> {
        let folder = match self.folder(path, false) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(_) => return self.remove(path),
        };
        for name in folder.names()? {
            // Another process may have removed it meanwhile.
            if_there(folder.remove_all(Path::new(&name)))?;
        }
        self.remove_folder(path)
    }

    /// Bytes of the files in a folder and below it.
    pub(crate) fn size_of_all(&self, path: &Path, hidden: Unreadable) -> io::Result<u64> {
        self.folder(path, false)?.size_of_names(hidden)
    }

    /// Bytes of the files in this folder and below it.
    pub(crate) fn size_of_names(&self, hidden: Unreadable) -> io::Result<u64> {
        let mut sum = 0;
        for name in self.names()? {
            let name = Path::new(&name);
            let size = self.stat(name).and_then(|stat| match stat.is_folder {
                true => self.size_of_all(name, hidden),
                false => Ok(stat.allocated),
            });
            match size {
                Ok(size) => sum += size,
                // Another process removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error)
                    if error.kind() == io::ErrorKind::PermissionDenied && hidden == Unreadable::Skip => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sum)
    }
}
