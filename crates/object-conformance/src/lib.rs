//! The conformance suite: what every engine must do, as tests that an engine enters by one line.
//!
//! [`conformance_suite!`](crate::conformance_suite) declares a module with one test per case.
//! [`model_suite!`](crate::model_suite) runs random sequences of operations on the engine and on
//! [`isotach_object::memory::Memory`] and compares every answer. [`history_suite!`](crate::history_suite) lets processes work at
//! the same time, kills some, and searches for an order that explains their answers. What a case needs of an engine's surroundings
//! comes from its [`Fixture`]; how storage is damaged or filled, from its [`Faults`].
//!
//! A missing capability or facet is tested, too: the engine must refuse. Where a case needs several processes and
//! the engine is [`isotach_object::Capabilities::multi_process`], a case starts its own test binary again; other
//! engines run the same roles as threads, each with its own handle.
//!
//! ```no_run
//! use isotach_object_conformance::MemoryFixture;
//! isotach_object_conformance::conformance_suite! { memory => MemoryFixture::new() }
//! isotach_object_conformance::model_suite! { memory_model => MemoryFixture::new() }
//! isotach_object_conformance::history_suite! { memory_history => MemoryFixture::new() }
//! ```
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the suite is test code that other crates run"
)]

mod bytes;
mod cluster_fixture;
mod fixture;
mod memory_fixture;
pub mod model;
mod process;
mod registration;
mod roles;
mod trial;

// The cases. Public for the macro alone; the name of each says what it tests.
#[doc(hidden)]
pub mod array;
#[doc(hidden)]
pub mod concurrency;
#[doc(hidden)]
pub mod container;
#[doc(hidden)]
pub mod facets;
#[doc(hidden)]
pub mod faults;
#[doc(hidden)]
pub mod general;
pub mod history;
#[doc(hidden)]
pub mod kv;
#[doc(hidden)]
pub mod listing;
#[doc(hidden)]
pub mod numbered;
#[doc(hidden)]
pub mod persistence;
#[doc(hidden)]
pub mod pool;
#[doc(hidden)]
pub mod prepared;
#[doc(hidden)]
pub mod refusal;
#[doc(hidden)]
pub mod snapshot;
#[doc(hidden)]
pub mod staging;
#[doc(hidden)]
pub mod transaction;
#[doc(hidden)]
pub mod visibility;

pub use cluster_fixture::ClusterFixture;
pub use fixture::{FaultSet, Faults, Fixture};
pub use memory_fixture::MemoryFixture;
#[doc(hidden)]
pub use roles::{run, run_child};
#[doc(hidden)]
pub use trial::Trial;
