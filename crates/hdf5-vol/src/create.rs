//! What the creation, opening and closing of all kinds of objects share.

use std::{
    ffi::{c_char, c_void},
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_hdf5::{Error as FileError, Header, Kind, Target};

use crate::{
    abi::{Herr, Hid, LocParams},
    error::{Error, Result},
    handle::{Closing, Node, text},
    place::{self, Entry, Found, Place},
    plist,
};

/// Where a new object goes.
pub(crate) struct Spot {
    from: Place,
    path: Option<String>,
    lcpl: Hid,
}

impl Spot {
    /// From an object, a location and a path, which is null for an object without a link.
    ///
    /// # Safety
    /// The pointers are those of a callback.
    pub(crate) unsafe fn find(
        object: *const c_void,
        loc: *const LocParams,
        name: *const c_char,
        lcpl: Hid,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let from = unsafe { place::place(object, loc) }?;
        // SAFETY: the caller's promise.
        let path = if name.is_null() { None } else { Some(unsafe { text(name) }?.to_owned()) };
        from.view.writable()?;
        Ok(Self { from, path, lcpl })
    }

    /// Where the link will be; nothing for an object without one. Groups of the path are created if the properties say so.
    fn entry(&self) -> Result<Option<Entry>> {
        let Some(path) = &self.path else { return Ok(None) };
        free_entry(&self.from, path, self.lcpl).map(Some)
    }

    /// The view that the object will be in.
    pub(crate) fn view(&self) -> &std::sync::Arc<crate::view::View> {
        &self.from.view
    }

    /// Creates the object and its link.
    pub(crate) fn create(&self, header: Header) -> Result<Place> {
        let Some(entry) = self.entry()? else {
            let object = self.from.view.file.create_object(header)?;
            return Ok(Place { view: self.from.view.clone(), node: Node { object, path: None } });
        };
        let kind = header.kind;
        let object = entry.view.file.create_object(header)?;
        let charset = plist::charset(self.from.view.library, self.lcpl)?;
        let target = Target::Hard { number: object.number(), kind };
        entry.parent.object.insert_link(&entry.name, target, charset)?;
        let path = entry.path();
        Ok(Place { view: entry.view, node: Node { object, path } })
    }
}

/// The entry at the end of a path, which must be free.
pub(crate) fn free_entry(from: &Place, path: &str, lcpl: Hid) -> Result<Entry> {
    let found = match from.resolve(path, isotach_hdf5::Last::Keep, crate::abi::DEFAULT) {
        Err(error) if error.is_not_found() && plist::creates_groups(from.view.library, lcpl)? => {
            create_groups(from, path, lcpl)?;
            from.resolve(path, isotach_hdf5::Last::Keep, crate::abi::DEFAULT)?
        }
        found => found?,
    };
    match found {
        Found::Entry(entry) if entry.link.is_none() => {
            entry.view.writable()?;
            Ok(entry)
        }
        // HDF5's own words, since programs look for them.
        _ => Err(FileError::AlreadyExists { what: format!("name already exists: '{path}'") }.into()),
    }
}

/// Creates the groups that lack on the way to the last name of a path.
fn create_groups(from: &Place, path: &str, lcpl: Hid) -> Result<()> {
    let charset = plist::charset(from.view.library, lcpl)?;
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let Some((_, groups)) = names.split_last() else { return Ok(()) };
    let mut at = if path.starts_with('/') { from.follow("/", crate::abi::DEFAULT)? } else { from.clone() };
    for name in groups {
        at = match at.resolve(name, isotach_hdf5::Last::Follow, crate::abi::DEFAULT)? {
            Found::Object(place) => place,
            Found::Entry(entry) if entry.link.is_none() => {
                let mut header = Header::new(Kind::Group);
                let parent = entry.parent.object.header()?;
                (header.tracks_link_order, header.tracks_attribute_order) =
                    (parent.tracks_link_order, parent.tracks_attribute_order);
                set_times(&mut header, true, now());
                let object = entry.view.file.create_object(header)?;
                let target = Target::Hard { number: object.number(), kind: Kind::Group };
                entry.parent.object.insert_link(&entry.name, target, charset)?;
                let path = entry.path();
                Place { view: entry.view, node: Node { object, path } }
            }
            Found::Entry(entry) => return Err(Error::not_found(format!("the target of '{}'", entry.name))),
        };
    }
    Ok(())
}

/// Sets the times of a new object that keeps them.
pub(crate) fn set_times(header: &mut Header, keeps: bool, now: i64) {
    if keeps {
        (header.created, header.modified) = (Some(now), Some(now));
    }
}

/// The object at a path from a location, which must be of this kind.
///
/// # Safety
/// The pointers are those of a callback.
pub(crate) unsafe fn existing(
    object: *const c_void,
    loc: *const LocParams,
    name: *const c_char,
    kind: Kind,
) -> Result<Place> {
    // SAFETY: the caller's promise.
    let from = unsafe { place::place(object, loc) }?;
    // SAFETY: the caller's promise.
    let found = from.follow(unsafe { text(name) }?, crate::abi::DEFAULT)?;
    if found.object().kind() == kind {
        return Ok(found);
    }
    Err(Error::argument(match kind {
        Kind::Group => "not a group",
        Kind::Dataset => "not a dataset",
        Kind::Datatype => "not a committed datatype",
        Kind::Map => "not a map",
    }))
}

/// Closes an object or an attribute. What was written through it after its file was closed is committed with the last handle. In a file of
/// several ranks nothing can be, and each closes its objects alone.
pub(crate) fn close(closing: Closing) -> Result<Herr> {
    let Some(view) = closing.view()? else { return Ok(0) };
    let settled = if view.has_file_handles() || view.file.is_shared() { Ok(()) } else { view.end() };
    // The view before the handle, so that the shadow is closed while the handle is still there.
    drop(view);
    closing.end(settled)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
}
