//! DAOS's C interface over any engine: a program that was written for libdaos runs where there is no DAOS.
//!
//! `export` holds the functions that C calls, and all unsafe code: it turns pointers into slices and back. The safe modules beside it do
//! the work: `containers` (with pools, properties and access), `objects` (maps, arrays, records), `transactions` (with epochs and
//! snapshots), `dfs` (the file system) and `runtime` (handles, events, the log, errors). Each operation on an object runs in a
//! `transactions::scope`: a container as it is now, or a transaction.
//! DAOS's types and numbers are in `isotach-daos-abi`.
//!
//! What must stay true:
//! - An update is durable and seen by everyone when its function returns, as on DAOS: each is flushed.
//! - No panic crosses the boundary. A failure is a number, and a line in the log with the details.
//! - A declared function that is not implemented answers `-DER_NOSYS`, with a line in the log.
//!
//! Sources: the interface is that of DAOS 2.0 to 2.8 (`daos_api.h` and others); see docs/libdaos.md.

mod containers;
mod dfs;
mod export;
mod objects;
mod runtime;
#[cfg(test)]
mod testing;
mod transactions;

use isotach_daos_abi as abi;
