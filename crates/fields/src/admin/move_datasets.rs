//! Moving datasets and collocations to another store.
//!
//! What must stay true: a flush that returned without an error is in the source or in the target. The datasets carry
//! the move's mark before their fields are listed, and a flush checks for the mark after its entries are visible. So
//! either the flush is refused, or the listing contains its fields. The fields of a refused flush are copied too:
//! listing and copying repeat until the listing holds nothing that the target lacks. Only datasets that still carry the
//! mark are wiped.

use std::sync::Arc;

use isotach_mars::Request;

use crate::{
    CopyReport, Error, FieldStore, Result, Selection,
    catalogue::{
        record::MoveMark,
        root::{Changed, Entry},
    },
    retrieve::buffers::Buffers,
};

/// How often a move compares the copy with its source and copies the differences.
const ROUNDS: usize = 16;

impl FieldStore {
    /// Moves the datasets or collocations that a request names to another store: copies them, compares lengths and
    /// checksums, then wipes them here. At any time, each field that was flushed without an error is in this store or
    /// in the target.
    ///
    /// During the move the datasets are locked for archiving. A flush of fields that were archived into them before
    /// fails with [`Error::Moving`] and keeps its fields. Repeated after the move, the flush publishes them here, or
    /// reports with [`Error::Wiped`] how many are gone with the moved data and must be archived again.
    ///
    /// A killed move leaves that lock. Repeating the move takes the lock over and removes it at its end, unless the
    /// first move was killed while it wiped. Unlocking the datasets for archiving removes it in any case. A running
    /// move that has lost its datasets to another move, or to an unlock, fails before it wipes.
    ///
    /// # Errors
    /// As [`FieldStore::copy_to`] and [`FieldStore::wipe`]; [`Error::CopyDiffers`] when the source or the target keeps
    /// changing; `Conflict` when the move has lost a dataset; [`Error::Moving`] when another move wipes it. Datasets
    /// that are not wiped yet stay unchanged.
    pub fn move_to(&self, target: &Self, request: &Request) -> Result<CopyReport> {
        self.refuse_itself(target)?;
        // A dataset that may not be wiped is not copied either.
        self.plan_wipe(request)?;
        let mut taken = Vec::new();
        let begun = self.take_for_move(request, &mut taken);
        let result = begun.and_then(|()| self.move_taken(target, request, &mut taken));
        // After any failure, try to remove every mark.
        let mut ended = Ok(());
        for Taken { selection: Selection { root, entry, .. }, mark } in &taken {
            let end = || root.end_move(entry, *mark);
            // The second end changes nothing if the first one counts.
            let end = end().or_else(|first| end().map_err(|_| first));
            ended = ended.and(end.map_err(|error| (entry, error)));
        }
        let Err((entry, error)) = ended else { return result };
        Err(match result {
            Ok(_) => not_ended(entry, "has moved its fields", error),
            Err(first) => not_ended(entry, "failed", first),
        })
    }

    fn take_for_move(&self, request: &Request, taken: &mut Vec<Taken>) -> Result<()> {
        for selection in self.select(request)? {
            if !selection.entry.record.overlays.is_empty() {
                let what = format!("a move of dataset {}, which is an overlay", selection.entry.key);
                return Err(Error::invalid(what, "a copy, which has what it shows, and then a wipe"));
            }
            match selection.root.begin_move(&selection.entry)? {
                None => {}
                // The mark may be another move's, so this one does not remove it.
                Some(Changed { is_certain: false, outcome: Err(error), .. }) => {
                    return Err(not_ended(&selection.entry, "failed", error));
                }
                Some(Changed { record, outcome, .. }) => {
                    taken.push(Taken { selection, mark: record.move_mark });
                    outcome?;
                }
            }
        }
        Ok(())
    }

    fn move_taken(&self, target: &Self, request: &Request, taken: &mut [Taken]) -> Result<CopyReport> {
        let selections: Vec<_> = taken.iter().map(|taken| taken.selection.clone()).collect();
        self.copy_selections(target, &selections)?;
        let report = self.copy_until_equal(target, &selections)?;
        for plan in self.plan_wipe(request)? {
            // A dataset that was created since then does not belong to the move.
            if let Some(taken) = taken.iter_mut().find(|taken| taken.is_of(&plan.selection)) {
                let Selection { root, entry, .. } = &plan.selection;
                taken.mark = root.begin_wipe_of_move(entry, taken.mark)?;
                self.inner.remove(&plan, Some(taken.mark))?;
            }
        }
        self.inner.sweep()?;
        Ok(report)
    }

    /// Copies what the target lacks, until it has every field of the source.
    fn copy_until_equal(&self, target: &Self, selections: &[Selection]) -> Result<CopyReport> {
        let mut what = String::new();
        for _ in 0..ROUNDS {
            let (mut equal, mut copied) = (CopyReport::default(), CopyReport::default());
            let buffers = Buffers::default();
            for field in self.fields_of(selections) {
                let field = field?;
                match self.inner.with_handles(|| target.difference_from(&field))? {
                    None => equal.add(&field),
                    Some(difference) => {
                        what = difference;
                        self.copy_batch(target, &mut vec![field], &buffers, &mut copied)?;
                    }
                }
            }
            if copied.fields == 0 {
                return Ok(equal);
            }
            self.inner.with_handles(|| target.flush())?;
        }
        Err(Error::CopyDiffers { what })
    }
}

/// The error of a move whose lock may stay.
fn not_ended(entry: &Entry, what: &str, source: Error) -> Error {
    let what = format!("a move of dataset {} {what}, and its lock on archiving may stay", entry.key);
    Error::NotEnded { what, source: Box::new(source), remedy: "`isotach unlock REQUEST --archive`" }
}

/// A dataset under the move's mark.
struct Taken {
    selection: Selection,
    mark: MoveMark,
}

impl Taken {
    /// Whether a selection is of the same incarnation of the dataset.
    fn is_of(&self, other: &Selection) -> bool {
        let incarnation = |selection: &Selection| selection.entry.record.incarnation;
        Arc::ptr_eq(&self.selection.root, &other.root) && incarnation(&self.selection) == incarnation(other)
    }
}
