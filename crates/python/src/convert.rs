//! Keys and requests from Python, and keys to Python.
//!
//! Text and whole numbers, which most values are, are converted here. Everything else goes through `isotach._values`, which knows
//! dates, ranges and the types of other libraries.

use std::borrow::Cow;

use isotach_fields::Error as FieldsError;
use isotach_mars::{Key, Request};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyInt, PyList, PyMapping, PyString},
};

use crate::{
    error::{Failure, Outcome},
    request::Request as PyRequest,
};

/// A field's key from text or a mapping.
pub(crate) fn key(given: &Bound<'_, PyAny>) -> Outcome<Key> {
    if let Ok(text) = given.cast::<PyString>() {
        return text.to_str()?.parse::<Key>().map_err(|error| FieldsError::Key(error).into());
    }
    let mut key = Key::with_capacity(given.len().unwrap_or(0));
    for_each_pair(given, "key", |name, value| {
        match plain(value)? {
            Some(text) => key.set(name, &text),
            None => key.set(name, &text_of(name, value)?),
        }
        Ok(())
    })?;
    Ok(key)
}

/// A request from text, a mapping or another request. `None` is the request for everything.
pub(crate) fn request(given: &Bound<'_, PyAny>) -> Outcome<Request> {
    if let Ok(request) = given.cast::<PyRequest>() {
        return Ok(request.get().request.clone());
    }
    if let Ok(text) = given.cast::<PyString>() {
        return text.to_str()?.parse::<Request>().map_err(|error| FieldsError::Request(error).into());
    }
    let mut request = Request::new();
    if given.is_none() {
        return Ok(request);
    }
    for_each_pair(given, "request", |name, value| {
        match plain(value)? {
            Some(text) if text.contains(['/', '"', '\'']) => {
                request.set_text(name, &text).map_err(FieldsError::Request)?;
            }
            Some(text) => request.set(name, [text]),
            None => request.set(name, texts_of(name, value)?),
        }
        Ok(())
    })?;
    Ok(request)
}

/// Calls `each` for the names and values of a mapping. A name may have an underscore behind it, as `class_`, because keywords and
/// the arguments of `dict` need it for a word of Python.
fn for_each_pair(
    given: &Bound<'_, PyAny>,
    noun: &str,
    mut each: impl FnMut(&str, &Bound<'_, PyAny>) -> Outcome<()>,
) -> Outcome<()> {
    let mut pair = |name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>| {
        let Ok(text) = name.cast::<PyString>() else {
            let what = format!("a {noun} with the name {}", name.repr()?);
            return Err(wrong_type(&what, "text as the name"));
        };
        let text = text.to_str()?;
        if !text.ends_with('_') {
            return each(text, value);
        }
        let key = text.trim_end_matches('_');
        if given.contains(key)? {
            let what = format!("a {noun} with {key} and {text}");
            return Err(
                FieldsError::Invalid { what, expected: "one of them: both name one key".to_owned() }.into()
            );
        }
        each(key, value)
    };
    if let Ok(pairs) = given.cast::<PyDict>() {
        return pairs.iter().try_for_each(|(name, value)| pair(&name, &value));
    }
    let Ok(mapping) = given.cast::<PyMapping>() else {
        let what = format!("a {noun} of type {}", given.get_type().name()?);
        let expected = "a mapping from names to values, or text such as \"class=od,step=6\"";
        return Err(wrong_type(&what, expected));
    };
    for item in mapping.items()?.iter() {
        let (name, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        pair(&name, &value)?;
    }
    Ok(())
}

fn wrong_type(what: &str, expected: &str) -> Failure {
    Failure::Raised(PyTypeError::new_err(format!("{what}: expected {expected}")))
}

/// The text of a value that means the same for every key.
fn plain<'v>(value: &'v Bound<'_, PyAny>) -> PyResult<Option<Cow<'v, str>>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_str()?.into()));
    }
    // Not `cast`: a truth value is a number, too.
    let number = value.cast_exact::<PyInt>().ok().and_then(|number| number.extract::<i64>().ok());
    Ok(number.map(|number| number.to_string().into()))
}

/// The text of any other value.
fn text_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    static TEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    TEXT.import(value.py(), "isotach._values", "text_of")?.call1((name, value))?.extract()
}

/// The texts of any other value or sequence of values.
fn texts_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    static TEXTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    TEXTS.import(value.py(), "isotach._values", "texts_of")?.call1((name, value))?.extract()
}

/// A key as a dictionary, without absent values.
pub(crate) fn key_to_dict<'py>(py: Python<'py>, key: &Key) -> PyResult<Bound<'py, PyDict>> {
    let pairs = PyDict::new(py);
    key.iter().try_for_each(|(name, value)| pairs.set_item(name, value))?;
    Ok(pairs)
}

/// Keys as a list of dictionaries.
pub(crate) fn keys_to_list<'py, 'k>(
    py: Python<'py>,
    keys: impl IntoIterator<Item = &'k Key>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    keys.into_iter().try_for_each(|key| list.append(key_to_dict(py, key)?))?;
    Ok(list)
}

/// Microseconds since 1970 UTC as a `datetime`. `None` for 0, which stands for an unknown time.
pub(crate) fn moment(py: Python<'_>, microseconds: u64) -> PyResult<Option<Bound<'_, PyAny>>> {
    static MOMENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if microseconds == 0 {
        return Ok(None);
    }
    MOMENT.import(py, "isotach._values", "moment")?.call1((microseconds,)).map(Some)
}
