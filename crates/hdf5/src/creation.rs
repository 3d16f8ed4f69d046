//! The container of a new file.

use isotach_object::{
    Cell, Container, ContainerOptions, Error as ObjectError, Label, Pool, Transaction, Update,
};

use crate::{
    Header, Result,
    file::seconds,
    layout::{self, new_file},
};

/// Creates the container of a file. Some engines create empty ones only: there the file is in it with the first commit, and a container that
/// holds nothing is that of a creator that died, or will be done soon. Whoever comes finishes it, and only one does.
pub(crate) fn create_container(
    pool: &dyn Pool,
    label: &Label,
    root: &Header,
    properties: &[u8],
) -> Result<()> {
    let entries = new_file(root, properties, seconds());
    let updates: Vec<_> = entries
        .iter()
        .map(|(object, key, value)| Update::Put { cell: Cell::kv(*object, key), value })
        .collect();
    match pool.create_container(label, &ContainerOptions { updates: &updates, ..Default::default() }) {
        Err(ObjectError::Unsupported { .. }) => {}
        Err(error @ ObjectError::AlreadyExists { .. }) => {
            // One with something in it exists.
            let container = pool.open_container(label)?;
            return if layout::is_empty(&*container)? {
                finish(&*container, updates)
            } else {
                Err(error.into())
            };
        }
        created => return Ok(created?),
    }
    match pool.create_container(label, &ContainerOptions::default()) {
        Ok(()) | Err(ObjectError::AlreadyExists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    finish(&*pool.open_container(label)?, updates)
}

/// Puts the entries of a new file into a container that holds nothing.
fn finish(container: &dyn Container, updates: Vec<Update<'_>>) -> Result<()> {
    let exists = || ObjectError::AlreadyExists { what: format!("container {}", container.label()) };
    let preconditions = vec![layout::absent()];
    match container.commit(&Transaction { preconditions, updates }) {
        Err(ObjectError::Conflict { .. }) => Err(exists().into()),
        outcome => Ok(outcome.and_then(|_| container.flush())?),
    }
}
