//! Answers of operations that visit each dataset of a request. One unusable dataset does not prevent results for the
//! others.
//!
//! What must stay true: each dataset is reported in the answer, was wiped meanwhile, or is locked for listing. A lost
//! or damaged dataset is never silently left out.

use isotach_mars::Request;
use isotach_object::Error as ObjectError;

use crate::{Error, FieldStore, Result, Selection, catalogue::locks::Action};

/// The results for the datasets of a request, and the errors of the unusable ones.
#[derive(Debug)]
pub struct Answer<T> {
    /// The results of all other datasets.
    pub found: Vec<T>,
    /// An [`Error::LostDataset`] for each dataset that the store lists but whose containers do not exist, an
    /// [`Error::DamagedDataset`] for each that cannot be read, and an [`Error::ClosedDataset`] for each that this user
    /// may not read. [`FieldStore::wipe`] removes the rest of lost and damaged datasets. A purge reports more errors.
    pub unusable: Vec<Error>,
}

/// A progress callback: the number of datasets that are done, and of all.
pub type DatasetsDone<'p> = &'p dyn Fn(u64, u64);

impl FieldStore {
    /// Calls `of_one` for each dataset that matches a request. Datasets that are locked for listing are left out, and
    /// so are those that were wiped meanwhile.
    pub(crate) fn ask<T>(
        &self,
        request: &Request,
        of_one: impl Fn(&Selection) -> Result<Option<T>>,
    ) -> Result<Answer<T>> {
        let mut selections = self.select(request)?;
        selections.retain(|selection| !selection.is_locked(Action::List));
        Answer::of(&selections, of_one, Error::is_of_dataset, &|_, _| ())
    }
}

impl<T> Answer<T> {
    /// Calls `of_one` for each dataset, and continues after errors for which `is_of_one` holds. Datasets that were
    /// wiped meanwhile are left out. `progress` is called before each dataset.
    pub(crate) fn of(
        selections: &[Selection],
        of_one: impl Fn(&Selection) -> Result<Option<T>>,
        is_of_one: impl Fn(&Error) -> bool,
        progress: DatasetsDone<'_>,
    ) -> Result<Self> {
        let mut answer = Self { found: Vec::new(), unusable: Vec::new() };
        for (done, selection) in selections.iter().enumerate() {
            progress(done as u64, selections.len() as u64);
            match of_one(selection).map_err(|error| Error::of_listed(&selection.entry.key, error)) {
                Ok(found) => answer.found.extend(found),
                Err(error) if selection.was_wiped(&error) => {}
                Err(error) if is_of_one(&error) => answer.unusable.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(answer)
    }
}

impl Selection {
    /// Whether an error was caused by a wipe of the dataset.
    fn was_wiped(&self, error: &Error) -> bool {
        let is_absent = matches!(error, Error::LostDataset { source: ObjectError::NotFound { .. }, .. });
        is_absent && matches!(self.root.same_incarnation(&self.entry), Ok(None))
    }
}
