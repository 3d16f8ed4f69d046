//! Where files are.

use isotach_hdf5::{Access, Last, Object, Resolved, Site};
use isotach_hdf5_tools::{Kind, kind_of};

use crate::failure::{Failure, Outcome};

/// Where files are: in the pool that the environment names, or beside their paths.
pub(super) fn site() -> Outcome<Site> {
    Site::from_environment(None).map_err(Failure::usage)
}

/// What is done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    Read,
    Write,
}

/// An object of a file of the connector.
pub(super) fn object(file: &str, path: &str, rights: Rights) -> Outcome<Object> {
    let site = site()?;
    if kind_of(&site, file)? == Kind::Native {
        let text = format!("{file} is a native HDF5 file: isotach h5 copy makes one that can be queried");
        return Err(Failure::failed(text));
    }
    let access = if rights == Rights::Write { Access::ReadWrite } else { Access::ReadOnly };
    let open = site.open(file, access)?;
    match open.resolve(&open.root()?, path, Last::Follow)? {
        Resolved::Object(object) => Ok(object),
        _ => Err(Failure::failed(format!("{path} is no object in {file}: expected a path in it"))),
    }
}
