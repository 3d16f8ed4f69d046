//! The functions that C calls: pointers become slices here, and results become numbers. All unsafe code of this crate is here.
//!
//! # Safety: what a C program promises
//!
//! `daos_api.h` and the others say it. It holds from the beginning of a call to its end; with an event, too, since a call ends before it
//! returns. Comments at unsafe code name these clauses, and the pointers that they are about:
//!
//! - STRING: a string is null, or ends with a NUL and does not change.
//! - BYTES: a pointer with a size beside it is null, or has so many bytes to read, which do not change.
//! - BUFFER: a pointer with a size beside it is null, or has so many bytes to write.
//! - LIST: a pointer with a count beside it is null, or is of so many elements of its type, which lie one after the other.
//! - STRUCT: a pointer to a structure or number that is read, or read and written, is null, or is of one. What it points to in turn is as the
//!   clause for that says: a key (`daos_key_t`) has `iov_len` BYTES, a description (`daos_iod_t`) a LIST of `iod_nr` extents, a list of
//!   buffers (`d_sg_list_t`) a LIST of `sg_nr` vectors, each with a BUFFER of `iov_buf_len` bytes (`iov_len`, where arrays and files are read)
//!   or, where they are written, BYTES of `iov_len`. A list of properties has a LIST of `dpp_nr` entries, whose values are what their numbers
//!   say. The head of an access control list, or of an entry of one, has as many bytes behind it as it says.
//! - OUT: a pointer for a result is null, or is of memory for it, with or without a value there.
//! - HEAP: what is freed or replaced here is null, or was allocated by the C library or a function of this one, and nobody uses it any more.
//! - EVENT: an event stays where it was initialised, and no other thread uses it while it is given to a call.
//! - CALLBACK: a function is of the type that the header says, and bears the argument that was given with it.
//!
//! Pointers are aligned for their types, and nobody else writes to what a call reads, or uses what it writes. Two results of one call lie
//! apart, but for buffers, which may overlap ([`fill`]).
//!
//! The type of a parameter names its clause where no other parameter belongs to it: [`Text`] is a STRING, [`In`] and [`InOut`] are STRUCTs,
//! [`Out`] is an OUT, [`Bytes`] has BYTES. Such a value comes from a program, which has promised it, so that code here follows it without a promise of its own.
//! A function all of whose parameters are such, or numbers, is not `unsafe`. Raw pointers are what belongs to a count, or to one another.
//!
//! No promise is needed for handles, mounts and what is open in them: these are numbers, which are looked up. No value is relied on either:
//! memory that a program has not written holds some bytes or other, which is sound for types of which any bytes are a value ([`Plain`]), and
//! references are made to such alone. Memory that is only written to is not referred to at all ([`Out`]).
//!
//! A function here that is `unsafe` and not called by C takes pointers under the same clauses. Its own comments name them again: what it is
//! given is what a program gave, or was made by the function that calls it.

#![expect(unsafe_code, reason = "a C interface: pointers come from outside")]

mod acl;
mod anchors;
mod array;
mod attribute;
mod container;
mod dfs;
mod dmg;
mod duns;
mod event;
mod gurt;
mod gurt_log;
mod hash;
mod kv;
mod library;
mod listing;
mod memory;
mod missing;
mod object;
mod pool;
mod principals;
mod properties;
mod property_values;
mod snapshot;
mod transaction;

use std::{
    ffi::c_int,
    panic::{self, AssertUnwindSafe},
};

use isotach_c_export::export;

use self::memory::{
    Bytes, CallerPlace, In, InOut, Out, Plain, Text, bytes_of, copied, fill, many, many_mut, outs,
};
use crate::{
    abi::{
        errors::DER_MISC,
        types::{daos_event_t, daos_handle_t, daos_obj_id_t},
    },
    runtime::{
        error::{Der, refuse},
        events,
    },
};

/// An open pool, container, object, transaction or queue of a program's, and the event of a call, or null.
type Handle = daos_handle_t;
type Event = *mut daos_event_t;

/// A failure as C gets it.
trait Failure: From<Der> {
    fn number(self) -> c_int;
}

impl Failure for Der {
    fn number(self) -> c_int {
        -self.0
    }
}

/// Runs the body of a function that is marked with [`export`], and gives its number. With an event the call ends before it returns, so the
/// event is reported at once.
fn answer<E: Failure>(event: Event, act: impl FnOnce() -> Result<(), E>) -> c_int {
    if !event.is_null()
        && let Err(refused) = events::launch(event.addr())
    {
        return E::from(refused).number();
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| {
        Ok(refuse(DER_MISC, "a panic, which is a bug of this library; please tell of it")?)
    });
    let number = outcome.map_or_else(Failure::number, |()| 0);
    if event.is_null() {
        return number;
    }
    // SAFETY: EVENT for `event`, which is not null.
    unsafe { event::end((event.expose_provenance(), number)) };
    0
}

/// The id of an object.
fn halves(id: daos_obj_id_t) -> (u64, u64) {
    (id.hi, id.lo)
}
