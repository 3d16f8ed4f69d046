//! The initialised library, connections to pools, and open containers.

use std::{
    ffi::{c_char, c_int},
    process, ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use isotach_daos_abi::{
    acl::DPI_SPACE,
    constants::{DAOS_COO_FORCE, DAOS_COO_RO, DAOS_COO_RW, DAOS_PC_RO, DAOS_PC_RW},
    errors::{DER_CONT_NONEXIST, DER_NO_HDL, DER_NO_PERM, DER_TRUNC},
    info::{
        daos_cont_info_t, daos_pool_cont_info, daos_pool_info_t, daos_prop_co_roots, daos_prop_entry,
        daos_prop_t, daos_prop_value,
    },
    properties::DAOS_PROP_CO_ROOTS,
    types::{daos_handle_t, daos_obj_id_t, uuid_t},
};

use super::{
    Der, NewContainer,
    api::{self, Functions},
    properties::c_string,
    queue::Queue,
};

/// The number of initialisations of libdaos that have not ended, and their process. A child has its parent's.
static BEGUN: Mutex<(u32, usize)> = Mutex::new((0, 0));

fn begun() -> MutexGuard<'static, (u32, usize)> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The initialised libdaos. The drop of the last share finalises it.
pub(crate) struct Session {
    pub(super) functions: &'static Functions,
    process: u32,
    queue: Queue,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    /// Initialises the library. `Err` has the loader's message. The child of a process with a session initialises it anew.
    pub(crate) fn begin() -> Result<Result<Arc<Self>, Der>, &'static str> {
        let (functions, process) = (api::functions()?, process::id());
        let mut begun = begun();
        let (in_process, times) = *begun;
        let is_in_child = times > 0 && in_process != process;
        // Before DAOS 2.4 a child could only initialise once more.
        let begin = functions.reinit.filter(|_| is_in_child).unwrap_or(functions.init);
        // SAFETY: no arguments; the library counts how often it is asked for.
        Ok(Der::check(unsafe { begin() }).map(|()| {
            *begun = (process, if is_in_child { 1 } else { times + 1 });
            Arc::new(Self { functions, process, queue: Queue::default() })
        }))
    }

    /// Whether this process initialised it. A child must not use anything of its parent.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_of_this_process() {
            self.queue.destroy(self.functions);
            let mut begun = begun();
            begun.1 -= 1;
            // SAFETY: it was initialised, and all that was opened in it is closed, having had a share of it.
            unsafe { (self.functions.fini)() };
        }
    }
}

/// A connection to a pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(super) session: Arc<Session>,
    handle: daos_handle_t,
}

impl Pool {
    /// Connects to a pool by its label or UUID, for reading only if writing is not permitted.
    pub(crate) fn connect(session: &Arc<Session>, label: &str, system: Option<&str>) -> Result<Self, Der> {
        let label = c_string(label)?;
        let system = system.map(c_string).transpose()?;
        let system = system.as_ref().map_or(ptr::null(), |system| system.as_ptr());
        let mut handle = daos_handle_t::default();
        let mut connect = |flags| {
            let (connect, no_event) = (session.functions.pool_connect, ptr::null_mut());
            // SAFETY: strings that end with a NUL and a place for the handle, all alive for the call; no information is asked for.
            Der::check(unsafe {
                connect(label.as_ptr(), system, flags, &mut handle, ptr::null_mut(), no_event)
            })
        };
        match connect(DAOS_PC_RW) {
            Err(Der(DER_NO_PERM)) => connect(DAOS_PC_RO)?,
            outcome => outcome?,
        }
        Ok(Self { session: Arc::clone(session), handle })
    }

    /// Checks that it still exists.
    pub(crate) fn ping(&self) -> Result<(), Der> {
        self.query(0).map(drop)
    }

    /// The number of its targets, and of the groups of an object on all of them.
    pub(crate) fn targets(&self) -> Result<u32, Der> {
        self.query(0).map(|info| info.pi_ntargets)
    }

    /// Its total and free space in bytes.
    pub(crate) fn space(&self) -> Result<(u64, u64), Der> {
        let space = self.query(DPI_SPACE)?.pi_space.ps_space;
        Ok((space.s_total.iter().sum(), space.s_free.iter().sum()))
    }

    fn query(&self, bits: u64) -> Result<daos_pool_info_t, Der> {
        let mut info = daos_pool_info_t { pi_bits: bits, ..Default::default() };
        let query = self.session.functions.pool_query;
        // SAFETY: a place for the answer, alive for the call; nothing else is asked for.
        Der::check(unsafe {
            query(self.handle, ptr::null_mut(), &mut info, ptr::null_mut(), ptr::null_mut())
        })?;
        Ok(info)
    }

    /// The labels of its containers, in no order. Containers without a label are left out.
    pub(crate) fn labels(&self) -> Result<Vec<String>, Der> {
        let list = self.session.functions.pool_list_cont;
        let mut count = 0_u64;
        // SAFETY: a place for the number, alive for the call; no list is asked for.
        Der::check(unsafe { list(self.handle, &mut count, ptr::null_mut(), ptr::null_mut()) })?;
        loop {
            // Space for containers that are created in between.
            count += 16;
            let empty = daos_pool_cont_info { pci_uuid: [0; 16], pci_label: [0; 128] };
            let mut found = vec![empty; count as usize];
            // SAFETY: space for as many as the number says, alive for the call.
            match Der::check(unsafe { list(self.handle, &mut count, found.as_mut_ptr(), ptr::null_mut()) }) {
                Err(Der(DER_TRUNC)) => {}
                outcome => {
                    outcome?;
                    found.truncate(count as usize);
                    let labels = found.iter().map(|one| text_of(&one.pci_label));
                    return Ok(labels.filter(|label| !label.is_empty()).collect());
                }
            }
        }
    }

    /// Creates a container with a label.
    pub(crate) fn create_container(&self, label: &str, new: &NewContainer<'_>) -> Result<(), Der> {
        let (label, functions, mut uuid) = (c_string(label)?, self.session.functions, uuid_t::default());
        let create = functions.cont_create_with_label;
        let made = new.with_list(functions, |list| {
            // SAFETY: a string that ends with a NUL, a list with as many entries as it says, and a place for the UUID, all alive for the
            // call; the library copies what it keeps.
            unsafe { create(self.handle, label.as_ptr(), list, &mut uuid, ptr::null_mut()) }
        });
        Der::check(made?)
    }

    /// Removes a container, even an open one.
    pub(crate) fn destroy_container(&self, label: &str) -> Result<(), Der> {
        let (label, destroy) = (c_string(label)?, self.session.functions.cont_destroy);
        // SAFETY: a string that ends with a NUL, alive for the call.
        Der::check(unsafe { destroy(self.handle, label.as_ptr(), 1, ptr::null_mut()) })
    }
}

/// The text in a field of characters, which ends with a NUL or with the field.
fn text_of(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.session.is_of_this_process() {
            // SAFETY: connected, and not disconnected before; its containers are closed, having had a share of it.
            unsafe { (self.session.functions.pool_disconnect)(self.handle, ptr::null_mut()) };
        }
    }
}

/// The objects from which the layout of a container starts, by the halves of their ids.
pub(crate) type Roots = [(u64, u64); 4];

/// The health that a container must have to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// No data is lost.
    Whole,
    /// Data may be lost, because more failed than the redundancy factor allows.
    Any,
}

/// An open container.
#[derive(Debug)]
pub(crate) struct Cont {
    pub(super) pool: Arc<Pool>,
    pub(super) handle: daos_handle_t,
    label: String,
    uuid: uuid_t,
}

impl Cont {
    /// Opens a container by its label or UUID, for reading only if writing is not permitted.
    pub(crate) fn open(pool: &Arc<Pool>, label: &str, health: Health) -> Result<Self, Der> {
        let (name, open) = (c_string(label)?, pool.session.functions.cont_open);
        let (mut handle, mut info) = (daos_handle_t::default(), daos_cont_info_t::default());
        let force = if health == Health::Any { DAOS_COO_FORCE } else { 0 };
        let mut open = |flags| {
            // SAFETY: a string that ends with a NUL, and places for the handle and what is reported, alive for the call.
            Der::check(unsafe {
                open(pool.handle, name.as_ptr(), flags | force, &mut handle, &mut info, ptr::null_mut())
            })
        };
        match open(DAOS_COO_RW) {
            Err(Der(DER_NO_PERM)) => open(DAOS_COO_RO)?,
            outcome => outcome?,
        }
        Ok(Self { pool: Arc::clone(pool), handle, label: label.to_owned(), uuid: info.ci_uuid })
    }

    /// The result of a call on this container or on a thing opened in it. Servers evict handles when a container is destroyed, or at an
    /// administrator's request. Only a search for the container distinguishes these.
    pub(super) fn check(&self, result: c_int) -> Result<(), Der> {
        match Der::check(result) {
            Err(Der(DER_NO_HDL)) if self.is_gone() => Err(Der(DER_CONT_NONEXIST)),
            result => result,
        }
    }

    /// What a call on this container, or on a thing opened in it, puts in a place for an answer.
    pub(super) fn ask<T: Default>(&self, call: impl FnOnce(&mut T) -> c_int) -> Result<T, Der> {
        let mut answer = T::default();
        let result = call(&mut answer);
        self.check(result).map(|()| answer)
    }

    /// Whether its label no longer exists, or belongs to another container.
    fn is_gone(&self) -> bool {
        match Self::open(&self.pool, &self.label, Health::Any) {
            Ok(found) => found.uuid != self.uuid,
            Err(der) => der.is_absence(),
        }
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.pool.session.queue
    }

    pub(super) fn functions(&self) -> &'static Functions {
        self.pool.session.functions
    }

    /// Whether this is the process that opened it.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.pool.session.is_of_this_process()
    }

    /// Checks that it still exists.
    pub(crate) fn ping(&self) -> Result<(), Der> {
        let query = self.functions().cont_query;
        // SAFETY: a place for the answer, alive for the call.
        let info = self.ask(|info| unsafe { query(self.handle, info, ptr::null_mut(), ptr::null_mut()) });
        info.map(|_: daos_cont_info_t| ())
    }

    /// The objects from which its layout starts.
    pub(crate) fn roots(&self) -> Result<Roots, Der> {
        let mut entry = daos_prop_entry {
            dpe_type: DAOS_PROP_CO_ROOTS,
            dpe_flags: 0,
            dpe_reserv: 0,
            dpe_value: daos_prop_value { dpe_val_ptr: ptr::null_mut() },
        };
        let mut properties = daos_prop_t { dpp_nr: 1, dpp_reserv: 0, dpp_entries: &mut entry };
        let query = self.functions().cont_query;
        // SAFETY: a list of one property to be filled, alive for the call.
        self.check(unsafe { query(self.handle, ptr::null_mut(), &mut properties, ptr::null_mut()) })?;
        // SAFETY: the value of a property of this kind is a pointer, null where it was never set.
        let place: *mut daos_prop_co_roots = unsafe { entry.dpe_value.dpe_val_ptr }.cast();
        // SAFETY: as above; nobody else has it.
        let Some(roots) = (unsafe { place.as_ref() }) else { return Ok(Roots::default()) };
        let found = roots.cr_oids.map(|id| (id.hi, id.lo));
        // SAFETY: every pointer in a property is of C's allocator, and nothing uses this one afterwards.
        unsafe { libc::free(place.cast()) };
        Ok(found)
    }

    /// Reserves ids that no other process gets, and returns the first.
    pub(crate) fn allocate_ids(&self, count: u64) -> Result<u64, Der> {
        let allocate = self.functions().cont_alloc_oids;
        // SAFETY: a place for the answer, alive for the call.
        self.ask(|first| unsafe { allocate(self.handle, count, first, ptr::null_mut()) })
    }

    /// The id of an object with the caller's part of this one, if the pool can have the class.
    pub(crate) fn generate_id(&self, (hi, lo): (u64, u64), kind: u64, class: u32) -> Result<(u64, u64), Der> {
        let mut id = daos_obj_id_t { lo, hi };
        let generate = self.functions().obj_generate_oid;
        // SAFETY: a place with the caller's part, alive for the call.
        self.check(unsafe { generate(self.handle, &mut id, kind as c_int, class, 0, 0) })?;
        Ok((id.hi, id.lo))
    }

    /// Frees the space of history that no snapshot needs.
    pub(crate) fn aggregate(&self) -> Result<(), Der> {
        // SAFETY: numbers.
        self.check(unsafe { (self.functions().cont_aggregate)(self.handle, 0, ptr::null_mut()) })
    }
}

impl Drop for Cont {
    fn drop(&mut self) {
        if self.is_of_this_process() {
            // SAFETY: open, and not closed before; what was opened in it is closed, having had a share of it.
            unsafe { (self.functions().cont_close)(self.handle, ptr::null_mut()) };
        }
    }
}
