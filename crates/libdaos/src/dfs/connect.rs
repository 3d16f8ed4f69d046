//! Mounting by names, and creating containers with a file system.

use std::sync::Mutex;

use isotach_object::OwnedUpdate;

use super::{
    error::{Errno, Result, refuse},
    mount::{self, Owned},
    store::{self, Store},
    superblock::{self, Attributes},
};
use crate::{
    abi::{constants::*, properties::*, stored::ONE_COPY},
    containers::{
        self, pools,
        properties::{self, Properties, Value},
        redundancy, uuid_text,
    },
    runtime::{handles, locked},
};

/// The calls of `dfs_init` without a matching `dfs_fini`.
static USERS: Mutex<usize> = Mutex::new(0);

/// See `dfs_init`.
pub(crate) fn init() -> Result<()> {
    let mut users = locked(&USERS);
    if *users == 0 {
        pools::init()?;
    }
    *users += 1;
    Ok(())
}

/// See `dfs_fini`.
pub(crate) fn fini() -> Result<()> {
    let mut users = locked(&USERS);
    match *users {
        0 => return Err(Errno(libc::EINVAL)),
        1 => pools::fini()?,
        _ => {}
    }
    *users -= 1;
    Ok(())
}

fn check_initialised() -> Result<()> {
    match *locked(&USERS) {
        0 => refuse(libc::EACCES, "dfs_init comes before dfs_connect and dfs_destroy"),
        _ => Ok(()),
    }
}

/// See `dfs_cont_create`, and `dfs_cont_create_with_label` with a label. Returns the UUID and the handle of the open container.
pub(crate) fn create_container(
    pool: u64,
    label: Option<&str>,
    mut properties: Properties,
    attributes: &Attributes,
) -> Result<([u8; 16], u64)> {
    // Classes that no entry could have are refused before anything is created.
    for class in [attributes.class, attributes.directory_class, attributes.file_class] {
        store::check_class(class)?;
    }
    if properties::redundancy_factor(&properties) > 0 && !redundancy::is_ignored() {
        return refuse(libc::EINVAL, ONE_COPY);
    }
    properties.insert(DAOS_PROP_CO_LAYOUT_TYPE, Value::Number(DAOS_PROP_CO_LAYOUT_POSIX));
    let new = superblock::updates(attributes)?;
    let new: Vec<_> = new.iter().map(OwnedUpdate::update).collect();
    let uuid = containers::create(pool, label, &properties, &new)?;
    let name = uuid_text(&uuid);
    let handle = containers::open(pool, &name, DAOS_COO_RW).inspect_err(|_| {
        let _ = containers::destroy(pool, &name, true);
    })?;
    Ok((uuid, handle))
}

/// Removes a new container that cannot be mounted.
pub(crate) fn discard_container(pool: u64, (uuid, handle): ([u8; 16], u64)) {
    let _ = handles::remove(handle);
    let _ = containers::destroy(pool, &uuid_text(&uuid), true);
}

/// See `dfs_connect`. With `O_CREAT` an absent container is created.
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
                // Another process has just created it.
                Err(Errno(libc::EEXIST)) => open(),
                made => made.map(|(_, handle)| handle),
            }
        }
        opened => opened,
    };
    let mounted = opened.and_then(|container| {
        mounted(pool, container, flags, attributes).inspect_err(|_| _ = handles::remove(container))
    });
    mounted.inspect_err(|_| _ = handles::remove(pool))
}

/// Mounts a container. With `O_CREAT` a container of the layout POSIX without a superblock gets one.
fn mounted(pool: u64, container: u64, flags: i32, attributes: &Attributes) -> Result<u64> {
    let mount = || mount::mount(pool, container, flags, Owned::All);
    match mount() {
        Err(Errno(libc::ENOENT)) if flags & libc::O_CREAT != 0 && flags & libc::O_ACCMODE == libc::O_RDWR => {
            match superblock::create(&Store::open(container)?, attributes) {
                // Another process may have just done that.
                Ok(()) | Err(Errno(libc::EEXIST)) => mount(),
                Err(error) => Err(error),
            }
        }
        outcome => outcome,
    }
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
