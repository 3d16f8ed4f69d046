//! A scan of selected datasets, one collocation after the other. What is found in a dataset is held back until its read is
//! consistent, unless it is too much.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    Result,
    catalogue::{
        consistent_read::{HELD_MAX, Reading},
        layers::Seen,
        select::{Selection, Target},
    },
    store::Inner,
};

/// A scan, and what it has found.
#[derive(Debug)]
pub(super) struct Scan<T> {
    pub(super) inner: Arc<Inner>,
    selections: VecDeque<Selection>,
    targets: VecDeque<Target>,
    /// What was found in the dataset that is being read, and was not returned yet.
    pub(super) found: VecDeque<Result<T>>,
    reading: Option<(Selection, Reading)>,
    /// The elements that the layers above have shown.
    pub(super) seen: Seen,
}

/// What is next in a scan.
pub(super) enum Step {
    /// The fields of a collocation.
    Collocation(Target),
    /// A dataset: it is to be read, perhaps again, or its read was consistent.
    Dataset(Option<Reading>),
    End,
}

impl<T> Scan<T> {
    /// A scan of these collocations, and of what matches in these datasets.
    pub(super) fn new(inner: &Arc<Inner>, targets: Vec<Target>, selections: Vec<Selection>) -> Self {
        Self {
            inner: Arc::clone(inner),
            selections: selections.into(),
            targets: targets.into(),
            found: VecDeque::new(),
            reading: None,
            seen: Seen::default(),
        }
    }

    /// Takes the next result that need not be held back.
    pub(super) fn take_found(&mut self) -> Option<Result<T>> {
        if self.found.len() > HELD_MAX {
            self.reading = None;
        }
        if self.reading.is_some() { None } else { self.found.pop_front() }
    }

    /// Goes on. `check` may refuse a dataset before it is read.
    pub(super) fn next(&mut self, check: impl FnOnce(&Selection) -> Result<()>) -> Result<Step> {
        if let Some(target) = self.targets.pop_front() {
            return Ok(Step::Collocation(target));
        }
        if let Some((selection, mut reading)) = self.reading.take() {
            if !reading.is_outdated(&self.inner)? {
                return Ok(Step::Dataset(Some(reading)));
            }
            self.found.clear();
            return self.read(selection, Some(reading));
        }
        let Some(selection) = self.selections.pop_front() else { return Ok(Step::End) };
        check(&selection)?;
        let reading = Reading::begin(&self.inner, &selection)?;
        self.read(selection, reading)
    }

    /// Reads a dataset from its first collocation on.
    fn read(&mut self, selection: Selection, reading: Option<Reading>) -> Result<Step> {
        self.seen.begin(selection.layer.as_ref());
        self.targets = selection.targets(&self.inner)?.into();
        self.reading = reading.map(|reading| (selection, reading));
        Ok(Step::Dataset(None))
    }

    /// Holds nothing back after an error: the dataset is not read to its end.
    pub(super) fn release(&mut self) {
        self.reading = None;
    }

    /// Ends the scan. What was found stays.
    pub(super) fn end(&mut self) {
        self.selections.clear();
        self.targets.clear();
        self.reading = None;
    }
}
