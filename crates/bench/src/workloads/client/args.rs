//! The command line of a client, and the combinations that it refuses.

use std::env;

use clap::{Args, ValueEnum};
use isotach_object::PoolUri;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{launcher::Task, parse::within},
    workloads::ensemble::{FIELDS_PER_STEP, Order, SIZE_MAX, SIZE_MIN},
};

pub(crate) const NAME: &str = "client";
const FIELDS_MAX: u64 = 1_000_000_000;
/// The variable with the folder of the store.
const ROOT: &str = "PEER_ROOT";
/// The variable that, when it is `0`, keeps `flush` from waiting for the device.
const SYNC: &str = "PEER_SYNC";

/// The size of a field of the ensemble.
pub(crate) fn field_size(text: &str) -> std::result::Result<usize, String> {
    within(SIZE_MIN, SIZE_MAX, text)
}

/// The operation of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum ClientOp {
    /// Archive the fields, one flush per step of a number
    Archive,
    /// Retrieve the fields one by one
    Retr1,
    /// Retrieve all fields with one request
    Bulk,
    /// List all fields with their keys and locations
    List,
    /// The same as `list`
    Listkeys,
    /// List all fields as lines of JSON, and discard the lines
    Listjson,
    /// Remove the dataset of all fields
    Wipe,
}

/// A modifier of the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum ClientMode {
    /// Open a new handle for each step
    Fresh,
    /// Archive each step in a transaction
    Atomic,
    /// Start over until another line, or the end of input, comes on standard input
    Loop,
    /// Every tenth field: one parameter
    Tenth,
    /// From the last field to the first
    Backwards,
    /// No store: the cost of the harness itself
    Null,
    /// ECMWF's FDB through its C library, with the settings of its variables, instead of Isotach
    Fdb,
}

/// The client: 100 fields (10 levels by 10 parameters) for each step of each number.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub(crate) struct ClientArgs {
    /// The operation
    pub(crate) op: ClientOp,
    /// Bytes per field
    #[arg(value_parser = field_size)]
    pub(crate) size: usize,
    /// The first number (ensemble member)
    pub(crate) first_number: u32,
    /// How many numbers
    pub(crate) numbers: u32,
    /// The first step
    pub(crate) first_step: u32,
    /// How many steps
    pub(crate) steps: u32,
    /// Modifiers of the operation
    pub(crate) modes: Vec<ClientMode>,
    /// The store, as the URI of a pool of any engine; the first client creates it. A memory: store serves one client [default:
    /// a posix store in the empty directory that PEER_ROOT names, where with PEER_SYNC=0 flush does not wait for the device]
    #[arg(long, value_name = "URI")]
    pub(crate) store: Option<String>,
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
    pub(crate) fn task(&self) -> Result<Task> {
        Task::new(NAME, self)
    }

    pub(super) fn has(&self, mode: ClientMode) -> bool {
        self.modes.contains(&mode)
    }

    /// Refuses combinations without a meaning. Returns the number of fields.
    pub(super) fn check(&self) -> Result<u64> {
        use ClientMode::{Atomic, Backwards, Fdb, Fresh, Loop, Null, Tenth};
        let refused = |what: &str, expected: &str| Err(Error::invalid(what, expected));
        let is_retr1 = self.op == ClientOp::Retr1;
        let is_ordered = self.has(Tenth) || self.has(Backwards);
        match self.op {
            _ if self.has(Null) && self.has(Fdb) => refused("null with fdb", "one of them"),
            _ if self.has(Tenth) && self.has(Backwards) => refused("tenth with backwards", "one of them"),
            _ if is_ordered && !is_retr1 && self.op != ClientOp::Bulk => {
                refused("tenth or backwards with another operation", "retr1 or bulk with it")
            }
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
        count.map(|count| count / self.order().stride()).ok_or_else(|| {
            let what =
                format!("{} numbers of {} steps of {FIELDS_PER_STEP} fields", self.numbers, self.steps);
            Error::invalid(what, format!("at most {FIELDS_MAX} fields"))
        })
    }

    /// The store of Isotach; none with null or fdb.
    pub(super) fn own_store(&self) -> Result<Option<PoolUri>> {
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

    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        self.first_number..self.first_number + self.numbers
    }

    pub(super) fn steps(&self) -> std::ops::Range<u32> {
        self.first_step..self.first_step + self.steps
    }

    pub(super) fn order(&self) -> Order {
        match () {
            () if self.has(ClientMode::Tenth) => Order::Tenth,
            () if self.has(ClientMode::Backwards) => Order::Backwards,
            () => Order::Stored,
        }
    }

    pub(super) fn steps_of_numbers(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + use<> {
        let steps = self.steps();
        self.numbers().flat_map(move |number| steps.clone().map(move |step| (number, step)))
    }
}
