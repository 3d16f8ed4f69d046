//! The only unsafe code of this crate: ecCodes' C interface, loaded at run time, behind safe types.
//!
//! What must stay true:
//! - every call of ecCodes runs under one process-wide lock, because distributions build ecCodes without its thread support;
//! - a loaded library is never unloaded, so function pointers taken from it are good for ever;
//! - a handle is freed exactly once, by `Drop`, and a handle over borrowed bytes cannot outlive them.
//!
//! ecCodes reports on standard error by default. Here its words are collected and become part of the error instead.

#![expect(unsafe_code, reason = "ecCodes is a C library; all calls into it are made in this module")]

mod api;
mod handle;
mod log;

pub(crate) use api::Api;
pub(crate) use handle::Handle;

/// A call that ecCodes refused: its name for the reason, and what it logged during the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
}
