//! Going through several layers at once, in order of path, newest layer first for the same path.

use std::sync::Arc;

use isotach_object::Result;

use crate::{
    entry::{Entry, Versioned},
    path,
    run::{Run, RunCursor},
    state::State,
    table::Table,
};

/// A place in one layer.
enum Source<'s> {
    Table {
        rest: Box<dyn Iterator<Item = (&'s [u8], &'s Versioned)> + 's>,
        current: Option<(&'s [u8], &'s Versioned)>,
    },
    Run(Box<RunCursor>),
}

impl<'s> Source<'s> {
    fn table(table: &'s Table, start: &[u8]) -> Self {
        let mut rest: Box<dyn Iterator<Item = _> + 's> = Box::new(table.range(start));
        let current = rest.next();
        Self::Table { rest, current }
    }

    fn run(run: &Arc<Run>, start: &[u8]) -> Result<Self> {
        Ok(Self::Run(Box::new(RunCursor::seek(run, start)?)))
    }

    fn path(&self) -> Option<&[u8]> {
        match self {
            Self::Table { current, .. } => current.map(|(path, _)| path),
            Self::Run(cursor) => cursor.path(),
        }
    }

    fn epoch(&self) -> u64 {
        match self {
            Self::Table { current, .. } => current.map_or(0, |(_, versioned)| versioned.epoch),
            Self::Run(cursor) => cursor.epoch(),
        }
    }

    fn entry(&self) -> Result<Option<Versioned>> {
        match self {
            Self::Table { current, .. } => Ok(current.map(|(_, versioned)| versioned.clone())),
            Self::Run(cursor) => Ok(cursor.current()?.map(|(_, versioned)| versioned)),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Table { rest, current } => {
                *current = rest.next();
                Ok(())
            }
            Self::Run(cursor) => cursor.advance(),
        }
    }
}

/// A merged walk over layers.
pub(crate) struct Merge<'s> {
    /// Newest first.
    sources: Vec<Source<'s>>,
    /// Cuts whose prefix the walk is in, outermost first.
    cuts: Vec<(Vec<u8>, u64)>,
    path: Vec<u8>,
}

impl<'s> Merge<'s> {
    /// Over the whole state, from `start` on.
    pub(crate) fn of_state(state: &'s State, start: &[u8]) -> Result<Self> {
        let mut sources = vec![Source::table(&state.table, start)];
        for run in state.runs.iter().rev() {
            sources.push(Source::run(run, start)?);
        }
        let mut cuts = Vec::new();
        // A walk that begins inside an object has passed the cuts on the way to it.
        for prefix in path::prefixes(start) {
            match state.cut_epoch(prefix)? {
                0 => {}
                epoch => cuts.push((prefix.to_vec(), epoch)),
            }
        }
        Ok(Self { sources, cuts, path: Vec::new() })
    }

    /// Over all of a table or of runs (newest first), for making a run.
    pub(crate) fn of_table(table: &'s Table) -> Self {
        Self { sources: vec![Source::table(table, &[])], cuts: Vec::new(), path: Vec::new() }
    }

    /// Over all of some runs, given newest first.
    pub(crate) fn of_runs(runs: &[&Arc<Run>]) -> Result<Self> {
        let sources = runs.iter().map(|run| Source::run(run, &[])).collect::<Result<_>>()?;
        Ok(Self { sources, cuts: Vec::new(), path: Vec::new() })
    }

    /// The next path and what the layers together say of it: removals and cuts included.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], Versioned)>> {
        loop {
            let Some(least) = self.sources.iter().filter_map(Source::path).min() else { return Ok(None) };
            least.clone_into(&mut self.path);
            while self.cuts.last().is_some_and(|(prefix, _)| !self.path.starts_with(prefix)) {
                self.cuts.pop();
            }
            let cut = self.cuts.iter().map(|(_, epoch)| *epoch).max().unwrap_or(0);
            let Some(versioned) = self.take(cut)? else { continue };
            if versioned.entry == Entry::Cut {
                self.cuts.push((self.path.clone(), versioned.epoch));
            }
            return Ok(Some((&self.path, versioned)));
        }
    }

    /// Combines the entries of the present path that no cut hides, and goes past them.
    fn take(&mut self, cut: u64) -> Result<Option<Versioned>> {
        let mut found: Option<Versioned> = None;
        for source in &mut self.sources {
            if source.path() != Some(&*self.path) {
                continue;
            }
            // Within one layer a cut has already removed what was before it.
            if source.epoch() >= cut {
                let wanted = found.as_ref().is_none_or(|newer| !newer.entry.is_complete());
                if let Some(older) = wanted.then(|| source.entry()).transpose()?.flatten() {
                    found = Some(match found {
                        Some(newer) => newer.over(older),
                        None => older,
                    });
                }
            }
            source.advance()?;
        }
        if cut > 0 {
            // Nothing older than the cut is left, so what there is, is all.
            found = found.map(|Versioned { epoch, entry }| Versioned { epoch, entry: entry.at_bottom() });
        }
        Ok(found)
    }
}
