//! The jump indexes of fields: reading them, and keeping those that were made after the field was archived.
//!
//! What must stay true: an index that is returned is the one that was put for the field's bytes; see
//! [`jump`](crate::catalogue::jump).

use std::sync::Arc;

use isotach_object::{Cell, Error as ObjectError, ObjectId, Update};

use crate::{
    Action, Error, FieldStore, Inspected, Result,
    catalogue::{
        dataset_reader::DatasetReader,
        jump::{decode_jump, encode_jump, jump_key},
        layout::kv_of,
        location::Place,
        split_texts::SplitTexts,
    },
    store::Inner,
};

/// The jump index of a field: `None` if none is stored, an error if it is damaged.
pub type JumpIndex = Result<Option<Vec<u8>>>;

impl FieldStore {
    /// The jump indexes of fields, in their order. They are bytes that the function of
    /// [`FieldStore::index_messages_with`] made, or that [`FieldStore::keep_jump_indexes`] was given.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use isotach_fields::{Config, FieldStore};
    /// # use isotach_mars::Key;
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// store.index_messages_with(|message| Some(vec![message.len() as u8]));
    /// let key: Key = "class=od,type=fc,step=6".parse()?;
    /// store.archive(&key, b"GRIB...7777")?;
    /// store.flush()?;
    /// let field = store.locate(&key)?.unwrap();
    /// let [index] = &store.jump_indexes(&[field])?[..] else { unreachable!() };
    /// assert_eq!(index.as_ref().unwrap().as_deref(), Some(&[11][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Locked`] for a dataset that is locked for retrieving; what the engines report. In place of an index that is
    /// damaged is [`Error::Corrupt`], which names the field.
    pub fn jump_indexes(&self, fields: &[Inspected]) -> Result<Vec<JumpIndex>> {
        let mut indexes: Vec<JumpIndex> = fields.iter().map(|_| Ok(None)).collect();
        for group in self.inner.jump_entries(fields.iter())? {
            for (entry, value) in group.entries.iter().zip(group.values(&self.inner)?) {
                let Some(field) = fields.get(entry.field) else { continue };
                if let Some(place) = indexes.get_mut(entry.field) {
                    *place = group.index(field, entry, value);
                }
            }
        }
        Ok(indexes)
    }

    /// Stores the jump indexes of fields, and flushes them. An index that is stored already is replaced. Nothing is stored
    /// for fields of datasets that were wiped.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] through a handle on a snapshot; [`Error::Locked`] or [`Error::Forbidden`] for a dataset that
    /// takes no fields; what the engines report.
    pub fn keep_jump_indexes(&self, indexes: &[(Inspected, Vec<u8>)]) -> Result<()> {
        self.inner.check_present("index")?;
        for group in self.inner.jump_entries(indexes.iter().map(|(field, _)| field))? {
            group.put(&self.inner, indexes)?;
        }
        Ok(())
    }
}

/// Entries of one dataset.
struct Group {
    reader: Arc<DatasetReader>,
    entries: Vec<Entry>,
}

/// The entry of a field's jump index.
struct Entry {
    /// The field's place in the list of the caller.
    field: usize,
    object: ObjectId,
    key: Vec<u8>,
}

impl Entry {
    fn cell(&self) -> Cell<'_> {
        Cell::kv(self.object, &self.key)
    }
}

impl Inner {
    /// The entries for the jump indexes of fields, by dataset. Fields of datasets that do not exist are left out.
    fn jump_entries<'f>(&self, fields: impl Iterator<Item = &'f Inspected>) -> Result<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        let mut texts = SplitTexts::default();
        for (number, field) in fields.enumerate() {
            let Some(shown_by) = self.reader_of(&field.key, &mut texts)? else { continue };
            let reader = self.owner(field)?.unwrap_or(shown_by);
            let mut record = Vec::new();
            field.location.encode(&reader.dataset.uri, &mut record);
            let entry =
                Entry { field: number, object: kv_of(&texts.collocation, "jump"), key: jump_key(&record) };
            match groups.iter_mut().find(|group| Arc::ptr_eq(&group.reader, &reader)) {
                Some(group) => group.entries.push(entry),
                None => groups.push(Group { reader, entries: vec![entry] }),
            }
        }
        Ok(groups)
    }

    /// The reader of the dataset below an overlay that has the bytes of a field, if an overlay shows it. Its collocation has
    /// the same text there. `None` if the dataset is not listed, and for an adopted field.
    fn owner(&self, field: &Inspected) -> Result<Option<Arc<DatasetReader>>> {
        let Place::Object { container, .. } = &field.location.place else { return Ok(None) };
        if field.location.relabel.is_none() {
            return Ok(None);
        }
        for root in &self.roots {
            let entries = self.with_handles(|| root.entries())?;
            if let Some(entry) =
                entries.list.iter().find(|entry| entry.record.label == container.label.as_str())
            {
                return self.reader(root, entry);
            }
        }
        Ok(None)
    }
}

impl Group {
    /// The values of the entries. An error of a damaged one is in its place.
    fn values(&self, inner: &Inner) -> Result<Vec<Result<Option<Vec<u8>>>>> {
        let cells: Vec<_> = self.entries.iter().map(Entry::cell).collect();
        match self.reader.get_many(inner, &cells) {
            Ok(values) => Ok(values.into_iter().map(Ok).collect()),
            Err(error) if self.reader.was_wiped(&error) => Ok(cells.iter().map(|_| Ok(None)).collect()),
            Err(Error::Object(ObjectError::Corrupt { .. })) => {
                let value = |cell: &Cell<'_>| match self.reader.get_many(inner, &[*cell]) {
                    Ok(mut values) => Ok(Ok(values.pop().flatten())),
                    Err(error @ Error::Object(ObjectError::Corrupt { .. })) => Ok(Err(error)),
                    Err(error) => Err(error),
                };
                cells.iter().map(value).collect()
            }
            Err(error) => Err(self.reader.failed(error)),
        }
    }

    /// The jump index in the value of an entry.
    fn index(&self, field: &Inspected, entry: &Entry, value: Result<Option<Vec<u8>>>) -> JumpIndex {
        let what = match value {
            Ok(None) => return Ok(None),
            Ok(Some(value)) => match decode_jump(&entry.key, &value) {
                Some(index) => return Ok(Some(index.to_vec())),
                None => "its jump index (`isotach index --jump` makes it anew)".to_owned(),
            },
            Err(error) => format!("its jump index (`isotach index --jump` makes it anew): {error}"),
        };
        let place = format!("object {} of {}", entry.object, self.reader.place());
        Err(Error::Corrupt { field: field.key.to_string(), what, place })
    }

    /// Stores the jump indexes of the fields of this dataset.
    fn put(&self, inner: &Inner, indexes: &[(Inspected, Vec<u8>)]) -> Result<()> {
        let dataset = &self.reader.dataset;
        let Some(now) = dataset.root.same_incarnation(&dataset.entry)? else { return Ok(()) };
        now.check(Action::Archive)?;
        let mut values = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let mut value = Vec::new();
            if let Some((_, index)) = indexes.get(entry.field) {
                encode_jump(&entry.key, index, &mut value);
            }
            values.push(value);
        }
        let puts = self.entries.iter().zip(&values);
        let puts: Vec<_> = puts.map(|(entry, value)| Update::Put { cell: entry.cell(), value }).collect();
        // A separate handle, so that a reader's handle has no updates.
        let label = now.record.label.parse()?;
        let container = inner.with_handles(|| Ok(dataset.root.pool.open_container(&label)?))?;
        container.update(&puts)?;
        Ok(container.flush()?)
    }
}
