//! Containers under paths of the system's own file system: the functions of libduns.
//!
//! A directory (for a container that is a file system) or a file has the extended attribute `user.daos`. Lustre and dfuse are treated as any
//! file system.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    fs::{self, DirBuilder, OpenOptions},
    io,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    ptr,
};

use super::{Handle, In, InOut, Out, Text, copied, dfs::mount, export, many};
use crate::{
    abi::{constants::DAOS_COO_RO, dfs::*, properties::*, stored::is_uuid},
    containers::{
        self, Container,
        pools::Pool,
        properties::{Value, check, of},
        uuid_in, uuid_text,
    },
    dfs::{
        Errno, Result,
        duns::{self, Target},
    },
    runtime::log,
};

fn failed(error: &io::Error, path: &Path) -> Errno {
    log::line("libduns", &format!("{}: {error}", path.display()));
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

impl<'a> Text<'a> {
    /// A path, which is not empty.
    fn path(self) -> Result<&'a CStr> {
        self.c_str().filter(|path| !path.is_empty()).ok_or(Errno(libc::EINVAL))
    }
}

fn as_path(path: &CStr) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()))
}

/// Writes a text to the caller's buffer.
fn put(text: &str, place: &mut [c_char]) {
    place.fill(0);
    let capacity = place.len() - 1;
    place.iter_mut().zip(text.bytes().take(capacity)).for_each(|(place, byte)| *place = byte as c_char);
}

fn string_in(place: &[c_char]) -> String {
    place.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte as u8)).collect()
}

/// Reports the target of a path. The program frees the rest of the path by `duns_destroy_attr`.
fn tell(target: &Target, attributes: &mut duns_attr_t) -> Result<()> {
    put(&target.pool, &mut attributes.da_pool);
    attributes.da_puuid = uuid_in(&target.pool).unwrap_or_default();
    if let Some(container) = &target.container {
        put(container, &mut attributes.da_cont);
        attributes.da_cuuid = uuid_in(container).unwrap_or_default();
    }
    attributes.da_rel_path = match &target.rest {
        Some(rest) => copied(&[&rest[..], &[0]].concat())?.cast(),
        None => ptr::null_mut(),
    };
    Ok(())
}

/// The extended attribute of a path, if it has one.
fn attribute_of(path: &Path) -> Result<Option<Vec<u8>>> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno(libc::EINVAL))?;
    let mut value = [0_u8; DUNS_MAX_XATTR_LEN];
    // SAFETY: both names end with a NUL, and `value` has as many bytes as its length says.
    let size = unsafe {
        libc::lgetxattr(name.as_ptr(), DUNS_XATTR_NAME.as_ptr(), value.as_mut_ptr().cast(), value.len())
    };
    match (usize::try_from(size), io::Error::last_os_error().raw_os_error()) {
        (Ok(size), _) => Ok(Some(value[..size].to_vec())),
        (Err(_), Some(libc::ENODATA)) => Ok(None),
        (Err(_), number) => Err(Errno(number.unwrap_or(libc::EIO))),
    }
}

/// The target of a path of the system. The path, or a folder above it, has the attribute.
fn resolved(path: &Path, is_last_only: bool) -> Result<(u16, Target)> {
    let real = fs::canonicalize(path).map_err(|error| failed(&error, path))?;
    for above in real.ancestors().take(if is_last_only { 1 } else { usize::MAX }) {
        let Some(value) = attribute_of(above)? else { continue };
        let (layout, target) = duns::read_value(&value)?;
        let rest = real.strip_prefix(above).unwrap_or(Path::new("")).as_os_str().as_bytes();
        let rest = (!rest.is_empty()).then(|| [b"/", rest].concat());
        return Ok((layout, Target { rest, ..target }));
    }
    Err(Errno(libc::ENODATA))
}

#[export]
fn duns_resolve_path(path: Text, attributes: InOut<duns_attr_t>) -> Result<()> {
    let (path, attributes) = (path.path()?, attributes.get()?);
    attributes.da_sys = ptr::null_mut();
    let (flags, bytes) = (attributes.da_flags, path.to_bytes());
    let without_prefix = attributes.da_no_prefix != 0 || flags & DUNS_NO_PREFIX != 0;
    if let Some(target) = duns::direct(bytes, without_prefix) {
        return tell(&target, attributes);
    }
    if flags & DUNS_NO_CHECK_PATH != 0 {
        let target = duns::read(bytes, without_prefix)?;
        target.container.as_ref().ok_or(Errno(libc::EINVAL))?;
        return tell(&target, attributes);
    }
    let (layout, target) = resolved(as_path(path), flags & DUNS_NO_REVERSE_LOOKUP != 0)?;
    attributes.da_type = layout;
    tell(&target, attributes)
}

#[export]
unsafe fn duns_parse_attr(value: *mut c_char, size: u64, attributes: InOut<duns_attr_t>) -> Result<()> {
    // SAFETY: BYTES for `value`, as many as `size` says.
    let (value, attributes) = (unsafe { many(value.cast::<u8>(), size) }?, attributes.get()?);
    let (layout, target) = duns::read_value(value)?;
    attributes.da_type = layout;
    tell(&Target { rest: None, ..target }, attributes)
}

/// Creates a container with the attributes, under the label if given. Reports its UUID, or the label.
///
/// # Safety
/// STRUCT for `da_props`.
unsafe fn create(pool: Handle, label: Option<&str>, attributes: &mut duns_attr_t) -> Result<()> {
    let mut uuid = [0; 16];
    if u64::from(attributes.da_type) == DAOS_PROP_CO_LAYOUT_POSIX {
        let wanted = dfs_attr_t {
            da_id: 0,
            da_chunk_size: attributes.da_chunk_size,
            da_oclass_id: attributes.da_oclass_id,
            da_props: attributes.da_props,
            da_mode: 0,
            da_dir_oclass_id: attributes.da_dir_oclass_id,
            da_file_oclass_id: attributes.da_file_oclass_id,
            da_hints: attributes.da_hints,
        };
        // SAFETY: STRUCT for `da_props`.
        let wanted = unsafe { In::new(&raw const wanted) };
        mount::create(pool, label, wanted, Out::from(&mut uuid), Out::null(), Out::null())?;
    } else {
        // SAFETY: STRUCT for `da_props`.
        let mut wanted = unsafe { InOut::new(attributes.da_props) }.taken()?;
        wanted.insert(DAOS_PROP_CO_LAYOUT_TYPE, Value::Number(attributes.da_type.into()));
        check(&wanted)?;
        uuid = containers::create(pool.cookie, label, &wanted, &[])?;
    }
    attributes.da_cuuid = uuid;
    if label.is_none() {
        put(&uuid_text(&uuid), &mut attributes.da_cont);
    }
    Ok(())
}

/// The directory or file that stands for a container, before its attribute is set. It is removed unless the attribute is set.
struct Made(PathBuf, bool);

impl Made {
    fn new(path: &Path, layout: u16) -> Result<Self> {
        let is_directory = u64::from(layout) == DAOS_PROP_CO_LAYOUT_POSIX;
        let made = match layout {
            0 => return Err(Errno(libc::EINVAL)),
            _ if is_directory => DirBuilder::new().mode(0o775).create(path),
            _ => OpenOptions::new().write(true).create_new(true).mode(0o664).open(path).map(drop),
        };
        made.map_err(|error| failed(&error, path))?;
        Ok(Self(path.to_owned(), is_directory))
    }

    /// Sets its attribute. The path then stays when this value is dropped.
    fn name(self, value: &[u8]) -> Result<()> {
        let path = CString::new(self.0.as_os_str().as_bytes()).map_err(|_| Errno(libc::EINVAL))?;
        let (value, size) = (value.as_ptr().cast::<c_void>(), value.len());
        // SAFETY: both names end with a NUL, and `value` has `size` bytes.
        if unsafe { libc::lsetxattr(path.as_ptr(), DUNS_XATTR_NAME.as_ptr(), value, size, 0) } != 0 {
            return Err(failed(&io::Error::last_os_error(), &self.0));
        }
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = if self.1 { fs::remove_dir(&self.0) } else { fs::remove_file(&self.0) };
    }
}

#[export]
fn duns_create_path(pool: Handle, path: Text, attributes: InOut<duns_attr_t>) -> Result<()> {
    let (path, attributes) = (path.path()?, attributes.get()?);
    let without_prefix = attributes.da_no_prefix != 0 || attributes.da_flags & DUNS_NO_PREFIX != 0;
    if let Some(target) = duns::direct(path.to_bytes(), without_prefix) {
        let Some(container) = &target.container else { return Err(Errno(libc::EINVAL)) };
        tell(&target, attributes)?;
        let label = Some(container.as_str()).filter(|container| !is_uuid(container));
        // SAFETY: STRUCT for `attributes`, with the properties in it.
        return unsafe { create(pool, label, attributes) };
    }
    let uuid = Pool::get(pool.cookie)?.uuid();
    if attributes.da_puuid != [0; 16] && attributes.da_puuid != uuid {
        return Err(Errno(libc::EINVAL));
    }
    let made = Made::new(as_path(path), attributes.da_type)?;
    put(&uuid_text(&uuid), &mut attributes.da_pool);
    // SAFETY: STRUCT for `attributes`, with the properties in it.
    unsafe { create(pool, None, attributes) }?;
    let container = string_in(&attributes.da_cont);
    let value = duns::value(attributes.da_type, &uuid_text(&uuid), &container)?;
    made.name(&value).inspect_err(|_| {
        let _ = containers::destroy(pool.cookie, &container, true);
    })
}

#[export]
fn duns_link_cont(pool: Handle, container: Text, path: Text) -> Result<()> {
    let (path, name) = (path.path()?, container.text()?);
    let uuid = Pool::get(pool.cookie)?.uuid();
    let handle = containers::open(pool.cookie, name, DAOS_COO_RO)?;
    let opened = Container::get(handle).and_then(|container| {
        let layout = of(&container)?.remove(&DAOS_PROP_CO_LAYOUT_TYPE);
        Ok((container.uuid, layout))
    });
    containers::close(handle)?;
    let (container, layout) = opened?;
    let layout = match layout {
        Some(Value::Number(number)) => u16::try_from(number).unwrap_or(0),
        _ => 0,
    };
    let value = duns::value(layout, &uuid_text(&uuid), &uuid_text(&container))?;
    Made::new(as_path(path), layout)?.name(&value)
}

/// Removes the path and its container, which must be of this pool. A container that cannot be removed keeps its path.
#[export]
fn duns_destroy_path(pool: Handle, path: Text) -> Result<()> {
    let path = path.path()?;
    let connected = Pool::get(pool.cookie)?;
    let (layout, target) = match duns::direct(path.to_bytes(), false) {
        Some(target) => (None, target),
        None => resolved(as_path(path), true).map(|(layout, target)| (Some(layout), target))?,
    };
    if target.pool != connected.label && uuid_in(&target.pool).unwrap_or_default() != connected.uuid() {
        log::line(
            "libduns",
            &format!("a path to a container of pool {}, not {}", target.pool, connected.label),
        );
        return Err(Errno(libc::EINVAL));
    }
    let Some(container) = target.container else { return Err(Errno(libc::EINVAL)) };
    let destroy = || containers::destroy(pool.cookie, &container, true);
    let Some(layout) = layout else { return Ok(destroy()?) };
    let path = as_path(path);
    // The path first, since a folder with entries cannot be removed.
    let removed = match u64::from(layout) == DAOS_PROP_CO_LAYOUT_POSIX {
        true => fs::remove_dir(path),
        false => fs::remove_file(path),
    };
    removed.map_err(|error| failed(&error, path))?;
    let destroyed = destroy().inspect_err(|_| {
        let value = duns::value(layout, &target.pool, &container);
        let _ = value.and_then(|value| Made::new(path, layout)?.name(&value));
    });
    Ok(destroyed?)
}

#[export]
fn duns_set_sys_name(attributes: InOut<duns_attr_t>, name: Text) -> Result<()> {
    let (attributes, name) = (attributes.get()?, name.path()?);
    attributes.da_sys = copied(name.to_bytes_with_nul())?.cast();
    Ok(())
}

#[export]
unsafe fn duns_destroy_attr(attributes: InOut<duns_attr_t>) {
    let Some(attributes) = attributes.or_none() else { return };
    // SAFETY: HEAP for the strings in `attributes`, which `tell` and `duns_set_sys_name` allocate.
    unsafe {
        libc::free(attributes.da_rel_path.cast());
        libc::free(attributes.da_sys.cast());
    }
    (attributes.da_rel_path, attributes.da_sys) = (ptr::null_mut(), ptr::null_mut());
}
