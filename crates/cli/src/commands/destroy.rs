//! What the `destroy` of pools, containers and objects share: they say what would go until they are told to remove it,
//! and leave alone what a field store rests on.

use clap::Args;
use isotach_fields::{Config, DatasetStatus, Error as FieldsError, FieldStore, KeptDataset};
use isotach_mars::Request;
use isotach_object::{Error as ObjectError, Label, Pool};

use crate::{
    context,
    failure::{Failure, Outcome},
    output::{count, outln, print_done},
};

/// How much is meant.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DestroyFlags {
    /// Remove it; without this only says what would go
    #[arg(long)]
    pub(crate) doit: bool,
    /// Even if a field store rests on it
    #[arg(long)]
    pub(crate) force: bool,
}

/// The label of the container that says which datasets a field store has.
pub(crate) const ROOT: &str = "root";
const FORCE_KEPT: &str = "`isotach snapshot remove` removes snapshots; --force removes this all the same";
const FORCE: &str = "`isotach wipe` removes datasets; --force removes this all the same";

/// Something that may go.
pub(crate) struct Victim<'v> {
    /// What it is, in one word.
    pub(crate) what: &'v str,
    pub(crate) name: &'v str,
    /// What more there is to say of it: ` of 3 KiB`.
    pub(crate) more: &'v str,
}

impl Victim<'_> {
    /// Removes it, or says that it would.
    pub(crate) fn destroy(
        &self,
        flags: DestroyFlags,
        as_json: bool,
        remove: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let Self { what, name, more } = self;
        if flags.doit {
            remove()?;
            return print_done(as_json, "removed", what, name);
        }
        if as_json {
            return print_done(as_json, "would remove", what, name);
        }
        outln!("would remove {what} {name}{more}; add --doit to remove it")
    }
}

/// Refuses a pool with datasets in it, listed or only in snapshots, and one that other programs use, too.
pub(crate) fn check_pool(pool: &dyn Pool, flags: DestroyFlags) -> Outcome {
    if !flags.force {
        check_foreign(pool)?;
    }
    let held = if flags.force { None } else { Held::by(pool)? };
    let Some(held) = held.filter(|held| !held.datasets.is_empty() || !held.kept.is_empty()) else {
        return Ok(());
    };
    let force = if held.datasets.is_empty() { FORCE_KEPT } else { FORCE };
    Err(Failure::failed(format!("pool {} holds a field store of {}: {force}", pool.uri(), held.counted())))
}

fn check_foreign(pool: &dyn Pool) -> Outcome {
    for label in pool.list_containers()? {
        // Only what is not ours is refused so.
        if let Err(ObjectError::InvalidInput { .. }) = pool.open_container(&label) {
            let what = format!("pool {} holds a container of another program, {label}", pool.uri());
            return Err(Failure::failed(format!("{what}: --force removes it all the same")));
        }
    }
    Ok(())
}

/// Refuses a container that a field store rests on.
pub(crate) fn check_container(pool: &dyn Pool, label: &Label, flags: DestroyFlags) -> Outcome {
    let held = if flags.force { None } else { Held::by(pool)? };
    held.map_or(Ok(()), |held| held.check(pool, label))
}

/// The field store that a pool holds the catalogue of.
struct Held {
    datasets: Vec<DatasetStatus>,
    /// Those that were wiped, and that snapshots show.
    kept: Vec<KeptDataset>,
}

impl Held {
    /// None if the pool holds none.
    fn by(pool: &dyn Pool) -> Outcome<Option<Self>> {
        let store = FieldStore::open(&Config::single(pool.uri()), &context::registry());
        let found = store.and_then(|store| Ok((store.status(&Request::new())?, store.kept_datasets()?)));
        let (datasets, kept) = match found {
            Ok(found) => found,
            Err(FieldsError::NotAStore { .. } | FieldsError::Object(ObjectError::NotFound { .. })) => {
                return Ok(None);
            }
            Err(error) => {
                let message = "it cannot be told what a field store there rests on";
                let failure =
                    Failure::failed(format!("{message}: {error}; --force removes this all the same"));
                return Err(failure.about(format!("pool {}", pool.uri())));
            }
        };
        Ok(Some(Self { datasets, kept }))
    }

    /// Its datasets, in words.
    fn counted(&self) -> String {
        let datasets = count(self.datasets.len() as u64, "dataset");
        match self.kept.len() {
            0 => datasets,
            kept => format!("{datasets} and {kept} that only snapshots show"),
        }
    }

    fn check(&self, pool: &dyn Pool, label: &Label) -> Outcome {
        let uri = pool.uri();
        if label.as_str() == ROOT {
            let datasets = self.counted();
            return Err(Failure::failed(format!(
                "container {ROOT} keeps the schema of the field store {uri} and knows its {datasets}: {FORCE}"
            )));
        }
        if let Some(dataset) = self.datasets.iter().find(|dataset| dataset.catalogue.label == *label) {
            return Err(Failure::failed(format!(
                "container {label} holds the dataset {} of the field store {uri}: {FORCE}",
                dataset.key
            )));
        }
        match self.kept.iter().find(|kept| kept.status.catalogue.label == *label) {
            Some(KeptDataset { status, snapshots }) => {
                let names: Vec<_> = snapshots.iter().map(Label::as_str).collect();
                Err(Failure::failed(format!(
                    "container {label} holds the wiped dataset {} of the field store {uri}, which is in snapshot {}: {FORCE_KEPT}",
                    status.key,
                    names.join(", ")
                )))
            }
            None => Ok(()),
        }
    }
}
