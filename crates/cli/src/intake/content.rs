//! A file that is archived under a key that names the field whole: one message, or bytes of any kind.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek, SeekFrom, stdin},
    path::Path,
};

use isotach_grib::{LocationScanner, MessageLocation, ScanError};

use crate::{
    failure::{Failure, Outcome},
    input::is_standard,
    input::{Input, open_failed},
};

/// What a file is.
#[derive(Debug)]
pub(crate) enum Whole {
    /// One field: the only message of the file, or all its bytes if it holds none.
    Field { offset: u64, bytes: Vec<u8> },
    /// Several messages, from a stream.
    Messages(Vec<u8>),
    /// A file of several messages, at its beginning.
    MessagesOf(File),
}

impl Whole {
    /// Looks what a file holds, and reads it if it is one field.
    pub(crate) fn read(path: &Path, input: Input, skip_bad: bool) -> Outcome<Self> {
        if input == Input::Stream {
            let bytes = read_to_end(path).map_err(Failure::file("read", path))?;
            let mut cursor = Cursor::new(bytes);
            let field = field_of(&mut cursor, path, skip_bad)?;
            return Ok(field.unwrap_or_else(|| Self::Messages(cursor.into_inner())));
        }
        let mut file = File::open(path).map_err(open_failed)?;
        match field_of(&mut file, path, skip_bad)? {
            Some(field) => Ok(field),
            None => {
                file.rewind().map_err(Failure::file("read", path))?;
                Ok(Self::MessagesOf(file))
            }
        }
    }
}

fn read_to_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match is_standard(path) {
        true => stdin().lock().read_to_end(&mut bytes)?,
        false => File::open(path)?.read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// The one field, or none if there are several messages.
fn field_of(input: &mut (impl Read + Seek), path: &Path, skip_bad: bool) -> Outcome<Option<Whole>> {
    let mut places = LocationScanner::new(&mut *input).map_err(Failure::failed)?.skip_bad(skip_bad);
    let first = next_good(&mut places, skip_bad);
    let second = next_good(&mut places, skip_bad);
    let failed = Failure::file("read", path);
    match (first, second) {
        (Some(Ok(place)), None) => {
            input.seek(SeekFrom::Start(place.offset)).map_err(&failed)?;
            let bytes = read_exactly(input, place.length).map_err(&failed)?;
            Ok(Some(Whole::Field { offset: place.offset, bytes }))
        }
        (Some(Ok(_)), Some(_)) => Ok(None),
        (Some(Err(error @ ScanError::Io { .. })), _) => Err(Failure::failed(error)),
        (bad, _) => {
            input.rewind().map_err(&failed)?;
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes).map_err(&failed)?;
            match bad {
                // What a program leaves that failed before it wrote anything: no field to put in another's place.
                _ if bytes.is_empty() => Err(Failure::failed("it is empty: expected the bytes of a field")),
                // It says that it is GRIB, so it is a bad message, not something else.
                Some(Err(error)) if bytes.starts_with(b"GRIB") => Err(Failure::failed(error)),
                _ => Ok(Some(Whole::Field { offset: 0, bytes })),
            }
        }
    }
}

/// The next message; bad ones are passed over if they are to be skipped.
fn next_good(
    places: &mut impl Iterator<Item = Result<MessageLocation, ScanError>>,
    skip_bad: bool,
) -> Option<Result<MessageLocation, ScanError>> {
    places.find(|place| !skip_bad || place.is_ok())
}

fn read_exactly(input: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
