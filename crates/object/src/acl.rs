//! Access control lists, as data and in DAOS's text form.
//!
//! A list says what each principal may do, and never more than one thing of the same principal. Who asks is matched as in
//! DAOS: the owner, else a user by name, else all groups together, else everyone; what does not stand there is refused.

use std::{collections::BTreeMap, fmt, str::FromStr};

use crate::Error;

/// The longest name of a user or group, in bytes (DAOS: 255).
const MAX_NAME: usize = 255;
/// DAOS' letters, in its order: read, write, delete, get properties, set properties, get list, set list, set owner.
const LETTERS: &str = "rwdtTaAo";

/// What somebody may do with a container: a set of DAOS's permissions, each with its letter.
///
/// An engine may permit several of them only together, as a file system does: it refuses a list that takes them apart.
///
/// ```
/// use isotach_object::Permissions;
/// let permissions: Permissions = "rw".parse()?;
/// assert!(Permissions::READ_WRITE.contains(permissions) && !permissions.contains(Permissions::READ));
/// assert_eq!(permissions.and(Permissions::READ).to_string(), "rwta");
/// assert_eq!(Permissions::ALL.to_string(), "rwdtTaAo");
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Permissions(u8);

impl Permissions {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// `r`, `t` and `a`: open it, read everything in it, and see its properties and its list.
    pub const READ: Self = Self(0b0010_1001);
    /// Change what is in it, too (`w`).
    pub const READ_WRITE: Self = Self(0b0010_1011);
    /// `d`: remove it as a whole.
    pub const DELETE: Self = Self(0b0000_0100);
    /// `T`, `A` and `o`: change its properties, its list and its owner.
    pub const ADMINISTER: Self = Self(0b1101_0000);
    /// Everything.
    pub const ALL: Self = Self(0b1111_1111);

    /// Whether all of these are permitted.
    #[must_use]
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// These but for others.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Whether reading (`r`) is permitted.
    #[must_use]
    pub const fn can_read(self) -> bool {
        self.contains(Self(0b01))
    }

    /// Whether writing (`w`) is permitted.
    #[must_use]
    pub const fn can_write(self) -> bool {
        self.contains(Self(0b10))
    }

    /// These, and where one may read, to see the properties and the list as well.
    #[must_use]
    pub const fn with_sight(self) -> Self {
        if self.can_read() { self.and(Self::READ) } else { self }
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut permitted = LETTERS.chars().enumerate().filter(|(at, _)| self.0 >> at & 1 != 0);
        permitted.try_for_each(|(_, letter)| write!(f, "{letter}"))
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permissions({self})")
    }
}

impl FromStr for Permissions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.chars().try_fold(Self::NONE, |permissions, letter| match LETTERS.find(letter) {
            Some(at) => Ok(permissions.and(Self(1 << at))),
            None => {
                let expected = format!("letters of {LETTERS}, and not {letter:?}");
                Err(Error::invalid(format!("permissions {text:?}"), expected))
            }
        })
    }
}

/// The principal of an entry, in the order in which DAOS searches a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Principal {
    /// The container's owner.
    Owner,
    /// A user by name.
    User(String),
    /// The members of the container's group.
    Group,
    /// The members of a group by name.
    NamedGroup(String),
    /// Everyone else.
    Everyone,
}

impl Principal {
    fn is_group(&self) -> bool {
        matches!(self, Self::Group | Self::NamedGroup(_))
    }

    /// Reads a name with an at-sign behind it, as of a group or not.
    fn parse(name: &str, is_group: bool) -> Result<Self, Error> {
        let wrong = |expected: &str| Error::invalid(format!("principal {name:?}"), expected);
        match (name, is_group) {
            ("OWNER@", false) => return Ok(Self::Owner),
            ("GROUP@", true) => return Ok(Self::Group),
            ("EVERYONE@", false) => return Ok(Self::Everyone),
            ("GROUP@", false) => return Err(wrong("the flag G before it, as in A:G:GROUP@:r")),
            ("OWNER@" | "EVERYONE@", true) => return Err(wrong("no flag G before it, for it is no group")),
            _ => {}
        }
        let plain = name.strip_suffix('@').filter(|plain| is_name(plain));
        let plain = plain.ok_or_else(|| wrong("OWNER@, GROUP@, EVERYONE@, or a name with @ behind it"))?;
        Ok(if is_group { Self::NamedGroup(plain.to_owned()) } else { Self::User(plain.to_owned()) })
    }
}

/// Whether a user or group may be called so.
fn is_name(text: &str) -> bool {
    let strange = |c: char| c.is_whitespace() || c.is_control() || ":@,#".contains(c);
    (1..=MAX_NAME).contains(&text.len()) && !text.chars().any(strange)
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("OWNER@"),
            Self::Group => f.write_str("GROUP@"),
            Self::Everyone => f.write_str("EVERYONE@"),
            Self::User(name) | Self::NamedGroup(name) => write!(f, "{name}@"),
        }
    }
}

/// An access control list. A principal without an entry has no permission. An owner without an entry has every permission.
///
/// Its text is that of DAOS: entries `A:FLAGS:PRINCIPAL:PERMISSIONS`, with the flag `G` for groups, one a line or divided
/// by commas; what follows a `#` is not read.
///
/// ```
/// use isotach_object::{Acl, Permissions, Principal};
/// let acl: Acl = "A::alice@:rw, A:G:GROUP@:r".parse()?;
/// assert_eq!(acl.of(&Principal::User("alice".to_owned())), "wr".parse()?);
/// assert_eq!(acl.of(&Principal::Everyone), Permissions::NONE);
/// assert_eq!(acl.to_string(), "A::OWNER@:rwdtTaAo,A::alice@:rw,A:G:GROUP@:r");
/// assert_eq!(Acl::of_mode(0o750)?, "A:G:GROUP@:rta".parse()?);
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acl(BTreeMap<Principal, Permissions>);

impl Acl {
    /// The list that grants everything to the owner and nothing to anyone else.
    pub fn new() -> Self {
        Self(BTreeMap::from([(Principal::Owner, Permissions::ALL)]))
    }

    /// This list with what `principal` may do put in the place of what stood there.
    #[must_use]
    pub fn with(mut self, principal: Principal, permissions: Permissions) -> Self {
        self.0.insert(principal, permissions);
        self
    }

    /// This list without what it says of `principal`.
    #[must_use]
    pub fn without(mut self, principal: &Principal) -> Self {
        self.0.remove(principal);
        self.0.entry(Principal::Owner).or_insert(Permissions::ALL);
        self
    }

    /// The list that a file's mode amounts to: of each of its three digits 4 or 5 is to read, and 6 or 7 to read and
    /// write. The owner may always delete and administer.
    ///
    /// # Errors
    /// `InvalidInput` for digits that say something else.
    pub fn of_mode(mode: u32) -> Result<Self, Error> {
        let digit = |shift: u32| match mode >> shift & 7 {
            0 => Ok(Permissions::NONE),
            4 | 5 => Ok(Permissions::READ),
            6 | 7 => Ok(Permissions::READ_WRITE),
            _ => Err(Error::invalid(format!("mode {mode:03o}"), "digits of 0, 4, 5, 6 and 7")),
        };
        if mode > 0o777 {
            return Err(Error::invalid(format!("mode {mode:03o}"), "three octal digits"));
        }
        let owner = digit(6)?.and(Permissions::DELETE).and(Permissions::ADMINISTER);
        let acl = Self::new().with(Principal::Owner, owner);
        let rest = [(Principal::Group, digit(3)?), (Principal::Everyone, digit(0)?)];
        let rest = rest.into_iter().filter(|(_, permissions)| *permissions != Permissions::NONE);
        Ok(rest.fold(acl, |acl, (principal, permissions)| acl.with(principal, permissions)))
    }

    /// What the list says of `principal`; nothing permits nothing.
    pub fn of(&self, principal: &Principal) -> Permissions {
        self.0.get(principal).copied().unwrap_or_default()
    }

    /// All entries, in the order in which DAOS reads them.
    pub fn entries(&self) -> impl Iterator<Item = (&Principal, Permissions)> {
        self.0.iter().map(|(principal, permissions)| (principal, *permissions))
    }

    /// Each entry as DAOS writes it.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.entries().map(|(principal, permissions)| {
            format!("A:{}:{principal}:{permissions}", if principal.is_group() { "G" } else { "" })
        })
    }
}

impl Default for Acl {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Acl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let entries = lines.flat_map(|line| line.split(',')).map(str::trim).filter(|entry| !entry.is_empty());
        let mut acl = BTreeMap::new();
        for entry in entries {
            let (principal, permissions) = parse_entry(entry)?;
            if acl.insert(principal, permissions).is_some() {
                let what = format!("a second entry of the list for the same principal, {entry:?}");
                return Err(Error::invalid(what, "one for each"));
            }
        }
        acl.entry(Principal::Owner).or_insert(Permissions::ALL);
        Ok(Self(acl))
    }
}

/// Reads one entry of a list, as `A:G:writers@:rw`.
fn parse_entry(entry: &str) -> Result<(Principal, Permissions), Error> {
    let parts: Vec<&str> = entry.split(':').collect();
    let &[kind, flags, principal, permissions] = &parts[..] else {
        let expected = "A:FLAGS:PRINCIPAL:PERMISSIONS, as A::alice@:rw or A:G:writers@:r";
        return Err(Error::invalid(format!("entry {entry:?} of an access control list"), expected));
    };
    let wrong =
        |what: &str, expected: &str| Err(Error::invalid(format!("{what} of entry {entry:?}"), expected));
    if kind != "A" {
        return wrong("the kind", "A, to allow: there is no other");
    }
    if !["", "G"].contains(&flags) {
        return wrong("the flags", "G before a group, else none");
    }
    Ok((Principal::parse(principal, flags == "G")?, permissions.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_list_is_read_as_it_is_written() {
        let acl: Acl =
            "# who\nA:G:writers@:rwta\n\nA::EVERYONE@:  # nobody else\nA::alice@:rd".parse().unwrap();
        let text = "A::OWNER@:rwdtTaAo,A::alice@:rd,A:G:writers@:rwta,A::EVERYONE@:";
        assert_eq!(acl.to_string(), text);
        assert_eq!(text.parse::<Acl>().unwrap(), acl);
        assert_eq!("".parse::<Acl>().unwrap(), Acl::new());
        assert_eq!(Acl::of_mode(0o640).unwrap().to_string(), "A::OWNER@:rwdtTaAo,A:G:GROUP@:rta");
    }

    #[test]
    fn an_unknown_entry_is_refused_with_the_expected_form() {
        for (text, hint) in [
            ("A::alice@", "A:FLAGS:PRINCIPAL:PERMISSIONS"),
            ("D::alice@:r", "A, to allow"),
            ("A:X:alice@:r", "G before a group"),
            ("A::GROUP@:r", "A:G:GROUP@:r"),
            ("A:G:OWNER@:r", "no group"),
            ("A::alice:r", "a name with @ behind it"),
            ("A::@:r", "a name with @ behind it"),
            ("A::al\u{7}ice@:r", "a name with @ behind it"),
            ("A::alice@:rx", "not 'x'"),
            ("A::alice@:rc", "not 'c'"),
            ("A::alice@:r,A::alice@:rw", "one for each"),
        ] {
            let error = text.parse::<Acl>().unwrap_err();
            assert!(error.code() == "invalid-input" && error.to_string().contains(hint), "{text}: {error}");
        }
        for mode in [0o1755, 0o710, 0o720] {
            assert_eq!(Acl::of_mode(mode).unwrap_err().code(), "invalid-input", "{mode:o}");
        }
    }
}
