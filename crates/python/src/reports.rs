//! Reports of the library as the classes of `isotach._reports`.

use isotach_fields::{
    Counts, DatasetStats, DatasetStatus, DeletedFields, Error as FieldsError, Missing, PurgedDataset,
    StoreSnapshot, WipedDataset,
};
use isotach_mars::Request;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    convert::{key_to_dict, keys_to_list, moment},
    error::{Failure, Outcome},
};

/// A dictionary with these names and values.
macro_rules! facts {
    ($py:expr, $($name:ident: $value:expr),* $(,)?) => {{
        let facts = pyo3::types::PyDict::new($py);
        $(facts.set_item(stringify!($name), $value)?;)*
        facts
    }};
}
pub(crate) use facts;

/// An instance of a class of `isotach._reports`.
pub(crate) fn make<'py>(
    py: Python<'py>,
    class: &str,
    facts: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("isotach._reports")?.getattr(class)?.call((), Some(facts))
}

/// The results, or the first error of an unusable dataset, which carries the results as `answer` and names the other errors.
pub(crate) fn answered<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    found: T,
    unusable: Vec<FieldsError>,
) -> Outcome<T> {
    let mut unusable = unusable.into_iter();
    let Some(first) = unusable.next() else { return Ok(found) };
    let raised = PyErr::from(Failure::from(first));
    raised.value(py).setattr("answer", found)?;
    for other in unusable {
        raised.value(py).call_method1("add_note", (format!("and {other}"),))?;
    }
    Err(Failure::Raised(raised))
}

pub(crate) fn missing_to_python<'py>(
    py: Python<'py>,
    missing: &Missing,
    request: &Request,
) -> Outcome<Bound<'py, PyAny>> {
    let keys = keys_to_list(py, &missing.keys)?;
    let text = missing.text(request).unwrap_or_default();
    Ok(make(py, "Missing", &facts!(py, count: missing.count, keys: keys, text: text))?)
}

pub(crate) fn status_to_python<'py>(py: Python<'py>, status: &DatasetStatus) -> PyResult<Bound<'py, PyAny>> {
    let locks: Vec<&str> = status.locks.iter().map(|action| action.name()).collect();
    let forbidden: Vec<&str> = status.forbidden.iter().map(|action| action.name()).collect();
    let facts = facts!(py,
        key: key_to_dict(py, &status.key)?,
        locks: locks,
        forbidden: forbidden,
        created: moment(py, status.created_us)?,
        rule: &status.rule,
        catalogue: status.catalogue.to_string(),
        store: status.store.to_string(),
        below: keys_to_list(py, &status.below)?,
    );
    make(py, "DatasetStatus", &facts)
}

fn add_counts(facts: &Bound<'_, PyDict>, counts: Counts) -> PyResult<()> {
    let Counts { fields, bytes, replaced_fields, replaced_bytes, adopted_fields, adopted_bytes } = counts;
    for (name, value) in [
        ("fields", fields),
        ("bytes", bytes),
        ("replaced_fields", replaced_fields),
        ("replaced_bytes", replaced_bytes),
        ("adopted_fields", adopted_fields),
        ("adopted_bytes", adopted_bytes),
    ] {
        facts.set_item(name, value)?;
    }
    Ok(())
}

pub(crate) fn stats_to_python<'py>(py: Python<'py>, stats: &DatasetStats) -> PyResult<Bound<'py, PyAny>> {
    let facts = facts!(py,
        key: key_to_dict(py, &stats.key)?,
        collocations: stats.collocations,
        container_bytes: stats.container_bytes,
    );
    add_counts(&facts, stats.counts)?;
    make(py, "DatasetStats", &facts)
}

pub(crate) fn wiped_to_python<'py>(py: Python<'py>, wiped: &WipedDataset) -> PyResult<Bound<'py, PyAny>> {
    let facts = facts!(py,
        key: key_to_dict(py, &wiped.key)?,
        is_whole: wiped.is_whole,
        collocations: keys_to_list(py, &wiped.collocations)?,
        kept_by: &wiped.kept_by,
        uncounted: wiped.uncounted.as_deref(),
        catalogue: wiped.catalogue.to_string(),
        store: wiped.store.to_string(),
    );
    add_counts(&facts, wiped.counts)?;
    make(py, "WipedDataset", &facts)
}

pub(crate) fn deleted_to_python<'py>(
    py: Python<'py>,
    deleted: &DeletedFields,
) -> PyResult<Bound<'py, PyAny>> {
    let DeletedFields { key, fields, bytes } = deleted;
    make(py, "DeletedFields", &facts!(py, key: key_to_dict(py, key)?, fields: fields, bytes: bytes))
}

pub(crate) fn purged_to_python<'py>(py: Python<'py>, purged: &PurgedDataset) -> PyResult<Bound<'py, PyAny>> {
    let facts = facts!(py,
        key: key_to_dict(py, &purged.key)?,
        replaced_fields: purged.replaced_fields,
        replaced_bytes: purged.replaced_bytes,
        bytes_before: purged.before,
        bytes_freed: purged.freed,
        bytes_held: purged.held,
        history_stays: purged.history_stays,
    );
    make(py, "PurgedDataset", &facts)
}

pub(crate) fn snapshot_to_python<'py>(
    py: Python<'py>,
    snapshot: &StoreSnapshot,
) -> PyResult<Bound<'py, PyAny>> {
    let facts = facts!(py,
        name: snapshot.name.as_str(),
        created: moment(py, snapshot.created_us)?,
        request: &snapshot.request,
        datasets: keys_to_list(py, &snapshot.datasets)?,
        is_complete: snapshot.is_complete,
    );
    make(py, "Snapshot", &facts)
}
