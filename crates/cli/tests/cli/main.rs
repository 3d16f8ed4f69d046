//! The program as users run it: its output, verbatim where they act on it, and its exit codes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do; the lints except functions marked as tests alone"
)]

mod bad_messages;
mod bad_requests;
mod bad_stores;
mod changing;
mod commands;
mod configuration;
mod damage;
mod delete;
mod demo;
mod destroying;
mod full_disk;
mod killed;
mod language;
mod listing;
mod objects;
mod output;
mod overlays;
mod permissions;
mod purge;
mod read_outputs;
mod reading;
mod repairs;
mod snapshots;
mod support;
mod values;
mod writing;
