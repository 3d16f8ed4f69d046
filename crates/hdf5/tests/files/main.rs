//! HDF5's model on the memory engine and on posix.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod common;
mod damage;
mod datasets;
mod isolation;
mod maps;
mod meeting;
mod objects;
mod odd_queries;
mod one_by_one;
mod plain;
mod processes;
mod queries;
mod ranks;
mod ranks_differ;
mod snapshots;
mod stored;
mod sweep;
mod transaction_crashes;
mod transaction_races;
mod transactions;
mod types;
mod value_index;
mod whole_files;
