//! Large fields are read on several threads, where a processor is free.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread::{self, ThreadId},
    time::Duration,
};

use isotach_engine_kit::hooks::{Hooked, Hooks, hook_engine};
use isotach_mars::Key;
use isotach_object::{ArrayRead, Container, Registry, Result, memory::Memory};

use crate::{Config, FieldStore, retrieve::contention};

const LENGTH: usize = 300_000;
/// A reader that waits this long waits in vain.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads that wait for each other: the first of the caller for one of another thread, and the first of another thread for
/// the second of the caller.
#[derive(Debug, Default)]
struct Together {
    begun: Mutex<Vec<ThreadId>>,
    changed: Condvar,
}

impl Together {
    /// Waits until reads have begun that fulfil a condition.
    fn wait_for(&self, condition: impl Fn(&[ThreadId]) -> bool) {
        let (guard, waited) = self
            .changed
            .wait_timeout_while(self.begun.lock().unwrap(), PATIENCE, |begun| !condition(begun))
            .unwrap();
        drop(guard);
        assert!(!waited.timed_out(), "nobody reads meanwhile");
    }
}

#[derive(Debug)]
struct Reads {
    caller: ThreadId,
    together: Arc<Together>,
}

impl Hooks for Reads {
    fn read_many(&self, inner: &dyn Container, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        let this = thread::current().id();
        let mut begun = self.together.begun.lock().unwrap();
        let is_first = !begun.contains(&this);
        begun.push(this);
        drop(begun);
        self.together.changed.notify_all();
        let of_caller = |begun: &[ThreadId]| begun.iter().filter(|id| **id == self.caller).count();
        match this == self.caller {
            true if is_first => self.together.wait_for(|begun| of_caller(begun) < begun.len()),
            false if is_first => self.together.wait_for(|begun| of_caller(begun) >= 2),
            _ => {}
        }
        inner.read_many(reads)
    }
}

#[test]
fn a_caller_reads_a_later_field_while_a_thread_reads_the_one_that_it_needs() {
    let together = Arc::new(Together::default());
    let caller = thread::current().id();
    let hooked = Arc::clone(&together);
    let wrap = move |inner| {
        Arc::new(Hooked::new(inner, Reads { caller, together: Arc::clone(&hooked) })) as Arc<dyn Container>
    };
    let registry = Registry::new().with(hook_engine(Arc::new(Memory::new()), |_| Ok(()), wrap));
    let config = Config::single(&"memory:ahead".parse().unwrap()).with_schema("[ class [ type [ step ]]]");
    let store = FieldStore::create(&config, &registry).unwrap();
    let bytes = |step: u8| vec![step; LENGTH];
    for step in 0..8 {
        let key: Key = format!("class=od,type=fc,step={step}").parse().unwrap();
        store.archive(&key, &bytes(step)).unwrap();
    }
    store.flush().unwrap();

    contention::take_processors_for_free();
    let request = "class=od,type=fc,step=0/1/2/3/4/5/6/7".parse().unwrap();
    let read: Vec<Vec<u8>> =
        store.retrieve(&request).unwrap().map(|field| field.unwrap().bytes.to_vec()).collect();
    assert!(read.into_iter().eq((0..8).map(bytes)));
    let begun = together.begun.lock().unwrap();
    assert_eq!(begun.len(), 8, "each field is read once");
}
