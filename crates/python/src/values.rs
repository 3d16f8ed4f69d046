//! Values of chosen points of fields, as the bytes of arrays of numpy.

use std::path::PathBuf;

use isotach_mars::{Key, Request};
use isotach_values::{
    GeoBox, Grids, Points, Row, ValuesOptions, grid_text, parse_grid, values as read_values,
    values_at as read_values_at, values_in_file as read_values_in_file,
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyByteArray, PyDict, PyList},
};

use crate::{
    convert::{self, keys_to_list},
    error::Outcome,
    handle::Handle,
    reports::missing_to_python,
};

/// Numbers of 8 bytes, little-endian, which numpy takes over without a copy.
fn numbers<'py>(
    py: Python<'py>,
    count: usize,
    numbers: impl Iterator<Item = [u8; 8]>,
) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, count * 8, |bytes| {
        let (places, _) = bytes.as_chunks_mut::<8>();
        places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        Ok(())
    })
}

fn values_of<'py, 'r>(
    py: Python<'py>,
    rows: impl Iterator<Item = &'r Row> + Clone,
) -> PyResult<Bound<'py, PyByteArray>> {
    let count = rows.clone().map(|row| row.values.len()).sum();
    numbers(py, count, rows.flat_map(|row| &row.values).map(|value| value.to_le_bytes()))
}

/// The points of a call: `kind` says what they are.
fn points_of(kind: &str, points: &Bound<'_, PyAny>) -> PyResult<Points> {
    Ok(match kind {
        "nearest" => Points::Nearest(points.extract()?),
        "box" => {
            let (north, west, south, east) = points.extract()?;
            Points::Within(GeoBox { north, west, south, east })
        }
        _ => {
            let ranges: Vec<(u64, u64)> = points.extract()?;
            Points::Ranges(ranges.into_iter().map(|(start, end)| start..end).collect())
        }
    })
}

/// The hash that 32 hexadecimal digits stand for.
fn hash_of(text: &str) -> PyResult<[u8; 16]> {
    let wrong = || format!("grid hash {text:?}: expected 32 hexadecimal digits, as ecCodes' md5GridSection");
    parse_grid(text).ok_or_else(|| PyValueError::new_err(wrong()))
}

fn options((grid, any_grid): (Option<String>, bool), threads: usize) -> PyResult<ValuesOptions> {
    let grids = match grid {
        Some(text) => Grids::Hash(hash_of(&text)?),
        None if any_grid => Grids::Any,
        None => Grids::Equal,
    };
    Ok(ValuesOptions { grids, threads })
}

/// The values of the fields of a request, as a dictionary.
#[pyfunction]
pub(crate) fn values<'py>(
    py: Python<'py>,
    handle: &Handle,
    request: &Bound<'py, PyAny>,
    choice: (String, Bound<'py, PyAny>),
    grids: (Option<String>, bool),
    threads: usize,
) -> Outcome<Bound<'py, PyDict>> {
    let request: Request = convert::request(request)?;
    let points = points_of(&choice.0, &choice.1)?;
    let options = options(grids, threads)?;
    let store = handle.store(py)?;
    let found = py.detach(|| read_values(&store, &request, &points, &options))?;
    let answer = PyDict::new(py);
    answer.set_item("keys", keys_to_list(py, found.rows.iter().map(|row| &row.key))?)?;
    answer.set_item("grids", found.rows.iter().map(|row| grid_text(&row.grid)).collect::<Vec<_>>())?;
    answer.set_item("values", values_of(py, found.rows.iter())?)?;
    let places = &found.places;
    answer.set_item(
        "indices",
        numbers(py, places.len(), places.iter().map(|place| place.index.to_le_bytes()))?,
    )?;
    answer.set_item(
        "latitudes",
        numbers(py, places.len(), places.iter().map(|place| place.latitude.to_le_bytes()))?,
    )?;
    answer.set_item(
        "longitudes",
        numbers(py, places.len(), places.iter().map(|place| place.longitude.to_le_bytes()))?,
    )?;
    answer.set_item("whole", found.whole)?;
    answer.set_item("indexed", found.indexed)?;
    let missing = found.missing.map(|missing| missing_to_python(py, &missing, &request));
    answer.set_item("missing", missing.transpose()?)?;
    Ok(answer)
}

/// The values of single fields at ranges of points, and the grids; None for a field that does not exist.
#[pyfunction]
pub(crate) fn values_at<'py>(
    py: Python<'py>,
    handle: &Handle,
    keys: Vec<Bound<'py, PyAny>>,
    ranges: &Bound<'py, PyAny>,
    grids: (Option<String>, bool),
    threads: usize,
) -> Outcome<Bound<'py, PyList>> {
    let keys = keys.iter().map(convert::key).collect::<Outcome<Vec<Key>>>()?;
    let points = points_of("ranges", ranges)?;
    let options = options(grids, threads)?;
    let store = handle.store(py)?;
    let found = py.detach(|| read_values_at(&store, &keys, &points, &options))?;
    let rows = PyList::empty(py);
    for row in &found {
        match row {
            Some(row) => rows.append(values_of(py, std::iter::once(row))?)?,
            None => rows.append(py.None())?,
        }
    }
    Ok(rows)
}

/// The values at ranges of points of the message at an offset of a file.
#[pyfunction]
pub(crate) fn values_in_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    offset: u64,
    ranges: &Bound<'py, PyAny>,
    grids: (Option<String>, bool),
) -> Outcome<Bound<'py, PyByteArray>> {
    let points = points_of("ranges", ranges)?;
    let options = options(grids, 1)?;
    let row = py.detach(|| read_values_in_file(&path, offset, &points, &options))?;
    Ok(values_of(py, std::iter::once(&row))?)
}
