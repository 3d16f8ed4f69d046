//! Access control lists as they lie in memory, and so in a container.

use crate::acl::*;

/// What the list of a new container allows: to its owner everything, to the owner's group reading and writing.
pub const NEW_CONTAINER: [Entry<'static>; 2] = [
    Entry::allowing(DAOS_ACL_OWNER as u8, "", DAOS_ACL_PERM_CONT_ALL),
    Entry::allowing(
        DAOS_ACL_OWNER_GROUP as u8,
        "",
        DAOS_ACL_PERM_READ | DAOS_ACL_PERM_WRITE | DAOS_ACL_PERM_GET_PROP | DAOS_ACL_PERM_SET_PROP,
    ),
];

/// Bytes of a list before its entries.
pub const LIST_HEAD: usize = 8;
/// Bytes of an entry before its name.
pub const ENTRY_HEAD: usize = 32;

/// An entry of a list, as it is to lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'n> {
    /// Bits of `DAOS_ACL_ACCESS_*`.
    pub access: u8,
    /// The kind of its principal.
    pub kind: u8,
    /// Bits of `DAOS_ACL_FLAG_*`.
    pub flags: u16,
    /// What is allowed.
    pub allow: u64,
    /// What is audited.
    pub audit: u64,
    /// What raises an alarm.
    pub alarm: u64,
    /// The name of a user or group, `name@`; empty for the others.
    pub name: &'n str,
}

impl<'n> Entry<'n> {
    /// One that allows something.
    pub const fn allowing(kind: u8, name: &'n str, allow: u64) -> Self {
        let is_group = kind == DAOS_ACL_OWNER_GROUP as u8 || kind == DAOS_ACL_GROUP as u8;
        let flags = if is_group { DAOS_ACL_FLAG_GROUP } else { 0 };
        Self { access: DAOS_ACL_ACCESS_ALLOW, kind, flags, allow, audit: 0, alarm: 0, name }
    }

    /// Its bytes: the name ends with a zero, and is filled up to a multiple of eight.
    pub fn bytes(&self) -> Vec<u8> {
        let length = if self.name.is_empty() { 0 } else { (self.name.len() + 1).next_multiple_of(8) };
        let mut bytes = vec![self.access, self.kind];
        bytes.extend((length as u16).to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend([0; 2]);
        [self.allow, self.audit, self.alarm].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(self.name.as_bytes());
        bytes.resize(ENTRY_HEAD + length, 0);
        bytes
    }
}

/// The bytes of a list of entries, which are in the order of their kinds.
pub fn list_bytes<'n>(entries: impl Iterator<Item = Entry<'n>>) -> Vec<u8> {
    let entries: Vec<u8> = entries.flat_map(|entry| entry.bytes()).collect();
    let mut bytes = u32::from(DAOS_ACL_VERSION).to_le_bytes().to_vec();
    bytes.extend((entries.len() as u32).to_le_bytes());
    bytes.extend(entries);
    bytes
}
