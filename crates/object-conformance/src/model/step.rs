//! What may be done in a turn, and what is answered; both print in few words.

use std::{fmt, ops::Range};

use isotach_object::{Cell, ObjectId, Precondition, Update};

/// One step by one of the two handles.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) handle: usize,
    pub(super) step: Step,
}

/// An operation. Keys and data are parts of constants, so that a step owns nothing large.
#[derive(Clone)]
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
            Some(
                Update::Put { cell, .. }
                | Update::Remove { cell }
                | Update::Write { cell, .. }
                | Update::SetSize { cell, .. }
                | Update::Punch { cell, .. },
            ) => conditions.retain(|condition| condition.cell() == *cell),
            Some(Update::RemoveDkey { .. } | Update::Destroy { .. }) => return Self::Update(updates),
            None => conditions.truncate(1),
        }
        Self::Commit { conditions, updates, staged: false }
    }
}

/// A precondition, or what becomes one when the step runs.
#[derive(Clone)]
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

/// Bytes in few words.
struct Brief<'a>(&'a [u8]);

impl fmt::Debug for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Brief(bytes) = self;
        if bytes.len() <= 24 {
            return write!(f, "\"{}\"", bytes.escape_ascii());
        }
        let sum = bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
        write!(f, "<{} bytes, \"{}\"..., sum {sum:08x}>", bytes.len(), bytes[..8].escape_ascii())
    }
}

/// A cell in few words.
struct Place<'a>(&'a Cell<'a>);

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { object, dkey, akey } = self.0;
        write!(f, "{:?}-{}[{:?} {:?}]", object.otype(), object.lo(), Brief(dkey), Brief(akey))
    }
}

/// An update in few words.
struct Change<'a>(&'a Update<'a>);

impl fmt::Debug for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Update::Put { cell, value } => write!(f, "put {:?} {:?}", Place(cell), Brief(value)),
            Update::Remove { cell } => write!(f, "remove {:?}", Place(cell)),
            Update::Write { cell, offset, data } => {
                write!(f, "write {:?} at {offset} {:?}", Place(cell), Brief(data))
            }
            Update::SetSize { cell, size } => write!(f, "set size of {:?} to {size}", Place(cell)),
            Update::Punch { cell, offset, length } => {
                write!(f, "punch {:?} at {offset} for {length}", Place(cell))
            }
            Update::RemoveDkey { object, dkey } => write!(f, "remove dkey {object} {:?}", Brief(dkey)),
            Update::Destroy { object } => write!(f, "destroy {:?}-{}", object.otype(), object.lo()),
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(Precondition::Equals(cell, value)) => {
                write!(f, "{:?} equals {:?}", Place(cell), Brief(value))
            }
            Self::Fixed(Precondition::Present(cell)) => write!(f, "{:?} is present", Place(cell)),
            Self::Fixed(Precondition::Absent(cell)) => write!(f, "{:?} is absent", Place(cell)),
            Self::Fixed(Precondition::Unchanged(cell, epoch)) => {
                write!(f, "{:?} is unchanged since epoch {epoch}", Place(cell))
            }
            Self::EqualsNow(cell) => write!(f, "{:?} equals its present value", Place(cell)),
            Self::UnchangedSince(cell, mark) => {
                write!(f, "{:?} is unchanged since mark {mark} from the last", Place(cell))
            }
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes =
            |updates: &[Update<'static>]| format!("{:?}", Vec::from_iter(updates.iter().map(Change)));
        let places = |cells: &[Cell<'static>]| format!("{:?}", Vec::from_iter(cells.iter().map(Place)));
        match self {
            Self::Update(updates) => write!(f, "update {}", changes(updates)),
            Self::Commit { conditions, updates, staged } => {
                write!(f, "commit {} if {conditions:?}, staged: {staged}", changes(updates))
            }
            Self::GiveUp(updates) => write!(f, "stage and drop {}", changes(updates)),
            Self::Mark => f.write_str("mark"),
            Self::Flush => f.write_str("flush"),
            Self::Reopen { new_engine } => write!(f, "flush and reopen, new engine: {new_engine}"),
            Self::Get(cells) => write!(f, "get {}", places(cells)),
            Self::Size(cells) => write!(f, "size {}", places(cells)),
            Self::Read(ranges) => {
                let ranges = ranges.iter().map(|(cell, offset, length)| (Place(cell), offset, length));
                write!(f, "read {:?}", Vec::from_iter(ranges))
            }
            Self::Share(cell, offset, length) => write!(f, "share {:?} at {offset} {length}", Place(cell)),
            Self::Extents(cell, offset, length) => {
                write!(f, "extents of {:?} at {offset} {length}", Place(cell))
            }
            Self::ListEntries { object, limit, values } => {
                write!(f, "list entries of {object} by {limit}, values: {values}")
            }
            Self::ListDkeys { object, limit } => write!(f, "list dkeys of {object} by {limit}"),
            Self::ListAkeys { object, dkey, limit } => {
                write!(f, "list akeys of {object} {:?} by {limit}", Brief(dkey))
            }
            Self::ListObjects { limit } => write!(f, "list objects by {limit}"),
            Self::CreateSnapshot(name) => write!(f, "create snapshot {name}"),
            Self::DestroySnapshot(name) => write!(f, "destroy snapshot {name}"),
            Self::ListSnapshots => f.write_str("list snapshots"),
            Self::At(name, step) => write!(f, "at {name}: {step:?}"),
        }
    }
}

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
