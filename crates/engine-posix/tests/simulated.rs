//! The posix engine in the conformance suite, on the simulated disk.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

#[path = "support/stored.rs"]
mod stored;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_engine_posix::simulation::{Fault, SimulatedDisk};
use isotach_object::{Engine, PoolUri};
use isotach_object_conformance::{FaultSet, Faults, Fixture};

isotach_object_conformance::conformance_suite! { simulated => SimulatedFixture::default() }
isotach_object_conformance::history_suite! { simulated_history => SimulatedFixture::default() }

/// Pools on a disk of their own.
#[derive(Debug, Default)]
struct SimulatedFixture {
    disk: SimulatedDisk,
    pools: AtomicU64,
}

impl Fixture for SimulatedFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        self.disk.engine()
    }

    fn fresh_pool(&self) -> PoolUri {
        let number = self.pools.fetch_add(1, Ordering::Relaxed);
        format!("posix:/pool-{number}?checkpoint=1024").parse().unwrap()
    }

    fn faults(&self) -> Option<&dyn Faults> {
        Some(self)
    }
}

impl Faults for SimulatedFixture {
    fn set(&self) -> FaultSet {
        FaultSet { corruption: true, crash: true, out_of_space: true }
    }

    fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool {
        let files = self.disk.files();
        let of_pool = files.iter().filter(|(path, _)| path.starts_with(Path::new(uri.path())));
        let mut found = false;
        for (path, _) in of_pool {
            let bytes = self.disk.read(path).unwrap();
            for position in stored::positions(&bytes, needle) {
                found |= self.disk.flip_bit(path, (position + needle.len() / 2) as u64 * 8);
            }
        }
        found
    }

    fn fill_up(&self, _uri: &PoolUri) {
        self.disk.set_fault(Some(Fault::Full(0)));
    }

    fn make_room(&self, _uri: &PoolUri) {
        self.disk.set_fault(None);
    }
}
