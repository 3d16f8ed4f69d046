//! Who may do what: owners, groups, modes and POSIX access control lists, as the kernel enforces them.
//!
//! What must stay true: this process decides nothing; the file system does.

pub(crate) mod posix_acl;
pub(crate) mod rights;
pub(crate) mod uid_names;
