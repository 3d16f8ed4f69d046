//! Links of groups.

use crate::{
    By, Charset, Error, Header, Kind, Link, Object, Order, Result, Target,
    layout::{LINK, metadata, name_in, named},
    session::Session,
};

/// The longest name, in bytes.
pub(crate) const NAME_MAX: usize = 65_534;

impl Object {
    /// A link of the group.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        if name.is_empty() || name.len() > NAME_MAX {
            return Ok(None);
        }
        let record = self.file().session().get(metadata(self.number()), &named(LINK, name))?;
        record.map(|record| Link::decode(&record, self)).transpose()
    }

    /// Adds a link to the group. A hard one counts as a reference to its target, which is in the same file.
    ///
    /// # Errors
    /// `AlreadyExists`; `ReadOnly`; `InvalidInput` for an empty name, one with a slash, `.`, or for an object that is no group; `NotFound`
    /// for the target of a hard link; `Object`.
    pub fn insert_link(&self, name: &str, target: Target, charset: Charset) -> Result<()> {
        self.check_place(name)?;
        let mut session = self.file().session();
        // The header first: without its target there is no link.
        let referenced = match &target {
            Target::Hard { number, .. } => {
                let absent = || Error::not_found(format!("object {number} of {}", self.file().name()));
                Some((*number, session.header(*number)?.ok_or_else(absent)?))
            }
            _ => None,
        };
        self.put_link(&mut session, name, target, charset)?;
        if let Some((number, header)) = referenced {
            let references = header.references.saturating_add(1);
            session.put_header(number, Header { references, ..(*header).clone() });
        }
        Ok(())
    }

    /// Refuses what cannot hold a link of this name.
    fn check_place(&self, name: &str) -> Result<()> {
        self.file().check_writable()?;
        if self.kind() != Kind::Group {
            return Err(Error::invalid(format!("a link in a {:?}", self.kind()), "a group"));
        }
        if name.is_empty() || name == "." || name.contains('/') || name.len() > NAME_MAX {
            return Err(Error::invalid(format!("link name {name:?}"), "1 to 65534 bytes without a slash"));
        }
        Ok(())
    }

    fn put_link(&self, session: &mut Session, name: &str, target: Target, charset: Charset) -> Result<()> {
        let (group, key) = (metadata(self.number()), named(LINK, name));
        if session.get(group, &key)?.is_some() {
            return Err(Error::AlreadyExists { what: format!("link {name:?} of {self}") });
        }
        let tracks = session.header(self.number())?.is_some_and(|header| header.tracks_link_order);
        let order = if tracks { session.next_order(self.number(), LINK)? } else { 0 };
        session.put_new(group, key, Link { target, order, charset }.encode())
    }

    /// Removes a link. The target of a hard link loses a reference and is removed with its last one, once no handle is open.
    ///
    /// # Errors
    /// `NotFound`, `ReadOnly`, `Corrupt`, `Object`.
    pub fn remove_link(&self, name: &str) -> Result<()> {
        self.file().check_writable()?;
        let mut session = self.file().session();
        let link = self.take_link(&mut session, name)?;
        match link.target {
            Target::Hard { number, .. } => self.file().unlink(&mut session, vec![number]),
            _ => Ok(()),
        }
    }

    fn take_link(&self, session: &mut Session, name: &str) -> Result<Link> {
        let (group, key) = (metadata(self.number()), named(LINK, name));
        let record = session.get(group, &key)?;
        let record = record.ok_or_else(|| Error::not_found(format!("link {name:?} of {self}")))?;
        let link = Link::decode(&record, self)?;
        session.remove(group, &key);
        Ok(link)
    }

    /// Moves a link to a group of the same file, under a new name.
    ///
    /// # Errors
    /// As [`Object::insert_link`] and [`Object::remove_link`].
    pub fn move_link(&self, name: &str, to: &Self, new_name: &str) -> Result<()> {
        let link = self.link_for(name, to, new_name)?;
        let mut session = self.file().session();
        to.put_link(&mut session, new_name, link.target, link.charset)?;
        self.take_link(&mut session, name).map(drop)
    }

    /// Copies a link, not its target, to a group of the same file.
    ///
    /// # Errors
    /// As [`Object::insert_link`]; `NotFound`.
    pub fn copy_link(&self, name: &str, to: &Self, new_name: &str) -> Result<()> {
        let link = self.link_for(name, to, new_name)?;
        to.insert_link(new_name, link.target, link.charset)
    }

    /// The link that is put into another group of the file.
    fn link_for(&self, name: &str, to: &Self, new_name: &str) -> Result<Link> {
        to.check_place(new_name)?;
        if self.file().number() != to.file().number() {
            return Err(Error::invalid("a group of another file", "one of the same file"));
        }
        self.link(name)?.ok_or_else(|| Error::not_found(format!("link {name:?} of {self}")))
    }

    /// All links of the group.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn links(&self, by: By, order: Order) -> Result<Vec<(String, Link)>> {
        let mut links = links_of(&mut self.file().session(), self.number())?;
        if by == By::CreationOrder {
            links.sort_by_key(|(_, link)| link.order);
        }
        if order == Order::Decreasing {
            links.reverse();
        }
        Ok(links)
    }

    /// How many links the group has.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn link_count(&self) -> Result<u64> {
        let listing = self.file().session().list(metadata(self.number()))?;
        Ok(listing.iter().filter(|(key, _)| key.first() == Some(&LINK)).count() as u64)
    }
}

/// The links of a group, sorted by name.
fn links_of(session: &mut Session, number: u64) -> Result<Vec<(String, Link)>> {
    let place = format!("group {number}");
    let listing = session.list(metadata(number))?;
    let links = listing.iter().filter(|(key, _)| key.first() == Some(&LINK));
    links.map(|(key, record)| Ok((name_in(key, &place)?, Link::decode(record, &place)?))).collect()
}

/// What the hard links of a group lead to, each as often as links do.
pub(crate) fn hard_targets(session: &mut Session, number: u64) -> Result<Vec<u64>> {
    let links = links_of(session, number)?;
    let hard = links.into_iter().filter_map(|(_, link)| match link.target {
        Target::Hard { number, .. } => Some(number),
        _ => None,
    });
    Ok(hard.collect())
}
