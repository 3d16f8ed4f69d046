//! Values of one whole message: by the jump index that is made of it, or by ecCodes where its packing has none.

use std::{fs::File, io::Seek, ops::Range, path::Path};

use isotach_fields::{Error as FieldsError, Inspected, Location};
use isotach_grib::{Eccodes, GridPoints, JumpError, JumpInfo, MessageScanner, grid_md5};
use isotach_mars::Key;
use isotach_object::Error as ObjectError;

use crate::{
    Error, Grids, Points, Result, Row, ValuesOptions,
    choice::{Choice, Chosen},
    grid_text,
};

/// The values of a message that was read as a whole.
pub(crate) struct Decoded {
    pub(crate) grid: [u8; 16],
    pub(crate) values: Vec<f64>,
    /// `None` if ecCodes has decoded it.
    pub(crate) index: Option<JumpInfo>,
}

/// The values of chosen points of the message that begins at this byte of a file. The row has no key.
///
/// # Errors
/// As [`values`](crate::values); `NotFound` and what else the system reports of the file.
pub fn values_in_file(path: &Path, offset: u64, points: &Points, options: &ValuesOptions) -> Result<Row> {
    let failed = |source| {
        let what = format!("read {}", path.display());
        Error::from(FieldsError::from(ObjectError::from_io(source, what)))
    };
    let path = std::path::absolute(path).map_err(failed)?;
    let mut file = File::open(&path).map_err(failed)?;
    file.seek(std::io::SeekFrom::Start(offset)).map_err(failed)?;
    let named = |length: u64| -> Result<Inspected> {
        Ok(Inspected { key: Key::new(), location: Location::file(&path, offset, length, 0)? })
    };
    let message = match MessageScanner::new(file).next() {
        Some(Ok(message)) if message.offset == 0 => message.bytes,
        found => {
            let what = match found {
                Some(Err(error)) => error.to_string(),
                _ => "no message begins there".to_owned(),
            };
            return Err(Error::of_field(&named(0)?, JumpError::CorruptMessage { reason: what }));
        }
    };
    let field = named(message.len() as u64)?;
    let check = |grid| match options.grids {
        Grids::Hash(hash) if hash != grid => Err(Error::other_grid(&field, grid, grid_text(&hash))),
        _ => Ok(()),
    };
    let Decoded { grid, values, .. } = decode(&field, &message, &Choice::new(points)?, check)?;
    Ok(Row { key: Key::new(), grid, values })
}

/// The values of chosen points of a message. `check` may refuse its grid before it is decoded.
pub(crate) fn decode(
    field: &Inspected,
    message: &[u8],
    choice: &Choice<'_>,
    check: impl Fn([u8; 16]) -> Result<()>,
) -> Result<Decoded> {
    let info = match JumpInfo::of(message) {
        Ok(info) => info,
        Err(JumpError::Unsupported { .. }) => return decode_whole(field, message, choice, check),
        Err(error) => return Err(Error::of_field(field, error)),
    };
    let (grid, values) = decode_by(&info, field, message, choice, check)?;
    Ok(Decoded { grid, values, index: Some(info) })
}

/// The grid and the values of a message by its jump index.
pub(crate) fn decode_by(
    info: &JumpInfo,
    field: &Inspected,
    message: &[u8],
    choice: &Choice<'_>,
    check: impl Fn([u8; 16]) -> Result<()>,
) -> Result<([u8; 16], Vec<f64>)> {
    let of_field = |error| Error::of_field(field, error);
    let grid = info.grid_md5();
    check(grid)?;
    let part = |range: Range<u64>| {
        let found = message.get(range.start as usize..range.end as usize);
        found.ok_or(JumpError::ShortRead { start: range.start, end: range.end, found: 0 })
    };
    let chosen = choice.of_grid(grid, || {
        grid_of_section(field, part(info.grid()).map_err(of_field)?, || Ok(message.to_vec()))
    })?;
    Ok((grid, info.extract(&chosen.ranges, part).map_err(of_field)?))
}

/// The values of a message that only ecCodes decodes.
fn decode_whole(
    field: &Inspected,
    message: &[u8],
    choice: &Choice<'_>,
    check: impl Fn([u8; 16]) -> Result<()>,
) -> Result<Decoded> {
    let grid = grid_md5(message).map_err(|error| Error::of_field(field, error))?;
    check(grid)?;
    let chosen = choice.of_grid(grid, || grid_of_message(field, message))?;
    let all = Eccodes::load().and_then(|eccodes| eccodes.values(message));
    let all = all.map_err(|source| Error::NotDecoded { field: field.key.to_string(), source })?;
    let values = pick(&all, &chosen).map_err(|error| Error::of_field(field, error))?;
    Ok(Decoded { grid, values, index: None })
}

/// The chosen ones of all values.
fn pick(all: &[f64], chosen: &Chosen) -> std::result::Result<Vec<f64>, JumpError> {
    let mut values = Vec::new();
    for &Range { start, end } in &chosen.ranges {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let some = all.get(place(start)..place(end));
        let points = all.len() as u64;
        values.extend_from_slice(some.ok_or(JumpError::OutOfRange { start, end, points })?);
    }
    Ok(values)
}

/// The points of a grid: by the section that describes it, or else by ecCodes from the whole message.
pub(crate) fn grid_of_section(
    field: &Inspected,
    section: &[u8],
    message: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<GridPoints> {
    match GridPoints::of_section(section) {
        Ok(points) => Ok(points),
        Err(_) => grid_of_message(field, &message()?),
    }
}

/// The points of the grid of a whole message.
fn grid_of_message(field: &Inspected, message: &[u8]) -> Result<GridPoints> {
    let points = Eccodes::load().and_then(|eccodes| eccodes.grid_points(message));
    points.map_err(|source| Error::NotDecoded { field: field.key.to_string(), source })
}
