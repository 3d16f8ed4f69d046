//! A walk over several layers in the order of paths, the newest layer first for each path.
//!
//! Entries that need no combining are passed on as they are.

use std::{cmp::Ordering, sync::Arc};

use isotach_object::Result;

use crate::{
    format::path,
    index::{
        entry::Versioned,
        raw::LazyEntry,
        run::{Run, RunCursor},
        state::State,
        table::{Table, TableCursor},
    },
};

/// A position in one layer, or in one sorted stretch of the table.
enum Source<'s> {
    Table(TableCursor<'s>),
    Run(Box<RunCursor>),
}

impl<'s> Source<'s> {
    fn run(run: &Arc<Run>, start: &[u8]) -> Result<Self> {
        Ok(Self::Run(Box::new(RunCursor::seek(run, start)?)))
    }

    fn path(&self) -> Option<&[u8]> {
        match self {
            Self::Table(cursor) => cursor.path(),
            Self::Run(cursor) => cursor.path(),
        }
    }

    fn epoch(&self) -> u64 {
        match self {
            Self::Table(cursor) => cursor.epoch(),
            Self::Run(cursor) => cursor.epoch(),
        }
    }

    fn entry(&self) -> Option<LazyEntry<'_>> {
        match self {
            Self::Table(cursor) => cursor.entry(),
            Self::Run(cursor) => cursor.current().map(LazyEntry::Encoded),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Table(cursor) => {
                cursor.advance();
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
    /// The sources at the present path, newest first.
    here: Vec<usize>,
    /// Cuts whose prefix contains the present path, outermost first.
    cuts: Vec<(Vec<u8>, u64)>,
}

/// The result of the layers for the present path.
enum Combined {
    /// A cut hides all of it.
    Unreadable,
    /// The entry of one source.
    OneSource(usize),
    /// The combined entries of several sources.
    Several(Versioned),
}

impl<'s> Merge<'s> {
    fn of(sources: Vec<Source<'s>>, cuts: Vec<(Vec<u8>, u64)>) -> Self {
        Self { sources, here: Vec::new(), cuts }
    }

    /// Over the whole state, from `start` on.
    pub(crate) fn of_state(state: &'s State, start: &[u8]) -> Result<Self> {
        let mut sources: Vec<_> = state.table.from(start).into_iter().map(Source::Table).collect();
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
        Ok(Self::of(sources, cuts))
    }

    /// Over all of a table.
    pub(crate) fn of_table(table: &'s Table) -> Self {
        Self::of(table.from(&[]).into_iter().map(Source::Table).collect(), Vec::new())
    }

    /// Over all of some runs, given oldest first.
    pub(crate) fn of_runs(runs: &[Arc<Run>]) -> Result<Self> {
        Self::of_layers(runs, None)
    }

    /// Over all of some runs, given oldest first, and of a table over them.
    pub(crate) fn of_layers(runs: &[Arc<Run>], table: Option<&'s Table>) -> Result<Self> {
        let table =
            table.into_iter().flat_map(|table| table.from(&[])).map(|cursor| Ok(Source::Table(cursor)));
        let sources =
            table.chain(runs.iter().rev().map(|run| Source::run(run, &[]))).collect::<Result<_>>()?;
        Ok(Self::of(sources, Vec::new()))
    }

    /// The next path and its entry, removals and cuts included.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], LazyEntry<'_>)>> {
        let said = loop {
            for at in self.here.drain(..) {
                self.sources[at].advance()?;
            }
            self.find_least();
            let Some(path) = self.here.first().and_then(|at| self.sources[*at].path()) else {
                return Ok(None);
            };
            while self.cuts.last().is_some_and(|(prefix, _)| !path.starts_with(prefix)) {
                self.cuts.pop();
            }
            match self.combine()? {
                Combined::Unreadable => {}
                said => break said,
            }
        };
        let source = match said {
            Combined::OneSource(at) => &self.sources[at],
            _ => &self.sources[self.here[0]],
        };
        let entry = match said {
            Combined::Several(versioned) => Some(LazyEntry::Decoded(versioned)),
            _ => source.entry(),
        };
        let Some((path, entry)) = source.path().zip(entry) else { return Ok(None) };
        if entry.is_cut() {
            self.cuts.push((path.to_vec(), entry.epoch()));
        }
        Ok(Some((path, entry)))
    }

    /// Finds the sources at the least path.
    fn find_least(&mut self) {
        let mut least: Option<&[u8]> = None;
        for (at, source) in self.sources.iter().enumerate() {
            let Some(path) = source.path() else { continue };
            match least.map_or(Ordering::Less, |least| path.cmp(least)) {
                Ordering::Less => {
                    least = Some(path);
                    self.here.clear();
                    self.here.push(at);
                }
                Ordering::Equal => self.here.push(at),
                Ordering::Greater => {}
            }
        }
    }

    /// Combines the entries of the present path that no cut hides.
    fn combine(&self) -> Result<Combined> {
        let cut = self.cuts.iter().map(|(_, epoch)| *epoch).max().unwrap_or(0);
        // A layer contains nothing that its own cut removed.
        let mut seen = self.here.iter().copied().filter(|at| self.sources[*at].epoch() >= cut);
        let Some((newest, first)) = seen.next().and_then(|at| Some((at, self.sources[at].entry()?))) else {
            return Ok(Combined::Unreadable);
        };
        if first.is_complete() {
            return Ok(Combined::OneSource(newest));
        }
        let mut older = seen.peekable();
        if cut == 0 && older.peek().is_none() {
            return Ok(Combined::OneSource(newest));
        }
        let mut found = first.into_versioned()?;
        for at in older {
            if found.entry.is_complete() {
                break;
            }
            if let Some(older) = self.sources[at].entry() {
                found = found.over(older.into_versioned()?);
            }
        }
        if cut > 0 {
            // Nothing older than the cut is left.
            found.entry = found.entry.at_bottom();
        }
        Ok(Combined::Several(found))
    }
}
