//! Asking each dataset of a request, where one that cannot be used keeps nobody from the others.
//!
//! What must stay true: a dataset is told of in the answer, was wiped meanwhile, or is locked for listing. None is passed
//! over because it is lost or damaged.

use isotach_mars::Request;
use isotach_object::Error as ObjectError;

use crate::{Error, FieldStore, Result, Selection, admin::locks::Action};

/// What was found in the datasets of a request, and which of them cannot be used.
#[derive(Debug)]
pub struct Answer<T> {
    /// What was found in all others.
    pub found: Vec<T>,
    /// An [`Error::LostDataset`] for each dataset whose containers are not there, though the store lists it, and an
    /// [`Error::DamagedDataset`] for each that cannot be read. [`FieldStore::wipe`] removes what is left of them. An
    /// [`Error::ClosedDataset`] for each that this user may not read. A purge has more.
    pub unusable: Vec<Error>,
}

/// How many datasets were gone through, and how many there are.
pub type DatasetsDone<'p> = &'p dyn Fn(u64, u64);

impl FieldStore {
    /// Asks each dataset that a request may mean. Those that are locked for listing are passed over, and so are those
    /// that `of_one` finds wiped meanwhile.
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
    /// Asks each dataset, and goes on after errors that are of it alone. Those that are found wiped meanwhile are passed over.
    /// `progress` is told before each how many are done.
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
    /// Whether an error comes of the dataset having been wiped meanwhile.
    fn was_wiped(&self, error: &Error) -> bool {
        let is_absent = matches!(error, Error::LostDataset { source: ObjectError::NotFound { .. }, .. });
        is_absent && matches!(self.root.same_life(&self.entry), Ok(None))
    }
}
