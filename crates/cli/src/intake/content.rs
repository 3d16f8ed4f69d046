//! The content of a file that is archived under a complete key: one message, or bytes of any kind.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek, SeekFrom},
    path::Path,
};

use isotach_grib::{LocationScanner, ScanError};

use crate::{
    failure::{Failure, Outcome},
    input::{Input, open_failed, read_bytes},
};

/// The content of a file.
#[derive(Debug)]
pub(crate) enum Content {
    /// One field: the only message of the file, or all its bytes if it has no message.
    Field { offset: u64, bytes: Vec<u8> },
    /// Several messages, read from a stream.
    Messages(Vec<u8>),
    /// A file with several messages, at its beginning.
    MessageFile(File),
}

impl Content {
    /// Finds out what a file contains, and reads it if it is one field.
    pub(crate) fn read(path: &Path, input: Input, skip_bad: bool) -> Outcome<Self> {
        if input == Input::Stream {
            let mut cursor = Cursor::new(read_bytes(path)?);
            let field = field_of(&mut cursor, path, skip_bad)?;
            return Ok(field.unwrap_or_else(|| Self::Messages(cursor.into_inner())));
        }
        let mut file = File::open(path).map_err(open_failed)?;
        match field_of(&mut file, path, skip_bad)? {
            Some(field) => Ok(field),
            None => {
                file.rewind().map_err(Failure::file("read", path))?;
                Ok(Self::MessageFile(file))
            }
        }
    }
}

/// The one field, or none if there are several messages.
fn field_of(input: &mut (impl Read + Seek), path: &Path, skip_bad: bool) -> Outcome<Option<Content>> {
    let mut locations = LocationScanner::new(&mut *input).map_err(Failure::failed)?.skip_bad(skip_bad);
    let mut next = || locations.find(|location| !skip_bad || location.is_ok());
    let (first, second) = (next(), next());
    let failed = Failure::file("read", path);
    match (first, second) {
        (Some(Ok(location)), None) => {
            input.seek(SeekFrom::Start(location.offset)).map_err(&failed)?;
            let mut bytes = Vec::new();
            input.take(location.length).read_to_end(&mut bytes).map_err(&failed)?;
            if bytes.len() as u64 != location.length {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
            Ok(Some(Content::Field { offset: location.offset, bytes }))
        }
        (Some(Ok(_)), Some(_)) => Ok(None),
        (Some(Err(error @ ScanError::Io { .. })), _) => Err(Failure::failed(error)),
        (bad, _) => {
            input.rewind().map_err(&failed)?;
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes).map_err(&failed)?;
            match bad {
                // The output of a program that failed before it wrote anything. It must not replace a field.
                _ if bytes.is_empty() => Err(Failure::failed("it is empty: expected the bytes of a field")),
                // Bytes that begin like GRIB are a bad message, not another kind of content.
                Some(Err(error)) if bytes.starts_with(b"GRIB") => Err(Failure::failed(error)),
                _ => Ok(Some(Content::Field { offset: 0, bytes })),
            }
        }
    }
}
