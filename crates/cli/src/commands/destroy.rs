//! What the `destroy` commands of pools, containers and objects share: a dry run without `--doit`, and the protection of
//! field stores.

use clap::Args;
use isotach_fields::{Config, DatasetStatus, Error as FieldsError, FieldStore, SnapshotOnlyDataset};
use isotach_mars::Request;
use isotach_object::{Error as ObjectError, Label, Pool};

use crate::{
    context,
    failure::{Failure, Outcome},
    output::{count, outln, print_done},
};

/// The flags of every `destroy`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DestroyFlags {
    /// Remove it; without this flag only print what would be removed
    #[arg(long)]
    pub(crate) doit: bool,
    /// Remove it even if a field store needs it
    #[arg(long)]
    pub(crate) force: bool,
}

/// The label of the container that holds a field store's list of datasets.
pub(crate) const ROOT: &str = "root";
const FORCE_SNAPSHOTS: &str = "`isotach snapshot remove` removes snapshots; --force removes this anyway";
const FORCE: &str = "`isotach wipe` removes datasets; --force removes this anyway";

/// Something to remove.
pub(crate) struct Removal<'v> {
    /// Its kind, in one word.
    pub(crate) kind: &'v str,
    pub(crate) name: &'v str,
    /// More text after the name: ` of 3 KiB`.
    pub(crate) details: &'v str,
}

impl Removal<'_> {
    /// Removes it with `--doit`. Otherwise prints that it would be removed.
    pub(crate) fn run(
        &self,
        flags: DestroyFlags,
        as_json: bool,
        remove: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let Self { kind, name, details } = self;
        if flags.doit {
            remove()?;
            return print_done(as_json, "removed", kind, name);
        }
        match as_json {
            true => print_done(true, "would remove", kind, name),
            false => outln!("would remove {kind} {name}{details}; add --doit to remove it"),
        }
    }
}

/// Refuses a pool with datasets, listed or only in snapshots, and a pool that other programs use.
pub(crate) fn check_pool(pool: &dyn Pool, flags: DestroyFlags) -> Outcome {
    if flags.force {
        return Ok(());
    }
    for label in pool.list_containers()? {
        // This error means that the container is not Isotach's.
        if let Err(ObjectError::InvalidInput { .. }) = pool.open_container(&label) {
            let uri = pool.uri();
            return Err(Failure::failed(format!(
                "pool {uri} holds a container of another program, {label}: --force removes it anyway"
            )));
        }
    }
    match Stored::in_pool(pool)? {
        Some(stored) if !stored.is_empty() => {
            let force = if stored.datasets.is_empty() { FORCE_SNAPSHOTS } else { FORCE };
            let (uri, datasets) = (pool.uri(), stored.summary());
            Err(Failure::failed(format!("pool {uri} holds a field store of {datasets}: {force}")))
        }
        _ => Ok(()),
    }
}

/// Refuses a container that a field store needs.
pub(crate) fn check_container(pool: &dyn Pool, label: &Label, flags: DestroyFlags) -> Outcome {
    let stored = if flags.force { None } else { Stored::in_pool(pool)? };
    stored.map_or(Ok(()), |stored| stored.check(pool, label))
}

/// The datasets of the field store whose catalogue is in a pool.
struct Stored {
    datasets: Vec<DatasetStatus>,
    /// Wiped datasets that snapshots show.
    kept: Vec<SnapshotOnlyDataset>,
}

impl Stored {
    /// None if the pool holds no field store.
    fn in_pool(pool: &dyn Pool) -> Outcome<Option<Self>> {
        let store = FieldStore::open(&Config::single(pool.uri()), &context::registry());
        let found =
            store.and_then(|store| Ok((store.status(&Request::new())?, store.snapshot_only_datasets()?)));
        match found {
            Ok((datasets, kept)) => Ok(Some(Self { datasets, kept })),
            Err(FieldsError::NotAStore { .. } | FieldsError::Object(ObjectError::NotFound { .. })) => {
                Ok(None)
            }
            Err(error) => Err(Failure::failed(format!(
                "pool {}: cannot read which datasets the field store has: {error}; --force removes this anyway",
                pool.uri()
            ))),
        }
    }

    fn is_empty(&self) -> bool {
        self.datasets.is_empty() && self.kept.is_empty()
    }

    fn summary(&self) -> String {
        let datasets = count(self.datasets.len() as u64, "dataset");
        match self.kept.len() {
            0 => datasets,
            kept => format!("{datasets} and {kept} in snapshots only"),
        }
    }

    fn check(&self, pool: &dyn Pool, label: &Label) -> Outcome {
        let uri = pool.uri();
        let is_of = |dataset: &DatasetStatus| dataset.catalogue.label == *label;
        let reason = if label.as_str() == ROOT {
            format!(
                "holds the schema and the list of datasets of the field store {uri}, {}: {FORCE}",
                self.summary()
            )
        } else if let Some(dataset) = self.datasets.iter().find(|dataset| is_of(dataset)) {
            format!("holds the dataset {} of the field store {uri}: {FORCE}", dataset.key)
        } else if let Some(SnapshotOnlyDataset { status, snapshots }) =
            self.kept.iter().find(|kept| is_of(&kept.status))
        {
            let names: Vec<_> = snapshots.iter().map(Label::as_str).collect();
            let (key, names) = (&status.key, names.join(", "));
            format!(
                "holds the wiped dataset {key} of the field store {uri}, which is in snapshot {names}: {FORCE_SNAPSHOTS}"
            )
        } else {
            return Ok(());
        };
        Err(Failure::failed(format!("container {label} {reason}")))
    }
}
