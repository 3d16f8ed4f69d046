//! The client: one process that archives, retrieves or lists the workload's fields, and measures itself.
//!
//! Opening the store is part of what is measured, as with the clients of other field stores. The store is made by
//! whichever client comes first; several may start at once.

use std::{
    env,
    io::{BufWriter, Write},
    sync::atomic::Ordering,
};

use isotach_fields::{Config, FieldStore, ListOptions, Listed, Transaction};
use isotach_mars::{Key, Request};
use isotach_object::{PoolUri, Registry};

use crate::{
    ClientArgs, ClientOp, Error, Result,
    args::ClientMode,
    harness::{measure::Watch, protocol},
    peers::{Fdb, Library},
    workloads::ensemble::{self, DATASET, FIELDS_PER_STEP, Keys, Wanted},
};

/// Fields of one client, at most.
const FIELDS_MAX: u64 = 1_000_000_000;

/// The variable that names the store's directory.
pub(crate) const ROOT: &str = "PEER_ROOT";
/// The variable that, when it is `0`, keeps `flush` from waiting for the device.
pub(crate) const SYNC: &str = "PEER_SYNC";

/// Runs one client.
pub(crate) fn run(args: &ClientArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let count = args.check()?;
    let store = args.own_store()?;
    // One that is not there is told of before anything is waited for.
    store.as_ref().map(|uri| registry.engine(uri.scheme())).transpose()?;
    let fdb = args.has(ClientMode::Fdb).then(Library::load).transpose()?;
    let mut job = Job { args, count, buffer: ensemble::block(args.size), keys: Keys::new()? };
    protocol::wait_for_go(out)?;
    let mut watch = Watch::start();
    let figures = match (store, fdb) {
        (_, Some(library)) => {
            let mut target = Fdb::open(library, args.size)?;
            job.run(&mut watch, &mut target)?;
            watch.stop(|| drop(target))
        }
        (None, None) => {
            let mut nothing = Null::default();
            job.run(&mut watch, &mut nothing)?;
            watch.stop(|| ())
        }
        (Some(uri), None) => {
            let mut target = Isotach::open(&uri, registry)?;
            target.transaction = args.has(ClientMode::Atomic).then(|| target.store.transaction());
            job.run(&mut watch, &mut target)?;
            watch.stop(|| drop(target))
        }
    };
    protocol::report(out, &figures)
}

fn uri_from_environment() -> Result<PoolUri> {
    let expected = "the path of an empty directory for the store, or --store URI";
    let root =
        env::var(ROOT).map_err(|_| Error::invalid(format!("the variable {ROOT} is not set"), expected))?;
    let sync = match env::var(SYNC).as_deref() {
        Ok("0") => "?sync=no",
        _ => "",
    };
    Ok(format!("posix:{root}{sync}").parse::<PoolUri>()?)
}

impl ClientArgs {
    fn has(&self, mode: ClientMode) -> bool {
        self.modes.contains(&mode)
    }

    /// Refuses what does not go together; gives how many fields there are.
    fn check(&self) -> Result<u64> {
        use ClientMode::{Atomic, Fdb, Fresh, Loop, Null};
        let refused = |what: &str, expected: &str| Err(Error::invalid(what, expected));
        let is_retr1 = self.op == ClientOp::Retr1;
        match self.op {
            _ if self.has(Null) && self.has(Fdb) => refused("null with fdb", "one of them"),
            _ if self.has(Fresh) && !is_retr1 => refused("fresh with another operation", "retr1 with it"),
            _ if self.has(Loop) && !is_retr1 => refused("loop with another operation", "retr1 with it"),
            _ if self.has(Atomic) && (self.has(Null) || self.has(Fdb)) => {
                refused("atomic with null or fdb", "atomic without them: the transactions are Isotach's")
            }
            ClientOp::Archive => self.count(),
            _ if self.has(Atomic) => refused("atomic with another operation", "archive with it"),
            ClientOp::Listjson | ClientOp::Wipe if self.has(Fdb) => {
                refused("listjson or wipe with fdb", "archive, retr1, bulk, list or listkeys with it")
            }
            _ => self.count(),
        }
    }

    /// How many fields there are.
    fn count(&self) -> Result<u64> {
        let ends = [(self.first_number, self.numbers), (self.first_step, self.steps)];
        if let Some((first, count)) =
            ends.into_iter().find(|(first, count)| first.checked_add(*count).is_none())
        {
            let what = format!("{count} numbers or steps from {first} on");
            return Err(Error::invalid(what, format!("none beyond {}", u32::MAX)));
        }
        let steps = u64::from(self.numbers) * u64::from(self.steps);
        let count = steps.checked_mul(FIELDS_PER_STEP).filter(|count| *count <= FIELDS_MAX);
        count.ok_or_else(|| {
            let what =
                format!("{} numbers of {} steps of {FIELDS_PER_STEP} fields", self.numbers, self.steps);
            Error::invalid(what, format!("at most {FIELDS_MAX} fields"))
        })
    }

    /// Where Isotach has its store, if it is Isotach that is to work.
    fn own_store(&self) -> Result<Option<PoolUri>> {
        let is_other = self.has(ClientMode::Null) || self.has(ClientMode::Fdb);
        match (&self.store, is_other) {
            (Some(uri), true) => Err(Error::invalid(
                format!("--store {uri} with null or fdb"),
                "one of them; neither uses a store",
            )),
            (None, true) => Ok(None),
            (Some(uri), false) => Ok(Some(uri.parse()?)),
            (None, false) => uri_from_environment().map(Some),
        }
    }

    fn numbers(&self) -> std::ops::Range<u32> {
        self.first_number..self.first_number + self.numbers
    }

    fn steps(&self) -> std::ops::Range<u32> {
        self.first_step..self.first_step + self.steps
    }

    /// Each step of each number.
    fn steps_of_numbers(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let steps = self.steps();
        self.numbers().flat_map(move |number| steps.clone().map(move |step| (number, step)))
    }
}

/// What the workload runs on.
pub(crate) trait Target {
    fn archive(&mut self, key: &Key, bytes: &[u8]) -> Result<()>;
    fn flush(&mut self) -> Result<()>;
    /// One field into the buffer; its length, if it is there.
    fn retrieve(&mut self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>>;
    /// All fields of a request, in any order; `each` gets their bytes.
    fn retrieve_all(&mut self, request: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
    /// All fields of a request; `each` gets the length of their bytes.
    fn list(&mut self, request: &str, as_json: bool, each: &mut dyn FnMut(u64)) -> Result<()>;
    fn wipe(&mut self, request: &str) -> Result<u64>;
    /// Begins again with a new handle.
    fn reopen(&mut self) -> Result<()>;
}

/// A client at work.
struct Job<'a> {
    args: &'a ClientArgs,
    /// How many fields there are.
    count: u64,
    buffer: Vec<u8>,
    keys: Keys,
}

impl Job<'_> {
    fn run(&mut self, watch: &mut Watch, target: &mut dyn Target) -> Result<()> {
        match self.args.op {
            ClientOp::Archive => self.archive(watch, target),
            ClientOp::Retr1 => self.retrieve_one_by_one(watch, target),
            ClientOp::Bulk => self.retrieve_all(watch, target),
            ClientOp::List | ClientOp::Listkeys => self.list(false, watch, target),
            ClientOp::Listjson => self.list(true, watch, target),
            ClientOp::Wipe => {
                let fields = target.wipe(DATASET)?;
                (0..fields).for_each(|_| watch.field(0));
                Ok(())
            }
        }
    }

    fn archive(&mut self, watch: &mut Watch, target: &mut dyn Target) -> Result<()> {
        for (number, step) in self.args.steps_of_numbers() {
            for name in ensemble::fields_of(number, step) {
                ensemble::stamp(&mut self.buffer, name);
                target.archive(&self.keys.of(name), &self.buffer)?;
                watch.field(self.buffer.len() as u64);
            }
            target.flush()?;
        }
        Ok(())
    }

    fn retrieve_one_by_one(&mut self, watch: &mut Watch, target: &mut dyn Target) -> Result<()> {
        let stop = self.args.has(ClientMode::Loop).then(protocol::stop_asked);
        loop {
            for (number, step) in self.args.steps_of_numbers() {
                if self.args.has(ClientMode::Fresh) && watch.fields() > 0 {
                    target.reopen()?;
                }
                self.retrieve_step(number, step, watch, target)?;
                if stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                    return Ok(());
                }
            }
            if stop.is_none() {
                return Ok(());
            }
        }
    }

    fn retrieve_step(
        &mut self,
        number: u32,
        step: u32,
        watch: &mut Watch,
        target: &mut dyn Target,
    ) -> Result<()> {
        let is_null = self.args.has(ClientMode::Null);
        for name in ensemble::fields_of(number, step) {
            let key = self.keys.of(name);
            let length = target.retrieve(&key, &mut self.buffer)?;
            let length = length.ok_or_else(|| Error::wrong("no field", format!("field {key}")))?;
            if !is_null {
                ensemble::check(&self.buffer[..length], name, self.args.size)?;
            }
            watch.field(length as u64);
        }
        Ok(())
    }

    fn retrieve_all(&mut self, watch: &mut Watch, target: &mut dyn Target) -> Result<()> {
        let (numbers, steps) = (self.args.numbers(), self.args.steps());
        let request = ensemble::request(numbers.clone(), steps.clone());
        let mut wanted = Wanted::new(numbers, steps, self.args.size);
        target.retrieve_all(&request, &mut |bytes| {
            watch.field(bytes.len() as u64);
            wanted.take(bytes)
        })?;
        self.check_all_came(watch)
    }

    fn list(&self, as_json: bool, watch: &mut Watch, target: &mut dyn Target) -> Result<()> {
        target.list(DATASET, as_json, &mut |length| watch.field(length))?;
        self.check_all_came(watch)
    }

    fn check_all_came(&self, watch: &Watch) -> Result<()> {
        let (found, wanted) = (watch.fields(), self.count);
        if found != wanted && !self.args.has(ClientMode::Null) {
            return Err(Error::wrong(format!("{found} fields"), format!("{wanted}")));
        }
        Ok(())
    }
}

/// The field store.
struct Isotach<'r> {
    config: Config,
    registry: &'r Registry,
    store: FieldStore,
    /// Where steps go that become visible at once.
    transaction: Option<Transaction>,
}

impl<'r> Isotach<'r> {
    fn open(uri: &PoolUri, registry: &'r Registry) -> Result<Self> {
        let config = Config::single(uri);
        // Making one that is there would wait for the device, which a reader has no reason to. While another client makes it, it cannot be
        // opened yet, but joined in making; and what is wrong otherwise is told then.
        let store = FieldStore::open(&config, registry).or_else(|_| FieldStore::create(&config, registry))?;
        Ok(Self { config, registry, store, transaction: None })
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

/// Looks at every pair of the key and at the location, as a program that lists would.
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
    writeln!(lines, "{line}").map_err(Error::pipe("write a line"))
}

/// No store: the harness alone.
#[derive(Debug, Default)]
struct Null {
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
