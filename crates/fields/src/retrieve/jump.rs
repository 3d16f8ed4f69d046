//! The jump indexes of fields: reading them, and keeping those that were made after the field was archived.
//!
//! What must stay true: an index that is returned is the one that was put for the field's bytes; see
//! [`jump`](crate::catalogue::jump).

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use isotach_object::{Cell, Error as ObjectError, ObjectId, Update};

use crate::{
    Action, Error, FieldStore, Inspected, Result,
    catalogue::{
        dataset_reader::DatasetReader,
        jump::{decode_jump, encode_jump, jump_key},
        layout::kv_of,
        location::{ContainerUri, Place},
        split_texts::SplitTexts,
    },
    store::Inner,
};

/// The jump index of a field: `None` if none is stored, an error if it is damaged or cannot be looked up.
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
    /// What the engines report. In place of an index that is damaged is [`Error::Corrupt`], which names the field; in place
    /// of one in a dataset that is locked for retrieving, or cannot be looked up, the error of that.
    pub fn jump_indexes(&self, fields: &[Inspected]) -> Result<Vec<JumpIndex>> {
        let mut indexes: Vec<JumpIndex> = fields.iter().map(|_| Ok(None)).collect();
        let mut entries = Entries::new(&self.inner);
        for (number, (field, place)) in fields.iter().zip(&mut indexes).enumerate() {
            if let Err(error) = entries.add(number, field) {
                *place = Err(error);
            }
        }
        for group in entries.groups {
            for (entry, value) in group.entries.iter().zip(group.values(&self.inner)?) {
                let Some(field) = fields.get(entry.field) else { continue };
                if let Some(place) = indexes.get_mut(entry.field) {
                    *place = group.index(field, entry, value);
                }
            }
        }
        Ok(indexes)
    }

    /// Stores the jump indexes of fields, as [`FieldStore::make_jump_indexes`].
    ///
    /// # Errors
    /// As [`FieldStore::make_jump_indexes`].
    pub fn keep_jump_indexes(&self, indexes: &[(Inspected, Vec<u8>)]) -> Result<KeptIndexes> {
        let fields: Vec<_> = indexes.iter().map(|(field, _)| field).collect();
        self.put_indexes(&fields, |number| indexes.get(number).map(|(_, index)| Cow::Borrowed(&index[..])))
    }

    /// Makes the jump indexes of fields, stores and flushes them. `make` returns `None` for a field that gets none; it is
    /// not called for fields of a dataset that takes none. An index that is stored already is replaced. Nothing is stored
    /// for fields of datasets that were wiped. A dataset that fails does not affect the others.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] through a handle on a snapshot. [`KeptIndexes::failures`] has the errors of single datasets.
    pub fn make_jump_indexes(
        &self,
        fields: &[&Inspected],
        mut make: impl FnMut(&Inspected) -> Option<Vec<u8>>,
    ) -> Result<KeptIndexes> {
        self.put_indexes(fields, |number| fields.get(number).and_then(|field| make(field)).map(Cow::Owned))
    }

    /// Stores the index that `make` returns for each field, which it is given by its place.
    fn put_indexes<'i>(
        &self,
        fields: &[&Inspected],
        mut make: impl FnMut(usize) -> Option<Cow<'i, [u8]>>,
    ) -> Result<KeptIndexes> {
        self.inner.check_present("index")?;
        let (mut entries, mut kept) = (Entries::new(&self.inner), KeptIndexes::default());
        for (number, field) in fields.iter().enumerate() {
            if let Err(error) = entries.add(number, field) {
                kept.failures.push(error);
            }
        }
        for group in &entries.groups {
            match group.put(&self.inner, &mut make) {
                Ok(stored) => kept.stored += stored,
                Err(error) => kept.failures.push(error),
            }
        }
        Ok(kept)
    }
}

/// What [`FieldStore::keep_jump_indexes`] and [`FieldStore::make_jump_indexes`] did.
#[derive(Debug, Default)]
pub struct KeptIndexes {
    /// The number of indexes that were stored.
    pub stored: usize,
    /// Why others were not: the error of each dataset that refused its indexes or failed, [`Error::Locked`] and
    /// [`Error::Forbidden`] for one that takes no fields; and of each field whose dataset could not be looked up.
    pub failures: Vec<Error>,
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

/// The entries for the jump indexes of fields, by dataset.
struct Entries<'i> {
    inner: &'i Inner,
    texts: SplitTexts,
    groups: Vec<Group>,
    /// The place of each reader's group.
    places: HashMap<*const DatasetReader, usize>,
    /// The readers of the datasets below overlays, by their containers.
    owners: HashMap<Arc<ContainerUri>, Option<Arc<DatasetReader>>>,
}

impl<'i> Entries<'i> {
    fn new(inner: &'i Inner) -> Self {
        let (places, owners) = (HashMap::new(), HashMap::new());
        Self { inner, texts: SplitTexts::default(), groups: Vec::new(), places, owners }
    }

    /// Adds the entry of a field, unless its dataset does not exist.
    fn add(&mut self, number: usize, field: &Inspected) -> Result<()> {
        let Some(shown_by) = self.inner.reader_of(&field.key, &mut self.texts)? else { return Ok(()) };
        let reader = self.owner(field)?.unwrap_or(shown_by);
        let mut record = Vec::new();
        field.location.encode(&reader.dataset.uri, &mut record);
        let object = kv_of(&self.texts.collocation, "jump");
        let entry = Entry { field: number, object, key: jump_key(&record) };
        let place = *self.places.entry(Arc::as_ptr(&reader)).or_insert_with(|| {
            self.groups.push(Group { reader, entries: Vec::new() });
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(place) {
            group.entries.push(entry);
        }
        Ok(())
    }

    /// The reader of the dataset below an overlay that has the bytes of a field, if an overlay shows it. Its collocation has
    /// the same text there. `None` if the dataset is not listed, and for an adopted field.
    fn owner(&mut self, field: &Inspected) -> Result<Option<Arc<DatasetReader>>> {
        let Place::Object { container, .. } = &field.location.place else { return Ok(None) };
        if field.location.relabel.is_none() {
            return Ok(None);
        }
        if let Some(owner) = self.owners.get(container) {
            return Ok(owner.clone());
        }
        let owner = self.inner.reader_of_container(container)?;
        self.owners.insert(Arc::clone(container), owner.clone());
        Ok(owner)
    }
}

impl Inner {
    /// The reader of the dataset that has this container. `None` if none is listed.
    fn reader_of_container(&self, container: &ContainerUri) -> Result<Option<Arc<DatasetReader>>> {
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

    /// Makes and stores the jump indexes of the fields of this dataset. Returns their number. A dataset that takes none
    /// refuses before one is made.
    fn put<'v>(&self, inner: &Inner, mut make: impl FnMut(usize) -> Option<Cow<'v, [u8]>>) -> Result<usize> {
        let dataset = &self.reader.dataset;
        let Some(now) = dataset.root.same_incarnation(&dataset.entry)? else { return Ok(0) };
        now.check(Action::Archive)?;
        let mut values = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let Some(index) = make(entry.field) else { continue };
            let mut value = Vec::new();
            encode_jump(&entry.key, &index, &mut value);
            values.push((entry, value));
        }
        if values.is_empty() {
            return Ok(0);
        }
        let puts = values.iter().map(|(entry, value)| Update::Put { cell: entry.cell(), value });
        let puts: Vec<_> = puts.collect();
        // A separate handle, so that a reader's handle has no updates.
        let label = now.record.label.parse()?;
        let container = inner.with_handles(|| Ok(dataset.root.pool.open_container(&label)?))?;
        container.update(&puts)?;
        container.flush()?;
        Ok(puts.len())
    }
}
