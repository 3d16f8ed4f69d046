//! One of the two that are compared: an engine with its handles. The same code drives both.

use std::{ops::Range, sync::Arc};

use super::{
    super::trial::{label, try_all_objects, try_all_pages},
    step::{Answer, Condition, Step},
    views::Views,
};
use isotach_object::{
    ArrayRead, Capabilities, Cell, Container, ContainerOptions, Engine, Epoch, Error, Label, ObjectType,
    Pool, PoolUri, Precondition, Result, Snapshot, Staging, Transaction, Update, extents_of,
};

/// The pool of a side's containers.
pub(super) struct Home<'f> {
    engine: Box<dyn Fn() -> Arc<dyn Engine> + 'f>,
    uri: PoolUri,
    pool: Arc<dyn Pool>,
}

impl<'f> Home<'f> {
    pub(super) fn new(engine: Box<dyn Fn() -> Arc<dyn Engine> + 'f>, uri: PoolUri) -> Self {
        engine().create_pool(&uri).unwrap();
        let pool = engine().open_pool(&uri).unwrap();
        Self { engine, uri, pool }
    }

    /// A new container with two handles.
    pub(super) fn enter(&self, name: &Label) -> Side<'_> {
        self.pool.create_container(name, &ContainerOptions::default()).unwrap();
        let open = || self.pool.open_container(name).unwrap();
        let (name, handles, marks) = (name.clone(), [open(), open()], Vec::new());
        Side { home: self, name, handles, marks, views: None, is_without_holes: false }
    }

    pub(super) fn leave(&self, name: &Label) {
        self.pool.destroy_container(name).unwrap();
    }
}

/// A container of one of the two, and what the sequence has to remember.
pub(super) struct Side<'h> {
    home: &'h Home<'h>,
    name: Label,
    handles: [Arc<dyn Container>; 2],
    marks: Vec<Epoch>,
    /// Where the other side compares what cells hold, and keeps no history of them: the states at the marks.
    views: Option<Views>,
    /// Whether the other side does not distinguish holes from written bytes.
    is_without_holes: bool,
}

impl Side<'_> {
    /// Answers as an engine with only these capabilities.
    pub(super) fn that_can(mut self, can: Capabilities) -> Self {
        self.views = (!can.history).then(Views::default);
        self.is_without_holes = !can.holes;
        self
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.handles[0].capabilities()
    }

    pub(super) fn has_snapshots(&self) -> bool {
        self.handles[0].facets().snapshots.is_some()
    }

    /// Runs a step through one of the handles.
    pub(super) fn act(&mut self, handle: usize, step: &Step) -> Answer {
        let container = Arc::clone(&self.handles[handle]);
        let answer = self.try_act_on(&container, handle, step);
        answer.unwrap_or_else(|error| Answer::Refused(error.code()))
    }

    fn try_act_on(&mut self, container: &Arc<dyn Container>, handle: usize, step: &Step) -> Result<Answer> {
        match step {
            Step::Update(updates) => container.update(updates).map(|()| Answer::Done),
            Step::Commit { conditions, updates, staged } => {
                self.commit(&**container, conditions, updates, *staged)
            }
            Step::GiveUp(updates) => stage(&**container, updates).map(|_| Answer::Done),
            Step::Mark => container.epoch().and_then(|epoch| self.mark(&**container, epoch)),
            Step::Flush => container.flush().map(|()| Answer::Done),
            Step::Reopen { new_engine } => self.reopen(handle, *new_engine),
            Step::Get(cells) => container.get_many(cells).map(Answer::Values),
            Step::Size(cells) => container.size_many(cells).map(Answer::Sizes),
            Step::Read(ranges) => read(&**container, ranges),
            Step::Share(cell, offset, length) => share(&**container, *cell, *offset, *length),
            Step::Extents(cell, offset, length) => {
                let extents = extents_of(&**container, *cell, *offset, *length)?;
                let all = self.is_without_holes.then(|| whole(&**container, *cell, *offset, *length));
                Ok(Answer::Extents(all.transpose()?.unwrap_or(extents)))
            }
            Step::CreateSnapshot(name) => {
                let epoch = container.snapshots()?.create(&label(name))?;
                self.mark(&**container, epoch)
            }
            Step::DestroySnapshot(name) => {
                container.snapshots()?.destroy(&label(name)).map(|()| Answer::Done)
            }
            Step::At(name, step) => {
                let past = container.snapshots().unwrap().open(&label(name))?;
                self.try_act_on(&past, handle, step)
            }
            Step::ListSnapshots => container.snapshots().unwrap().list().map(names),
            _ => list(&**container, step),
        }
    }

    fn mark(&mut self, container: &dyn Container, epoch: Epoch) -> Result<Answer> {
        self.marks.push(epoch);
        if let Some(views) = &mut self.views {
            views.keep(container, epoch)?;
        }
        Ok(Answer::Done)
    }

    fn reopen(&mut self, handle: usize, new_engine: bool) -> Result<Answer> {
        self.handles[handle].flush()?;
        self.handles[handle] = match new_engine {
            true => (self.home.engine)().open_pool(&self.home.uri)?.open_container(&self.name)?,
            false => self.home.pool.open_container(&self.name)?,
        };
        Ok(Answer::Done)
    }

    fn commit(
        &mut self,
        container: &dyn Container,
        conditions: &[Condition],
        updates: &[Update<'static>],
        staged: bool,
    ) -> Result<Answer> {
        // A malformed cell must be refused by the commit, not here.
        let value_of = |cell: &Cell<'static>| match container.get_many(&[*cell]) {
            Ok(values) => Ok(values.into_iter().flatten().next().unwrap_or_default()),
            Err(Error::InvalidInput { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        let values = conditions.iter().map(|condition| match condition {
            Condition::EqualsNow(cell) => value_of(cell),
            _ => Ok(Vec::new()),
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let fix = |(condition, value): (&Condition, _)| match *condition {
            Condition::Fixed(precondition) => precondition,
            Condition::EqualsNow(cell) => Precondition::Equals(cell, value),
            Condition::UnchangedSince(cell, back) => Precondition::Unchanged(cell, self.remembered(back)),
        };
        let fixed = conditions.iter().zip(values.iter().map(Vec::as_slice)).map(fix);
        let preconditions = match &self.views {
            None => fixed.collect(),
            Some(views) => fixed.filter_map(|fixed| views.judge(container, fixed)).collect(),
        };
        let transaction = Transaction { preconditions, updates: updates.to_vec() };
        let epoch = match staged {
            true => stage(container, updates)?.commit(&transaction.preconditions)?,
            false => container.commit(&transaction)?,
        };
        // A commit of nothing need not have an epoch of its own.
        if updates.is_empty() { Ok(Answer::Done) } else { self.mark(container, epoch) }
    }

    /// The mark that lies this far back, or the beginning of time.
    fn remembered(&self, back: usize) -> Epoch {
        self.marks.iter().rev().nth(back).copied().unwrap_or_default()
    }
}

/// The extents that an engine reports where everything up to the end counts as written.
fn whole(
    container: &dyn Container,
    cell: Cell<'static>,
    offset: u64,
    length: u64,
) -> Result<Vec<Range<u64>>> {
    let is_value = cell.object.otype() != ObjectType::Array && container.get_many(&[cell])?[0].is_some();
    let size = container.size_many(&[cell])?[0].filter(|_| !is_value).unwrap_or(0);
    let end = size.min(offset.saturating_add(length));
    Ok((offset < end).then_some(offset..end).into_iter().collect())
}

fn stage<'c>(container: &'c dyn Container, updates: &[Update<'_>]) -> Result<Box<dyn Staging + 'c>> {
    let mut staging = container.staged_transactions().unwrap().stage()?;
    updates.iter().try_for_each(|update| staging.update(&[*update]))?;
    Ok(staging)
}

fn names(snapshots: Vec<Snapshot>) -> Answer {
    Answer::Names(snapshots.into_iter().map(|snapshot| snapshot.name.to_string()).collect())
}

fn read(container: &dyn Container, ranges: &[(Cell<'static>, u64, usize)]) -> Result<Answer> {
    let mut buffers: Vec<_> = ranges.iter().map(|(_, _, length)| vec![0xee; *length]).collect();
    let reads = ranges.iter().zip(&mut buffers);
    let reads = reads.map(|(&(cell, offset, _), buffer)| ArrayRead { cell, offset, buffer, filled: 0 });
    let mut reads: Vec<_> = reads.collect();
    container.read_many(&mut reads)?;
    let filled: Vec<_> = reads.iter().map(|read| read.filled).collect();
    buffers.iter_mut().zip(filled).for_each(|(buffer, filled)| buffer.truncate(filled));
    Ok(Answer::Bytes(buffers))
}

/// Lends bytes; where the engine cannot, reads them, without waiting where it can.
fn share(container: &dyn Container, cell: Cell<'static>, offset: u64, length: u64) -> Result<Answer> {
    let facets = container.facets();
    let bytes = match (facets.lent_reads, facets.pending_reads) {
        (Some(lent), _) => lent.lend(cell, offset, length)?.to_vec(),
        (None, Some(pending)) => pending.begin_read(cell, offset, vec![0; length as usize])?.wait()?,
        (None, None) => return read(container, &[(cell, offset, length as usize)]),
    };
    Ok(Answer::Bytes(vec![bytes]))
}

fn list(container: &dyn Container, step: &Step) -> Result<Answer> {
    let mut entries = match step {
        &Step::ListEntries { object, limit, values } => {
            try_all_pages(|anchor| container.list_entries(object, anchor, limit, values), limit)?
        }
        &Step::ListDkeys { object, limit } => {
            try_all_pages(|anchor| container.list_dkeys(object, anchor, limit), limit)?
        }
        &Step::ListAkeys { object, dkey, limit } => {
            try_all_pages(|anchor| container.list_akeys(object, dkey, anchor, limit), limit)?
        }
        Step::ListObjects { limit } => {
            return try_all_objects(container, *limit).map(Answer::Objects);
        }
        _ => unreachable!("{step:?} is no list"),
    };
    if !container.capabilities().ordered_listing {
        entries.sort();
    }
    Ok(Answer::Entries(entries))
}
