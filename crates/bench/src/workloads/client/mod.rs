//! The client: a process that archives, retrieves or lists the fields of the ensemble, and measures itself.
//!
//! Opening the store is part of the measurement, as with the clients of other field stores. The first client creates the
//! store; several clients may start together.

mod args;
mod target;

use std::sync::atomic::Ordering;

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_object::Registry;

pub(crate) use self::{
    args::{ClientArgs, ClientMode, ClientOp, NAME, field_size},
    target::Target,
};

use self::target::{Isotach, Null};
use crate::{
    Error, Result,
    harness::{
        driver::Driver,
        noise,
        usage::{Usage, Watch},
    },
    peers::{Fdb, Library},
    workloads::ensemble::{self, DATASET, Keys, Wanted},
};

pub(crate) fn run(args: &ClientArgs, registry: &Registry, driver: &mut dyn Driver) -> Result<()> {
    let count = args.check()?;
    let store = args.own_store()?;
    // An unknown engine is reported before the client is ready.
    store.as_ref().map(|uri| registry.engine(uri.scheme())).transpose()?;
    let fdb = args.has(ClientMode::Fdb).then(Library::load).transpose()?;
    let buffer = noise::block(args.size);
    let keys = Keys::new()?;
    driver.wait_for_start()?;
    let job = Job { args, driver: &mut *driver, count, buffer, keys, watch: Watch::start() };
    let usage = match (store, fdb) {
        (_, Some(library)) => job.measure(Fdb::open(library, args.size)?)?,
        (None, None) => job.measure(Null::default())?,
        (Some(uri), None) => job.measure(Isotach::open(&uri, args.has(ClientMode::Atomic), registry)?)?,
    };
    driver.report(&usage)
}

struct Job<'a> {
    args: &'a ClientArgs,
    driver: &'a mut dyn Driver,
    count: u64,
    buffer: AlignedBuffer,
    keys: Keys,
    watch: Watch,
}

impl Job<'_> {
    /// Works on a store, and measures closing it separately.
    fn measure(mut self, mut target: impl Target) -> Result<Usage> {
        self.run(&mut target)?;
        Ok(self.watch.stop(|| drop(target)))
    }

    fn run(&mut self, target: &mut dyn Target) -> Result<()> {
        match self.args.op {
            ClientOp::Archive => self.archive(target),
            ClientOp::Retr1 => self.retrieve_one_by_one(target),
            ClientOp::Bulk => self.retrieve_all(target),
            ClientOp::List | ClientOp::Listkeys => self.list(false, target),
            ClientOp::Listjson => self.list(true, target),
            ClientOp::Wipe => {
                let fields = target.wipe(DATASET)?;
                (0..fields).for_each(|_| self.watch.field(0));
                Ok(())
            }
        }
    }

    fn archive(&mut self, target: &mut dyn Target) -> Result<()> {
        for (number, step) in self.args.steps_of_numbers() {
            for name in ensemble::fields_of(number, step) {
                ensemble::stamp(&mut self.buffer, name);
                target.archive(&self.keys.of(name), &self.buffer)?;
                self.watch.field(self.buffer.len() as u64);
            }
            target.flush()?;
        }
        Ok(())
    }

    fn retrieve_one_by_one(&mut self, target: &mut dyn Target) -> Result<()> {
        let stop = self.args.has(ClientMode::Loop).then(|| self.driver.stop_signal()).transpose()?;
        loop {
            for (number, step) in self.args.order().directed(self.args.steps_of_numbers()) {
                if self.args.has(ClientMode::Fresh) && self.watch.fields() > 0 {
                    target.reopen()?;
                }
                self.retrieve_step(number, step, target)?;
                if stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                    return Ok(());
                }
            }
            if stop.is_none() {
                return Ok(());
            }
        }
    }

    fn retrieve_step(&mut self, number: u32, step: u32, target: &mut dyn Target) -> Result<()> {
        let is_null = self.args.has(ClientMode::Null);
        for name in self.args.order().of(ensemble::fields_of(number, step)) {
            let key = self.keys.of(name);
            let length = target.retrieve(&key, &mut self.buffer)?;
            let length = length.ok_or_else(|| Error::wrong("no field", format!("field {key}")))?;
            if !is_null {
                ensemble::check(&self.buffer[..length], name, self.args.size)?;
            }
            self.watch.field(length as u64);
        }
        Ok(())
    }

    fn retrieve_all(&mut self, target: &mut dyn Target) -> Result<()> {
        let (numbers, steps) = (self.args.numbers(), self.args.steps());
        let order = self.args.order();
        let request = ensemble::request(numbers.clone(), steps.clone(), order);
        let mut wanted = Wanted::new(numbers, steps, self.args.size, order).ordered_if(target.keeps_order());
        target.retrieve_all(&request, &mut |bytes| {
            self.watch.field(bytes.len() as u64);
            wanted.accept(bytes)
        })?;
        self.check_count()
    }

    fn list(&mut self, as_json: bool, target: &mut dyn Target) -> Result<()> {
        target.list(DATASET, as_json, &mut |length| self.watch.field(length))?;
        self.check_count()
    }

    fn check_count(&self) -> Result<()> {
        let (found, wanted) = (self.watch.fields(), self.count);
        if found != wanted && !self.args.has(ClientMode::Null) {
            return Err(Error::wrong(format!("{found} fields"), format!("{wanted}")));
        }
        Ok(())
    }
}
