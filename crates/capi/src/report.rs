//! Reports: the answer of an operation, item by item, with texts and numbers by their names.

use std::{collections::VecDeque, ffi::CString, fmt::Display};

use isotach_capi_kit::{Failure, Result, c_text};
use isotach_fields::{
    Action, Answer, Axis, DatasetStatus, DeletedFields, Error, PurgedDataset, WipedDataset,
};
use isotach_mars::Key;

/// What `isotach_report` is.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rest: VecDeque<Result<Item>>,
    current: Option<Item>,
}

/// The texts and the numbers of an item.
#[derive(Debug, Default)]
pub(crate) struct Item {
    texts: Vec<(&'static str, Vec<CString>)>,
    numbers: Vec<(&'static str, u64)>,
}

impl Report {
    /// The items of an answer, and then the errors of what could not be read.
    pub(crate) fn of<T: Into<Item>>(answer: Answer<T>) -> Self {
        let found = answer.found.into_iter().map(|found| Ok(found.into()));
        let unusable = answer.unusable.into_iter().map(|error: Error| Err(error.into()));
        Self { rest: found.chain(unusable).collect(), current: None }
    }

    /// Whether there is a next item, which then is the current one.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.current = None;
        self.current = self.rest.pop_front().transpose()?;
        Ok(self.current.is_some())
    }

    pub(crate) fn text(&self, name: &str, at: usize) -> Result<Option<&CString>> {
        let item = self.current()?;
        let texts = item.texts.iter().find(|(known, _)| *known == name);
        texts.map(|(_, texts)| texts.get(at)).ok_or_else(|| item.unknown("text", name))
    }

    pub(crate) fn number(&self, name: &str) -> Result<u64> {
        let item = self.current()?;
        let number = item.numbers.iter().find(|(known, _)| *known == name);
        number.map(|(_, number)| *number).ok_or_else(|| item.unknown("number", name))
    }

    fn current(&self) -> Result<&Item> {
        let current = self.current.as_ref();
        current.ok_or_else(|| {
            Failure::invalid("there is no item: expected a successful isotach_report_next before")
        })
    }
}

impl Item {
    fn text(self, name: &'static str, text: &impl Display) -> Self {
        self.texts(name, [text])
    }

    fn texts<T: ToString>(mut self, name: &'static str, texts: impl IntoIterator<Item = T>) -> Self {
        self.texts.push((name, texts.into_iter().map(|text| c_text(&text.to_string())).collect()));
        self
    }

    fn number(mut self, name: &'static str, number: impl Into<u64>) -> Self {
        self.numbers.push((name, number.into()));
        self
    }

    fn unknown(&self, what: &str, name: &str) -> Failure {
        let mut known: Vec<&str> = self.texts.iter().map(|(known, _)| *known).collect();
        if what == "number" {
            known = self.numbers.iter().map(|(known, _)| *known).collect();
        }
        Failure::invalid(format!("{what} {name:?}: expected one of {}", known.join(", ")))
    }
}

impl From<Axis> for Item {
    fn from(axis: Axis) -> Self {
        Self::default().text("name", &axis.name).texts("values", axis.values)
    }
}

impl From<DatasetStatus> for Item {
    fn from(status: DatasetStatus) -> Self {
        Self::default()
            .text("dataset", &status.key)
            .text("catalogue", &status.catalogue)
            .text("store", &status.store)
            .text("rule", &status.rule)
            .texts("locks", status.locks.iter().map(Action::name))
            .texts("forbidden", status.forbidden.iter().map(Action::name))
            .texts("below", status.below)
            .number("created_us", status.created_us)
    }
}

impl From<WipedDataset> for Item {
    fn from(wiped: WipedDataset) -> Self {
        let counts = wiped.counts;
        Self::default()
            .text("dataset", &wiped.key)
            .text("catalogue", &wiped.catalogue)
            .text("store", &wiped.store)
            .texts("collocations", wiped.collocations.iter().map(Key::to_string))
            .texts("kept_by", wiped.kept_by)
            .texts("uncounted", wiped.uncounted)
            .number("is_whole", wiped.is_whole)
            .number("fields", counts.fields)
            .number("bytes", counts.bytes)
            .number("replaced_fields", counts.replaced_fields)
            .number("replaced_bytes", counts.replaced_bytes)
    }
}

impl From<DeletedFields> for Item {
    fn from(deleted: DeletedFields) -> Self {
        Self::default()
            .text("dataset", &deleted.key)
            .number("fields", deleted.fields)
            .number("bytes", deleted.bytes)
    }
}

impl From<PurgedDataset> for Item {
    fn from(purged: PurgedDataset) -> Self {
        Self::default()
            .text("dataset", &purged.key)
            .number("replaced_fields", purged.replaced_fields)
            .number("replaced_bytes", purged.replaced_bytes)
            .number("before", purged.before)
            .number("freed", purged.freed)
            .number("held", purged.held)
            .number("history_stays", purged.history_stays)
    }
}
