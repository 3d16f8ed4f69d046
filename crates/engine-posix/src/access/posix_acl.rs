//! Access control lists in the form of the kernel: the extended attributes `system.posix_acl_access` and `system.posix_acl_default`
//! (`linux/posix_acl_xattr.h`).
//!
//! A list is complete and ordered: owner, users by number, group, groups by number, mask, others. The mask that is written permits
//! everything that any entry permits, so each entry is effective as it stands. A narrower mask is applied when a list is read.

use isotach_engine_kit::bytes::{Put, Reader};
use std::collections::BTreeMap;

const VERSION: u32 = 2;
/// The number in entries that name no user or group.
const NO_ID: u32 = u32::MAX;

/// The subject of an entry.
type Tag = u16;

/// The tags, as the kernel numbers them.
mod tag {
    use super::Tag;

    pub(crate) const OWNER: Tag = 1;
    pub(crate) const USER: Tag = 2;
    pub(crate) const GROUP: Tag = 4;
    pub(crate) const NAMED_GROUP: Tag = 8;
    pub(crate) const MASK: Tag = 16;
    pub(crate) const OTHERS: Tag = 32;
}

/// Permissions, as a digit of a mode.
pub(crate) type Bits = u16;

/// A list, each permission as a digit of a mode: 4 to read, 2 to write, 1 to execute or pass through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PosixAcl {
    pub(crate) owner: Bits,
    pub(crate) users: BTreeMap<u32, Bits>,
    pub(crate) group: Bits,
    pub(crate) groups: BTreeMap<u32, Bits>,
    pub(crate) others: Bits,
}

impl PosixAcl {
    /// The list that is equivalent to a mode.
    pub(crate) fn of_mode(mode: u32) -> Self {
        let digit = |shift: u32| (mode >> shift & 7) as Bits;
        Self { owner: digit(6), group: digit(3), others: digit(0), ..Self::default() }
    }

    /// The mode of the entries without a number.
    pub(crate) fn mode(&self) -> u32 {
        u32::from(self.owner) << 6 | u32::from(self.group) << 3 | u32::from(self.others)
    }

    /// Whether it has entries for users or groups by number, which no mode can express.
    pub(crate) fn has_names(&self) -> bool {
        !self.users.is_empty() || !self.groups.is_empty()
    }

    /// All permissions but the owner's.
    pub(crate) fn of_others(&mut self) -> impl Iterator<Item = &mut Bits> {
        let named = self.users.values_mut().chain(self.groups.values_mut());
        named.chain([&mut self.group, &mut self.others])
    }

    /// The value of the attribute.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.put_u32(VERSION);
        let mut entry = |tag: Tag, permissions: Bits, id: u32| {
            bytes.put_u16(tag);
            bytes.put_u16(permissions);
            bytes.put_u32(id);
        };
        entry(tag::OWNER, self.owner, NO_ID);
        self.users.iter().for_each(|(id, permissions)| entry(tag::USER, *permissions, *id));
        entry(tag::GROUP, self.group, NO_ID);
        self.groups.iter().for_each(|(id, permissions)| entry(tag::NAMED_GROUP, *permissions, *id));
        if self.has_names() {
            let named = self.users.values().chain(self.groups.values());
            entry(tag::MASK, named.fold(self.group, |all, permissions| all | permissions), NO_ID);
        }
        entry(tag::OTHERS, self.others, NO_ID);
        bytes
    }

    /// Reads the value of the attribute, with the mask applied to each entry.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        if reader.u32()? != VERSION {
            return None;
        }
        let (mut list, mut mask) = (Self::default(), 7);
        while !reader.is_empty() {
            let (tag, permissions, id) = (reader.u16()?, reader.u16()?, reader.u32()?);
            match tag {
                tag::OWNER => list.owner = permissions,
                tag::GROUP => list.group = permissions,
                tag::OTHERS => list.others = permissions,
                tag::MASK => mask = permissions,
                tag::USER => drop(list.users.insert(id, permissions)),
                tag::NAMED_GROUP => drop(list.groups.insert(id, permissions)),
                _ => return None,
            }
        }
        list.group &= mask;
        list.users.values_mut().chain(list.groups.values_mut()).for_each(|permissions| *permissions &= mask);
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_and_a_mask_limits_all_but_owner_and_others() {
        let users = BTreeMap::from([(7, 5), (1001, 7)]);
        let list = PosixAcl { users, groups: BTreeMap::from([(3, 0)]), ..PosixAcl::of_mode(0o751) };
        let mut bytes = list.encode();
        assert_eq!(bytes.len(), 4 + 7 * 8);
        assert_eq!(PosixAcl::decode(&bytes).unwrap(), list);
        let mask = bytes.len() - 2 * 8 + 2;
        assert_eq!(bytes[mask], 7);
        bytes[mask] = 4;
        let narrowed = PosixAcl::decode(&bytes).unwrap();
        assert_eq!((narrowed.mode(), narrowed.users[&1001], narrowed.groups[&3]), (0o741, 4, 0));
        assert_eq!(PosixAcl::of_mode(0o640).encode().len(), 4 + 3 * 8, "no mask without names");
        for length in 0..bytes.len() {
            let _ = PosixAcl::decode(&bytes[..length]);
        }
        assert_eq!(PosixAcl::decode(&[1, 0, 0, 0]), None);
    }
}
