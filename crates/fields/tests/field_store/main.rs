//! The field layer on engines: every guarantee to users, on one pool and with separate catalogue and store, in memory
//! and on a file system.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod adopt;
mod beside;
mod control;
mod copy;
mod create;
mod delete;
mod evictions;
mod faults;
mod faulty;
mod forbidden;
mod incarnations;
mod jump_indexes;
mod killed_wipes;
mod language;
mod layouts;
mod listing;

mod lost;
mod model;
mod overlays;
mod purge;
mod races;
mod retrieve;
mod round_trips;
mod schemas;
mod snapshots;
mod stress;
mod threads;
mod transactions;
mod verify;
mod visibility;
mod wipe;
