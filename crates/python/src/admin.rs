//! Operations on datasets: status, stats, wipe, delete, purge, locks, snapshots; and adopting files.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use isotach_fields::{Action, Error as FieldsError, FieldStore, crc32c};
use isotach_grib::{Eccodes, Message, MessageScanner};
use isotach_mars::Key;
use pyo3::{prelude::*, types::PyList};

use crate::{
    archive::{message_error, not_scanned, os_error},
    convert::{self, keys_to_list},
    error::{Failure, Outcome},
    handle::Handle,
    reports::{
        answered, deleted_to_python, facts, make, purged_to_python, snapshot_to_python, stats_to_python,
        status_to_python, wiped_to_python,
    },
};

/// A list of reports.
fn list_of<'py, T>(
    py: Python<'py>,
    found: &[T],
    to_python: impl Fn(Python<'py>, &T) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    found.iter().try_for_each(|one| list.append(to_python(py, one)?))?;
    Ok(list)
}

#[pyfunction]
pub(crate) fn status<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
) -> Outcome<Bound<'py, PyList>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let found = handle.get().with(py, |store| store.status(&request))?;
    Ok(list_of(py, &found, status_to_python)?)
}

#[pyfunction]
pub(crate) fn stats<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
) -> Outcome<Bound<'py, PyList>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let answer = handle.get().with(py, |store| store.stats(&request))?;
    answered(py, list_of(py, &answer.found, stats_to_python)?, answer.unusable)
}

#[pyfunction]
pub(crate) fn wipe<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
    doit: bool,
) -> Outcome<Bound<'py, PyAny>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let report = handle.get().with(py, |store| store.wipe(&request, doit))?;
    let datasets = list_of(py, &report.datasets, wiped_to_python)?;
    Ok(make(py, "WipeReport", &facts!(py, done: report.done, datasets: datasets))?)
}

#[pyfunction]
pub(crate) fn delete<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
    doit: bool,
) -> Outcome<Bound<'py, PyAny>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let report = handle.get().with(py, |store| store.delete(&request, doit))?;
    let datasets = list_of(py, &report.datasets, deleted_to_python)?;
    Ok(make(py, "DeleteReport", &facts!(py, done: report.done, datasets: datasets))?)
}

#[pyfunction]
pub(crate) fn purge<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
    doit: bool,
) -> Outcome<Bound<'py, PyList>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let answer = handle.get().with(py, |store| store.purge(&request, doit))?;
    answered(py, list_of(py, &answer.found, purged_to_python)?, answer.unusable)
}

/// Locks or unlocks datasets, and returns their keys.
#[pyfunction]
pub(crate) fn control<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
    lock: bool,
    actions: Vec<String>,
) -> Outcome<Bound<'py, PyList>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let actions: Vec<Action> =
        actions.iter().map(|action| action.parse()).collect::<isotach_fields::Result<_>>()?;
    let changed = handle.get().with(py, |store| store.control(&request, lock, &actions))?;
    Ok(keys_to_list(py, &changed)?)
}

#[pyfunction]
pub(crate) fn snapshots<'py>(handle: &Bound<'py, Handle>) -> Outcome<Bound<'py, PyList>> {
    let py = handle.py();
    let found = handle.get().with(py, FieldStore::snapshots)?;
    Ok(list_of(py, &found, snapshot_to_python)?)
}

#[pyfunction]
pub(crate) fn snapshot<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
    name: &str,
) -> Outcome<Bound<'py, PyAny>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let made = handle.get().with(py, |store| store.snapshot(&request, name))?;
    Ok(snapshot_to_python(py, &made)?)
}

#[pyfunction]
pub(crate) fn remove_snapshot(handle: &Bound<'_, Handle>, name: &str) -> Outcome<()> {
    handle.get().with(handle.py(), |store| store.remove_snapshot(name))
}

/// Adopts a part of a file under a key, or every message of it under the key that it carries. Returns the keys.
#[pyfunction]
#[pyo3(signature = (handle, path, key, offset, length))]
pub(crate) fn adopt<'py>(
    handle: &Bound<'py, Handle>,
    path: PathBuf,
    key: Option<&Bound<'py, PyAny>>,
    offset: u64,
    length: Option<u64>,
) -> Outcome<Bound<'py, PyList>> {
    let py = handle.py();
    let (store, key) = (handle.get().store(py)?, key.map(convert::key).transpose()?);
    let keys = py.detach(move || match key {
        Some(key) => adopt_part(&store, &path, key, offset, length),
        None => adopt_messages(&store, &path),
    })?;
    Ok(keys_to_list(py, &keys)?)
}

fn adopt_part(
    store: &FieldStore,
    path: &Path,
    key: Key,
    offset: u64,
    length: Option<u64>,
) -> Outcome<Vec<Key>> {
    let size = path.metadata().map_err(|error| os_error(&error, path))?.len();
    let length = match length {
        Some(length) => length,
        None => size.checked_sub(offset).ok_or_else(|| FieldsError::Invalid {
            what: format!("offset {offset} of {}", path.display()),
            expected: format!("at most its {size} bytes"),
        })?,
    };
    store.adopt(&key, path, offset, length, None)?;
    Ok(vec![key])
}

fn adopt_messages(store: &FieldStore, path: &Path) -> Outcome<Vec<Key>> {
    let file = File::open(path).map_err(|error| os_error(&error, path))?;
    let adopted = MessageScanner::new(file).map(|message| {
        let Message { number, offset, bytes } = message.map_err(not_scanned)?;
        let at = |error| Failure::at(format!("message {number} at byte {offset}"), error);
        let key = Eccodes::load().and_then(|eccodes| eccodes.message_key(&bytes));
        let key = Key::from(key.map_err(|error| at(message_error(error)))?);
        store.adopt(&key, path, offset, bytes.len() as u64, Some(crc32c(&bytes))).map_err(at)?;
        Ok(key)
    });
    adopted.collect()
}
