//! The file system by whole paths: the functions `dfs_sys_*`. Each resolves the parent directory and calls libdfs' function for an entry of it.
//!
//! Mounts are in `sys_mounts`, and reading directories is in `sys_directories`.

use std::{
    ffi::{CString, c_char, c_int, c_void},
    mem::MaybeUninit,
    ptr,
};

use super::{
    Mounted, Opened,
    attributes::{dfs_access, dfs_chmod, dfs_chown, dfs_osetattr, dfs_stat},
    done,
    entries::{dfs_mkdir, dfs_remove},
    io::{dfs_punch, dfs_read, dfs_write},
    name,
    nodes::{dfs_dup, dfs_get_symlink_value, dfs_lookup_rel, dfs_open, dfs_ostat, dfs_release},
    pointer, system,
    xattrs::{dfs_getxattr, dfs_listxattr, dfs_removexattr, dfs_setxattr},
};
use crate::{
    abi::{
        dfs::{DFS_SET_ATTR_ATIME, DFS_SET_ATTR_MTIME},
        types::*,
    },
    dfs::{self, At, Errno},
    export::{out_or_none, place_or_none, value_or_none},
};

/// The result of a call on an entry: 0, or an error number of the system.
pub(super) fn as_result(number: c_int) -> dfs::Result<()> {
    if number == 0 { Ok(()) } else { Err(Errno(number)) }
}

/// Runs `act` with the parent directory and the name of an entry. For the root the name is null and the directory the root.
///
/// # Safety
/// STRING for the path. `act` gets a STRING.
pub(super) unsafe fn at(
    mounted: Mounted,
    path: *const c_char,
    act: impl FnOnce(Opened, *const c_char) -> c_int,
) -> c_int {
    done(|| {
        let system = system(mounted)?;
        // SAFETY: STRING for `path`.
        let At { directory, name } = dfs::find(&system, unsafe { name(path) }?)?;
        let entry = name.map(CString::new).transpose().map_err(|_| Errno(libc::EINVAL))?;
        let entry = entry.as_ref().map_or(ptr::null(), |entry| entry.as_ptr());
        as_result(act(pointer(directory.handle()), entry))
    })
}

/// Opens an entry for the duration of an operation.
///
/// # Safety
/// STRING for the path.
unsafe fn with(
    mounted: Mounted,
    path: *const c_char,
    flags: c_int,
    act: impl FnOnce(Opened) -> c_int,
) -> c_int {
    // SAFETY: STRING for `path`, and `at` gives a name that is a STRING.
    unsafe {
        at(mounted, path, |parent, entry| match open(mounted, parent, entry, flags) {
            Ok((opened, _)) => {
                let (number, released) = (act(opened), dfs_release(opened));
                if number == 0 { released } else { number }
            }
            Err(Errno(number)) => number,
        })
    }
}

/// Opens an entry of a directory, or the directory itself if the name is null. Also reports the mode.
///
/// # Safety
/// STRING for the name.
pub(super) unsafe fn open(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    flags: c_int,
) -> dfs::Result<(Opened, libc::mode_t)> {
    let (mut opened, mut mode, no_stat) = (ptr::null_mut(), libc::S_IFDIR, ptr::null_mut());
    // SAFETY: STRING for `entry`; `opened` and `mode` are of this function.
    as_result(unsafe {
        match entry.is_null() {
            true => dfs_dup(mounted, parent, flags & libc::O_ACCMODE, &raw mut opened),
            false => dfs_lookup_rel(mounted, parent, entry, flags, &raw mut opened, &raw mut mode, no_stat),
        }
    })?;
    Ok((opened, mode))
}

/// The flag against following symbolic links, if the flags have it.
pub(super) fn nofollow(flags: c_int) -> c_int {
    flags & libc::O_NOFOLLOW
}

/// A symbolic link that is not followed may be used by everybody.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_access(
    mounted: Mounted,
    path: *const c_char,
    mask: c_int,
    flags: c_int,
) -> c_int {
    if flags & libc::AT_EACCESS != 0 {
        return libc::ENOTSUP;
    }
    let look = |parent: Opened, entry: *const c_char| {
        // SAFETY: a structure of numbers, of which zeros are a value.
        let mut stat: libc::stat = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: `at` gives a STRING; `stat` is of this function.
        unsafe {
            if nofollow(flags) != 0
                && dfs_stat(mounted, parent, entry, &raw mut stat) == 0
                && stat.st_mode & libc::S_IFMT == libc::S_IFLNK
            {
                return 0;
            }
            dfs_access(mounted, parent, entry, mask)
        }
    };
    // SAFETY: STRING for `path`.
    unsafe { at(mounted, path, look) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_chmod(mounted: Mounted, path: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: STRING for `path`, and `at` gives a name that is a STRING.
    unsafe { at(mounted, path, |parent, entry| dfs_chmod(mounted, parent, entry, mode)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_chown(
    mounted: Mounted,
    path: *const c_char,
    user: libc::uid_t,
    group: libc::gid_t,
    flags: c_int,
) -> c_int {
    // SAFETY: STRING for `path`, and `at` gives a name that is a STRING.
    unsafe { at(mounted, path, |parent, entry| dfs_chown(mounted, parent, entry, user, group, flags)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_setattr(
    mounted: Mounted,
    path: *const c_char,
    stat: *mut libc::stat,
    what: c_int,
    flags: c_int,
) -> c_int {
    let flags = libc::O_RDWR | nofollow(flags);
    // SAFETY: STRING for `path`, STRUCT for `stat`.
    unsafe { with(mounted, path, flags, |opened| dfs_osetattr(mounted, opened, stat, what)) }
}

/// Two times: of the last access, which is not stored, and of the last change.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_utimens(
    mounted: Mounted,
    path: *const c_char,
    times: *const libc::timespec,
    flags: c_int,
) -> c_int {
    if times.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: a structure of numbers, of which zeros are a value.
    let mut stat: libc::stat = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: LIST for `times`, of two, which is not null; any bytes are a time.
    let modified = unsafe { *times.add(1) };
    (stat.st_mtime, stat.st_mtime_nsec) = (modified.tv_sec, modified.tv_nsec);
    // SAFETY: STRING for `path`; `stat` is of this function.
    unsafe { dfs_sys_setattr(mounted, path, &raw mut stat, DFS_SET_ATTR_ATIME | DFS_SET_ATTR_MTIME, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_stat(
    mounted: Mounted,
    path: *const c_char,
    flags: c_int,
    stat: *mut libc::stat,
) -> c_int {
    // SAFETY: STRING for `path`, OUT for `stat`.
    unsafe {
        with(mounted, path, libc::O_RDONLY | nofollow(flags), |opened| dfs_ostat(mounted, opened, stat))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_mknod(
    mounted: Mounted,
    path: *const c_char,
    mode: libc::mode_t,
    class: u32,
    chunk_size: u64,
) -> c_int {
    // SAFETY: STRING for `path`; there is no target.
    unsafe { made(mounted, path, mode, class, chunk_size, ptr::null()) }
}

/// Creates an entry that must not exist.
///
/// # Safety
/// STRING for path and target.
unsafe fn made(
    mounted: Mounted,
    path: *const c_char,
    mode: libc::mode_t,
    class: u32,
    chunk_size: u64,
    target: *const c_char,
) -> c_int {
    let make = |parent: Opened, entry: *const c_char| {
        let (flags, mut opened) = (libc::O_CREAT | libc::O_EXCL | libc::O_RDWR, ptr::null_mut());
        // SAFETY: `at` gives a STRING; STRING for `target`; `opened` is of this function.
        let number = unsafe {
            dfs_open(mounted, parent, entry, mode, flags, class, chunk_size, target, &raw mut opened)
        };
        if number == 0 { dfs_release(opened) } else { number }
    };
    // SAFETY: STRING for `path`.
    unsafe { at(mounted, path, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_symlink(mounted: Mounted, target: *const c_char, path: *const c_char) -> c_int {
    // SAFETY: STRING for `path` and `target`.
    unsafe { made(mounted, path, libc::S_IFLNK, 0, 0, target) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_readlink(
    mounted: Mounted,
    path: *const c_char,
    buffer: *mut c_char,
    size: *mut u64,
) -> c_int {
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW;
    // SAFETY: STRING for `path`, STRUCT for `size`, BUFFER for `buffer`, of `size` bytes.
    unsafe { with(mounted, path, flags, |opened| dfs_get_symlink_value(opened, buffer, size)) }
}

/// Asks for a value. Fails with `ERANGE` if the buffer is smaller than the value, also without a buffer.
///
/// # Safety
/// STRUCT for `size`.
unsafe fn sized(size: *mut u64, ask: impl FnOnce(*mut u64) -> c_int) -> c_int {
    // SAFETY: STRUCT for `size`.
    let Some(size) = (unsafe { place_or_none(size) }) else { return libc::EINVAL };
    let mut found = *size;
    let number = ask(&raw mut found);
    if number != 0 && number != libc::E2BIG {
        return number;
    }
    let capacity = std::mem::replace(size, found);
    if capacity < found { libc::ERANGE } else { number }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_listxattr(
    mounted: Mounted,
    path: *const c_char,
    list: *mut c_char,
    size: *mut u64,
    flags: c_int,
) -> c_int {
    let flags = libc::O_RDONLY | nofollow(flags);
    // SAFETY: STRING for `path`, STRUCT for `size`, BUFFER for `list`, of `size` bytes.
    unsafe {
        with(mounted, path, flags, |opened| sized(size, |size| dfs_listxattr(mounted, opened, list, size)))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_getxattr(
    mounted: Mounted,
    path: *const c_char,
    key: *const c_char,
    value: *mut c_void,
    size: *mut u64,
    flags: c_int,
) -> c_int {
    let flags = libc::O_RDONLY | nofollow(flags);
    let ask = |opened| {
        // SAFETY: STRING for `key`, STRUCT for `size`, BUFFER for `value`, of `size` bytes.
        unsafe { sized(size, |size| dfs_getxattr(mounted, opened, key, value, size)) }
    };
    // SAFETY: STRING for `path`.
    unsafe { with(mounted, path, flags, ask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_setxattr(
    mounted: Mounted,
    path: *const c_char,
    key: *const c_char,
    value: *const c_void,
    size: u64,
    how: c_int,
    flags: c_int,
) -> c_int {
    let flags = libc::O_RDWR | nofollow(flags);
    // SAFETY: STRING for `path` and `key`, BYTES for `value`, as many as `size` says.
    unsafe { with(mounted, path, flags, |opened| dfs_setxattr(mounted, opened, key, value, size, how)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_removexattr(
    mounted: Mounted,
    path: *const c_char,
    key: *const c_char,
    flags: c_int,
) -> c_int {
    let flags = libc::O_RDWR | nofollow(flags);
    // SAFETY: STRING for `path` and `key`.
    unsafe { with(mounted, path, flags, |opened| dfs_removexattr(mounted, opened, key)) }
}

/// Opens an entry. Without `O_CREAT`, follows a symbolic link unless the flags forbid it, and requires the requested kind.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn dfs_sys_open(
    mounted: Mounted,
    path: *const c_char,
    mode: libc::mode_t,
    flags: c_int,
    class: u32,
    chunk_size: u64,
    value: *const c_char,
    opened: *mut Opened,
) -> c_int {
    let mode = if mode & libc::S_IFMT == 0 { mode | libc::S_IFREG } else { mode };
    let open = |parent: Opened, entry: *const c_char| {
        if entry.is_null() {
            return match (flags & (libc::O_CREAT | libc::O_EXCL), mode & libc::S_IFMT) {
                // SAFETY: OUT for `opened`.
                (0, libc::S_IFDIR) => unsafe { dfs_dup(mounted, parent, flags & libc::O_ACCMODE, opened) },
                (0, _) => libc::ENOTDIR,
                _ => libc::EEXIST,
            };
        }
        if flags & (libc::O_CREAT | libc::O_NOFOLLOW) != 0 {
            // SAFETY: `at` gives a STRING; STRING for `value`, OUT for `opened`.
            return unsafe {
                dfs_open(mounted, parent, entry, mode, flags, class, chunk_size, value, opened)
            };
        }
        let (mut found, mut kind) = (ptr::null_mut(), 0);
        // SAFETY: `at` gives a STRING; `found` and `kind` are of this function.
        let number = unsafe {
            dfs_lookup_rel(mounted, parent, entry, flags, &raw mut found, &raw mut kind, ptr::null_mut())
        };
        if number != 0 {
            return number;
        }
        // SAFETY: OUT for `opened`.
        match unsafe { out_or_none(opened) } {
            Some(opened) if kind & libc::S_IFMT == mode & libc::S_IFMT => {
                opened.set(found);
                0
            }
            _ => {
                dfs_release(found);
                libc::EINVAL
            }
        }
    };
    // SAFETY: STRING for `path`.
    unsafe { at(mounted, path, open) }
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_close(opened: Opened) -> c_int {
    dfs_release(opened)
}

/// A list of one buffer.
///
/// # Safety
/// STRUCT for `size`.
unsafe fn one(buffer: *mut c_void, size: *const u64) -> Option<d_iov_t> {
    // SAFETY: STRUCT for `size`.
    let size = unsafe { value_or_none(size) }?;
    (!buffer.is_null()).then_some(d_iov_t { iov_buf: buffer, iov_buf_len: *size, iov_len: *size })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_read(
    mounted: Mounted,
    opened: Opened,
    buffer: *mut c_void,
    offset: u64,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: STRUCT for `size`.
    let Some(mut vector) = (unsafe { one(buffer, size) }) else { return libc::EINVAL };
    let mut list = d_sg_list_t { sg_nr: 1, sg_nr_out: 1, sg_iovs: &raw mut vector };
    // SAFETY: STRUCT for `size`, BUFFER for `buffer`, of `size` bytes; list and vector are of this function, and a call with an event ends before it returns.
    unsafe { dfs_read(mounted, opened, &raw mut list, offset, size, event) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_write(
    mounted: Mounted,
    opened: Opened,
    buffer: *const c_void,
    offset: u64,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: STRUCT for `size`.
    let Some(mut vector) = (unsafe { one(buffer.cast_mut(), size) }) else { return libc::EINVAL };
    let mut list = d_sg_list_t { sg_nr: 1, sg_nr_out: 1, sg_iovs: &raw mut vector };
    // SAFETY: BYTES for `buffer`, as many as `size` says; list and vector live as those of a read.
    unsafe { dfs_write(mounted, opened, &raw mut list, offset, event) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_punch(mounted: Mounted, path: *const c_char, offset: u64, length: u64) -> c_int {
    // SAFETY: STRING for `path`.
    unsafe { with(mounted, path, libc::O_RDWR, |opened| dfs_punch(mounted, opened, offset, length)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_remove(
    mounted: Mounted,
    path: *const c_char,
    force: bool,
    id: *mut daos_obj_id_t,
) -> c_int {
    // SAFETY: STRING for `path`, OUT for `id`.
    unsafe { dfs_sys_remove_type(mounted, path, force, 0, id) }
}

/// Removes an entry, which must be of the kind, if one is given.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_remove_type(
    mounted: Mounted,
    path: *const c_char,
    force: bool,
    mode: libc::mode_t,
    id: *mut daos_obj_id_t,
) -> c_int {
    let remove = |parent: Opened, entry: *const c_char| {
        if entry.is_null() {
            return libc::EBUSY;
        }
        // SAFETY: a structure of numbers, of which zeros are a value.
        let mut stat: libc::stat = unsafe { MaybeUninit::zeroed().assume_init() };
        let kind = mode & libc::S_IFMT;
        // SAFETY: `at` gives a STRING; OUT for `id`; `stat` is of this function.
        unsafe {
            match if kind == 0 { 0 } else { dfs_stat(mounted, parent, entry, &raw mut stat) } {
                0 if kind != 0 && stat.st_mode & libc::S_IFMT != kind => libc::EINVAL,
                0 => dfs_remove(mounted, parent, entry, force, id),
                number => number,
            }
        }
    };
    // SAFETY: STRING for `path`.
    unsafe { at(mounted, path, remove) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_mkdir(
    mounted: Mounted,
    path: *const c_char,
    mode: libc::mode_t,
    class: u32,
) -> c_int {
    let make = |parent: Opened, entry: *const c_char| {
        if entry.is_null() {
            return libc::EEXIST;
        }
        // SAFETY: `at` gives a STRING.
        unsafe { dfs_mkdir(mounted, parent, entry, mode, class) }
    };
    // SAFETY: STRING for `path`.
    unsafe { at(mounted, path, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_mkdir_p(
    mounted: Mounted,
    path: *const c_char,
    mode: libc::mode_t,
    class: u32,
) -> c_int {
    // SAFETY: STRING for `path`.
    done(|| dfs::make_directories(&*system(mounted)?, unsafe { name(path) }?, mode, class))
}
