//! What a file that is to be taken in is: a regular file, a stream such as a pipe, or nothing that can be read.

use std::{
    fs::{self, FileType},
    io::{self, Read, stdin},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::failure::{Failure, Outcome};

/// Something to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Standard input, a pipe or a device: its bytes come once, in order.
    Stream,
    /// A regular file.
    File,
}

impl Input {
    /// What stands at this path, without opening it: opening a pipe waits for its other end.
    pub(crate) fn at(path: &Path) -> Outcome<Self> {
        if is_standard(path) {
            return Ok(Self::Stream);
        }
        let kind = fs::metadata(path).map_err(open_failed)?.file_type();
        match kind.is_dir() {
            true => Err(Failure::usage("it is a folder: expected a file")),
            false if kind.is_file() => Ok(Self::File),
            false => Ok(Self::Stream),
        }
    }

    /// Refuses what does not stay where it is.
    pub(crate) fn check_adoptable(path: &Path) -> Outcome {
        let refused = |what| {
            let expected = "only regular files can be adopted, for they stay where they are";
            Err(Failure::usage(format!("it is {what}: {expected}; `isotach write` copies what it reads")))
        };
        if is_standard(path) {
            return refused("a stream");
        }
        match kind_name(fs::metadata(path).map_err(open_failed)?.file_type()) {
            Some(kind) => refused(kind),
            None => Ok(()),
        }
    }
}

/// Streams that are kept in temporary files, so that they can be read twice.
#[derive(Debug, Default)]
pub(crate) struct Spooled(Vec<(PathBuf, NamedTempFile)>);

impl Spooled {
    /// Keeps what comes from a stream; a regular file stays where it is.
    pub(crate) fn keep(&mut self, path: &Path) -> Outcome {
        if Input::at(path)? == Input::File || self.path_of(path).is_some() {
            return Ok(());
        }
        let failed = |error| Failure::failed(format!("cannot keep it in a temporary file: {error}"));
        let mut kept = NamedTempFile::with_prefix("isotach-").map_err(failed)?;
        let copied = match is_standard(path) {
            true => io::copy(&mut stdin().lock(), &mut kept),
            false => io::copy(&mut fs::File::open(path).map_err(open_failed)?, &mut kept),
        };
        copied.map_err(failed)?;
        self.0.push((path.to_owned(), kept));
        Ok(())
    }

    /// The file that stands for a stream.
    pub(crate) fn path_of(&self, stream: &Path) -> Option<&Path> {
        self.0.iter().find(|(path, _)| path == stream).map(|(_, kept)| kept.path())
    }
}

/// None for a regular file.
fn kind_name(kind: FileType) -> Option<&'static str> {
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("a folder"),
        kind if kind.is_fifo() => Some("a pipe"),
        kind if kind.is_socket() => Some("a socket"),
        _ => Some("a device"),
    }
}

/// A file could not be opened; what it is called is said in front.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err calls")]
pub(crate) fn open_failed(error: io::Error) -> Failure {
    Failure::failed(format!("cannot open it: {error}"))
}

/// The text of a file, or of standard input for `-`.
pub(crate) fn text_of(path: &Path) -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = if is_standard(path) {
        stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(path).map(|read| bytes = read)
    };
    read.map_err(Failure::file("read", path))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::usage(format!("{}:{line}: expected text in UTF-8", name_of(path)))
    })
}

/// Whether `-`, standard input or output, was meant.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What an input is called in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}
