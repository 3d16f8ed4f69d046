//! Access control: owners, groups, modes and POSIX access control lists.
//!
//! What must stay true: the file system enforces the rights, and this process decides nothing.

pub(crate) mod posix_acl;
pub(crate) mod rights;
pub(crate) mod uid_names;
