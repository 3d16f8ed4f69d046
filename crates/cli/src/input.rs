//! Input files: reading text and bytes from a path or standard input, and telling regular files from streams.

use std::{
    fs::{self, File},
    io::{self, Read, stdin},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::failure::{Failure, Outcome};

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Standard input, a pipe or a device: its bytes come once, in order.
    Stream,
    /// A regular file.
    File,
}

impl Input {
    /// The kind of the input at this path. The path is not opened: opening a pipe waits for its other end.
    pub(crate) fn at(path: &Path) -> Outcome<Self> {
        if is_standard(path) {
            return Ok(Self::Stream);
        }
        let metadata = fs::metadata(path).map_err(open_failed)?;
        match metadata.is_dir() {
            true => Err(Failure::usage("it is a directory: expected a file")),
            false if metadata.is_file() => Ok(Self::File),
            false => Ok(Self::Stream),
        }
    }

    /// Refuses everything but regular files.
    pub(crate) fn check_adoptable(path: &Path) -> Outcome {
        let kind = match is_standard(path) {
            true => "a stream",
            false => match fs::metadata(path).map_err(open_failed)?.file_type() {
                kind if kind.is_file() => return Ok(()),
                kind if kind.is_dir() => "a directory",
                kind if kind.is_fifo() => "a pipe",
                kind if kind.is_socket() => "a socket",
                _ => "a device",
            },
        };
        Err(Failure::usage(format!(
            "it is {kind}: only regular files can be adopted, because they stay in place; `isotach write` copies its input"
        )))
    }
}

/// Streams that were copied to temporary files, so that they can be read twice.
#[derive(Debug, Default)]
pub(crate) struct Spooled(Vec<(PathBuf, NamedTempFile)>);

impl Spooled {
    /// Copies a stream to a temporary file. Leaves regular files alone.
    pub(crate) fn add(&mut self, path: &Path) -> Outcome {
        if Input::at(path)? == Input::File || self.path_of(path).is_some() {
            return Ok(());
        }
        let failed = |error| Failure::failed(format!("cannot copy it to a temporary file: {error}"));
        let mut copy = NamedTempFile::with_prefix("isotach-").map_err(failed)?;
        io::copy(&mut open(path).map_err(open_failed)?, &mut copy).map_err(failed)?;
        self.0.push((path.to_owned(), copy));
        Ok(())
    }

    /// The temporary file of a stream.
    pub(crate) fn path_of(&self, stream: &Path) -> Option<&Path> {
        self.0.iter().find(|(path, _)| path == stream).map(|(_, copy)| copy.path())
    }
}

/// The error of a file that cannot be opened. The caller adds the file's name.
#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err expects")]
pub(crate) fn open_failed(error: io::Error) -> Failure {
    Failure::failed(format!("cannot open it: {error}"))
}

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    match is_standard(path) {
        true => Ok(Box::new(stdin().lock())),
        false => Ok(Box::new(File::open(path)?)),
    }
}

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read_bytes(path: &Path) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|mut input| input.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(Failure::file("read", path))
}

/// The text of a file, or of standard input for `-`.
pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::usage(format!("{}:{line}: expected text in UTF-8", name_of(path)))
    })
}

/// Whether the path is `-`, which stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an input in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}
