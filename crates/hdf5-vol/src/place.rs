//! Finds what a callback is about: HDF5 names it by an open object and, from there, a path, an index or a token.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::{Arc, OnceLock},
};

use isotach_hdf5::{By, Last, Link, Object, Order, Resolved};

use crate::{
    abi::{
        DEFAULT, Hid, INDEX_CREATION_ORDER, INDEX_NAME, ITERATE_DECREASING, ITERATE_INCREASING,
        ITERATE_NATIVE, LocParams, Token, by,
    },
    beside,
    crossing::Crossing,
    error::{Error, Result},
    handle::{Body, Handle, Node, OpenDataset, OpenMap, handle_without_wait, id_type_of, text},
    id::Id,
    types,
    view::{Beside, View},
};

/// An object, and the view through which it is seen: a link may have led to another file.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) view: Arc<View>,
    pub(crate) node: Node,
}

/// A name in a group, whether or not there is a link.
pub(crate) struct Entry {
    pub(crate) view: Arc<View>,
    pub(crate) parent: Node,
    pub(crate) name: String,
    pub(crate) link: Option<Link>,
}

impl Entry {
    /// The link, which must be there.
    pub(crate) fn existing(&self) -> Result<&Link> {
        self.link.as_ref().ok_or_else(|| Error::not_found(format!("the link '{}'", self.name)))
    }

    pub(crate) fn path(&self) -> Option<String> {
        self.parent.path.as_deref().map(|parent| join(parent, &self.name))
    }
}

impl Place {
    pub(crate) fn of(handle: &Handle) -> Result<Self> {
        Ok(Self { view: handle.view()?, node: handle.node()? })
    }

    pub(crate) fn object(&self) -> &Object {
        &self.node.object
    }

    /// A handle on the object for HDF5, and its `H5I_type_t`.
    pub(crate) fn open(self) -> Result<(*mut c_void, c_int)> {
        let kind = self.node.object.kind();
        self.view.note_path(self.node.object.number(), self.node.path.as_deref());
        let body = match kind {
            isotach_hdf5::Kind::Group => Body::Group(self.node),
            isotach_hdf5::Kind::Dataset => Body::Dataset(OpenDataset::new(self.node, None)),
            isotach_hdf5::Kind::Datatype => {
                let shadow = types::shadow(&self.view, &self.node.object)?;
                Body::Datatype(self.node, shadow)
            }
            isotach_hdf5::Kind::Map => return Ok((self.open_map(DEFAULT)?, id_type_of(kind))),
        };
        Ok((Handle::give(self.view, body), id_type_of(kind)))
    }

    /// A handle on the map for HDF5, with this access property list.
    pub(crate) fn open_map(self, mapl: Hid) -> Result<*mut c_void> {
        let library = self.view.library;
        if !library.has_maps {
            return Err(Error::unsupported("maps in an HDF5 library that is built without H5M"));
        }
        self.view.note_path(self.node.object.number(), self.node.path.as_deref());
        let mapl =
            (mapl != DEFAULT).then(|| Id::new(library, library.H5Pcopy(mapl), "H5Pcopy")).transpose()?;
        Ok(Handle::give(self.view, Body::Map(OpenMap { node: self.node, mapl, kept: OnceLock::new() })))
    }

    /// A handle on the dataset for HDF5, with this access property list.
    pub(crate) fn open_dataset(self, dapl: Hid) -> Result<*mut c_void> {
        let library = self.view.library;
        self.view.note_path(self.node.object.number(), self.node.path.as_deref());
        // HDF5 passes its own list where the program gives none. A copy takes as long as the rest of an opening.
        let is_given = ![DEFAULT, library.H5P_LST_DATASET_ACCESS_ID_g()].contains(&dapl);
        let dapl = is_given.then(|| Id::new(library, library.H5Pcopy(dapl), "H5Pcopy")).transpose()?;
        Ok(Handle::give(self.view, Body::Dataset(OpenDataset::new(self.node, dapl))))
    }

    /// What a path from here leads to.
    pub(crate) fn follow(&self, path: &str, lapl: Hid) -> Result<Self> {
        match self.resolve(path, Last::Follow, lapl)? {
            Found::Object(place) => Ok(place),
            Found::Entry(entry) if entry.link.is_some() => {
                Err(Error::not_found(format!("the object that the link '{}' leads to", entry.name)))
            }
            Found::Entry(entry) => Err(Error::not_found(format!("the object '{}'", entry.name))),
        }
    }

    /// The name in a group at the end of a path.
    pub(crate) fn entry(&self, path: &str, lapl: Hid) -> Result<Entry> {
        match self.resolve(path, Last::Keep, lapl)? {
            Found::Entry(entry) => Ok(entry),
            Found::Object(_) => Err(Error::argument(format!("'{path}' is no name of a link"))),
        }
    }

    pub(crate) fn resolve(&self, path: &str, last: Last, lapl: Hid) -> Result<Found> {
        let mut from = self.clone();
        let mut path = path.to_owned();
        for _ in 0..EXTERNAL_LINKS_MAX {
            let textual = from.node.path.as_deref().map(|base| join(base, &path));
            match from.view.file.resolve(&from.node.object, &path, last)? {
                Resolved::Object(object) => {
                    return Ok(Found::Object(Self { view: from.view, node: Node { object, path: textual } }));
                }
                Resolved::Link { parent, name, link } => {
                    return Ok(Found::Entry(entry(from.view, parent, name, Some(link), textual.as_deref())));
                }
                Resolved::Absent { parent, name } => {
                    return Ok(Found::Entry(entry(from.view, parent, name, None, textual.as_deref())));
                }
                Resolved::External { file, path: inner, .. } => {
                    let view = match beside::open_linked(&from.view, &file, lapl)? {
                        Beside::Ours(view) => view,
                        Beside::Native(file) => {
                            let there = Crossing::new(from.view.library, file, &inner)?;
                            return Err(there.into_error());
                        }
                    };
                    let object = view.file.root()?;
                    from = Self { view, node: Node { object, path: Some("/".to_owned()) } };
                    path = inner;
                }
                Resolved::UserDefined { class, .. } => {
                    return Err(Error::unsupported(format!(
                        "following links of the program's class {class}"
                    )));
                }
            }
        }
        Err(Error::argument("too many links to other files"))
    }
}

/// What a path leads to.
pub(crate) enum Found {
    Object(Place),
    Entry(Entry),
}

/// How many links to other files one path may follow, as in HDF5.
const EXTERNAL_LINKS_MAX: usize = 16;

fn entry(view: Arc<View>, parent: Object, name: String, link: Option<Link>, textual: Option<&str>) -> Entry {
    let path = textual.map(parent_of);
    Entry { view, parent: Node { object: parent, path }, name, link }
}

fn parent_of(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(at) => trimmed[..at].to_owned(),
    }
}

/// A path from a group, as one path without empty names and dots.
pub(crate) fn join(base: &str, path: &str) -> String {
    let names = path.split('/').filter(|name| !name.is_empty() && *name != ".");
    let mut joined =
        if path.starts_with('/') { String::new() } else { base.trim_end_matches('/').to_owned() };
    for name in names {
        joined.push('/');
        joined.push_str(name);
    }
    if joined.is_empty() { "/".to_owned() } else { joined }
}

/// Finds the object that location parameters name.
///
/// # Safety
/// Both pointers are from a callback of this connector.
pub(crate) unsafe fn place(object: *const c_void, loc: *const LocParams) -> Result<Place> {
    // SAFETY: the caller's promise.
    let from = Place::of(unsafe { handle_without_wait(object) }?)?;
    // SAFETY: the caller's promise.
    let loc = unsafe { loc.as_ref() }.ok_or_else(|| Error::argument("no location was given"))?;
    match loc.by {
        by::SELF => Ok(from),
        by::NAME => {
            // SAFETY: the number says which member of the union is set.
            let (name, lapl) = unsafe { (text(loc.data.name.name)?, loc.data.name.lapl) };
            from.follow(name, lapl)
        }
        by::IDX => {
            // SAFETY: as above.
            let entry = unsafe { entry_at(&from, loc) }?;
            let parent = Place { view: entry.view, node: entry.parent };
            // SAFETY: as above.
            parent.follow(&entry.name, unsafe { loc.data.idx.lapl })
        }
        by::TOKEN => {
            // SAFETY: as above.
            let token =
                unsafe { loc.data.token.as_ref() }.ok_or_else(|| Error::argument("no token was given"))?;
            let object = from.view.file.object(number_of(token))?;
            Ok(Place { view: from.view, node: Node { object, path: None } })
        }
        other => Err(Error::argument(format!("the location type {other}"))),
    }
}

/// Finds the link that location parameters name, by path or by index.
///
/// # Safety
/// As [`place`].
pub(crate) unsafe fn link(object: *const c_void, loc: *const LocParams) -> Result<Entry> {
    // SAFETY: the caller's promise.
    let from = Place::of(unsafe { handle_without_wait(object) }?)?;
    // SAFETY: the caller's promise.
    let loc = unsafe { loc.as_ref() }.ok_or_else(|| Error::argument("no location was given"))?;
    match loc.by {
        by::NAME => {
            // SAFETY: the number says which member of the union is set.
            let (name, lapl) = unsafe { (text(loc.data.name.name)?, loc.data.name.lapl) };
            from.entry(name, lapl)
        }
        // SAFETY: as above.
        by::IDX => unsafe { entry_at(&from, loc) },
        other => Err(Error::argument(format!("the location type {other} for a link"))),
    }
}

/// # Safety
/// The location is by index.
unsafe fn entry_at(from: &Place, loc: &LocParams) -> Result<Entry> {
    // SAFETY: the caller's promise.
    let at = unsafe { loc.data.idx };
    // SAFETY: HDF5 gives a text or null.
    let group = unsafe { optional_name(at.name) }?
        .map_or_else(|| Ok(from.clone()), |name| from.follow(name, at.lapl))?;
    let (sorting, order) = sorting(at.index, at.order)?;
    let links = group.object().links(sorting, order)?;
    let index = usize::try_from(at.n).unwrap_or(usize::MAX);
    let (name, link) =
        links.into_iter().nth(index).ok_or_else(|| Error::not_found(format!("link number {index}")))?;
    Ok(Entry { view: group.view, parent: group.node, name, link: Some(link) })
}

/// # Safety
/// As [`text`].
unsafe fn optional_name<'a>(name: *const c_char) -> Result<Option<&'a str>> {
    // SAFETY: the caller's promise.
    if name.is_null() { Ok(None) } else { unsafe { text(name) }.map(Some) }
}

/// What HDF5's numbers of an index and an order mean.
pub(crate) fn sorting(index: c_int, order: c_int) -> Result<(By, Order)> {
    let sorting = match index {
        INDEX_NAME => By::Name,
        INDEX_CREATION_ORDER => By::CreationOrder,
        other => return Err(Error::argument(format!("the index type {other}"))),
    };
    let order = match order {
        ITERATE_INCREASING => Order::Increasing,
        ITERATE_DECREASING => Order::Decreasing,
        ITERATE_NATIVE => Order::Native,
        other => return Err(Error::argument(format!("the iteration order {other}"))),
    };
    Ok((sorting, order))
}

/// The token of an object.
pub(crate) fn token_of(number: u64) -> Token {
    let mut data = [0; 16];
    data[..8].copy_from_slice(&number.to_le_bytes());
    Token { data }
}

/// The number of the object that a token names.
pub(crate) fn number_of(token: &Token) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&token.data[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::{join, parent_of};

    #[test]
    fn joined_paths_have_no_dots_and_no_empty_names() {
        assert_eq!(join("/", "a//b/./c"), "/a/b/c");
        assert_eq!(join("/x", "/a"), "/a");
        assert_eq!(join("/x/", "."), "/x");
        assert_eq!(join("/", "/"), "/");
    }

    #[test]
    fn the_parent_of_a_path_is_what_stands_before_its_last_name() {
        assert_eq!(parent_of("/a/b"), "/a");
        assert_eq!(parent_of("/a"), "/");
    }
}
