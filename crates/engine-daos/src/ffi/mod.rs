//! The only unsafe code of this crate: libdaos' C interface, loaded at run time, behind safe types.
//!
//! What must stay true:
//! - a loaded library is never unloaded, so function pointers taken from it are good forever;
//! - a session outlives its pools, a pool its containers, and a container its objects, arrays, transactions and pending operations: each
//!   value has a share of the value that it was made from;
//! - memory that libdaos reads and writes during an operation lives until the operation has ended. It belongs to the operation, which does
//!   not move, and [`Begun`] releases it only after the event, also on drop;
//! - handles of a process are not used after a fork: [`Session::is_of_this_process`] is checked before. Operations that were pending then
//!   are left to the parent. Operations whose queue failed are never freed.
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
mod transaction;

use std::fmt;

use isotach_daos_abi::errors;

pub(crate) use array::{Array, Buffer, Read, Write};
pub(crate) use listing::Keys;
pub(crate) use object::{AkeyUpdate, Fetch, Object, Update};
pub(crate) use properties::{Access, NewContainer, Value};
pub(crate) use queue::{Begun, Operation};
pub(crate) use session::{Cont, Health, Pool, Roots, Session};
pub(crate) use transaction::Tx;

/// An error of libdaos: DAOS's number, positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Der(pub(crate) i32);

impl Der {
    fn check(result: i32) -> Result<(), Der> {
        if result == 0 { Ok(()) } else { Err(Self(result.saturating_abs())) }
    }

    /// Whether the named thing does not exist.
    pub(crate) fn is_absence(self) -> bool {
        use errors::{DER_CONT_DESTROYING, DER_CONT_NONEXIST, DER_ENOENT, DER_NONEXIST};
        [DER_NONEXIST, DER_ENOENT, DER_CONT_NONEXIST, DER_CONT_DESTROYING].contains(&self.0)
    }

    /// The error of a fetch without conditions. Such a fetch succeeds if it finds nothing, so `DER_NONEXIST` means a lost target.
    pub(crate) fn of_look(self) -> Self {
        if self.0 == errors::DER_NONEXIST { Self(errors::DER_DATA_LOSS) } else { self }
    }

    /// DAOS's name of the error.
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
