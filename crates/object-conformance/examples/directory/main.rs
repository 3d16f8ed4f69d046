//! A toy engine, written from `docs/engines/writing-one.md` by somebody who had not seen another: a pool is a folder. It has the core
//! only, without facets.
//!
//! ```text
//! POOL                       the mark of a pool
//! labels/LABEL               the unique name of the container with this label
//! containers/UNIQUE/counters the epoch and the next free id
//! containers/UNIQUE/lock     held by a writer while it changes the container
//! containers/UNIQUE/objects/OID   all cells of an object, if it has any
//! containers/UNIQUE/tmp      the next version of a file, before it is renamed
//! trash/                     containers that are being created or removed
//! ```
//!
//! Every file begins with a checksum of the rest, is written whole and synced, and then gets its name by a rename or a link. So a
//! reader of an object takes no lock: an open file never changes. Only a listing of objects waits for a writer. Writers take turns by a lock on a file. The engine does not claim to be used by
//! several processes, because a stopped process would block the others. An engine for real use must not do that.
//!
//! `cargo run -p isotach-object-conformance --example directory` shows it at work. `cargo test` with the same arguments enters it into the
//! conformance suite.

mod container;
mod engine;
mod files;
mod object;
mod pool;

use isotach_object::{ContainerOptions, Engine, KeyValue, ObjectClass, ObjectId, ObjectType};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let uri = format!("directory:{}/pool", folder.path().display()).parse()?;
    engine::Directory.create_pool(&uri)?;
    let pool = engine::Directory.open_pool(&uri)?;
    pool.create_container(&"forecast".parse()?, &ContainerOptions::default())?;
    let container = pool.open_container(&"forecast".parse()?)?;
    let steps = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
    KeyValue::new(&*container, steps)?.put(b"step=6", b"here")?;
    container.flush()?;
    let reader = pool.open_container(&"forecast".parse()?)?;
    let value = KeyValue::new(&*reader, steps)?.get(b"step=6")?.unwrap_or_default();
    println!("step=6 is {}", String::from_utf8_lossy(&value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::Path,
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering},
        },
    };

    use isotach_object::{Container, Engine, PoolUri};
    use isotach_object_conformance::{FaultSet, Faults, Fixture};

    struct DirectoryFixture {
        folder: tempfile::TempDir,
        pools: AtomicU64,
    }

    impl DirectoryFixture {
        /// Off disk: syncs of a device would take most of the time.
        fn new() -> Self {
            let folder = tempfile::tempdir_in(isotach_needs::folder_off_disk()).unwrap();
            Self { folder, pools: AtomicU64::new(0) }
        }
    }

    impl Fixture for DirectoryFixture {
        fn engine(&self) -> Arc<dyn Engine> {
            Arc::new(crate::engine::Directory)
        }

        fn fresh_pool(&self) -> PoolUri {
            let number = self.pools.fetch_add(1, Ordering::Relaxed);
            format!("directory:{}/{number}", self.folder.path().display()).parse().unwrap()
        }

        fn faults(&self) -> Option<&dyn Faults> {
            Some(self)
        }
    }

    impl Faults for DirectoryFixture {
        fn set(&self) -> FaultSet {
            FaultSet { corruption: true, crash: true, out_of_space: false }
        }

        fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool {
            corrupt(Path::new(uri.path()), needle)
        }

        fn crash(&self, container: Arc<dyn Container>) {
            std::mem::forget(container);
        }

        fn fill_up(&self, _uri: &PoolUri) {}

        fn make_room(&self, _uri: &PoolUri) {}
    }

    /// Flips a bit of every copy of these bytes in the files below a folder. Returns whether there was one.
    fn corrupt(folder: &Path, needle: &[u8]) -> bool {
        let mut found = false;
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                found |= corrupt(&path, needle);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            let is_copy = |at: &usize| bytes[*at..].starts_with(needle);
            let copies: Vec<usize> = (0..bytes.len()).filter(is_copy).collect();
            copies.iter().for_each(|at| bytes[*at] ^= 1);
            if !copies.is_empty() {
                fs::write(&path, bytes).unwrap();
                found = true;
            }
        }
        found
    }

    isotach_object_conformance::conformance_suite! { directory => DirectoryFixture::new() }
    isotach_object_conformance::model_suite! { directory_model => DirectoryFixture::new() }
    isotach_object_conformance::history_suite! { directory_history => DirectoryFixture::new() }
}
