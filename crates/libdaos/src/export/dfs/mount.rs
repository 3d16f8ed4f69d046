//! Mounts, and containers that are file systems.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{Mounted, answer, done, name_or_none, number, pointer, system};
use crate::{
    abi::{dfs::*, types::*},
    dfs::{self, Attributes, Errno, Result},
    export::{give, many, place, properties, text},
    properties::Properties,
};

#[unsafe(no_mangle)]
extern "C" fn dfs_init() -> c_int {
    done(dfs::init)
}

#[unsafe(no_mangle)]
extern "C" fn dfs_fini() -> c_int {
    done(dfs::fini)
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_mount(
    pool: daos_handle_t,
    container: daos_handle_t,
    flags: c_int,
    mounted: *mut Mounted,
) -> c_int {
    done(|| {
        // SAFETY: a place of the caller's.
        let mounted = unsafe { place(mounted) }?;
        *mounted = pointer(dfs::mount(pool.cookie, container.cookie, flags, dfs::Owned::Nothing)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) extern "C" fn dfs_umount(mounted: Mounted) -> c_int {
    done(|| dfs::unmount(number(mounted), false))
}

/// What a program says of a file system that is to be made.
///
/// # Safety
/// As [`place`], for attributes that are not null, and their properties.
unsafe fn wanted(given: *mut dfs_attr_t) -> Result<(Properties, Attributes)> {
    // SAFETY: as the caller says.
    let Some(given) = (unsafe { given.as_ref() }) else { return Ok(Default::default()) };
    // SAFETY: as the caller says.
    let properties = unsafe { properties::taken(given.da_props) }?;
    let or = |class: u32| if class == 0 { given.da_oclass_id } else { class };
    let hints = given.da_hints.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0);
    let attributes = Attributes {
        chunk_size: given.da_chunk_size,
        class: given.da_oclass_id,
        directory_class: or(given.da_dir_oclass_id),
        file_class: or(given.da_file_oclass_id),
        mode: given.da_mode & DFS_BALANCED,
        hints: hints.collect(),
    };
    Ok((properties, attributes))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_cont_create_with_label(
    pool: daos_handle_t,
    label: *const c_char,
    attributes: *mut dfs_attr_t,
    uuid: *mut uuid_t,
    container: *mut daos_handle_t,
    mounted: *mut Mounted,
) -> c_int {
    done(|| {
        // SAFETY: a string of the caller's.
        let label = unsafe { text(label) }?;
        // SAFETY: as the caller says.
        unsafe { create(pool, Some(label), attributes, uuid, container, mounted) }
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_cont_create(
    pool: daos_handle_t,
    uuid: *mut uuid_t,
    attributes: *mut dfs_attr_t,
    container: *mut daos_handle_t,
    mounted: *mut Mounted,
) -> c_int {
    // SAFETY: as the caller says.
    done(|| unsafe { create(pool, None, attributes, uuid, container, mounted) })
}

/// Makes a container; leaves it open, or mounted, where there is a place for that.
///
/// # Safety
/// As [`place`], for each pointer that is not null.
unsafe fn create(
    pool: daos_handle_t,
    label: Option<&str>,
    attributes: *mut dfs_attr_t,
    uuid: *mut uuid_t,
    container: *mut daos_handle_t,
    mounted: *mut Mounted,
) -> Result<()> {
    // SAFETY: as the caller says.
    let (properties, attributes) = unsafe { wanted(attributes) }?;
    let (made, handle) = dfs::create_container(pool.cookie, label, properties, &attributes)?;
    // SAFETY: as the caller says.
    let (uuid, container, mounted) = unsafe { (uuid.as_mut(), container.as_mut(), mounted.as_mut()) };
    let is_kept = container.is_some() || mounted.is_some();
    if let Some(mounted) = mounted {
        let owned = if container.is_some() { dfs::Owned::Nothing } else { dfs::Owned::Container };
        let outcome = dfs::mount(pool.cookie, handle, libc::O_RDWR, owned);
        *mounted = pointer(outcome.inspect_err(|_| dfs::discard_container(pool.cookie, (made, handle)))?);
    }
    match container {
        Some(container) => container.cookie = handle,
        None if is_kept => {}
        None => crate::containers::close(handle)?,
    }
    if let Some(uuid) = uuid {
        *uuid = made;
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_connect(
    pool: *const c_char,
    _system: *const c_char,
    container: *const c_char,
    flags: c_int,
    attributes: *mut dfs_attr_t,
    mounted: *mut Mounted,
) -> c_int {
    done(|| {
        // SAFETY: strings and a place of the caller's.
        let (pool, container, mounted) = unsafe { (text(pool)?, text(container)?, place(mounted)?) };
        // SAFETY: as the caller says.
        let (properties, attributes) = unsafe { wanted(attributes) }?;
        *mounted = pointer(dfs::connect(pool, container, flags, properties, &attributes)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) extern "C" fn dfs_disconnect(mounted: Mounted) -> c_int {
    done(|| dfs::disconnect(number(mounted)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_destroy(
    pool: *const c_char,
    _system: *const c_char,
    container: *const c_char,
    force: c_int,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: strings of the caller's.
        let (pool, container) = unsafe { (text(pool)?, text(container)?) };
        dfs::destroy(pool, container, force != 0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_query(mounted: Mounted, told: *mut dfs_attr_t) -> c_int {
    done(|| {
        let system = system(mounted)?;
        // SAFETY: a place of the caller's.
        let told = unsafe { place(told) }?;
        let found = &system.attributes;
        *told = dfs_attr_t {
            da_id: 0,
            da_chunk_size: found.chunk_size,
            da_oclass_id: found.class,
            da_props: ptr::null_mut(),
            da_mode: found.mode,
            da_dir_oclass_id: found.directory_class,
            da_file_oclass_id: found.file_class,
            da_hints: [0; DAOS_CONT_HINT_MAX_LEN],
        };
        let room = DAOS_CONT_HINT_MAX_LEN - 1;
        told.da_hints
            .iter_mut()
            .zip(found.hints.iter().take(room))
            .for_each(|(to, from)| *to = *from as c_char);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_set_prefix(mounted: Mounted, prefix: *const c_char) -> c_int {
    // SAFETY: a string of the caller's, or none.
    done(|| system(mounted)?.set_prefix(unsafe { name_or_none(prefix) }))
}

/// Each change counts for everybody when its function returns, so there is nothing to do.
#[unsafe(no_mangle)]
extern "C" fn dfs_sync(mounted: Mounted) -> c_int {
    done(|| system(mounted)?.check_writable())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_pool_get(mounted: Mounted, pool: *mut daos_handle_t) -> c_int {
    done(|| {
        // SAFETY: a place of the caller's.
        unsafe { place(pool) }?.cookie = system(mounted)?.hold(0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_pool_put(mounted: Mounted, pool: daos_handle_t) -> c_int {
    done(|| system(mounted)?.give_back(0, pool.cookie))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_cont_get(mounted: Mounted, container: *mut daos_handle_t) -> c_int {
    done(|| {
        // SAFETY: a place of the caller's.
        unsafe { place(container) }?.cookie = system(mounted)?.hold(1);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_cont_put(mounted: Mounted, container: daos_handle_t) -> c_int {
    done(|| system(mounted)?.give_back(1, container.cookie))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_local2global(mounted: Mounted, global: *mut d_iov_t) -> c_int {
    // SAFETY: a vector of the caller's.
    done(|| Ok(unsafe { give(&dfs::of_mount(&*system(mounted)?), global) }?))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_global2local(
    pool: daos_handle_t,
    container: daos_handle_t,
    flags: c_int,
    global: d_iov_t,
    mounted: *mut Mounted,
) -> c_int {
    done(|| {
        // SAFETY: pointers of the caller's.
        let (packed, mounted) =
            unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, place(mounted)?) };
        *mounted = pointer(dfs::to_mount(pool.cookie, container.cookie, flags, packed)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_local2global_all(
    mounted: Mounted,
    global: *mut d_iov_t,
) -> c_int {
    // SAFETY: a vector of the caller's.
    done(|| Ok(unsafe { give(&dfs::of_all(&*system(mounted)?)?, global) }?))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_global2local_all(
    flags: c_int,
    global: d_iov_t,
    mounted: *mut Mounted,
) -> c_int {
    done(|| {
        // SAFETY: pointers of the caller's.
        let (packed, mounted) =
            unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, place(mounted)?) };
        *mounted = pointer(dfs::to_all(flags, packed)?);
        Ok(())
    })
}

/// The class that a hint of an object's stands for is the one that is chosen without it.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_suggest_oclass(mounted: Mounted, hint: *const c_char, class: *mut u32) -> c_int {
    done(|| {
        system(mounted)?;
        // SAFETY: a string and a place of the caller's.
        let (hint, class) = unsafe { (text(hint)?, place(class)?) };
        let is_file = match hint.split_once(':') {
            Some(("file", "single" | "max")) => true,
            Some(("dir" | "directory", "single" | "max")) => false,
            _ => return Err(Errno(libc::EINVAL)),
        };
        *class = dfs::class_by_default(is_file)?;
        Ok(())
    })
}
