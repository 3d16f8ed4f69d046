//! Translates DAOS's errors into ours, with hints on remedies.

use std::io;

use isotach_daos_abi::errors::*;
use isotach_engine_kit::context::{Context, VendorError};
use isotach_object::{Error, Result};

use crate::{ffi::Der, options::SCHEME};

/// The reason why a step of a transaction ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// DAOS asks for a restart, after a conflict with another transaction.
    Restart,
    Failed(Error),
}

/// The result of a step of a transaction.
pub(crate) type Step<T> = std::result::Result<T, Stop>;

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl VendorError for Der {
    type Error = Error;

    fn during(self, attempted: String) -> Error {
        failed(self, &attempted)
    }
}

/// The result of a call in a transaction.
pub(crate) trait InStep<T> {
    /// Describes an error by what was attempted, unless the transaction has to restart.
    fn in_step(self, what: impl FnOnce() -> String) -> Step<T>;
}

impl<T> InStep<T> for Result<T, Der> {
    fn in_step(self, what: impl FnOnce() -> String) -> Step<T> {
        match self {
            Err(Der(DER_TX_RESTART)) => Err(Stop::Restart),
            other => Ok(other.context(what)?),
        }
    }
}

/// A remedy for an administrator or a user, if one is known.
fn hint(der: Der) -> Option<&'static str> {
    Some(match der.0 {
        DER_AGENT_COMM | DER_AGENT_INCOMPAT => {
            "does daos_agent run here, of the same version as libdaos, and is its socket where DAOS_AGENT_DRPC_DIR says? \
             (with Isotach's own libdaos: set ISOTACH_DAOS_ROOT)"
        }
        DER_RF => {
            "more failed than the redundancy factor allows; an administrator looks after the pool, and sets the container's status to HEALTHY"
        }
        DER_INVAL => {
            "D_LOG_FILE says why; among other things, objects of one copy such as S1 and SX are refused where a container's redundancy \
             factor is above 0, and labels that look like a UUID are"
        }
        DER_NO_HDL => {
            "the connection was taken back, as by `dmg pool evict`, or by servers that had given this client up: open it anew"
        }
        DER_STALE => "what this process knows of the pool is old; try again, or open it anew",
        DER_AGAIN => {
            "try again; where it goes on, network resources ran out: fewer processes on a node need less"
        }
        DER_DATA_LOSS => {
            "more failed than copies or parity make up for, for a time or for good; an administrator looks after the pool"
        }
        DER_UNREACH | DER_OOG | DER_HG => {
            "do provider and interface of client and servers agree, and are the servers up?"
        }
        DER_BUSY => "something is open or under way there; close it, or try again",
        DER_NOSPACE => "the pool, or a target of it, is full",
        DER_NO_SERVICE | DER_TIMEDOUT => {
            "the pool's service does not answer; look at `dmg system query` and `dmg pool query`"
        }
        DER_TX_UNCERTAIN => "it may have counted all the same: read before it is done again",
        DER_OVERFLOW => "a transaction has at most 65535 changes",
        DER_PROTO | DER_CONTROL_INCOMPAT => {
            "libdaos and the servers are of releases that do not fit together"
        }
        DER_NOMEM => {
            "memory, or network resources such as completion queues, ran out: fewer processes on a node need less"
        }
        _ => return None,
    })
}

/// Translates an error of DAOS.
pub(crate) fn failed(der: Der, what: &str) -> Error {
    let hint = hint(der).map(|hint| format!("; {hint}")).unwrap_or_default();
    let text = format!("{what}: {der}{hint}");
    match der.0 {
        _ if der.is_absence() => Error::not_found(format!("{what} ({})", der.name())),
        DER_EXIST => Error::AlreadyExists { what: format!("{what} ({})", der.name()) },
        DER_TX_RESTART => Error::Conflict { what: text },
        DER_NO_PERM | DER_EP_RO => Error::PermissionDenied { what: text, source: None },
        DER_NOSPACE => Error::NoSpace { what: text },
        DER_CSUM => Error::corrupt(format!("{der}"), what),
        DER_NOSYS | DER_NOTSUPPORTED => Error::Unsupported { engine: SCHEME, what: text },
        _ => Error::Io { what: format!("{what}{hint}"), source: Box::new(der) },
    }
}

/// No library, or none that can be used.
pub(crate) fn not_installed(why: &str) -> Error {
    let what = format!(
        "a machine without libdaos ({why}); install the client of your DAOS release, or name a library by ISOTACH_LIBDAOS"
    );
    Error::Unsupported { engine: SCHEME, what }
}

/// The error for a handle of this process's parent.
pub(crate) fn forked(what: &str) -> Error {
    let source = io::Error::other("handles of DAOS's are not good in a child: open it anew after the fork");
    Error::Io { what: what.to_owned(), source: Box::new(source) }
}
