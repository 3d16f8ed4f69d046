//! Where `read` puts its bytes.
//!
//! What must stay true: a file of that name is either what was there before or the whole answer.

use std::{
    fs,
    io::{self, BufWriter, Stdout, Write},
    path::{Path, PathBuf},
};

use super::{
    atomic_file::{Draft, folder_of},
    standard_output,
};
use crate::{
    failure::{Failure, Outcome},
    input::is_standard,
};

/// An output.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard output.
    Standard(BufWriter<Stdout>),
    /// A file that takes its name when it is whole.
    Whole { file: BufWriter<Draft>, path: PathBuf },
    /// Something that is no file and must not be replaced by one: a device, a pipe.
    Special { file: fs::File, path: PathBuf },
}

/// Bytes that are gathered for one write.
const BUFFER: usize = 1 << 20;
/// How many links a name may be, one leading to the next.
const LINKS: usize = 40;

impl Sink {
    /// Opens the output.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        if is_standard(path) || is_standard_output(path) {
            return Ok(Self::Standard(standard_output()));
        }
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                let expected = "it is a folder: expected a file, or - for standard output";
                Err(Failure::usage(expected).about(path.display()))
            }
            Ok(there) if !there.is_file() => {
                let file = fs::OpenOptions::new().write(true).open(path);
                let file = file.map_err(Failure::file("open", path))?;
                Ok(Self::Special { file, path: path.to_owned() })
            }
            // Who may not write to it may not replace it either.
            Ok(_) => {
                fs::OpenOptions::new().write(true).open(path).map_err(Failure::file("write to", path))?;
                Self::whole(path)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::whole(path),
            // A circle of links, say.
            Err(error) => Err(Failure::file("write to", path)(error)),
        }
    }

    /// A file that is made in the folder in which it will have its name.
    fn whole(path: &Path) -> Outcome<Self> {
        let path = followed(path);
        let folder = folder_of(&path);
        let file = Draft::new_in(folder).map_err(Failure::file("create a file in", folder))?;
        Ok(Self::Whole { file: BufWriter::with_capacity(BUFFER, file), path })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome {
        match self {
            Self::Standard(out) => Ok(out.write_all(bytes)?),
            Self::Whole { file, path } => file.write_all(bytes).map_err(Failure::file("write", path)),
            Self::Special { file, path } => file.write_all(bytes).map_err(Failure::file("write", path)),
        }
    }

    /// What becomes of the output where there is nothing to put into it: a file that is there is left alone, and none
    /// is made. `None` where that is no question.
    pub(crate) fn give_up(&self) -> Option<String> {
        let Self::Whole { path, .. } = self else { return None };
        let path_shown = path.display();
        Some(match path.exists() {
            true => format!("nothing found: {path_shown} is left as it was"),
            false => format!("nothing found: no file {path_shown} is made"),
        })
    }

    /// Says that all bytes are there. Without it a file does not appear.
    pub(crate) fn finish(self) -> Outcome {
        match self {
            Self::Standard(mut out) => Ok(out.flush()?),
            Self::Special { .. } => Ok(()),
            Self::Whole { file, path } => {
                let file =
                    file.into_inner().map_err(|error| Failure::file("write", &path)(error.into_error()))?;
                file.publish(&path).map_err(Failure::file("write", &path))
            }
        }
    }
}

/// Whether a path is a name of standard output, as `/dev/stdout` or `/proc/self/fd/1`. That may lead to a file, which is not to
/// be replaced but written on.
fn is_standard_output(path: &Path) -> bool {
    let open_files = PathBuf::from(format!("/proc/{}/fd", std::process::id()));
    let mut path = path.to_owned();
    // The name is one link or several; the last leads away from the folder of open files.
    for _ in 0..LINKS {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        if path.ends_with("1") && folder.as_ref() == Some(&open_files) {
            return true;
        }
        match path.read_link() {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return false,
        }
    }
    false
}

/// What a path leads to. A link stays a link: the file that it leads to is replaced, or made.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // The last of these links may lead to a file that is not there yet.
    for _ in 0..LINKS {
        match path.read_link() {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => break,
        }
    }
    path
}
