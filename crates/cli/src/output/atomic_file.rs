//! A file that has no name until it is whole.
//!
//! What must stay true: however the program ends, nothing is left of a file that was not whole. Where the file system
//! cannot keep files without a name, a program that is killed leaves one behind, `.isotach-*`.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, linkat, open},
    io::Errno,
};
use tempfile::{Builder, NamedTempFile};

/// As any new file's; the umask takes its part away.
const MODE: u32 = 0o666;

/// A file on its way.
#[derive(Debug)]
pub(crate) enum Draft {
    /// The system removes it when the program ends, unless it was given a name.
    Nameless(File),
    /// Removed unless it is given its name.
    Named(NamedTempFile),
}

impl Draft {
    /// An empty file on the file system of this folder.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        match nameless(folder)? {
            Some(file) => Ok(Self::Nameless(file)),
            None => named().permissions(Permissions::from_mode(MODE)).tempfile_in(folder).map(Self::Named),
        }
    }

    /// Gives it its name, in the folder that it was made in, once its bytes are on the device. It replaces a file that has
    /// the name, and takes over who may do what with that.
    pub(crate) fn publish(self, path: &Path) -> io::Result<()> {
        let file = self.file();
        if let Ok(there) = fs::metadata(path) {
            file.set_permissions(there.permissions())?;
        }
        file.sync_all()?;
        self.named(path)?;
        // Some file systems have folders that cannot be synced.
        match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
            _ => Ok(()),
        }
    }

    fn file(&self) -> &File {
        match self {
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    fn named(self, path: &Path) -> io::Result<()> {
        let file = match self {
            Self::Named(file) => return file.persist(path).map(|_| ()).map_err(|error| error.error),
            Self::Nameless(file) => file,
        };
        match link(&file, path) {
            // A link replaces nothing, but a name can be changed into that of another file.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let linked = named().make_in(folder_of(path), |other| link(&file, other))?;
                linked.into_temp_path().persist(path).map_err(|error| error.error)
            }
            done => done,
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Nameless(file) => file.write(bytes),
            Self::Named(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Nameless(file) => file.flush(),
            Self::Named(file) => file.flush(),
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

/// A file without a name, if there can be one that can be given a name later.
fn nameless(folder: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match open(folder, flags, Mode::from_raw_mode(MODE)).map(File::from) {
        Ok(file) => Ok(handle(&file).exists().then_some(file)),
        // What file systems and kernels say that have no such files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, handle(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// What stands for an open file among the names.
fn handle(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// A draft of each kind, with `text` in it.
    fn drafts(folder: &Path, text: &str) -> [Draft; 2] {
        let named = named().tempfile_in(folder).unwrap();
        [Draft::new_in(folder).unwrap(), Draft::Named(named)].map(|mut draft| {
            draft.write_all(text.as_bytes()).unwrap();
            draft
        })
    }

    #[test]
    fn a_file_takes_its_name_or_replaces_the_one_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for text in ["one", "two"] {
            for draft in drafts(folder.path(), text) {
                draft.publish(&path).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
            assert_eq!(names(folder.path()), ["out"]);
        }
    }

    #[test]
    fn a_file_that_replaces_another_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for mode in [0o600, 0o640, 0o755] {
            for draft in drafts(folder.path(), "new") {
                fs::write(&path, "old").unwrap();
                fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                draft.publish(&path).unwrap();
                assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
                assert_eq!(fs::read_to_string(&path).unwrap(), "new");
            }
        }
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(drafts(folder.path(), "half"));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let error = Draft::new_in(Path::new("/no/such/folder")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
