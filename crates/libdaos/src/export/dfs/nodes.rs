//! Opening entries, and the attributes of open ones.

use std::ffi::{c_char, c_int};

use isotach_object::ObjectId;

use super::{
    Mounted, Opened, as_c, both, done, done_into, give_opened, name, name_or_none, node, number, pointer,
    system,
};
use crate::{
    abi::{dfs::*, types::*},
    dfs::{self, Errno, Wanted},
    export::{give, many, out, place, value_or_none},
};

fn id_of(id: ObjectId) -> daos_obj_id_t {
    daos_obj_id_t { lo: id.lo(), hi: id.hi() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_lookup(
    mounted: Mounted,
    path: *const c_char,
    flags: c_int,
    opened: *mut Opened,
    mode: *mut libc::mode_t,
    stat: *mut libc::stat,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `path`, OUT for `opened`.
        let (path, opened) = unsafe { (name(path)?, out(opened)?) };
        let (handle, inode) = dfs::lookup(&*system(mounted)?, path, flags)?;
        // SAFETY: OUT for `mode` and `stat`; `opened` is one.
        unsafe { give_opened((handle, &inode), &opened, mode, stat) }
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_lookup_rel(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    flags: c_int,
    opened: *mut Opened,
    mode: *mut libc::mode_t,
    stat: *mut libc::stat,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry`, OUT for `opened`.
        let (entry, opened) = unsafe { (name(entry)?, out(opened)?) };
        let (handle, inode) = dfs::lookup_in(&*system(mounted)?, number(parent), entry, flags)?;
        // SAFETY: OUT for `mode` and `stat`; `opened` is one.
        unsafe { give_opened((handle, &inode), &opened, mode, stat) }
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_open(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    mode: libc::mode_t,
    flags: c_int,
    class: u32,
    chunk_size: u64,
    value: *const c_char,
    opened: *mut Opened,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry` and `value`, OUT for `opened`.
        let (entry, target, opened) = unsafe { (name(entry)?, name_or_none(value), out(opened)?) };
        let wanted = Wanted { mode, flags, class, chunk_size, target, owner: None };
        opened.set(pointer(dfs::open(&*system(mounted)?, number(parent), entry, &wanted)?.0));
        Ok(())
    })
}

/// As `dfs_open`. A new entry gets the user and group in `stat`, which receives the attributes.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_open_stat(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    mode: libc::mode_t,
    flags: c_int,
    class: u32,
    chunk_size: u64,
    value: *const c_char,
    opened: *mut Opened,
    stat: *mut libc::stat,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry` and `value`, OUT for `opened`.
        let (entry, target, opened) = unsafe { (name(entry)?, name_or_none(value), out(opened)?) };
        // SAFETY: STRUCT for `stat`.
        let owner = unsafe { value_or_none(stat) }.map(|stat| (stat.st_uid, stat.st_gid));
        if owner.is_some() && flags & libc::O_CREAT == 0 {
            return Err(Errno(libc::ENOTSUP));
        }
        let wanted = Wanted { mode, flags, class, chunk_size, target, owner };
        let (handle, inode) = dfs::open(&*system(mounted)?, number(parent), entry, &wanted)?;
        // SAFETY: OUT for `stat`; `opened` is one.
        unsafe { give_opened((handle, &inode), &opened, std::ptr::null_mut(), stat) }
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_dup(
    mounted: Mounted,
    opened: Opened,
    flags: c_int,
    other: *mut Opened,
) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: OUT for `other`.
        let other = unsafe { out(other) }?;
        other.set(pointer(dfs::duplicate(&node, flags)?));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) extern "C" fn dfs_release(opened: Opened) -> c_int {
    done(|| dfs::release(number(opened)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_obj_local2global(mounted: Mounted, opened: Opened, global: *mut d_iov_t) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: STRUCT for `global`.
        Ok(unsafe { give(&dfs::of_node(&node)?, global) }?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_obj_global2local(
    mounted: Mounted,
    flags: c_int,
    global: d_iov_t,
    opened: *mut Opened,
) -> c_int {
    done(|| {
        // SAFETY: BYTES for `global.iov_buf`, OUT for `opened`.
        let (packed, opened) = unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, out(opened)?) };
        opened.set(pointer(dfs::to_node(&*system(mounted)?, flags, packed)?));
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_obj2id(opened: Opened, id: *mut daos_obj_id_t) -> c_int {
    // SAFETY: OUT for `id`.
    unsafe { done_into(id, || Ok(id_of(node(opened)?.id))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_get_mode(opened: Opened, mode: *mut libc::mode_t) -> c_int {
    // SAFETY: OUT for `mode`.
    unsafe { done_into(mode, || Ok(node(opened)?.mode)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_get_file_oh(opened: Opened, array: *mut daos_handle_t) -> c_int {
    // SAFETY: OUT for `array`.
    unsafe { done_into(array, || Ok(daos_handle_t { cookie: node(opened)?.file()?.handle })) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_get_chunk_size(opened: Opened, chunk_size: *mut u64) -> c_int {
    // SAFETY: OUT for `chunk_size`.
    unsafe { done_into(chunk_size, || Ok(node(opened)?.file()?.chunk_size)) }
}

/// As much of a link's target as fits, always with a NUL. The size is that of the whole with its NUL.
#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_get_symlink_value(
    opened: Opened,
    buffer: *mut c_char,
    size: *mut u64,
) -> c_int {
    done(|| {
        let node = node(opened)?;
        let dfs::Kind::Link(target) = &node.kind else { return Err(Errno(libc::EINVAL)) };
        // SAFETY: STRUCT for `size`.
        let size = unsafe { place(size) }?;
        let capacity = usize::try_from(*size).unwrap_or(usize::MAX);
        if !buffer.is_null() && capacity > 0 {
            let fitting = target.len().min(capacity - 1);
            // SAFETY: BUFFER for `buffer`, of `size` bytes, at least one more than are copied; `target` is of this library.
            unsafe {
                std::ptr::copy_nonoverlapping(target.as_ptr(), buffer.cast(), fitting);
                buffer.add(fitting).write(0);
            }
        }
        *size = target.len() as u64 + 1;
        Ok(())
    })
}

/// Gives an open entry the parent of another open entry, and perhaps a new name. Nothing stored changes.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_update_parent(opened: Opened, source: Opened, entry: *const c_char) -> c_int {
    done(|| {
        let (node, mut place) = (node(opened)?, node(source)?.place());
        // SAFETY: STRING for `entry`.
        place.name = match unsafe { name_or_none(entry) } {
            Some(entry) => entry.into(),
            None => node.place().name,
        };
        node.set_place(place);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_obj_get_info(mounted: Mounted, opened: Opened, info: *mut dfs_obj_info_t) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        // SAFETY: OUT for `info`.
        let info = unsafe { out(info) }?;
        let found = system.information(&node)?;
        info.set(dfs_obj_info_t {
            doi_oclass_id: found.class,
            doi_chunk_size: found.chunk_size,
            doi_dir_oclass_id: found.directory_class,
            doi_file_oclass_id: found.file_class,
            doi_oid: id_of(node.id),
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_obj_set_oclass(mounted: Mounted, opened: Opened, _flags: c_int, class: u32) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        let class = if class == 0 { system.attributes.directory_class } else { class };
        if class != 0 {
            dfs::check_class(class)?;
        }
        system.set_defaults(&node, |defaults| defaults.class = class)
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_obj_set_chunk_size(
    mounted: Mounted,
    opened: Opened,
    _flags: c_int,
    chunk_size: u64,
) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        system.set_defaults(&node, |defaults| defaults.chunk_size = chunk_size)
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_ostat(
    mounted: Mounted,
    opened: Opened,
    stat: *mut libc::stat,
) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: OUT for `stat`.
        let stat = unsafe { out(stat) }?;
        stat.set(as_c(&dfs::stat_of(&node)?));
        Ok(())
    })
}
