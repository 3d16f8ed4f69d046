//! The field stores of a client: Isotach, none, and FDB (in `peers`).

use std::io::{BufWriter, Write};

use isotach_fields::{Config, FieldStore, ListOptions, Listed, Transaction};
use isotach_mars::{Key, Request};
use isotach_object::{PoolUri, Registry};

use crate::{Error, Result, harness::output::print_line};

/// A field store, as a client uses it.
pub(crate) trait Target {
    fn archive(&mut self, key: &Key, bytes: &[u8]) -> Result<()>;
    fn flush(&mut self) -> Result<()>;
    /// Reads a field into the buffer and returns its length; none if it does not exist.
    fn retrieve(&mut self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>>;
    /// Whether it promises to retrieve the fields of a request in the request's order.
    fn keeps_order(&self) -> bool;
    /// Passes the bytes of all fields of a request to `each`.
    fn retrieve_all(&mut self, request: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
    /// Passes the lengths of all fields of a request to `each`.
    fn list(&mut self, request: &str, as_json: bool, each: &mut dyn FnMut(u64)) -> Result<()>;
    fn wipe(&mut self, request: &str) -> Result<u64>;
    fn reopen(&mut self) -> Result<()>;
}

pub(super) struct Isotach<'r> {
    config: Config,
    registry: &'r Registry,
    store: FieldStore,
    /// The transaction of each step, if steps are archived atomically.
    transaction: Option<Transaction>,
}

impl<'r> Isotach<'r> {
    pub(super) fn open(uri: &PoolUri, is_atomic: bool, registry: &'r Registry) -> Result<Self> {
        let config = Config::single(uri);
        // Creating an existing store would wait for the device, which a reader does not need. A store that another client
        // is still creating cannot be opened, but `create` joins in; and `create` reports all other errors.
        let store = FieldStore::open(&config, registry).or_else(|_| FieldStore::create(&config, registry))?;
        let transaction = is_atomic.then(|| store.transaction());
        Ok(Self { config, registry, store, transaction })
    }
}

impl Target for Isotach<'_> {
    fn archive(&mut self, key: &Key, bytes: &[u8]) -> Result<()> {
        match &self.transaction {
            Some(step) => step.archive(key, bytes)?,
            None => self.store.archive(key, bytes)?,
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        match &self.transaction {
            Some(step) => step.commit()?,
            None => self.store.flush()?,
        }
        Ok(())
    }

    fn retrieve(&mut self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.store.retrieve_into(key, buffer)?)
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn retrieve_all(&mut self, request: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for field in self.store.retrieve(&parse(request)?)? {
            each(&field?.bytes)?;
        }
        Ok(())
    }

    fn list(&mut self, request: &str, as_json: bool, each: &mut dyn FnMut(u64)) -> Result<()> {
        let mut lines = BufWriter::with_capacity(1 << 18, std::io::sink());
        for listed in self.store.list(&parse(request)?, ListOptions::default())? {
            let listed = listed?;
            match as_json {
                true => write_json(&mut lines, &listed)?,
                false => touch(&listed),
            }
            each(listed.location().length);
        }
        Ok(())
    }

    fn wipe(&mut self, request: &str) -> Result<u64> {
        Ok(self.store.wipe(&parse(request)?, true)?.counts().fields)
    }

    fn reopen(&mut self) -> Result<()> {
        self.store = FieldStore::open(&self.config, self.registry)?;
        Ok(())
    }
}

fn parse(request: &str) -> Result<Request> {
    request.parse().map_err(|error| Error::from(isotach_fields::Error::from(error)))
}

/// Reads every pair of the key and the location, as a program that lists would.
fn touch(listed: &Listed) {
    let key = listed.key();
    let sum: usize = key.iter().map(|(name, value)| name.len() + value.len()).sum();
    std::hint::black_box((sum, listed.location()));
}

fn write_json(lines: &mut impl Write, listed: &Listed) -> Result<()> {
    let location = listed.location();
    let key: serde_json::Map<_, _> =
        listed.key().iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let line = serde_json::json!({
        "key": key,
        "location": location.to_string(),
        "offset": location.offset,
        "length": location.length,
        "checksum": format!("{:08x}", location.checksum),
    });
    print_line(&line.to_string(), lines)
}

/// No store: the harness alone.
#[derive(Debug, Default)]
pub(super) struct Null {
    bytes: u64,
}

impl Target for Null {
    fn archive(&mut self, key: &Key, bytes: &[u8]) -> Result<()> {
        self.bytes += std::hint::black_box((key, bytes)).1.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn retrieve(&mut self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>> {
        Ok(Some(std::hint::black_box((key, buffer)).1.len()))
    }

    fn keeps_order(&self) -> bool {
        false
    }

    fn retrieve_all(&mut self, _request: &str, _each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn list(&mut self, _request: &str, _as_json: bool, _each: &mut dyn FnMut(u64)) -> Result<()> {
        Ok(())
    }

    fn wipe(&mut self, _request: &str) -> Result<u64> {
        Ok(0)
    }

    fn reopen(&mut self) -> Result<()> {
        Ok(())
    }
}
