//! A file that has no name until it is complete.
//!
//! What must stay true: however the program ends, nothing is left of an incomplete file. One exception: where the file
//! system has no files without a name, a killed program leaves a file `.isotach-*`.

use std::{
    fs::{self, File, Permissions},
    io,
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, linkat, open},
    io::Errno,
};
use tempfile::{Builder, NamedTempFile};

/// The mode of new files, before the umask.
const MODE: u32 = 0o666;

/// A file without its final name.
#[derive(Debug)]
pub(crate) enum AtomicFile {
    /// The system removes it when the program ends, unless it gets a name.
    Nameless(File),
    /// A temporary file, removed unless it is published.
    Named(NamedTempFile),
}

impl AtomicFile {
    /// Creates an empty file on the file system of this folder.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        match nameless(folder)? {
            Some(file) => Ok(Self::Nameless(file)),
            None => named().permissions(Permissions::from_mode(MODE)).tempfile_in(folder).map(Self::Named),
        }
    }

    /// The open file, to write to.
    pub(crate) fn open_again(&self) -> io::Result<File> {
        self.file().try_clone()
    }

    /// Gives the file its name, in the folder in which it was created. Replaces a file of that name, and takes over its
    /// permissions. A file that replaces another is synced, so that a power failure leaves one of them. A new file is not, as
    /// with `cp`, except on a network file system, which may report a full disk only then.
    pub(crate) fn publish(self, path: &Path) -> io::Result<()> {
        let replaced = fs::metadata(path).ok();
        if let Some(replaced) = &replaced {
            self.file().set_permissions(replaced.permissions())?;
        }
        // Local file systems have files without a name, and report a full disk when a file is written.
        let is_local = matches!(self, Self::Nameless(_));
        if is_local && replaced.is_none() {
            return self.rename(path);
        }
        self.file().sync_all()?;
        self.rename(path)?;
        // Some file systems cannot sync a folder, and a folder that may be written need not be readable.
        match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
            Err(error)
                if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn file(&self) -> &File {
        match self {
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    fn rename(self, path: &Path) -> io::Result<()> {
        let file = match self {
            Self::Named(file) => return file.persist(path).map(|_| ()).map_err(|error| error.error),
            Self::Nameless(file) => file,
        };
        match link(&file, path) {
            // A link replaces nothing, but a rename does.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                file.sync_all()?;
                let linked = named().make_in(folder_of(path), |other| link(&file, other))?;
                linked.into_temp_path().persist(path).map_err(|error| error.error)
            }
            done => done,
        }
    }
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn named() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".isotach-");
    builder
}

/// A file without a name, if the system supports such files and can give them a name later.
fn nameless(folder: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match open(folder, flags, Mode::from_raw_mode(MODE)).map(File::from) {
        Ok(file) => Ok(handle(&file).exists().then_some(file)),
        // The errors of file systems and kernels without such files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, handle(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// The path of an open file's descriptor.
fn handle(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// A file of each kind that holds `text`.
    fn files(folder: &Path, text: &str) -> [AtomicFile; 2] {
        let named = named().tempfile_in(folder).unwrap();
        [AtomicFile::new_in(folder).unwrap(), AtomicFile::Named(named)].map(|file| {
            file.open_again().unwrap().write_all(text.as_bytes()).unwrap();
            file
        })
    }

    #[test]
    fn publish_creates_a_file_or_replaces_it_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for text in ["one", "two"] {
            for file in files(folder.path(), text) {
                file.publish(&path).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
            assert_eq!(names(folder.path()), ["out"]);
        }
        for mode in [0o600, 0o640, 0o755] {
            for file in files(folder.path(), "new") {
                fs::write(&path, "old").unwrap();
                fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                file.publish(&path).unwrap();
                assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
                assert_eq!(fs::read_to_string(&path).unwrap(), "new");
            }
        }
    }

    #[test]
    fn an_unpublished_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        drop(files(folder.path(), "half"));
        assert!(names(folder.path()).is_empty());
        let error = AtomicFile::new_in(Path::new("/no/such/folder")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
