//! A handle: a field store, asked as FDB is.

use isotach_capi_kit::{Failure, Result, archive_messages};
use isotach_fields::{FieldStore, ListOptions};
use isotach_mars::{Key, Request};

use crate::{
    config,
    listing::Listing,
    reader::Fields,
    reports::{self, Report},
};

/// What `fdb_handle_t` is.
#[derive(Debug)]
pub(crate) struct Fdb {
    store: FieldStore,
}

impl Fdb {
    pub(crate) fn of_environment() -> Result<Self> {
        Ok(Self { store: config::store_of_environment()? })
    }

    pub(crate) fn of_text(system: &str, user: &str) -> Result<Self> {
        Ok(Self { store: config::store_of_text(system, user)? })
    }

    pub(crate) fn archive(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        Ok(self.store.archive(key, bytes)?)
    }

    /// Archives messages. With a request exactly its fields, each once.
    pub(crate) fn archive_messages(&self, request: Option<&Request>, bytes: &[u8]) -> Result<()> {
        let Some(request) = request else {
            return archive_messages(bytes, |key, message| self.archive(key, message)).map(drop);
        };
        let schema = self.store.schema();
        let mut wanted = schema.wanted_fields(request)?;
        archive_messages(bytes, |key, message| {
            let split = schema.split(key)?;
            let before = wanted.missing_count();
            wanted.mark(split.rule, [&split.dataset, &split.collocation, &split.element]);
            if wanted.missing_count() == before {
                let found = format!("unexpected message {key}: expected each field of {request} once");
                return Err(Failure::invalid(found));
            }
            self.archive(key, message)
        })?;
        match (wanted.missing_count(), wanted.missing().next()) {
            (0, _) | (_, None) => Ok(()),
            (count, Some(first)) => Err(Failure::invalid(format!(
                "missing {count} messages of the request, the first is {first}"
            ))),
        }
    }

    pub(crate) fn flush(&self) -> Result<()> {
        Ok(self.store.flush()?)
    }

    /// Lists datasets (1), collocations (2) or fields (any other depth).
    pub(crate) fn list(&self, request: Option<&Request>, replaced: bool, depth: i32) -> Result<Listing> {
        let all = Request::new();
        let request = request.map_or(Ok(&all), not_empty)?;
        let depth = if matches!(depth, 1 | 2) { depth as u8 } else { 3 };
        let options = ListOptions { duplicates: replaced && depth == 3 };
        Ok(Listing::new(self.store.list(request, options)?, depth))
    }

    pub(crate) fn retrieve(&self, request: &Request) -> Result<Fields> {
        Fields::find(&self.store, request)
    }

    pub(crate) fn wipe(&self, request: &Request, doit: bool, porcelain: bool) -> Result<Report> {
        Ok(reports::of_wipe(&self.store.wipe(not_empty(request)?, doit)?, porcelain))
    }

    pub(crate) fn purge(&self, request: &Request, doit: bool, porcelain: bool) -> Result<Report> {
        Ok(reports::of_purge(self.store.purge(not_empty(request)?, doit)?, porcelain))
    }
}

/// Refuses a request without keys, as FDB does: it could mean everything.
fn not_empty(request: &Request) -> Result<&Request> {
    match request.is_empty() {
        true => Err(Failure::invalid(
            "a request without keys: expected some, or NULL for the whole store where it lists",
        )),
        false => Ok(request),
    }
}
