//! The only unsafe code of this crate: libdaos' C interface, loaded at run time, behind safe types.
//!
//! What must stay true:
//! - a loaded library is never unloaded, so function pointers taken from it are good for ever;
//! - a session outlives the pools that were connected in it, a pool its containers, a container its objects, arrays, transactions
//!   and what is under way in it: each has a share of what it was made from;
//! - what libdaos reads and writes while an operation is under way lives until the operation has ended: it belongs to the operation,
//!   which does not move, and [`Begun`] gives it back only when the event has come, also when it is dropped;
//! - handles of a process are not used after a fork: [`Session::is_of_this_process`] is asked before. What was under way then is left to
//!   the parent, as is what a queue that failed was to tell of.
//!
//! The signatures are those of DAOS 2.0 and later, see `isotach-daos-abi`.

#![expect(unsafe_code, reason = "libdaos is a C library; all calls into it are made in this module")]

mod api;
mod array;
mod listing;
mod object;
mod properties;
mod queue;
mod session;
mod snapshot;
mod transaction;

use std::fmt;

use isotach_daos_abi::errors;

pub(crate) use array::{Array, Buffer, Read, Write};
pub(crate) use listing::Keys;
pub(crate) use object::{Fetch, Object, Part, Update};
pub(crate) use properties::{Access, NewContainer, Value};
pub(crate) use queue::{Begun, Operation};
pub(crate) use session::{Cont, Health, Pool, Roots, Session};
pub(crate) use transaction::Tx;

/// How libdaos says that a call failed: DAOS's number of the error, positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Der(pub(crate) i32);

impl Der {
    fn check(result: i32) -> Result<(), Der> {
        if result == 0 { Ok(()) } else { Err(Self(result.saturating_abs())) }
    }

    /// Whether what was named is not there.
    pub(crate) fn is_absence(self) -> bool {
        use errors::{DER_CONT_DESTROYING, DER_CONT_NONEXIST, DER_ENOENT, DER_NONEXIST};
        [DER_NONEXIST, DER_ENOENT, DER_CONT_NONEXIST, DER_CONT_DESTROYING].contains(&self.0)
    }

    /// What a fetch without conditions failed for: one that finds nothing succeeds, so "not there" means the target.
    pub(crate) fn of_look(self) -> Self {
        if self.0 == errors::DER_NONEXIST { Self(errors::DER_DATA_LOSS) } else { self }
    }

    /// DAOS's name of it.
    pub(crate) fn name(self) -> &'static str {
        errors::name(self.0)
    }
}

impl fmt::Display for Der {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", errors::text(self.0), self.name())
    }
}

impl std::error::Error for Der {}
