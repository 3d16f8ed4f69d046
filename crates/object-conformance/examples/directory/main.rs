//! A toy engine that was written from `docs/engines/writing-one.md`: a folder of files, the core only.
//!
//! A container is a folder with one file for each object. A change rewrites the file of its object beside the old one and renames it,
//! so that it is atomic. One process at a time may use a pool, and a lock of that process orders its changes: an engine for real
//! use must not do that. `cargo run -p isotach-object-conformance --example directory` shows it at work, `cargo test` with the same
//! arguments enters it into the conformance suite.

mod container;
mod engine;
mod file;
mod object;
mod pool;
mod sparse;

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
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use isotach_object::{Engine, PoolUri};
    use isotach_object_conformance::Fixture;

    struct DirectoryFixture {
        folder: tempfile::TempDir,
        pools: AtomicU64,
    }

    impl DirectoryFixture {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), pools: AtomicU64::new(0) }
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
    }

    isotach_object_conformance::conformance_suite! { directory => DirectoryFixture::new() }
    isotach_object_conformance::model_suite! { directory_model => DirectoryFixture::new() }
}
