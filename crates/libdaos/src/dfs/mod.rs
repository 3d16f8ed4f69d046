//! The file system on DAOS (libdfs): directories and files in a container, as DAOS lays them out there.
//!
//! A directory is an object of the general form, with a distribution key for each entry. Under the attribute key `DFS_INODE` the entry has
//! what `stat` tells (`inode`), under `DFS_SLINK` where a symbolic link leads, and under `x:` and a name an extended attribute. A file is
//! an array of bytes. The object 0.0 of the container's is the superblock, which has the entry of the root directory, the object 1.0.
//!
//! What must stay true, where the engine has transactions:
//! - Each change of the name space counts whole or not at all: making, removing, moving and exchanging entries, and each change of an inode
//!   or an extended attribute. Of several who make the same name one succeeds.
//! - A directory is only removed while it is empty, and nobody makes an entry in one that is removed. For this each directory has a mark
//!   beside it, which whoever changes its entries changes too (`store`). None is moved to somewhere below itself.
//!
//! On an engine without transactions only the entry itself is made under a condition; the parts of a change count one after the other.
//!
//! Names follow libdfs: an open file, directory or link is an object there, and a `Node` here, since DAOS's objects are another thing.

mod attributes;
mod bytes;
mod connect;
mod create;
mod directories;
pub(crate) mod duns;
mod error;
mod files;
mod globals;
mod inode;
mod lookup;
mod mount;
mod nodes;
mod paths;
mod rename;
mod store;
mod superblock;
mod xattrs;

pub(crate) use attributes::{Change, Stat, access, change, chmod, chown, stat, stat_of};
pub(crate) use connect::{connect, create_container, destroy, discard_container, disconnect, fini, init};
pub(crate) use create::{Wanted, make_directory, open};
pub(crate) use directories::{list, remove};
pub(crate) use error::{Errno, Result, refuse};
pub(crate) use globals::{of_all, of_mount, of_node, to_all, to_mount, to_node};
pub(crate) use inode::{Inode, Time};
pub(crate) use lookup::{lookup, lookup_in};
pub(crate) use mount::{FileSystem, Owned, mount, unmount};
pub(crate) use nodes::{Kind, Node, duplicate, name_of, release};
pub(crate) use paths::{At, find, make_directories};
pub(crate) use rename::{exchange, rename};
pub(crate) use store::{check_class, class_by_default};
pub(crate) use superblock::Attributes;
