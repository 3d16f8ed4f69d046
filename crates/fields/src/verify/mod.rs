//! Verifying: checks that every field that the catalogue names exists, and reports those that do not.
//!
//! What must stay true: a verification changes nothing, continues after damage, and reports a field only if the damage
//! is still there at a second check: a field that was replaced or wiped meanwhile is not damaged. Nor is a replaced
//! field whose array is gone: a purge is under way, or was killed.

mod check;
mod collocation;
mod dataset;
mod datasets;
mod repair;
mod report;
mod unnamed;

use std::ops::ControlFlow;

use isotach_mars::Request;
use isotach_object::Registry;

use self::report::Run;
pub use self::{
    repair::{EndedWipes, Repair, RepairReport, Repaired, RestoredContainer},
    report::{Damage, Level, VerifiedPart, VerifyOptions, VerifyProgress, VerifyReport},
    unnamed::UnnamedFields,
};
use crate::{Config, FieldStore, Result, Selection};

impl FieldStore {
    /// Verifies the datasets and fields that match a request, and the list of datasets. Locks do not matter. Others may
    /// write meanwhile.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore, VerifyOptions};
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// store.archive(&"class=od,type=fc,step=6".parse()?, b"field")?;
    /// store.flush()?;
    /// let options = VerifyOptions { data: true, ..VerifyOptions::default() };
    /// let report = store.verify(&"".parse()?, options, &|_| ())?;
    /// assert!(report.is_sound());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) when the request cannot be understood; errors of the engines that are
    /// not damage.
    pub fn verify(
        &self,
        request: &Request,
        options: VerifyOptions,
        progress: &(dyn Fn(VerifyProgress) + Sync),
    ) -> Result<VerifyReport> {
        let progress = |now| {
            progress(now);
            ControlFlow::Continue(())
        };
        Ok(self.verify_until(request, options, &progress)?.unwrap_or_default())
    }

    /// As [`FieldStore::verify`], until `progress` breaks: then it ends within the bytes of a few fields or the index of a dataset, and returns
    /// `None`.
    ///
    /// # Errors
    /// As [`FieldStore::verify`].
    pub fn verify_until(
        &self,
        request: &Request,
        options: VerifyOptions,
        progress: &(dyn Fn(VerifyProgress) -> ControlFlow<()> + Sync),
    ) -> Result<Option<VerifyReport>> {
        let selected = self.select(request);
        let size = |of: &Selection| self.inner.size_of(&of.root, &of.entry.record).unwrap_or(0);
        let sizes = selected.iter().flatten().map(size);
        let total = options.data.then(|| sizes.sum());
        let run = Run::new(options, total, progress);
        let mut parts = Vec::new();
        for root in self.inner.roots.iter().take_while(|_| !run.is_ended()) {
            parts.push(datasets::verify(&self.inner, root, &run)?);
        }
        let is_reported = parts.iter().any(|part| !part.damage.is_empty());
        let selections = match selected {
            Err(error) if is_reported && error.code() == "corrupt" => Vec::new(),
            selected => selected?,
        };
        for selection in selections.iter().take_while(|_| !run.is_ended()) {
            parts.extend(dataset::verify(&self.inner, selection, &run)?);
        }
        Ok((!run.is_ended()).then(|| VerifyReport {
            parts,
            bytes: run.bytes.into_inner(),
            snapshot: self.inner.snapshot.as_ref().map(|snapshot| snapshot.name.clone()),
        }))
    }

    /// Verifies the lists of datasets of a store that cannot be opened.
    ///
    /// # Errors
    /// Errors of the engines that are not damage.
    pub fn verify_unopened(
        config: &Config,
        registry: &Registry,
        options: VerifyOptions,
    ) -> Result<VerifyReport> {
        let run = Run::new(options, None, &|_| ControlFlow::Continue(()));
        let mut parts: Vec<VerifiedPart> = Vec::new();
        for space in &config.spaces {
            let pool = registry.open_pool(&space.catalogue)?;
            if !parts.iter().any(|part| part.place == datasets::place_of(&*pool)) {
                let forbidden = config.limits_of(&space.catalogue).of_any();
                parts.push(datasets::verify_unopened(&pool, forbidden, &run)?);
            }
        }
        Ok(VerifyReport { parts, bytes: run.bytes.into_inner(), snapshot: None })
    }
}
