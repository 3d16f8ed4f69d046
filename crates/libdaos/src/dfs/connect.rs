//! Mounting by names, and making containers that are file systems.

use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use super::{
    error::{Errno, Result, refuse},
    mount::{self, Owned},
    store::{self, Store},
    superblock::{self, Attributes},
};
use crate::{
    abi::{constants::*, properties::*},
    containers::{self, uuid_text},
    handles, pools,
    properties::{self, Properties, Value},
};

/// How long one waits for the superblock of a container that is just made.
const WAITS: [Duration; 4] =
    [Duration::from_millis(1), Duration::from_millis(10), Duration::from_millis(100), Duration::from_secs(1)];

/// How often `dfs_init` was called without `dfs_fini`.
static USERS: Mutex<usize> = Mutex::new(0);

/// See `dfs_init`.
pub(crate) fn init() -> Result<()> {
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    if *users == 0 {
        pools::init()?;
    }
    *users += 1;
    Ok(())
}

/// See `dfs_fini`.
pub(crate) fn fini() -> Result<()> {
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    match *users {
        0 => return Err(Errno(libc::EINVAL)),
        1 => pools::fini()?,
        _ => {}
    }
    *users -= 1;
    Ok(())
}

fn check_initialised() -> Result<()> {
    match *USERS.lock().unwrap_or_else(PoisonError::into_inner) {
        0 => refuse(libc::EACCES, "dfs_init comes before dfs_connect and dfs_destroy"),
        _ => Ok(()),
    }
}

/// See `dfs_cont_create`, and `dfs_cont_create_with_label` where there is a label: the UUID, and the handle of the open container.
pub(crate) fn create_container(
    pool: u64,
    label: Option<&str>,
    mut properties: Properties,
    attributes: &Attributes,
) -> Result<([u8; 16], u64)> {
    // What no entry could be made with is refused before anything is made.
    for class in [attributes.class, attributes.directory_class, attributes.file_class] {
        store::check_class(class)?;
    }
    if properties::redundancy_factor(&properties) > 0 {
        return refuse(libc::EINVAL, "a redundancy factor above 0: objects have one copy here; use rd_fac:0");
    }
    properties.insert(DAOS_PROP_CO_LAYOUT_TYPE, Value::Number(DAOS_PROP_CO_LAYOUT_POSIX));
    let uuid = containers::create(pool, label, &properties)?;
    let name = uuid_text(&uuid);
    let opened = containers::open(pool, &name, DAOS_COO_RW).map_err(Errno::from).and_then(|handle| {
        let made = Store::open(handle).and_then(|store| superblock::create(&store, attributes));
        made.inspect_err(|_| drop(handles::remove(handle)))?;
        Ok(handle)
    });
    // One without a superblock is no file system.
    let handle = opened.inspect_err(|_| {
        let _ = containers::destroy(pool, &name, true);
    })?;
    Ok((uuid, handle))
}

/// Removes a container that was just made, and cannot be mounted.
pub(crate) fn discard_container(pool: u64, (uuid, handle): ([u8; 16], u64)) {
    drop(handles::remove(handle));
    let _ = containers::destroy(pool, &uuid_text(&uuid), true);
}

/// See `dfs_connect`. With `O_CREAT` the container is made if it is not there.
pub(crate) fn connect(
    pool: &str,
    container: &str,
    flags: i32,
    properties: Properties,
    attributes: &Attributes,
) -> Result<u64> {
    check_initialised()?;
    let can_write = flags & libc::O_ACCMODE == libc::O_RDWR;
    let pool = pools::connect(pool, if can_write { DAOS_PC_RW } else { DAOS_PC_RO })?;
    let mode = if can_write { DAOS_COO_RW } else { DAOS_COO_RO };
    let open = || containers::open(pool, container, mode).map_err(Errno::from);
    let opened = match open() {
        Err(Errno(libc::ENOENT)) if flags & libc::O_CREAT != 0 => {
            match create_container(pool, Some(container), properties, attributes) {
                // Somebody else was faster.
                Err(Errno(libc::EEXIST)) => open(),
                made => made.map(|(_, handle)| handle),
            }
        }
        opened => opened,
    };
    let mounted = opened.and_then(|container| {
        mounted_soon(pool, container, flags).inspect_err(|_| drop(handles::remove(container)))
    });
    mounted.inspect_err(|_| drop(handles::remove(pool)))
}

/// Mounts a container that somebody else may be about to make a file system.
fn mounted_soon(pool: u64, container: u64, flags: i32) -> Result<u64> {
    for wait in WAITS {
        match mount::mount(pool, container, flags, Owned::All) {
            Err(Errno(libc::ENOENT)) if flags & libc::O_CREAT != 0 => thread::sleep(wait),
            outcome => return outcome,
        }
    }
    mount::mount(pool, container, flags, Owned::All)
}

/// See `dfs_disconnect`.
pub(crate) fn disconnect(handle: u64) -> Result<()> {
    mount::unmount(handle, true)
}

/// See `dfs_destroy`.
pub(crate) fn destroy(pool: &str, container: &str, force: bool) -> Result<()> {
    check_initialised()?;
    let pool = pools::connect(pool, DAOS_PC_RW)?;
    let destroyed = containers::destroy(pool, container, force);
    Ok(destroyed.and(pools::disconnect(pool))?)
}
