//! Inspecting: finds the locations of the fields of an exact request, in the request's order.
//!
//! The request is expanded value by value, the last key of the schema changing fastest, restricted to the values on the
//! axes. The index is read in batches.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use isotach_mars::{JoinedCandidates, Key, Match, Plan, Request, RuleId, Schema, WantedFields};
use isotach_object::{Cell, ObjectId};

use crate::{
    Error, FieldStore, Location, Result,
    catalogue::{
        collocation::Collocation,
        consistent_read::ReadState,
        dataset_reader::DatasetReader,
        layers::Layer,
        layout::{element_of_kv_key, kv_key},
        location::is_deletion,
        locks::Action,
        select::Target,
    },
    retrieve::scan::{Scan, Step},
    store::Inner,
};

/// The number of index entries in one lookup.
const LOOKUPS: usize = 512;

/// The most missing fields that are named. Further ones are only counted.
const MISSING_NAMED_MAX: usize = 1000;

/// A field that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// Its whole key, in canonical form.
    pub key: Key,
    /// Where its bytes are.
    pub location: Location,
}

/// The fields of a request that do not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    /// How many.
    pub count: u64,
    /// The first of them, at most 1000, each by the keys that the request names.
    pub keys: Vec<Key>,
}

impl FieldStore {
    /// The locations of the fields that a request names, in the request's order: the keys nest as in the schema, the
    /// last one changing fastest, each in the order of the request's values. An absent field is no error; see
    /// [`Inspection::missing`].
    ///
    /// # Errors
    /// [`Error::Request`] when the request cannot be understood or lacks a mandatory key. The iterator yields
    /// [`Error::Locked`] for a dataset that is locked for retrieving, [`Error::Corrupt`] in place of a field whose entry is
    /// damaged, after which it goes on, and what the engines report.
    pub fn inspect(&self, request: &Request) -> Result<Inspection> {
        let (selections, gone) = self.inner.layers(self.inner.select(request, Match::Exact)?)?;
        let wanted = Some(self.inner.schema.wanted_fields(request)?);
        let scan = Scan::new(&self.inner, Vec::new(), selections);
        Ok(Inspection { scan, current: None, gone: gone.into(), read: Vec::new(), wanted })
    }
}

/// The answer to [`FieldStore::inspect`], worked out as it is iterated.
#[derive(Debug)]
pub struct Inspection {
    scan: Scan<Inspected>,
    current: Option<Walk>,
    /// The errors of missing layers of overlays, returned at the end if a field is missing.
    gone: VecDeque<Error>,
    /// The datasets after their consistent reads.
    read: Vec<ReadState>,
    wanted: Option<WantedFields>,
}

impl Inspection {
    /// How many of the fields that the request names do not exist, and the first of them. Fields for which the iterator
    /// returned an error are not included. `None` if a whole dataset or collocation could not be read, because it is
    /// locked or damaged, for example: then the missing fields are unknown. Call this after the iteration has ended.
    pub fn missing(&self) -> Option<Missing> {
        let wanted = self.wanted.as_ref()?;
        let count = wanted.missing_count() as u64;
        Some(Missing { count, keys: wanted.missing().take(MISSING_NAMED_MAX).collect() })
    }

    /// The dataset of a found field, if a later transaction was committed to it since its consistent read.
    pub(crate) fn outdated(&self, field: &Key) -> Result<Option<&ReadState>> {
        for state in self.read.iter().filter(|state| state.holds(field)) {
            if state.is_outdated(&self.scan.inner)? {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Ends the iteration. The missing fields are unknown then.
    pub(crate) fn end(&mut self) {
        self.scan.end();
        self.scan.found.clear();
        self.gone.clear();
        (self.current, self.wanted) = (None, None);
    }

    /// Looks up the next fields. False at the end.
    fn advance(&mut self) -> Result<bool> {
        if let Some(walk) = &mut self.current {
            if walk.lookup(&mut self.scan, self.wanted.as_mut())? {
                return Ok(true);
            }
            self.current = None;
        }
        // Fields that exist but cannot be read are not missing, and which these are is unknown.
        self.advance_walk().inspect_err(|_| self.wanted = None)
    }

    /// Continues with the next collocation. False at the end.
    fn advance_walk(&mut self) -> Result<bool> {
        match self.scan.next(|selection| selection.check_lock(Action::Retrieve))? {
            Step::Collocation(target) => {
                let reader = Arc::clone(&target.reader);
                self.current = reader.unless_wiped(Walk::new(&self.scan.inner, target))?;
            }
            Step::Dataset(read) => self.read.extend(read.map(ReadState::of)),
            Step::End => {
                let is_complete = self.wanted.as_ref().is_some_and(|wanted| wanted.missing_count() == 0);
                return self.gone.pop_front().filter(|_| !is_complete).map_or(Ok(false), Err);
            }
        }
        Ok(true)
    }
}

impl Iterator for Inspection {
    type Item = Result<Inspected>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.scan.take_found() {
                return Some(found);
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.scan.release();
                    self.scan.found.push_back(Err(error));
                }
            }
        }
    }
}

/// The elements of one collocation that a request names, in batches.
#[derive(Debug)]
struct Walk {
    reader: Arc<DatasetReader>,
    collocation: Arc<Collocation>,
    remaining: VecDeque<(RuleId, JoinedCandidates)>,
    /// Elements already looked up, if several filters may name the same.
    seen: Option<HashSet<String>>,
    /// The handle's schema, if the dataset has another: wanted fields are counted by its rules.
    counted_by: Option<Schema>,
    layer: Option<Layer>,
}

impl Walk {
    fn new(inner: &Inner, target: Target) -> Result<Self> {
        let Target { reader, collocation, plans, layer } = target;
        let axes = reader.axes_for(inner, &collocation, &plans)?;
        let present = |name: &str, value: &str| axes.contains(name, value);
        let elements = |plan: &Plan| {
            let wanted = plan.element.restricted(present)?.enumerated(|name| axes.values(name));
            Some((plan.rule, wanted.candidates()?.joined()))
        };
        let remaining: VecDeque<_> = plans.iter().filter_map(|plan| elements(plan)).collect();
        let seen = (remaining.len() > 1).then(HashSet::new);
        let is_own = reader.dataset.entry.record.schema == inner.schema_digest;
        let counted_by = (!is_own).then(|| inner.schema.clone());
        Ok(Self { reader, collocation, remaining, seen, counted_by, layer })
    }

    /// Looks up one batch. False at the end, or if the dataset was wiped.
    fn lookup(
        &mut self,
        Scan { inner, found, seen, .. }: &mut Scan<Inspected>,
        mut wanted: Option<&mut WantedFields>,
    ) -> Result<bool> {
        let Some((rule, elements)) = self.remaining.front_mut() else { return Ok(false) };
        let rule = *rule;
        let mut batch: Vec<String> = Vec::new();
        while batch.len() < LOOKUPS {
            let Some(element) = elements.next() else {
                self.remaining.pop_front();
                break;
            };
            let is_new = self.seen.as_mut().is_none_or(|seen| seen.insert(element.clone()));
            if is_new {
                batch.push(element);
            }
        }
        let cells: Vec<_> = batch
            .iter()
            .map(|text| Cell::kv(self.collocation.objects.index, kv_key(text).as_bytes()))
            .collect();
        let records = match self.reader.get_many(inner, &cells) {
            Ok(records) => records,
            Err(error) if self.reader.was_wiped(&error) => return Ok(false),
            Err(error) => {
                batch
                    .iter()
                    .for_each(|element| drop(self.count_as_found(rule, element, wanted.as_deref_mut())));
                return Err(self.reader.failed(error));
            }
        };
        for (element, record) in batch.iter().zip(records) {
            let Some(record) = record.filter(|record| !is_deletion(record)) else { continue };
            if self.layer.is_some() && seen.hides(&self.collocation.text, element) {
                continue;
            }
            let key = self.count_as_found(rule, element, wanted.as_deref_mut());
            let mut location = Location::decode(&record, &self.reader.dataset.uri);
            if let Some(location) = &mut location {
                location.relabel = self.layer.as_ref().and_then(|layer| layer.relabel.clone());
            }
            let read = key.zip(location).map(|(key, location)| Inspected { key, location });
            found.push_back(read.ok_or_else(|| self.corrupt(element)));
        }
        Ok(true)
    }

    /// The whole key of a field, which is counted as not missing: it is found, or an error reports it.
    fn count_as_found(&self, rule: RuleId, element: &str, wanted: Option<&mut WantedFields>) -> Option<Key> {
        let (key, element) = self.collocation.keys_of(element)?;
        if let Some(wanted) = wanted {
            self.mark(wanted, rule, &key, &element);
        }
        Some(key)
    }

    /// Counts a field as not missing.
    fn mark(&self, wanted: &mut WantedFields, rule: RuleId, key: &Key, element: &Key) {
        let Some(schema) = &self.counted_by else {
            let dataset = self.layer.as_ref().map_or(&self.reader.dataset.entry, |layer| &layer.shown);
            return wanted.mark(rule, [&dataset.key, &self.collocation.key, element]);
        };
        if let Ok(split) = schema.split(key) {
            wanted.mark(split.rule, [&split.dataset, &split.collocation, &split.element]);
        }
    }

    fn corrupt(&self, element: &str) -> Error {
        self.reader.corrupt_entry(&self.collocation, element)
    }
}

impl DatasetReader {
    /// The error of an unreadable index entry.
    pub(crate) fn corrupt_entry(&self, collocation: &Collocation, element: &str) -> Error {
        let field = collocation.field_key(element).map_or_else(|| element.to_owned(), |key| key.to_string());
        self.corrupt_index(collocation.objects.index, field)
    }

    /// The location of the element with this text in an index, if it exists.
    pub(crate) fn locate(
        &self,
        inner: &Inner,
        index: ObjectId,
        element: &str,
        key: impl FnOnce() -> Key,
    ) -> Result<Option<Location>> {
        let mut found = self.get_many(inner, &[Cell::kv(index, kv_key(element).as_bytes())])?;
        let Some(record) = found.pop().flatten().filter(|record| !is_deletion(record)) else {
            return Ok(None);
        };
        let location = Location::decode(&record, &self.dataset.uri);
        location.map(Some).ok_or_else(|| self.corrupt_index(index, key().to_string()))
    }

    fn corrupt_index(&self, index: ObjectId, field: String) -> Error {
        let place = format!("object {index} of {}", self.place());
        Error::Corrupt { field, what: "its entry in the index".to_owned(), place }
    }
}

impl Collocation {
    /// The whole key of the field with this element text, and the element's own.
    pub(crate) fn keys_of(&self, element: &str) -> Option<(Key, Key)> {
        let names = self.names.iter().map(|name| &**name);
        let element = element_of_kv_key(element.as_bytes(), self.names.len())?;
        Some((self.field_key(element)?, Key::from_joined(names, element)?))
    }
}
