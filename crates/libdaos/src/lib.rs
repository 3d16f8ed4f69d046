//! DAOS's C interface over any engine: a program that was written for libdaos runs where there is no DAOS.
//!
//! `export` has the functions that C calls, and all unsafe code: it turns pointers into slices and back. What they do is in the
//! modules beside it, which are safe: `pools`, `containers`, `labels`, `objects`, `kv`, `arrays`, `general`, `array_keys`, `records`,
//! `record_sizes`, `redundancy`, `snapshots`, `transactions`, `events`, `access`, `attributes`, `duns`, and `dfs`. Operations on objects take place in a `scope`: a container, or a transaction.
//! DAOS's types and numbers are in `isotach-daos-abi`.
//!
//! What must stay true:
//! - An update is durable and seen by everyone when its function returns, as on DAOS: each is flushed.
//! - No panic crosses the boundary: what went wrong is a number, and a line in the log that says more.
//! - What the header declares and is not there yet is `-DER_NOSYS`, with a line in the log.
//!
//! Sources: the interface is that of DAOS 2.0 to 2.8 (`daos_api.h` and others); see docs/libdaos.md.

mod access;
mod acl;
mod array_keys;
mod arrays;
mod attributes;
mod containers;
mod dfs;
mod duns;
mod epochs;
mod error;
mod events;
mod export;
mod extents;
mod general;
mod globals;
mod handles;
mod hashes;
#[cfg(test)]
mod interleaved;
mod key_query;
mod kv;
mod labels;
mod log;
mod objects;
mod own_updates;
mod pools;
mod properties;
mod property_text;
mod record_sizes;
mod records;
mod redundancy;
mod retry;
mod scope;
mod snapshots;
#[cfg(test)]
mod testing;
mod transactions;

use isotach_daos_abi as abi;
