//! Asking each dataset of a request, where one that cannot be used keeps nobody from the others.
//!
//! What must stay true: a dataset is told of in the answer, was wiped meanwhile, or is locked for listing. None is passed
//! over because it is lost or damaged.

use isotach_mars::Request;
use isotach_object::Error as ObjectError;

use crate::{Error, FieldStore, Result, Selection, control::Action};

/// What was found in the datasets of a request, and which of them cannot be used.
#[derive(Debug)]
pub struct Answer<T> {
    /// What was found in all others.
    pub found: Vec<T>,
    /// An [`Error::LostDataset`] for each dataset whose containers are not there, though the store lists it, and an
    /// [`Error::DamagedDataset`] for each that cannot be read. [`FieldStore::wipe`] removes what is left of them.
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
        self.ask_telling(request, of_one, &|_, _| ())
    }

    /// As `ask`, and tells before each dataset how many are done.
    pub(crate) fn ask_telling<T>(
        &self,
        request: &Request,
        of_one: impl Fn(&Selection) -> Result<Option<T>>,
        progress: DatasetsDone<'_>,
    ) -> Result<Answer<T>> {
        let mut answer = Answer { found: Vec::new(), unusable: Vec::new() };
        let mut selections = self.select(request)?;
        selections.retain(|selection| !selection.is_locked(Action::List));
        for (done, selection) in selections.iter().enumerate() {
            progress(done as u64, selections.len() as u64);
            match of_one(selection).map_err(|error| Error::of_listed(&selection.entry.key, error)) {
                Ok(found) => answer.found.extend(found),
                Err(error) if selection.was_wiped(&error) => {}
                Err(error) if error.is_of_dataset() => answer.unusable.push(error),
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
