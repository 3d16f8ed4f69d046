//! Numbers of access control lists: principals, kinds of access, flags and permissions.

use core::ffi::c_int;

numbers! {
    DAOS_ACL_VERSION: u16 = 1, "The version of the layout of access control lists.";
    DAOS_ACL_MAX_PRINCIPAL_LEN: usize = 255,
        "The most bytes that the name of a principal has, without the zero that ends it.";
    DAOS_ACL_MAX_ACE_LEN: usize = 65_536, "The most bytes that of entries a list has.";
    DAOS_ACL_MAX_ACE_STR_LEN: usize = DAOS_ACL_MAX_PRINCIPAL_LEN + 64,
        "The most bytes that the text of an entry has.";
}

/// The owner, in text.
pub const DAOS_ACL_PRINCIPAL_OWNER: &str = "OWNER@";
/// The group that owns, in text.
pub const DAOS_ACL_PRINCIPAL_OWNER_GRP: &str = "GROUP@";
/// Everyone else, in text.
pub const DAOS_ACL_PRINCIPAL_EVERYONE: &str = "EVERYONE@";

numbers! {
    DAOS_ACL_OWNER: c_int = 0, "The owner.";
    DAOS_ACL_USER: c_int = 1, "A user, by name.";
    DAOS_ACL_OWNER_GROUP: c_int = 2, "The group that owns.";
    DAOS_ACL_GROUP: c_int = 3, "A group, by name.";
    DAOS_ACL_EVERYONE: c_int = 4, "Everyone else.";

    DAOS_ACL_ACCESS_ALLOW: u8 = 1, "The entry allows.";
    DAOS_ACL_ACCESS_AUDIT: u8 = 2, "The entry asks for a line in an audit log.";
    DAOS_ACL_ACCESS_ALARM: u8 = 4, "The entry asks for an alarm.";

    DAOS_ACL_FLAG_GROUP: u16 = 1, "The principal is a group.";
    DAOS_ACL_FLAG_POOL_INHERIT: u16 = 2, "Containers inherit the entry from the pool.";
    DAOS_ACL_FLAG_ACCESS_FAIL: u16 = 4, "Audit or alarm when access fails.";
    DAOS_ACL_FLAG_ACCESS_SUCCESS: u16 = 8, "Audit or alarm when access succeeds.";

    DAOS_ACL_PERM_READ: u64 = 1, "Read, `r`.";
    DAOS_ACL_PERM_WRITE: u64 = 2, "Write, `w`.";
    DAOS_ACL_PERM_CREATE_CONT: u64 = 4, "Create containers, `c`.";
    DAOS_ACL_PERM_DEL_CONT: u64 = 8, "Delete containers, `d`.";
    DAOS_ACL_PERM_GET_PROP: u64 = 16, "Read properties, `t`.";
    DAOS_ACL_PERM_SET_PROP: u64 = 32, "Change properties, `T`.";
    DAOS_ACL_PERM_GET_ACL: u64 = 64, "Read the access control list, `a`.";
    DAOS_ACL_PERM_SET_ACL: u64 = 128, "Change the access control list, `A`.";
    DAOS_ACL_PERM_SET_OWNER: u64 = 256, "Change the owner, `o`.";
    DAOS_ACL_PERM_POOL_ALL: u64 = 0x1f, "All permissions that a pool knows.";
    DAOS_ACL_PERM_CONT_ALL: u64 = 0x1fb, "All permissions that a container knows.";
}

/// The letters of permissions, in the order in which they are written.
pub const PERMISSION_LETTERS: [(char, u64); 9] = [
    ('r', DAOS_ACL_PERM_READ),
    ('w', DAOS_ACL_PERM_WRITE),
    ('c', DAOS_ACL_PERM_CREATE_CONT),
    ('d', DAOS_ACL_PERM_DEL_CONT),
    ('t', DAOS_ACL_PERM_GET_PROP),
    ('T', DAOS_ACL_PERM_SET_PROP),
    ('a', DAOS_ACL_PERM_GET_ACL),
    ('A', DAOS_ACL_PERM_SET_ACL),
    ('o', DAOS_ACL_PERM_SET_OWNER),
];

numbers! {
    DPI_SPACE: u64 = 1, "Ask a pool for its space.";
    DPI_REBUILD_STATUS: u64 = 2, "Ask a pool how far rebuilding is.";
    DPI_ENGINES_ENABLED: u64 = 4,
        "Ask a pool for the server processes that are in use rather than for those that are not.";
    DPI_ALL: u64 = u64::MAX, "Ask a pool for everything.";

    DRS_IN_PROGRESS: i32 = 0, "A rebuild goes on.";
    DRS_NOT_STARTED: i32 = 1, "No rebuild was needed.";
    DRS_COMPLETED: i32 = 2, "The rebuild is complete.";
}
