//! What wipes that were killed left behind: containers that are marked as wiped and that no root lists.
//!
//! What must stay true: a container is destroyed only while it carries the mark. Nobody makes a dataset in a marked
//! container, so whatever is destroyed here is what a wipe was to destroy, whoever began it.

use std::sync::Arc;

use isotach_object::{Cell, Error as ObjectError, Label, Pool};

use crate::{
    Error, Result,
    layout::{DATASET, ENTRY_KEY, ENTRY_WIPED, ROOT, parse_named_text},
    root::Root,
    store::Inner,
};

impl Inner {
    /// Ends the wipes that were killed after they had removed the root's entry.
    pub(crate) fn sweep(&self) -> Result<()> {
        for root in &self.roots {
            for label in root.pool.list_containers()? {
                if label.as_str() == ROOT || is_listed(root, &label)? {
                    continue;
                }
                // Another's container in the same pool may be unreadable; that is no failure of a wipe.
                let Ok(Some(text)) = wiped_dataset(root, &label) else { continue };
                // It may have been listed when the mark was read, and its wipe be under way.
                if !is_listed(root, &label)? {
                    destroy_wiped(root, self.store_of(root, &text).as_deref(), &label)?;
                }
            }
        }
        Ok(())
    }

    /// The pool of the store of an unlisted dataset, if it is not the catalogue's.
    fn store_of(&self, root: &Arc<Root>, text: &str) -> Option<Arc<dyn Pool>> {
        let home = self.home_of(&parse_named_text(text)?).ok()?;
        let is_other = Arc::ptr_eq(&home.root, root) && home.store.uri() != root.uri();
        is_other.then(|| Arc::clone(&home.store))
    }
}

fn is_listed(root: &Root, label: &Label) -> Result<bool> {
    Ok(root.entries()?.list.iter().any(|entry| entry.record.label == label.as_str()))
}

/// The text of the dataset in a container that is marked as wiped. `None` for any other container, or none.
pub(crate) fn wiped_dataset(root: &Root, label: &Label) -> Result<Option<String>> {
    let container = match root.pool.open_container(label) {
        Ok(container) => container,
        Err(ObjectError::NotFound { .. } | ObjectError::InvalidInput { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let cells = [ENTRY_KEY, ENTRY_WIPED].map(|name| Cell::kv(DATASET, name));
    let mut found = match container.get_many(&cells) {
        Err(ObjectError::NotFound { .. }) => return Ok(None),
        found => found?.into_iter().flatten(),
    };
    let (Some(text), Some(_)) = (found.next(), found.next()) else { return Ok(None) };
    Ok(String::from_utf8(text).ok())
}

/// Destroys the containers of a wiped dataset, the marked one last, so that what is left after a kill is known again.
pub(crate) fn destroy_wiped(root: &Root, store: Option<&dyn Pool>, label: &Label) -> Result<()> {
    if wiped_dataset(root, label)?.is_none() {
        return Ok(());
    }
    if let Some(store) = store {
        destroy(store, label)?;
    }
    destroy(&*root.pool, label)
}

/// Destroys a container. One that is not there is as good.
pub(crate) fn destroy(pool: &dyn Pool, label: &Label) -> Result<()> {
    match pool.destroy_container(label) {
        Ok(()) | Err(ObjectError::NotFound { .. }) => Ok(()),
        Err(error) => Err(Error::Object(error)),
    }
}
