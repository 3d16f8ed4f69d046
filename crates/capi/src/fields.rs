//! The fields that a request found, one after the other.

use std::ffi::CString;

use isotach_capi_kit::{Failure, Result, c_text};
use isotach_fields::{FieldBytes, Inspection, Listing, Location, Missing, Retrieval};
use isotach_mars::Key;

/// What `isotach_fields` is.
#[derive(Debug)]
pub(crate) struct Fields {
    source: Source,
    current: Option<Current>,
    /// Whether the iteration came to its end. What is missing is unknown before.
    is_ended: bool,
    missing: Vec<CString>,
}

/// Where fields come from.
#[derive(Debug)]
pub(crate) enum Source {
    Retrieval(Box<Retrieval>),
    Inspection(Box<Inspection>),
    Listing(Box<Listing>),
}

/// The current field, with its texts that C programs hold.
#[derive(Debug)]
pub(crate) struct Current {
    key: Key,
    pub(crate) location: Location,
    bytes: Option<FieldBytes>,
    pub(crate) is_replaced: bool,
    texts: Vec<CString>,
}

impl Fields {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, current: None, is_ended: false, missing: Vec::new() }
    }

    /// Whether there is a next field, which then is the current one.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.current = None;
        let current = |key, location, bytes, is_replaced| Current {
            key,
            location,
            bytes,
            is_replaced,
            texts: Vec::new(),
        };
        self.current = match &mut self.source {
            Source::Retrieval(retrieval) => retrieval
                .next()
                .transpose()?
                .map(|field| current(field.key, field.location, Some(field.bytes), false)),
            Source::Inspection(inspection) => {
                inspection.next().transpose()?.map(|field| current(field.key, field.location, None, false))
            }
            Source::Listing(listing) => listing
                .next()
                .transpose()?
                .map(|field| current(field.key(), field.location().clone(), None, field.is_replaced())),
        };
        self.is_ended = self.current.is_none();
        Ok(!self.is_ended)
    }

    pub(crate) fn current(&mut self) -> Result<&mut Current> {
        let current = self.current.as_mut();
        current.ok_or_else(|| {
            Failure::invalid("there is no field: expected a successful isotach_fields_next before")
        })
    }

    /// The fields that do not exist, and the texts of their keys.
    pub(crate) fn missing(&mut self) -> Result<Option<(u64, &[CString])>> {
        let missing = match &self.source {
            Source::Retrieval(retrieval) => retrieval.missing(),
            Source::Inspection(inspection) => inspection.missing(),
            Source::Listing(_) => {
                return Err(Failure::invalid(
                    "a listing misses nothing: expected isotach_retrieve or isotach_inspect",
                ));
            }
        };
        if !self.is_ended {
            return Err(Failure::invalid(
                "what is missing is known after the last field: expected ISOTACH_NONE of isotach_fields_next before",
            ));
        }
        let Some(Missing { count, keys }) = missing else { return Ok(None) };
        if self.missing.is_empty() {
            self.missing = keys.iter().map(|key| c_text(&key.to_string())).collect();
        }
        Ok(Some((count, &self.missing)))
    }
}

impl Current {
    pub(crate) fn key_text(&mut self) -> &CString {
        let text = self.key.to_string();
        self.keep(&text)
    }

    pub(crate) fn place_text(&mut self) -> &CString {
        let text = self.location.to_string();
        self.keep(&text)
    }

    pub(crate) fn value(&mut self, name: &str) -> Option<&CString> {
        let value = self.key.get(name)?.to_owned();
        Some(self.keep(&value))
    }

    pub(crate) fn bytes(&self) -> Result<&FieldBytes> {
        let bytes = self.bytes.as_ref();
        bytes.ok_or_else(|| Failure::invalid("this iteration has no bytes: expected one of isotach_retrieve"))
    }

    /// Keeps a text where it is until the next field. An equal text is kept once.
    fn keep(&mut self, text: &str) -> &CString {
        let at = self.texts.iter().position(|kept| kept.as_bytes() == text.as_bytes());
        let at = at.unwrap_or_else(|| {
            self.texts.push(c_text(text));
            self.texts.len() - 1
        });
        &self.texts[at]
    }
}
