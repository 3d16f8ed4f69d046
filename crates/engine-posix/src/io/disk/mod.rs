//! The one way to files: everything that the engine does to a disk goes through [`Folder`] and [`File`].
//!
//! There is the disk of the system, and behind the feature `simulation` one in memory that loses, tears and fails what it
//! is told to. Both run the same engine, so what is shown on the second holds for the first as far as it keeps the
//! promises of FORMAT.md section 9.

mod open_file;
mod real;
mod scratch;

use std::{ffi::OsString, fmt, fs::TryLockError, io, path::Path, sync::Arc, time::SystemTime};

use isotach_object::{Error, SharedBytes};
use rustix::io::Errno;

pub(crate) use real::system;
pub(crate) use scratch::Scratch;

/// Why a path that ends at a symbolic link is not gone along: the engine makes none, so it leads to something else.
#[derive(Debug)]
pub(crate) struct LinkRefused;

impl fmt::Display for LinkRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a symbolic link, which is not followed, stands")
    }
}

impl std::error::Error for LinkRefused {}

/// Whether the process, or the system, may open no more files: it may again when others are closed.
pub(crate) fn may_open_no_more(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).map(Some).contains(&error.raw_os_error())
}

/// An error with what was done to which path.
pub(crate) fn failed(what: &str, path: &Path, error: io::Error) -> Error {
    match error.get_ref().is_some_and(|inner| inner.is::<LinkRefused>()) {
        true => Error::corrupt(LinkRefused.to_string(), path.display().to_string()),
        false => Error::from_io(error, format!("{what} {}", path.display())),
    }
}

/// As [`failed`], for `map_err`.
pub(crate) fn failing<'p>(what: &'p str, path: &'p Path) -> impl Fn(io::Error) -> Error + 'p {
    move |error| failed(what, path, error)
}

/// The folder that a path is in, but for the root and the present folder.
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
    /// For writing; it must not be there yet.
    New,
}

/// What is made of folders that may not be looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// That is a failure.
    Refused,
    /// They are passed over.
    PassedOver,
}

/// Who may take names in a folder away again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Whoever may make them.
    Shared,
    /// Only who owns what they name, or the folder.
    Owned,
}

/// What a disk says of a file or folder. A link is neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) length: u64,
    /// Bytes that it takes up, holes left out; no more than the length.
    pub(crate) room: u64,
    /// Tells two files apart, whatever their names.
    pub(crate) identity: (u64, u64),
    pub(crate) modified: SystemTime,
    pub(crate) is_folder: bool,
}

/// Whose a file or folder is, and who may do what with it, as the file system has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) mode: u32,
    /// The access list, if it says more than the mode.
    pub(crate) list: Option<Vec<u8>>,
    /// Whether the file system has access lists.
    pub(crate) keeps_lists: bool,
}

/// What is to be set of a [`Guard`]. The lists only where the file system has some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewGuard {
    pub(crate) owner: Option<u32>,
    pub(crate) group: Option<u32>,
    pub(crate) mode: u32,
    pub(crate) list: Option<Vec<u8>>,
    /// The list that is given to what is made in a folder.
    pub(crate) default: Option<Vec<u8>>,
}

/// What a disk says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// The kind of file system, as `statfs` numbers them.
    pub(crate) kind: u64,
    /// Its size in bytes.
    pub(crate) total: u64,
    /// Bytes that may be written.
    pub(crate) free: u64,
}

/// An open folder, from which paths lead to files. A path may go through links; what it ends at is never one that is followed,
/// unless a call says so. A disk is the folder from which all paths lead.
pub(crate) trait Folder: fmt::Debug + Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>>;
    /// Opens a folder; fails if the path ends at a link and links are not to be followed.
    fn folder(&self, path: &Path, follow: bool) -> io::Result<Box<dyn Folder>>;
    /// Makes a folder, in one that is there.
    fn make_folder(&self, path: &Path, naming: Naming) -> io::Result<()>;
    /// Gives a file a second name, which must be free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file or folder another name; a file or an empty folder that has it is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Takes a file's name away.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// What there is to say of a file or folder.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// Whose a file or folder is, and who may do what with it; `None` where nobody is told from others.
    fn guard(&self, path: &Path) -> io::Result<Option<Guard>>;
    /// Changes whose a file or folder is, and who may do what with it.
    fn set_guard(&self, path: &Path, guard: &NewGuard) -> io::Result<()>;
    /// The mode that files made in this folder are to be given, where the file system does not give them one by the
    /// folder's list.
    fn mode_of_files(&self) -> io::Result<Option<u32>>;
    /// The names in this folder, in no order.
    fn names(&self) -> io::Result<Vec<OsString>>;
    /// Makes the names in this folder durable.
    fn sync(&self) -> io::Result<()>;
    /// What the disk says of itself.
    fn space(&self) -> io::Result<Space>;
    /// The number of this start of the machine, by which it is known from others; `None` where other machines may write to
    /// the disk, or nothing is known.
    fn boot(&self) -> io::Result<Option<u64>>;
    /// Whether other processes see the same files.
    fn is_shared(&self) -> bool;
}

/// An open file.
pub(crate) trait File: fmt::Debug + Send + Sync {
    /// Reads at a position; gives how many bytes, 0 at the end.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    /// Appends in one write; gives the file's length after it, or `None` if the write was cut short.
    fn append(&self, bytes: &[u8]) -> io::Result<Option<u64>>;
    /// Writes all of `bytes` at a position.
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// Cuts the file off.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// What there is to say of it.
    fn stat(&self) -> io::Result<Stat>;
    /// Changes its mode.
    fn set_mode(&self, mode: u32) -> io::Result<()>;
    /// Makes its bytes and length durable.
    fn sync(&self) -> io::Result<()>;
    /// Lets the device begin with bytes that a later [`sync`](Self::sync) waits for. It promises nothing, and may do nothing.
    fn begin_sync(&self, _position: u64, _length: u64) {}
    /// Gives the room of these bytes back, which then read as zeros. The length stays.
    fn punch(&self, position: u64, length: u64) -> io::Result<()>;
    /// Takes the lock that one open file at a time can have, until the process that took it closes the file or ends.
    fn try_lock(&self) -> Result<(), TryLockError>;
    /// Lends bytes that the caller has found to be within the file and that do not change.
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

    /// Fills the buffer as far as the file goes; gives how far.
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

/// What the rest of the engine makes of the primitives.
impl dyn Folder + '_ {
    /// Whether something has this path. A path that may not be looked at is an error, not an absence.
    pub(crate) fn is_there(&self, path: &Path) -> io::Result<bool> {
        match self.stat(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The bytes of a file, the first `length_max` of them.
    pub(crate) fn read(&self, path: &Path, length_max: usize) -> io::Result<Vec<u8>> {
        let file = self.open(path, Access::Read)?;
        let mut bytes = vec![0; length_max];
        let filled = file.read_full_at(&mut bytes, 0)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Writes a new file and makes its bytes durable.
    pub(crate) fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = self.open(path, Access::New)?;
        file.write_all_at(bytes, 0)?;
        file.sync()
    }

    /// Makes a folder, and those above it, unless they are there.
    pub(crate) fn make_folders(&self, path: &Path) -> io::Result<()> {
        let mut made = self.make_folder(path, Naming::Shared);
        if let Err(error) = made.as_ref()
            && error.kind() == io::ErrorKind::NotFound
            && let Some(folder) = above(path)
        {
            self.make_folders(folder)?;
            // Once more only: some file systems say "not found" where no folder can ever be made.
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

    /// Makes the name of something durable, also if another process made it and may have died before it did so. Who may not
    /// read the folder above it may not sync it either.
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
            match folder.remove_all(Path::new(&name)) {
                // Another process removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                outcome => outcome?,
            }
        }
        self.remove_folder(path)
    }

    /// Bytes of the files in a folder and the folders in it, without those that are `hidden` from whoever asks.
    pub(crate) fn size_of_all(&self, path: &Path, hidden: Hidden) -> io::Result<u64> {
        self.folder(path, false)?.size_of_names(hidden)
    }

    /// Bytes of the files in this folder and the folders in it.
    pub(crate) fn size_of_names(&self, hidden: Hidden) -> io::Result<u64> {
        let mut sum = 0;
        for name in self.names()? {
            let name = Path::new(&name);
            let size = self.stat(name).and_then(|stat| match stat.is_folder {
                true => self.size_of_all(name, hidden),
                false => Ok(stat.room),
            });
            match size {
                Ok(size) => sum += size,
                // Another process removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error)
                    if error.kind() == io::ErrorKind::PermissionDenied && hidden == Hidden::PassedOver => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sum)
    }
}
