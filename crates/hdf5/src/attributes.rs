//! Attributes of objects.

use std::mem;

use crate::{
    Attribute, By, Error, Object, Order, Result,
    layout::{ATTRIBUTE, metadata, name_in, named},
    links::NAME_MAX,
    records::{AttributeRecord, Place, order_of},
    session::Session,
    store::{INLINE, value_bytes},
    stored::value_array,
};

impl Object {
    /// An attribute with its value.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        self.file().read_again(|| self.stored_attribute(name))
    }

    fn stored_attribute(&self, name: &str) -> Result<Option<Attribute>> {
        if name.is_empty() || name.len() > NAME_MAX {
            return Ok(None);
        }
        let (object, key) = (metadata(self.number()), named(ATTRIBUTE, name));
        let _shared = self.file().shared();
        let (record, base) = {
            let mut session = self.file().session();
            let Some(record) = session.get(object, &key)? else { return Ok(None) };
            let record = AttributeRecord::decode(name, &record, self)?;
            let is_in_base =
                matches!(record.value, Place::Array(_)) && !session.changes.contains(object, &key);
            (record, if is_in_base { Some(session.base()?) } else { None })
        };
        let value = match record.value {
            Place::Inline(value) => value,
            Place::Array(number) => {
                let container = base.unwrap_or_else(|| self.file().store.container.clone());
                let value = value_bytes(&*container, number, record.length)?;
                value.ok_or_else(|| {
                    Error::corrupt(format!("attribute {name:?} with a short value"), self.to_string())
                })?
            }
        };
        Ok(Some(Attribute { value, ..record.attribute }))
    }

    /// Sets an attribute, replacing one of its name.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for an empty name; `Object`.
    pub fn put_attribute(&self, attribute: Attribute) -> Result<()> {
        self.set_attribute(attribute, true).map(drop)
    }

    /// Sets an attribute whose name is new. Returns it without its value, as it is stored.
    ///
    /// # Errors
    /// `AlreadyExists`, and as [`Object::put_attribute`].
    pub fn create_attribute(&self, attribute: Attribute) -> Result<Attribute> {
        self.set_attribute(attribute, false)
    }

    fn set_attribute(&self, mut attribute: Attribute, may_replace: bool) -> Result<Attribute> {
        self.check_attribute(&attribute.name)?;
        let (object, key) = (metadata(self.number()), named(ATTRIBUTE, &attribute.name));
        let (value, length) = self.stored_value(mem::take(&mut attribute.value))?;
        let mut session = self.file().session();
        let old = session.get(object, &key)?;
        if old.is_some() && !may_replace {
            return Err(self.taken(&mut session, &attribute.name, &value));
        }
        attribute.order = match old.as_ref().and_then(|old| order_of(&key, old)) {
            Some(order) => order,
            None => session.next_order(self.number(), ATTRIBUTE)?,
        };
        self.forget_value(&mut session, &key, old.as_deref());
        let record = AttributeRecord { attribute, value, length };
        self.put_record(&mut session, key, &record);
        Ok(record.attribute)
    }

    /// Replaces the value of an uncommitted attribute in place. Returns false, and changes nothing, if the attribute is committed, if it differs
    /// from `attribute` in more than the value, or if the length of the value differs. Programs create an attribute and write it: this takes less
    /// than [`Object::put_attribute`].
    ///
    /// # Errors
    /// `ReadOnly`.
    pub fn rewrite_attribute(&self, attribute: &Attribute, value: &[u8]) -> Result<bool> {
        self.file().check_writable()?;
        if value.len() > INLINE {
            return Ok(false);
        }
        let (object, key) = (metadata(self.number()), named(ATTRIBUTE, &attribute.name));
        let mut session = self.file().session();
        let old = session.changes.get_mut(object, &key).and_then(|change| change.value.as_mut());
        let Some(old) = old else { return Ok(false) };
        let new = attribute.encode_inline(value);
        let head = new.len() - value.len();
        let is_same = old.len() == new.len() && old[..head] == new[..head];
        if is_same {
            *old = new;
        }
        Ok(is_same)
    }

    /// The error for a name that has an attribute. The value that was stored for another is not needed.
    fn taken(&self, session: &mut Session, name: &str, value: &Place) -> Error {
        session.unused.extend(value.array());
        Error::AlreadyExists { what: format!("attribute {name:?} of {self}") }
    }

    /// Stores a value: in its record, or in an array of its own.
    fn stored_value(&self, bytes: Vec<u8>) -> Result<(Place, u64)> {
        let length = bytes.len() as u64;
        // Only the first rank's counts.
        let is_inline = bytes.len() <= INLINE || self.file().team().is_some_and(|team| !team.is_first());
        if is_inline {
            return Ok((Place::Inline(bytes), length));
        }
        Ok((Place::Array(self.file().store.write_array(&bytes)?), length))
    }

    fn put_record(&self, session: &mut Session, key: Vec<u8>, record: &AttributeRecord) {
        if matches!(record.value, Place::Array(_)) {
            session.count_stored(record.length.into());
        }
        session.put(metadata(self.number()), key, record.encode());
    }

    fn check_attribute(&self, name: &str) -> Result<()> {
        self.file().check_writable()?;
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(Error::invalid(format!("attribute name {name:?}"), "1 to 65534 bytes"));
        }
        Ok(())
    }

    /// The array of a value that is replaced or removed is not needed any more.
    fn forget_value(&self, session: &mut Session, key: &[u8], old: Option<&[u8]>) {
        let Some((array, length)) = old.and_then(|old| value_array(key, old)) else { return };
        session.count_stored(-i128::from(length));
        let is_here = session.changes.contains(metadata(self.number()), key);
        if is_here { session.unused.push(array) } else { session.destroyed.push(array) }
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// `NotFound`, `ReadOnly`, `Object`.
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.file().check_writable()?;
        let (object, key) = (metadata(self.number()), named(ATTRIBUTE, name));
        let mut session = self.file().session();
        let old = session.get(object, &key)?.ok_or_else(|| self.no_attribute(name))?;
        self.forget_value(&mut session, &key, Some(&old));
        session.remove(object, &key);
        Ok(())
    }

    fn no_attribute(&self, name: &str) -> Error {
        Error::not_found(format!("attribute {name:?} of {self}"))
    }

    /// Gives an attribute another name, and keeps its place in the order of creation. No commit shows both names, or none.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists`, `ReadOnly`, `Object`.
    pub fn rename_attribute(&self, name: &str, new_name: &str) -> Result<()> {
        self.check_attribute(new_name)?;
        let object = metadata(self.number());
        let (old_key, new_key) = (named(ATTRIBUTE, name), named(ATTRIBUTE, new_name));
        loop {
            let before = self.file().session().get(object, &old_key)?;
            let mut attribute = self.attribute(name)?.ok_or_else(|| self.no_attribute(name))?;
            // A large value gets an array of its own: the old one goes with the old name.
            let (value, length) = self.stored_value(mem::take(&mut attribute.value))?;
            let mut session = self.file().session();
            let is_taken = session.get(object, &new_key)?.is_some();
            if is_taken {
                return Err(self.taken(&mut session, new_name, &value));
            }
            if session.get(object, &old_key)? != before {
                session.unused.extend(value.array());
                continue;
            }
            self.forget_value(&mut session, &old_key, before.as_deref());
            session.remove(object, &old_key);
            attribute.name = new_name.to_owned();
            self.put_record(&mut session, new_key, &AttributeRecord { attribute, value, length });
            return Ok(());
        }
    }

    /// The names of all attributes with their numbers in the order of creation.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn attributes(&self, by: By, order: Order) -> Result<Vec<(String, u64)>> {
        let listing = self.file().session().list(metadata(self.number()))?;
        let found = listing.iter().filter(|(key, _)| key.first() == Some(&ATTRIBUTE));
        let damaged = || Error::corrupt("a damaged attribute", self.to_string());
        let named =
            found.map(|(key, record)| Ok((name_in(key, self)?, order_of(key, record).ok_or_else(damaged)?)));
        let mut named: Vec<_> = named.collect::<Result<_>>()?;
        if by == By::CreationOrder {
            named.sort_by_key(|(_, order)| *order);
        }
        if order == Order::Decreasing {
            named.reverse();
        }
        Ok(named)
    }

    /// How many attributes there are.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn attribute_count(&self) -> Result<u64> {
        let listing = self.file().session().list(metadata(self.number()))?;
        Ok(listing.iter().filter(|(key, _)| key.first() == Some(&ATTRIBUTE)).count() as u64)
    }
}
