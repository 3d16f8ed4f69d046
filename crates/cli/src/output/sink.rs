//! The output of `read` and similar commands.
//!
//! What must stay true: a file at the output's path is either the file that was there before or the complete output.

use std::{
    fs,
    io::{self, stdout},
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use super::{
    atomic_file::{AtomicFile, folder_of},
    write_behind::WriteBehind,
};
use crate::{
    failure::{Failure, Outcome},
    input::is_standard,
};

/// An output.
#[derive(Debug)]
pub(crate) struct Sink {
    out: WriteBehind,
    target: Target,
}

/// What the bytes are written to.
#[derive(Debug)]
enum Target {
    Standard,
    /// A file that gets its name when it is complete.
    File {
        file: AtomicFile,
        path: PathBuf,
    },
    /// A device or a pipe, which a file must not replace.
    Special {
        path: PathBuf,
    },
}

/// The number of symbolic links that are followed.
const LINKS_MAX: usize = 40;

impl Sink {
    /// Opens the output.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        if is_standard(path) || is_standard_output(path) {
            let out = stdout().as_fd().try_clone_to_owned()?;
            return Ok(Self { out: WriteBehind::new(out.into()), target: Target::Standard });
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let expected = "it is a directory: expected a file, or - for standard output";
                Err(Failure::usage(expected).about(path.display()))
            }
            Ok(metadata) if !metadata.is_file() => {
                let file = fs::OpenOptions::new().write(true).open(path);
                let file = file.map_err(Failure::file("open", path))?;
                Ok(Self { out: WriteBehind::new(file), target: Target::Special { path: path.to_owned() } })
            }
            // A user without write permission must not replace the file either.
            Ok(_) => {
                fs::OpenOptions::new().write(true).open(path).map_err(Failure::file("write to", path))?;
                Self::file(path)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::file(path),
            // For example a cycle of links.
            Err(error) => Err(Failure::file("write to", path)(error)),
        }
    }

    /// Creates the file in the folder in which it will get its name.
    fn file(path: &Path) -> Outcome<Self> {
        let path = resolved(path);
        let folder = folder_of(&path);
        let created = AtomicFile::new_in(folder).and_then(|file| Ok((file.open_again()?, file)));
        let (out, file) = created.map_err(Failure::file("create a file in", folder))?;
        Ok(Self { out: WriteBehind::new(out), target: Target::File { file, path } })
    }

    /// Appends bytes. A write that fails may be reported by a later call.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome {
        self.out.write(bytes).map_err(|error| self.target.failed(error))
    }

    /// A line that says what an empty result means for the output file. `None` if the output is no file.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let Target::File { path, .. } = &self.target else { return None };
        let shown = path.display();
        Some(match path.exists() {
            true => format!("nothing found: {shown} is unchanged"),
            false => format!("nothing found: {shown} is not created"),
        })
    }

    /// Marks the output as complete. Without it no file appears.
    pub(crate) fn finish(mut self) -> Outcome {
        self.out.finish().map_err(|error| self.target.failed(error))?;
        match self.target {
            Target::File { file, path } => file.publish(&path).map_err(Failure::file("write", &path)),
            Target::Standard | Target::Special { .. } => Ok(()),
        }
    }
}

impl Target {
    fn failed(&self, error: io::Error) -> Failure {
        match self {
            Self::Standard => error.into(),
            Self::File { path, .. } | Self::Special { path } => Failure::file("write", path)(error),
        }
    }
}

/// Whether a path names standard output, as `/dev/stdout` or `/proc/self/fd/1` does. Such a path may lead to a file, which
/// must be appended to and not replaced.
fn is_standard_output(path: &Path) -> bool {
    let open_files = PathBuf::from(format!("/proc/{}/fd", std::process::id()));
    // One or more links lead to the folder of open files. The entry in it is a link to the open file itself.
    links_of(path).any(|path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        path.ends_with("1") && folder.as_ref() == Some(&open_files)
    })
}

/// The target of a path. A link stays a link: the file that it leads to is replaced or created.
fn resolved(path: &Path) -> PathBuf {
    links_of(path).last().unwrap_or_else(|| path.to_owned())
}

/// A path and the targets of the links that it leads to. The last target may not exist.
fn links_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    let target = |path: &PathBuf| path.read_link().ok().map(|target| folder_of(path).join(target));
    std::iter::successors(Some(path.to_owned()), target).take(LINKS_MAX + 1)
}
