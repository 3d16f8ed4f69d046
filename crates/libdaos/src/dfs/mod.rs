//! The file system on DAOS (libdfs): directories and files in a container, in DAOS's layout.
//!
//! A directory is a general object with a distribution key for each entry. The attribute key `DFS_INODE` of an entry holds what `stat` reports
//! (`inode`), `DFS_SLINK` the target of a symbolic link, and `x:` with a name an extended attribute. A file is an array of bytes. The object
//! 0.0 is the superblock, which has the entry of the root directory, the object 1.0.
//!
//! What must stay true on an engine with transactions:
//! - Each change of the name space is atomic: creating, removing, moving and exchanging entries, and changing an inode or an extended
//!   attribute. Of several processes that create the same name one succeeds.
//! - Only an empty directory is removed, and no entry is created in a removed one. Each directory has a mark for this, which every change of
//!   its entries changes, too (`store`). No directory is moved below itself.
//!
//! On an engine without transactions only the entry itself is created under a condition; the parts of a change count one after the other.
//!
//! An open file, directory or link is called an object in libdfs. Here it is a `Node`, since DAOS's objects are something else.

mod attributes;
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

pub(crate) use attributes::{AttributeChange, Stat, access, change, chmod, chown, stat, stat_of};
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
