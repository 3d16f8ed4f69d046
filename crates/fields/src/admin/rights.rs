//! Rights of a store and its datasets: the rights of their containers.
//!
//! The rights of the root's container decide who may list the store and create datasets. A new dataset inherits the
//! rights that the root's container has at that time. Existing datasets keep their rights until they are changed.

use std::collections::BTreeSet;

use isotach_mars::{Key, Request};
use isotach_object::{Label, Pool, PoolUri, Rights, RightsChange};

use crate::{Error, FieldStore, Result, Selection, catalogue::locks::Action, catalogue::root};

/// The owner and the access control list of a container of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerRights {
    /// The dataset, or `None` for the root.
    pub dataset: Option<Key>,
    /// The pool.
    pub pool: PoolUri,
    /// The container.
    pub label: Label,
    /// The owner, the group and the access control list.
    pub rights: Rights,
}

impl FieldStore {
    /// The rights of each root's container. New datasets inherit them.
    ///
    /// # Errors
    /// `Unsupported` where the engine has no rights; what the engine reports.
    pub fn rights(&self) -> Result<Vec<ContainerRights>> {
        self.inner.roots.iter().map(|root| of(&*root.pool, root::label()?, None)).collect()
    }

    /// Changes the rights of the store itself, which new datasets inherit. Write permission allows creating datasets.
    /// The rights of existing datasets do not change.
    ///
    /// ```no_run
    /// # use isotach_fields::FieldStore;
    /// use isotach_object::RightsChange;
    /// # fn example(store: &FieldStore) -> Result<(), isotach_fields::Error> {
    /// let acl = "A:G:writers@:rw,A::EVERYONE@:r".parse()?;
    /// store.set_rights(&RightsChange { acl: Some(acl), ..RightsChange::default() })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`AccessControl::set_rights`](isotach_object::AccessControl::set_rights).
    pub fn set_rights(&self, change: &RightsChange) -> Result<Vec<ContainerRights>> {
        self.inner.check_present("change the rights of")?;
        self.inner.check_everywhere(Action::Archive, "the rights of the store")?;
        let roots = self.inner.roots.iter();
        let set = roots.map(|root| set(&*root.pool, root::label()?, None, change));
        let rights = set.collect::<Result<_>>()?;
        if let Some(acl) = &change.acl {
            let spaces = self.spaces().into_iter();
            let pools: BTreeSet<PoolUri> = spaces.flat_map(|space| [space.catalogue, space.store]).collect();
            for uri in pools {
                let pool = self.inner.pool(&uri)?;
                if let Some(creation) = pool.facets().creation_rights {
                    creation.grant_create(acl)?;
                }
            }
        }
        Ok(rights)
    }

    /// The rights of the containers of the datasets that a request names. Keys below the dataset level are ignored.
    ///
    /// # Errors
    /// As [`FieldStore::list`], and as [`AccessControl::rights`](isotach_object::AccessControl::rights).
    pub fn dataset_rights(&self, request: &Request) -> Result<Vec<ContainerRights>> {
        let mut found = Vec::new();
        self.for_each_container(request, |key, pool, label| {
            found.push(of(pool, label.clone(), Some(key.clone()))?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Changes the rights of the datasets that a request names, and returns the new rights. It stops at the first
    /// failure.
    ///
    /// # Errors
    /// As [`FieldStore::list`], and as [`AccessControl::set_rights`](isotach_object::AccessControl::set_rights).
    pub fn set_dataset_rights(
        &self,
        request: &Request,
        change: &RightsChange,
    ) -> Result<Vec<ContainerRights>> {
        self.inner.check_present("change the rights of")?;
        self.check_effect(request)?;
        for Selection { entry, .. } in self.select(request)? {
            entry.forbidden.check(Action::Archive, || format!("the rights of dataset {}", entry.key))?;
        }
        let mut rights = Vec::new();
        self.for_each_container(request, |key, pool, label| {
            let set = set(pool, label.clone(), Some(key.clone()), change);
            rights.push(set.map_err(|error| Error::of_listed(key, error))?);
            Ok(())
        })?;
        Ok(rights)
    }

    fn for_each_container(
        &self,
        request: &Request,
        mut each: impl FnMut(&Key, &dyn Pool, &Label) -> Result<()>,
    ) -> Result<()> {
        for selection in self.select(request)? {
            let Selection { root, entry, .. } = &selection;
            let label: Label = entry.record.label.parse()?;
            let pools = self.inner.pools_of(root, &entry.record)?;
            pools.iter().try_for_each(|pool| each(&entry.key, &**pool, &label))?;
        }
        Ok(())
    }
}

/// Changes and returns the rights, also to a user who has given the container away and may no longer read them.
fn set(
    pool: &dyn Pool,
    label: Label,
    dataset: Option<Key>,
    change: &RightsChange,
) -> Result<ContainerRights> {
    let rights = pool.access_control()?.set_rights(&label, change)?;
    Ok(ContainerRights { dataset, pool: pool.uri().clone(), label, rights })
}

fn of(pool: &dyn Pool, label: Label, dataset: Option<Key>) -> Result<ContainerRights> {
    let rights = pool.access_control()?.rights(&label)?;
    Ok(ContainerRights { dataset, pool: pool.uri().clone(), label, rights })
}
