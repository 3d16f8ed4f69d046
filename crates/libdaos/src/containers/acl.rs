//! Access control lists: the layout of their entries in memory and in text, and what a list permits to whom.
//!
//! A list is stored with its container in the bytes of DAOS's layout, so a program gets back what it gave.

pub(crate) use crate::abi::stored::list::{ENTRY_HEAD, LIST_HEAD};
use crate::{
    abi::{
        acl::*,
        errors::*,
        stored::list::{self, NEW_CONTAINER, list_bytes},
    },
    runtime::error::{Der, Result, invalid},
};

/// Kinds of principals, in the order of entries in a list.
pub(crate) const OWNER: u8 = DAOS_ACL_OWNER as u8;
pub(crate) const USER: u8 = DAOS_ACL_USER as u8;
pub(crate) const OWNER_GROUP: u8 = DAOS_ACL_OWNER_GROUP as u8;
pub(crate) const GROUP: u8 = DAOS_ACL_GROUP as u8;
pub(crate) const EVERYONE: u8 = DAOS_ACL_EVERYONE as u8;

/// All permissions there are.
pub(crate) const ALL: u64 = DAOS_ACL_PERM_POOL_ALL | DAOS_ACL_PERM_CONT_ALL;
/// The most that a read-only handle permits.
pub(crate) const TO_READ: u64 = DAOS_ACL_PERM_READ | DAOS_ACL_PERM_GET_PROP | DAOS_ACL_PERM_GET_ACL;

const ALERTS: u8 = DAOS_ACL_ACCESS_AUDIT | DAOS_ACL_ACCESS_ALARM;
const ALERT_FLAGS: u16 = DAOS_ACL_FLAG_ACCESS_FAIL | DAOS_ACL_FLAG_ACCESS_SUCCESS;

const ACCESS_LETTERS: [(char, u8); 3] =
    [('A', DAOS_ACL_ACCESS_ALLOW), ('U', DAOS_ACL_ACCESS_AUDIT), ('L', DAOS_ACL_ACCESS_ALARM)];
const FLAG_LETTERS: [(char, u16); 4] = [
    ('G', DAOS_ACL_FLAG_GROUP),
    ('S', DAOS_ACL_FLAG_ACCESS_SUCCESS),
    ('F', DAOS_ACL_FLAG_ACCESS_FAIL),
    ('P', DAOS_ACL_FLAG_POOL_INHERIT),
];
/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) access: u8,
    pub(crate) kind: u8,
    pub(crate) flags: u16,
    pub(crate) allow: u64,
    pub(crate) audit: u64,
    pub(crate) alarm: u64,
    /// The name of a user or group; empty for the others.
    pub(crate) name: String,
}

/// Whether principals of a kind have names.
pub(crate) fn has_name(kind: u8) -> bool {
    kind == USER || kind == GROUP
}

fn is_group(kind: u8) -> bool {
    kind == OWNER_GROUP || kind == GROUP
}

/// Whether a text is the name of a user or group: `name@`, or `name@domain`.
pub(crate) fn is_principal(text: &str) -> bool {
    let parts: Vec<&str> = text.split('@').collect();
    text.len() <= DAOS_ACL_MAX_PRINCIPAL_LEN && parts.len() == 2 && !parts[0].is_empty()
}

/// The bits that letters stand for, each at most once.
fn bits<T: Copy + PartialEq + Default + std::ops::BitOr<Output = T> + std::ops::BitAnd<Output = T>>(
    letters: &str,
    meaning: &[(char, T)],
) -> Result<T> {
    letters.chars().try_fold(T::default(), |all, letter| {
        match meaning.iter().find(|(known, _)| *known == letter) {
            Some((_, bit)) if all & *bit == T::default() => Ok(all | *bit),
            _ => invalid(&format!("the letter {letter:?} in an entry of an access control list")),
        }
    })
}

fn letters<T: Copy + PartialEq + Default + std::ops::BitAnd<Output = T>>(
    bits: T,
    meaning: &[(char, T)],
) -> String {
    meaning.iter().filter(|(_, bit)| bits & *bit != T::default()).map(|(letter, _)| *letter).collect()
}

impl Entry {
    /// An entry without access types and permissions.
    pub(crate) fn new(kind: u8, name: &str) -> Self {
        let flags = if is_group(kind) { DAOS_ACL_FLAG_GROUP } else { 0 };
        let name = if has_name(kind) { name.to_owned() } else { String::new() };
        Self { access: 0, kind, flags, allow: 0, audit: 0, alarm: 0, name }
    }

    /// An entry that grants permissions.
    pub(crate) fn allowing(kind: u8, permissions: u64) -> Self {
        Self { access: DAOS_ACL_ACCESS_ALLOW, allow: permissions, ..Self::new(kind, "") }
    }

    /// Reads `A:G:group@:rw` and the like.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let &[access, flags, principal, permissions] = &parts[..] else {
            return invalid(&format!("the entry {text:?}: ACCESS:FLAGS:PRINCIPAL:PERMISSIONS is expected"));
        };
        let access: u8 = bits(access, &ACCESS_LETTERS)?;
        let flags: u16 = bits(flags, &FLAG_LETTERS)?;
        let permissions = bits(permissions, &PERMISSION_LETTERS)?;
        let kind = match principal {
            DAOS_ACL_PRINCIPAL_OWNER => OWNER,
            DAOS_ACL_PRINCIPAL_OWNER_GRP => OWNER_GROUP,
            DAOS_ACL_PRINCIPAL_EVERYONE => EVERYONE,
            _ if flags & DAOS_ACL_FLAG_GROUP != 0 => GROUP,
            _ => USER,
        };
        let of = |kind: u8| if access & kind != 0 { permissions } else { 0 };
        let entry = Self {
            access,
            flags,
            allow: of(DAOS_ACL_ACCESS_ALLOW),
            audit: of(DAOS_ACL_ACCESS_AUDIT),
            alarm: of(DAOS_ACL_ACCESS_ALARM),
            ..Self::new(kind, principal)
        };
        if access == 0 || !entry.is_valid() {
            return invalid(&format!("the entry {text:?} of an access control list"));
        }
        Ok(entry)
    }

    /// The text of the entry. An entry whose access types differ in their permissions has none.
    pub(crate) fn text(&self) -> Result<String> {
        let all = [
            (DAOS_ACL_ACCESS_ALLOW, self.allow),
            (DAOS_ACL_ACCESS_AUDIT, self.audit),
            (DAOS_ACL_ACCESS_ALARM, self.alarm),
        ];
        let mut said =
            all.iter().filter(|(kind, _)| self.access & kind != 0).map(|(_, permissions)| *permissions);
        let permissions = said.next().unwrap_or(0);
        if !self.is_valid() || said.any(|other| other != permissions) {
            return invalid("an entry of an access control list that no text says");
        }
        Ok(format!(
            "{}:{}:{}:{}",
            letters(self.access, &ACCESS_LETTERS),
            letters(self.flags, &FLAG_LETTERS),
            self.principal(),
            letters(permissions, &PERMISSION_LETTERS)
        ))
    }

    fn principal(&self) -> &str {
        match self.kind {
            OWNER => DAOS_ACL_PRINCIPAL_OWNER,
            OWNER_GROUP => DAOS_ACL_PRINCIPAL_OWNER_GRP,
            EVERYONE => DAOS_ACL_PRINCIPAL_EVERYONE,
            _ => &self.name,
        }
    }

    /// Whether the fields of the entry are consistent.
    pub(crate) fn is_valid(&self) -> bool {
        let of = |kind: u8, permissions: u64| self.access & kind != 0 || permissions == 0;
        self.kind <= EVERYONE
            && self.access & !(DAOS_ACL_ACCESS_ALLOW | ALERTS) == 0
            && self.flags & !(DAOS_ACL_FLAG_GROUP | DAOS_ACL_FLAG_POOL_INHERIT | ALERT_FLAGS) == 0
            && (self.allow | self.audit | self.alarm) & !ALL == 0
            && has_name(self.kind) != self.name.is_empty()
            && (self.name.is_empty() || is_principal(&self.name))
            && is_group(self.kind) == (self.flags & DAOS_ACL_FLAG_GROUP != 0)
            && of(DAOS_ACL_ACCESS_ALLOW, self.allow)
            && of(DAOS_ACL_ACCESS_AUDIT, self.audit)
            && of(DAOS_ACL_ACCESS_ALARM, self.alarm)
            && (self.access & ALERTS != 0) == (self.flags & ALERT_FLAGS != 0)
    }

    /// Reads the first entry of `bytes`. Also returns its length.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Self, usize)> {
        let wrong = || invalid("bytes that are no entry of an access control list");
        let Some(head) = bytes.first_chunk::<ENTRY_HEAD>() else { return wrong() };
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let short = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let end = ENTRY_HEAD + usize::from(short(2));
        let Some(padded) = bytes.get(ENTRY_HEAD..end) else { return wrong() };
        let name = padded.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_ended = padded.is_empty() || name.len() < padded.len();
        let Ok(name) = std::str::from_utf8(name) else { return wrong() };
        if !end.is_multiple_of(8) || !is_ended || (name.is_empty() && !padded.is_empty()) {
            return wrong();
        }
        let entry = Self {
            access: head[0],
            kind: head[1],
            flags: short(4),
            allow: number(8),
            audit: number(16),
            alarm: number(24),
            name: name.to_owned(),
        };
        Ok((entry, end))
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.plain().bytes()
    }

    fn plain(&self) -> list::Entry<'_> {
        let Self { access, kind, flags, allow, audit, alarm, ref name } = *self;
        list::Entry { access, kind, flags, allow, audit, alarm, name }
    }

    /// Whether it is of a principal.
    pub(crate) fn is_of(&self, kind: u8, name: &str) -> bool {
        self.kind == kind && self.name == name
    }
}

/// A list: its entries, by the kinds of their principals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List(Vec<Entry>);

impl List {
    /// These entries, in their order.
    pub(crate) fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| entry.kind);
        Self(entries)
    }

    /// The default list of a container.
    pub(crate) fn of_container() -> Self {
        Self::new(NEW_CONTAINER.iter().map(|entry| Entry::allowing(entry.kind, entry.allow)).collect())
    }

    /// The list that corresponds to the mode of a pool's folder.
    pub(crate) fn of_mode(mode: u32) -> Self {
        let allowed = |shift: u32| {
            let bit = |bit: u32, permission: u64| if mode >> shift & bit != 0 { permission } else { 0 };
            bit(4, DAOS_ACL_PERM_READ) | bit(2, DAOS_ACL_PERM_WRITE)
        };
        let all = [(OWNER, 6), (OWNER_GROUP, 3), (EVERYONE, 0)];
        let all = all.map(|(kind, shift)| Entry::allowing(kind, allowed(shift)));
        Self::new(all.into_iter().filter(|entry| entry.kind == OWNER || entry.allow != 0).collect())
    }

    /// Reads a list from its bytes. [`Self::check`] validates its entries.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let wrong = || invalid("bytes that are no access control list");
        let Some((head, mut rest)) = bytes.split_first_chunk::<LIST_HEAD>() else { return wrong() };
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if u16::from_le_bytes([head[0], head[1]]) != DAOS_ACL_VERSION || length != rest.len() {
            return wrong();
        }
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let (entry, length) = Entry::read(rest)?;
            entries.push(entry);
            rest = &rest[length..];
        }
        Ok(Self(entries))
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        list_bytes(self.0.iter().map(Entry::plain))
    }

    /// Refuses an invalid list, and one with other permissions than these.
    pub(crate) fn check(&self, permissions: u64) -> Result<()> {
        let entries = &self.0;
        let has_double = |(at, entry): (usize, &Entry)| {
            entries[..at].iter().any(|before| before.is_of(entry.kind, &entry.name))
        };
        let fits = |entry: &Entry| (entry.allow | entry.audit | entry.alarm) & !permissions == 0;
        let is_good = entries.iter().all(|entry| entry.is_valid() && fits(entry))
            && entries.is_sorted_by_key(|entry| entry.kind)
            && !entries.iter().enumerate().any(has_double)
            && self.bytes().len() <= LIST_HEAD + DAOS_ACL_MAX_ACE_LEN;
        if is_good { Ok(()) } else { invalid("an access control list that is wrong, or not for this") }
    }

    /// The entries.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Inserts an entry in order, or replaces that of the same principal.
    pub(crate) fn put(&mut self, entry: Entry) {
        match self.0.iter_mut().find(|old| old.is_of(entry.kind, &entry.name)) {
            Some(old) => *old = entry,
            None => {
                let at = self.0.partition_point(|old| old.kind <= entry.kind);
                self.0.insert(at, entry);
            }
        }
    }

    /// Removes the entry of a principal.
    pub(crate) fn remove(&mut self, kind: u8, name: &str) -> Result<()> {
        let at = self.0.iter().position(|entry| entry.is_of(kind, name)).ok_or(Der(DER_NONEXIST))?;
        self.0.remove(at);
        Ok(())
    }

    /// The permissions of a user: as owner, by name, as a member of groups, or as everyone. The first of these that has an entry
    /// decides. The owner may always see and change the list.
    pub(crate) fn permissions(&self, owners: &Owners, user: &str, is_member: impl Fn(&str) -> bool) -> u64 {
        let of = |kind: u8, name: &str| {
            let entry = self.0.iter().find(|entry| entry.is_of(kind, name));
            entry.map(|entry| entry.allow)
        };
        let of_groups = || {
            let group_of = |entry: &Entry| match entry.kind {
                OWNER_GROUP => is_member(&owners.group),
                GROUP => is_member(&entry.name),
                _ => false,
            };
            self.0
                .iter()
                .filter(|entry| group_of(entry))
                .map(|entry| entry.allow)
                .reduce(|all, one| all | one)
        };
        let is_owner = user == owners.user;
        let always = if is_owner { DAOS_ACL_PERM_GET_ACL | DAOS_ACL_PERM_SET_ACL } else { 0 };
        let found = if is_owner { of(OWNER, "") } else { None };
        let found = found.or_else(|| of(USER, user)).or_else(of_groups).or_else(|| of(EVERYONE, ""));
        found.unwrap_or(0) | always
    }
}

/// The owner and group of a container, as principals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owners {
    pub(crate) user: String,
    pub(crate) group: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &str) -> List {
        List::new(texts.split(' ').map(|text| Entry::parse(text).unwrap()).collect())
    }

    #[test]
    fn the_first_principal_that_fits_decides_and_groups_add_up() {
        let owners = Owners { user: "ann@".to_owned(), group: "hpc@".to_owned() };
        let list = list("A::OWNER@:t A::bob@: A:G:GROUP@:r A:G:ops@:w A:G:other@:d A::EVERYONE@:rwt");
        for (user, groups, expected) in [
            ("ann@", &["hpc@"][..], "taA"),
            ("bob@", &["hpc@"], ""),
            ("cy@", &["hpc@", "ops@"], "rw"),
            ("cy@", &["ops@"], "w"),
            ("cy@", &["none@"], "rwt"),
        ] {
            let found = list.permissions(&owners, user, |group| groups.contains(&group));
            assert_eq!(letters(found, &PERMISSION_LETTERS), expected, "{user} of {groups:?}");
        }
        let without = List::new(Vec::new());
        assert_eq!(letters(without.permissions(&owners, "ann@", |_| true), &PERMISSION_LETTERS), "aA");
        assert_eq!(without.permissions(&owners, "bob@", |_| true), 0);
    }

    #[test]
    fn entries_come_back_from_their_texts_and_their_bytes() {
        let texts = "A::OWNER@:rwdtTaAo A::ann@site:r A:G:GROUP@:rw A:GP:hpc@:rwc A::EVERYONE@: U:S:ann@:w AUL:GSF:hpc@:rw";
        for text in texts.split(' ') {
            let entry = Entry::parse(text).unwrap();
            assert_eq!(entry.text().unwrap(), text);
            let bytes = entry.bytes();
            assert_eq!((bytes.len() % 8, Entry::read(&bytes).unwrap()), (0, (entry, bytes.len())), "{text}");
        }
        let list = list("A::EVERYONE@:r A:G:hpc@:r A::ann@:rw A::OWNER@:rw");
        assert_eq!(List::read(&list.bytes()).unwrap(), list);
        assert!(list.check(ALL).is_ok() && list.check(DAOS_ACL_PERM_READ).is_err());
    }

    #[test]
    fn entries_that_mean_nothing_are_refused() {
        let of_form =
            "A::ann@ A::ann@:r:r ::ann@:r D::ann@:r A::ann:r A::@:r A::ann@b@c:r A::ann@:rr A::ann@:x";
        let of_sense = "A:G:OWNER@:r A::GROUP@:r A:G:EVERYONE@:r A:S:ann@:r U::ann@:r";
        for text in of_form.split(' ').chain(of_sense.split(' ')).chain([""]) {
            assert!(Entry::parse(text).is_err(), "{text}");
        }
        let twice = List(vec![Entry::allowing(OWNER, 1), Entry::allowing(OWNER, 2)]);
        let unsorted = List(vec![Entry::allowing(EVERYONE, 1), Entry::allowing(OWNER, 1)]);
        assert!(twice.check(ALL).is_err() && unsorted.check(ALL).is_err());
        let bytes = Entry::parse("A::ann@:r").unwrap().bytes();
        for length in [0, 31, 32, 39] {
            assert!(Entry::read(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn the_mode_of_a_folder_says_who_may_what() {
        let texts = |mode| List::of_mode(mode).entries().iter().map(|entry| entry.text().unwrap()).collect();
        let texts: [Vec<String>; 2] = [texts(0o750), texts(0o1777)];
        assert_eq!(texts[0], ["A::OWNER@:rw", "A:G:GROUP@:r"]);
        assert_eq!(texts[1], ["A::OWNER@:rw", "A:G:GROUP@:rw", "A::EVERYONE@:rw"]);
    }
}
