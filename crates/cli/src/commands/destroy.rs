//! What the `destroy` of pools, containers and objects share: they say what would go until they are told to remove it,
//! and leave alone what a field store rests on.

use isotach_fields::{Config, DatasetStatus, Error as FieldsError, FieldStore};
use isotach_mars::Request;
use isotach_object::{Error as ObjectError, Label, Pool};

use super::pool::told;
use crate::{
    context,
    failure::{Failure, Outcome},
    flags::DestroyFlags,
    output::{count, outln},
};

/// The label of the container that says which datasets a field store has.
pub(crate) const ROOT: &str = "root";
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
            return told(as_json, "removed", what, name);
        }
        if as_json {
            return told(as_json, "would remove", what, name);
        }
        outln!("would remove {what} {name}{more}; add --doit to remove it")
    }
}

/// Refuses a pool with datasets in it.
pub(crate) fn check_pool(pool: &dyn Pool, flags: DestroyFlags) -> Outcome {
    let held = if flags.force { None } else { Held::by(pool)? };
    match held.map_or(0, |held| held.datasets.len() as u64) {
        0 => Ok(()),
        datasets => {
            let datasets = count(datasets, "dataset");
            Err(Failure::failed(format!("pool {} holds a field store of {datasets}: {FORCE}", pool.uri())))
        }
    }
}

/// Refuses a container that a field store rests on.
pub(crate) fn check_container(pool: &dyn Pool, label: &Label, flags: DestroyFlags) -> Outcome {
    let held = if flags.force { None } else { Held::by(pool)? };
    held.map_or(Ok(()), |held| held.check(pool, label))
}

/// The field store that a pool holds the catalogue of.
struct Held {
    datasets: Vec<DatasetStatus>,
}

impl Held {
    /// None if the pool holds none.
    fn by(pool: &dyn Pool) -> Outcome<Option<Self>> {
        let store = FieldStore::open(&Config::single(pool.uri()), &context::registry());
        let datasets = match store.and_then(|store| store.status(&Request::new())) {
            Ok(datasets) => datasets,
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
        Ok(Some(Self { datasets }))
    }

    fn check(&self, pool: &dyn Pool, label: &Label) -> Outcome {
        let uri = pool.uri();
        if label.as_str() == ROOT {
            let datasets = count(self.datasets.len() as u64, "dataset");
            return Err(Failure::failed(format!(
                "container {ROOT} keeps the schema of the field store {uri} and knows its {datasets}: {FORCE}"
            )));
        }
        match self.datasets.iter().find(|dataset| dataset.catalogue.label == *label) {
            Some(dataset) => Err(Failure::failed(format!(
                "container {label} holds the dataset {} of the field store {uri}: {FORCE}",
                dataset.key
            ))),
            None => Ok(()),
        }
    }
}
