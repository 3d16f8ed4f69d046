//! Stores with messages of several packings.

use std::fs;

use isotach_fields::{Config, FieldStore};
use isotach_grib::{Eccodes, EccodesError, FieldName, ForecastPlan, MessageMaker};
use isotach_mars::{Key, Request};
use isotach_needs::{Need, skip};
use isotach_open::{registry, with_grib};
use tempfile::TempDir;

/// The packings of messages, by ecCodes' names. Only the first two have jump indexes.
pub(crate) const PACKINGS: [&str; 3] = ["grid_simple", "grid_ccsds", "grid_second_order"];

/// Bytes that begin as a jump index of this version, and are none.
pub(crate) const NO_INDEX: &[u8] = b"\x01no index";

/// A store in a folder that is removed with it, and its messages by step.
pub(crate) struct Filled {
    pub(crate) eccodes: &'static Eccodes,
    pub(crate) store: FieldStore,
    pub(crate) messages: Vec<Vec<u8>>,
    pub(crate) folder: TempDir,
}

/// ecCodes, or `None` after saying that the test is skipped.
pub(crate) fn eccodes() -> Option<&'static Eccodes> {
    match Eccodes::load() {
        Ok(eccodes) => Some(eccodes),
        Err(error @ EccodesError::NotInstalled { .. }) => {
            skip(Need::Eccodes, &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A message of a step.
pub(crate) fn message(eccodes: &'static Eccodes, size: usize, step: u32, packing: &str) -> Vec<u8> {
    let plan = ForecastPlan { message_size: size, ..ForecastPlan::default() };
    let mut maker = MessageMaker::new(eccodes, plan).unwrap();
    let simple = maker.message(FieldName { member: 1, step, level: 850, param: 130 }).unwrap();
    eccodes.edit_message(&simple, [("packingType", packing)]).unwrap()
}

/// The key of a step.
pub(crate) fn key(step: usize) -> Key {
    let dataset = "class=od,expver=0001,stream=enfo,date=20240101,time=0000,domain=g";
    format!("{dataset},type=pf,levtype=pl,step={step},number=1,levelist=850,param=130").parse().unwrap()
}

/// The request for so many steps.
pub(crate) fn steps(count: usize) -> Request {
    let mut request = Request::from(&key(0));
    request.set("step", (0..count).map(|step| step.to_string()));
    request
}

impl Filled {
    /// A store with a message of each packing in turn, one for each step. `None` without ecCodes.
    pub(crate) fn new(size: usize, count: usize, packings: &[&str]) -> Option<Self> {
        let eccodes = eccodes()?;
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let packing = |step: usize| packings[step % packings.len()];
        let messages: Vec<_> =
            (0..count).map(|step| message(eccodes, size, step as u32, packing(step))).collect();
        for message in &messages {
            store.archive(&Key::from(eccodes.message_key(message).unwrap()), message).unwrap();
        }
        store.flush().unwrap();
        Some(Self { eccodes, store, messages, folder })
    }

    /// All values of each message.
    pub(crate) fn whole(&self) -> Vec<Vec<f64>> {
        self.messages.iter().map(|message| self.eccodes.values(message).unwrap()).collect()
    }

    /// Another handle on the store.
    pub(crate) fn again(&self) -> FieldStore {
        open(&self.folder)
    }
}

/// Opens or creates the store in a folder.
pub(crate) fn open(folder: &TempDir) -> FieldStore {
    let config = Config::single(&format!("posix:{}/store?sync=no", folder.path().display()).parse().unwrap());
    with_grib(FieldStore::create(&config, &registry()).unwrap())
}

/// Flips a bit of the last data file below a folder, in the middle of the bytes of `message`.
pub(crate) fn damage(folder: &std::path::Path, message: &[u8], at: usize) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let mut bytes = fs::read(&entry).unwrap();
            if let Some(place) = bytes.windows(message.len()).position(|window| window == message) {
                bytes[place + at] ^= 1;
                fs::write(&entry, bytes).unwrap();
                return;
            }
        }
    }
    panic!("the message is in no file");
}
