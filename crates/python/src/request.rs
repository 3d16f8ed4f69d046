//! `isotach.Request`: a request that was read once.

use isotach_mars::Request as MarsRequest;
use pyo3::{exceptions::PyKeyError, prelude::*, types::PyDict};

use crate::{convert, error::Outcome};

/// A request: names with lists of values.
#[pyclass(frozen, eq, hash, module = "isotach")]
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) request: MarsRequest,
    text: String,
}

/// The most characters of a request in the text of an object.
const SHOWN_MAX: usize = 200;

/// A request as the text of an object shows it.
pub(crate) fn brief(request: &MarsRequest) -> String {
    let text = request.to_string();
    if text.is_empty() {
        return "all fields".to_owned();
    }
    match text.char_indices().nth(SHOWN_MAX) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}...", &text[..end]),
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl std::hash::Hash for Request {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl From<MarsRequest> for Request {
    fn from(request: MarsRequest) -> Self {
        Self { text: request.to_string(), request }
    }
}

#[pymethods]
impl Request {
    #[new]
    #[pyo3(signature = (request = None, /, **keywords))]
    fn new(request: Option<&Bound<'_, PyAny>>, keywords: Option<&Bound<'_, PyDict>>) -> Outcome<Self> {
        let mut read = request.map_or_else(|| Ok(MarsRequest::new()), convert::request)?;
        if let Some(keywords) = keywords {
            convert::request(keywords)?.iter().for_each(|(name, values)| read.set(name, values.to_vec()));
        }
        Ok(read.into())
    }

    /// The names and their values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pairs = PyDict::new(py);
        self.request.iter().try_for_each(|(name, values)| pairs.set_item(name, values))?;
        Ok(pairs)
    }

    fn keys(&self) -> Vec<&str> {
        self.request.iter().map(|(name, _)| name).collect()
    }

    fn __getitem__(&self, name: &str) -> PyResult<Vec<String>> {
        let values = self.request.get(name);
        values.map(<[String]>::to_vec).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __contains__(&self, name: &str) -> bool {
        self.request.contains(name)
    }

    fn __len__(&self) -> usize {
        self.request.len()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Request({:?})", self.text)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (slf.get_type(), (slf.get().text.clone(),))
    }
}
