//! Listing: streams every field that matches a partial request, page by page.
//!
//! A collocation without a matching value on its axes is skipped without reading its index. Of an index in which few elements can match,
//! their entries are looked up and the others are not read. Memory is bounded by a page
//! and the fields that are held back. Fields of one collocation share its keys.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use isotach_mars::{Key, Request};
use isotach_object::{Anchor, Cell, Page};

use crate::{
    Error, FieldStore, Location, Result,
    catalogue::{
        collocation::Collocation,
        dataset_reader::DatasetReader,
        history::parse_history,
        layers::{Layer, Seen},
        layout::{element_of_kv_key, kv_key},
        location::is_deletion,
        locks::Action,
        root::Entry,
        select::{Selection, Target},
    },
    retrieve::{
        element_filter::{ElementFilter, few_texts, filters},
        scan::{Scan, Step},
    },
    store::Inner,
};

/// What a listing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListOptions {
    /// Whether to include replaced and deleted fields.
    pub duplicates: bool,
}

/// A field of a listing. Its keys are built on demand.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Not its reader: a program may keep fields of more datasets than it may open files.
    dataset: Arc<Entry>,
    collocation: Arc<Collocation>,
    element: Box<str>,
    location: Location,
    is_replaced: bool,
}

impl Listed {
    /// The dataset's key.
    pub fn dataset(&self) -> &Key {
        &self.dataset.key
    }

    /// The collocation's key.
    pub fn collocation(&self) -> &Key {
        &self.collocation.key
    }

    /// The element's key. It has an entry for every key of its level, empty for absent keys.
    pub fn element(&self) -> Key {
        let names = self.collocation.names.iter().map(|name| &**name);
        Key::from_joined(names, &self.element).unwrap_or_default()
    }

    /// The whole key.
    pub fn key(&self) -> Key {
        self.collocation.field_key(&self.element).unwrap_or_default()
    }

    /// The text of its collocation.
    pub(crate) fn collocation_text(&self) -> &str {
        &self.collocation.text
    }

    /// Its entry in the dataset's container.
    pub(crate) fn index_cell(&self) -> Cell<'_> {
        Cell::kv(self.collocation.objects.index, kv_key(&self.element).as_bytes())
    }

    /// Where the bytes are.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Whether a later field has replaced it, or it was deleted.
    pub fn is_replaced(&self) -> bool {
        self.is_replaced
    }
}

impl FieldStore {
    /// Lists the fields that match a request. A key left out is a wildcard. The order is not defined: fields of one
    /// collocation come together, but steps, for example, may come as 0, 12, 6. Datasets that are locked for listing
    /// are left out.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore, ListOptions};
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// for step in ["0", "6", "12"] {
    ///     store.archive(&format!("class=od,type=fc,step={step}").parse()?, b"field")?;
    /// }
    /// store.flush()?;
    /// let request = "class=od,step=6/to/24/by/6".parse()?;
    /// let found: Result<Vec<_>, _> = store.list(&request, ListOptions::default())?.collect();
    /// assert_eq!(found?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`] when the request cannot be understood; the iterator returns what the engines report. It
    /// returns [`Error::Corrupt`] in place of a field whose entry is damaged, and continues. After the fields of all
    /// other datasets it returns an [`Error::LostDataset`] for each dataset whose containers do not exist, and an
    /// [`Error::DamagedDataset`] for each that could not be read to its end.
    pub fn list(&self, request: &Request, options: ListOptions) -> Result<Listing> {
        let (selections, gone) = self.inner.layers(self.select(request)?)?;
        let mut listing = Listing::new(&self.inner, selections, options);
        listing.unusable.extend(gone);
        Ok(listing)
    }
}

/// The answer to [`FieldStore::list`], read as it is iterated.
#[derive(Debug)]
pub struct Listing {
    options: ListOptions,
    scan: Scan<Listed>,
    current: Option<Walk>,
    /// The errors of unusable datasets, returned at the end.
    unusable: VecDeque<Error>,
}

impl Listing {
    pub(crate) fn new(inner: &Arc<Inner>, mut selections: Vec<Selection>, options: ListOptions) -> Self {
        selections.retain(|selection| !selection.is_locked(Action::List));
        Self::unlocked(inner, selections, options)
    }

    /// As `new`, including datasets that are locked for listing: for internal use.
    pub(crate) fn unlocked(inner: &Arc<Inner>, selections: Vec<Selection>, options: ListOptions) -> Self {
        Self::over(Scan::new(inner, Vec::new(), selections), options)
    }

    /// The fields of these collocations, including those of locked datasets.
    pub(crate) fn of_targets(inner: &Arc<Inner>, targets: Vec<Target>, options: ListOptions) -> Self {
        Self::over(Scan::new(inner, targets, Vec::new()), options)
    }

    fn over(scan: Scan<Listed>, options: ListOptions) -> Self {
        Self { options, scan, current: None, unusable: VecDeque::new() }
    }

    fn advance(&mut self) -> Result<bool> {
        if let Some(mut walk) = self.current.take() {
            let reader = Arc::clone(&walk.reader);
            let has_more = reader.unless_wiped(walk.read_on(&mut self.scan, self.options.duplicates))?;
            self.current = has_more.is_some_and(|has_more| has_more).then_some(walk);
            return Ok(true);
        }
        match self.scan.next(|_| Ok(()))? {
            Step::Collocation(target) => {
                let reader = Arc::clone(&target.reader);
                self.current = reader
                    .unless_wiped(Walk::new(&self.scan.inner, target, self.options.duplicates))?
                    .flatten();
            }
            Step::Dataset(_) => {}
            Step::End => return Ok(false),
        }
        Ok(true)
    }
}

impl Iterator for Listing {
    type Item = Result<Listed>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.scan.take_found() {
                return Some(found);
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return self.unusable.pop_front().map(Err),
                Err(error) if error.is_of_dataset() => {
                    self.scan.release();
                    self.unusable.push_back(error);
                }
                // It ends the listing, after the fields found before it.
                Err(error) => {
                    self.scan.found.push_back(Err(error));
                    self.scan.end();
                    self.unusable.clear();
                }
            }
        }
    }
}

/// The fields of one collocation, a page at a time.
#[derive(Debug)]
struct Walk {
    reader: Arc<DatasetReader>,
    collocation: Arc<Collocation>,
    filters: Vec<ElementFilter>,
    next: Next,
    layer: Option<Layer>,
}

/// What of a collocation is read next.
#[derive(Debug)]
enum Next {
    /// A page of its index or of its history.
    Page(Anchor),
    /// The entries of these elements, which are few beside the others.
    Lookups(BTreeSet<String>),
    End,
}

impl Walk {
    /// `None` if the axes show that no element matches.
    fn new(inner: &Inner, target: Target, duplicates: bool) -> Result<Option<Self>> {
        let axes = target.reader.axes_for(inner, &target.collocation, &target.plans)?;
        let filters = filters(&target, &axes);
        if filters.is_empty() {
            return Ok(None);
        }
        // A history is in the order of time.
        let few = if duplicates { None } else { few_texts(inner, &target, &filters, &axes)? };
        let next = few.map_or_else(|| Next::Page(Anchor::start()), Next::Lookups);
        let Target { reader, collocation, layer, .. } = target;
        Ok(Some(Self { reader, collocation, filters, next, layer }))
    }

    /// Reads what is next. False at the end.
    fn read_on(&mut self, scan: &mut Scan<Listed>, duplicates: bool) -> Result<bool> {
        let objects = &self.collocation.objects;
        let object = if duplicates { objects.history } else { objects.index };
        match std::mem::replace(&mut self.next, Next::End) {
            Next::Page(anchor) => {
                let page = self.reader.page(&scan.inner, object, &anchor)?;
                if duplicates {
                    self.take_history(&page, scan)?;
                } else {
                    self.take_index(&page, scan);
                }
                self.next = page.next().cloned().map_or(Next::End, Next::Page);
            }
            Next::Lookups(texts) => {
                let cells: Vec<_> =
                    texts.iter().map(|text| Cell::kv(object, kv_key(text).as_bytes())).collect();
                let records = self.reader.get_many(&scan.inner, &cells)?;
                for (element, record) in texts.iter().zip(records) {
                    let Some(record) = record.filter(|record| !is_deletion(record)) else { continue };
                    if self.is_hidden(&mut scan.seen, element) {
                        continue;
                    }
                    scan.found.push_back(self.listed(element, &record, false));
                }
            }
            Next::End => {}
        }
        Ok(!matches!(self.next, Next::End))
    }

    fn take_index(&mut self, page: &Page, Scan { found, seen, .. }: &mut Scan<Listed>) {
        let names = self.collocation.names.len();
        for (key, record) in page.iter().filter(|(_, record)| !is_deletion(record)) {
            match element_of_kv_key(key, names) {
                Some(element) if !self.wants(element) || self.is_hidden(seen, element) => {}
                Some(element) => found.push_back(self.listed(element, record, false)),
                None => found.push_back(Err(self.corrupt("?"))),
            }
        }
    }

    fn take_history(
        &mut self,
        page: &Page,
        Scan { inner, found, seen, .. }: &mut Scan<Listed>,
    ) -> Result<()> {
        let mut wanted: Vec<(&[u8], &str)> = Vec::new();
        for (key, value) in page.iter() {
            match parse_history(key, value) {
                Some((_, _, element)) if !self.wants(element) => {}
                Some((_, record, element)) => wanted.push((record, element)),
                None => found.push_back(Err(self.corrupt("?"))),
            }
        }
        let index = self.collocation.objects.index;
        let cells: Vec<_> =
            wanted.iter().map(|(_, element)| Cell::kv(index, kv_key(element).as_bytes())).collect();
        let newest = self.reader.get_many(inner, &cells)?;
        for ((record, element), newest) in wanted.into_iter().zip(newest) {
            let is_replaced = newest.as_deref() != Some(record) || self.is_hidden(seen, element);
            found.push_back(self.listed(element, record, is_replaced));
        }
        Ok(())
    }

    /// Whether a layer above shows this element.
    fn is_hidden(&self, seen: &mut Seen, element: &str) -> bool {
        self.layer.is_some() && seen.hides(&self.collocation.text, element)
    }

    fn wants(&mut self, element: &str) -> bool {
        self.filters.iter_mut().any(|filter| filter.wants(element))
    }

    fn listed(&self, element: &str, record: &[u8], is_replaced: bool) -> Result<Listed> {
        let mut location =
            Location::decode(record, &self.reader.dataset.uri).ok_or_else(|| self.corrupt(element))?;
        let shown = self.layer.as_ref().map_or(&self.reader.dataset.entry, |layer| &layer.shown);
        location.relabel = self.layer.as_ref().and_then(|layer| layer.relabel.clone());
        let (dataset, collocation) = (Arc::clone(shown), Arc::clone(&self.collocation));
        Ok(Listed { dataset, collocation, element: element.into(), location, is_replaced })
    }

    fn corrupt(&self, element: &str) -> Error {
        self.reader.corrupt_entry(&self.collocation, element)
    }
}
