//! Mounts and containers of file systems.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{Mounted, answer, done, done_into, name_or_none, number, pointer, system};
use crate::{
    abi::{dfs::*, types::*},
    containers::properties::Properties,
    dfs::{self, Attributes, Errno, Result, refuse},
    export::{give, many, out, out_or_none, properties, text, value_or_none},
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
    // SAFETY: OUT for `mounted`.
    unsafe {
        done_into(mounted, || {
            Ok(pointer(dfs::mount(pool.cookie, container.cookie, flags, dfs::Owned::Nothing)?))
        })
    }
}

#[unsafe(no_mangle)]
pub(in crate::export) extern "C" fn dfs_umount(mounted: Mounted) -> c_int {
    done(|| dfs::unmount(number(mounted), false))
}

/// A program's attributes for a new file system.
///
/// # Safety
/// STRUCT for the attributes and their properties.
unsafe fn wanted(given: *mut dfs_attr_t) -> Result<(Properties, Attributes)> {
    // SAFETY: STRUCT for `given`.
    let Some(given) = (unsafe { value_or_none(given) }) else { return Ok(Default::default()) };
    // SAFETY: STRUCT for `da_props`.
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
        // SAFETY: STRING for `label`.
        let label = unsafe { text(label) }?;
        // SAFETY: STRUCT for `attributes`, OUT for `uuid`, `container` and `mounted`.
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
    done(|| {
        if uuid.is_null() {
            return refuse(libc::EINVAL, "no place for the UUID, which is the only name of such a container");
        }
        // SAFETY: STRUCT for `attributes`, OUT for `uuid`, `container` and `mounted`.
        unsafe { create(pool, None, attributes, uuid, container, mounted) }
    })
}

/// Creates a container. Leaves it open or mounted for a caller that wants the handle or the mount.
///
/// # Safety
/// STRUCT for `attributes`, OUT for `uuid`, `container` and `mounted`.
unsafe fn create(
    pool: daos_handle_t,
    label: Option<&str>,
    attributes: *mut dfs_attr_t,
    uuid: *mut uuid_t,
    container: *mut daos_handle_t,
    mounted: *mut Mounted,
) -> Result<()> {
    // SAFETY: STRUCT for `attributes`.
    let (properties, attributes) = unsafe { wanted(attributes) }?;
    let (made, handle) = dfs::create_container(pool.cookie, label, properties, &attributes)?;
    // SAFETY: OUT for `uuid`, `container` and `mounted`.
    let (uuid, container, mounted) =
        unsafe { (out_or_none(uuid), out_or_none(container), out_or_none(mounted)) };
    let is_kept = container.is_some() || mounted.is_some();
    if let Some(mounted) = mounted {
        let owned = if container.is_some() { dfs::Owned::Nothing } else { dfs::Owned::Container };
        let flags = libc::O_RDWR | attributes.mode.cast_signed();
        let outcome = dfs::mount(pool.cookie, handle, flags, owned);
        let outcome = outcome.inspect_err(|_| dfs::discard_container(pool.cookie, (made, handle)));
        mounted.set(pointer(outcome?));
    }
    match container {
        Some(container) => container.set(daos_handle_t { cookie: handle }),
        None if is_kept => {}
        None => crate::containers::close(handle)?,
    }
    if let Some(uuid) = uuid {
        uuid.set(made);
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
        // SAFETY: STRING for `pool` and `container`, OUT for `mounted`.
        let (pool, container, mounted) = unsafe { (text(pool)?, text(container)?, out(mounted)?) };
        // SAFETY: STRUCT for `attributes`.
        let (properties, attributes) = unsafe { wanted(attributes) }?;
        mounted.set(pointer(dfs::connect(pool, container, flags, properties, &attributes)?));
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
        // SAFETY: STRING for `pool` and `container`.
        let (pool, container) = unsafe { (text(pool)?, text(container)?) };
        dfs::destroy(pool, container, force != 0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_query(mounted: Mounted, info: *mut dfs_attr_t) -> c_int {
    done(|| {
        let system = system(mounted)?;
        // SAFETY: OUT for `info`.
        let info = unsafe { out(info) }?;
        let found = &system.attributes;
        let mut said = dfs_attr_t {
            da_id: 0,
            da_chunk_size: found.chunk_size,
            da_oclass_id: found.class,
            da_props: ptr::null_mut(),
            da_mode: found.mode,
            da_dir_oclass_id: found.directory_class,
            da_file_oclass_id: found.file_class,
            da_hints: [0; DAOS_CONT_HINT_MAX_LEN],
        };
        let capacity = DAOS_CONT_HINT_MAX_LEN - 1;
        said.da_hints
            .iter_mut()
            .zip(found.hints.iter().take(capacity))
            .for_each(|(to, from)| *to = *from as c_char);
        info.set(said);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_set_prefix(mounted: Mounted, prefix: *const c_char) -> c_int {
    // SAFETY: STRING for `prefix`.
    done(|| system(mounted)?.set_prefix(unsafe { name_or_none(prefix) }))
}

/// Does nothing: each change counts for everyone when its function returns.
#[unsafe(no_mangle)]
extern "C" fn dfs_sync(mounted: Mounted) -> c_int {
    done(|| system(mounted)?.check_writable())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_pool_get(mounted: Mounted, pool: *mut daos_handle_t) -> c_int {
    // SAFETY: OUT for `pool`.
    unsafe { done_into(pool, || Ok(daos_handle_t { cookie: system(mounted)?.hold(0) })) }
}

#[unsafe(no_mangle)]
extern "C" fn dfs_pool_put(mounted: Mounted, pool: daos_handle_t) -> c_int {
    done(|| system(mounted)?.give_back(0, pool.cookie))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_cont_get(mounted: Mounted, container: *mut daos_handle_t) -> c_int {
    // SAFETY: OUT for `container`.
    unsafe { done_into(container, || Ok(daos_handle_t { cookie: system(mounted)?.hold(1) })) }
}

#[unsafe(no_mangle)]
extern "C" fn dfs_cont_put(mounted: Mounted, container: daos_handle_t) -> c_int {
    done(|| system(mounted)?.give_back(1, container.cookie))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_local2global(mounted: Mounted, global: *mut d_iov_t) -> c_int {
    // SAFETY: STRUCT for `global`.
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
        // SAFETY: BYTES for `global.iov_buf`, OUT for `mounted`.
        let (packed, mounted) =
            unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, out(mounted)?) };
        mounted.set(pointer(dfs::to_mount(pool.cookie, container.cookie, flags, packed)?));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_local2global_all(
    mounted: Mounted,
    global: *mut d_iov_t,
) -> c_int {
    // SAFETY: STRUCT for `global`.
    done(|| Ok(unsafe { give(&dfs::of_all(&*system(mounted)?)?, global) }?))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_global2local_all(
    flags: c_int,
    global: d_iov_t,
    mounted: *mut Mounted,
) -> c_int {
    done(|| {
        // SAFETY: BYTES for `global.iov_buf`, OUT for `mounted`.
        let (packed, mounted) =
            unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, out(mounted)?) };
        mounted.set(pointer(dfs::to_all(flags, packed)?));
        Ok(())
    })
}

/// The suggested class is the default one, with every hint.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_suggest_oclass(mounted: Mounted, hint: *const c_char, class: *mut u32) -> c_int {
    done(|| {
        system(mounted)?;
        // SAFETY: STRING for `hint`, OUT for `class`.
        let (hint, class) = unsafe { (text(hint)?, out(class)?) };
        let is_file = match hint.split_once(':') {
            Some(("file", "single" | "max")) => true,
            Some(("dir" | "directory", "single" | "max")) => false,
            _ => return Err(Errno(libc::EINVAL)),
        };
        class.set(dfs::class_by_default(is_file)?);
        Ok(())
    })
}
