//! What may be done in a turn, and what is answered; both print in few words.

use std::{fmt, ops::Range};

use isotach_object::{Brief, Cell, ObjectId, Precondition, Update};

/// One step by one of the two handles.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) handle: usize,
    pub(super) step: Step,
}

/// An operation. Keys and data are parts of constants, so that a step owns nothing large.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Update(Vec<Update<'static>>),
    Commit {
        conditions: Vec<Condition>,
        updates: Vec<Update<'static>>,
        /// Through a staging, one update after the other.
        staged: bool,
    },
    /// Stages updates and drops them.
    GiveUp(Vec<Update<'static>>),
    /// Remembers the epoch that the handle sees.
    Mark,
    Flush,
    /// Flushes and opens the handle again.
    Reopen {
        new_engine: bool,
    },
    Get(Vec<Cell<'static>>),
    Size(Vec<Cell<'static>>),
    /// Offsets and lengths.
    Read(Vec<(Cell<'static>, u64, usize)>),
    Share(Cell<'static>, u64, u64),
    Extents(Cell<'static>, u64, u64),
    ListEntries {
        object: ObjectId,
        limit: usize,
        values: bool,
    },
    ListDkeys {
        object: ObjectId,
        limit: usize,
    },
    ListAkeys {
        object: ObjectId,
        dkey: &'static [u8],
        limit: usize,
    },
    ListObjects {
        limit: usize,
    },
    CreateSnapshot(&'static str),
    DestroySnapshot(&'static str),
    ListSnapshots,
    /// A step through a handle on a snapshot.
    At(&'static str, Box<Step>),
}

impl Step {
    /// The step as it is for an engine without snapshots.
    pub(super) fn of_the_present(self) -> Self {
        match self {
            Self::CreateSnapshot(_) | Self::DestroySnapshot(_) | Self::ListSnapshots => Self::Flush,
            Self::At(_, step) => step.of_the_present(),
            step => step,
        }
    }

    /// The step for an engine whose transactions have one cell: that of the first update.
    pub(super) fn of_one_cell(self) -> Self {
        let (mut conditions, mut updates) = match self {
            Self::Commit { conditions, updates, .. } => (conditions, updates),
            Self::GiveUp(updates) => return Self::Update(updates),
            Self::At(name, step) => return Self::At(name, Box::new(step.of_one_cell())),
            step => return step,
        };
        updates.truncate(1);
        conditions.retain(|condition| !condition.is_of_a_read_set());
        match updates.first() {
            Some(Update::RemoveDkey { .. } | Update::Destroy { .. }) => return Self::Update(updates),
            Some(update) => conditions.retain(|condition| condition.cell() == update.scope()),
            None => conditions.truncate(1),
        }
        Self::Commit { conditions, updates, staged: false }
    }
}

/// A precondition, or what becomes one when the step runs.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    Fixed(Precondition<'static>),
    /// `Equals` with the present value.
    EqualsNow(Cell<'static>),
    /// `Unchanged` since an epoch that was remembered; counted from the newest.
    UnchangedSince(Cell<'static>, usize),
}

impl Condition {
    fn is_of_a_read_set(&self) -> bool {
        matches!(self, Self::UnchangedSince(..) | Self::Fixed(Precondition::Unchanged(..)))
    }

    fn cell(&self) -> Cell<'static> {
        match self {
            Self::Fixed(precondition) => precondition.cell(),
            Self::EqualsNow(cell) | Self::UnchangedSince(cell, _) => *cell,
        }
    }
}

/// What an operation came to.
#[derive(PartialEq)]
pub(super) enum Answer {
    Done,
    Values(Vec<Option<Vec<u8>>>),
    Sizes(Vec<Option<u64>>),
    Bytes(Vec<Vec<u8>>),
    Extents(Vec<Range<u64>>),
    Entries(Vec<(Vec<u8>, Vec<u8>)>),
    Objects(Vec<ObjectId>),
    Names(Vec<String>),
    /// By the error's code.
    Refused(&'static str),
}

/// What bytes are answered is told in few words.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Values(values) => {
                f.debug_list().entries(values.iter().map(|value| value.as_deref().map(Brief))).finish()
            }
            Self::Sizes(sizes) => write!(f, "{sizes:?}"),
            Self::Bytes(ranges) => f.debug_list().entries(ranges.iter().map(|range| Brief(range))).finish(),
            Self::Extents(extents) => write!(f, "{extents:?}"),
            Self::Entries(entries) => {
                f.debug_map().entries(entries.iter().map(|(key, value)| (Brief(key), Brief(value)))).finish()
            }
            Self::Objects(objects) => write!(f, "{objects:?}"),
            Self::Names(names) => write!(f, "{names:?}"),
            Self::Refused(code) => f.write_str(code),
        }
    }
}
