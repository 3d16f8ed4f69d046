//! Values of the fields of a request, in batches that threads share.
//!
//! What must stay true: rows are in the request's order, whichever thread read them. After an error no thread begins another
//! batch.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use isotach_fields::{FieldStore, Inspected, Inspection, Missing};
use isotach_mars::{Key, Request};

use crate::{Error, PointInBox, Points, Result, choice::Choice, grid_text, threads_or_all};

/// The most fields that a thread reads at once.
const BATCH_MAX: usize = 64;
/// The jump indexes that are kept at once.
const KEPT_AT_ONCE: usize = 1024;

/// Which grids the fields of a request may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grids {
    /// All the same.
    #[default]
    Equal,
    /// The one with this hash.
    Hash([u8; 16]),
    /// Any, also several.
    Any,
}

/// How values are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValuesOptions {
    /// Which grids the fields may have.
    pub grids: Grids,
    /// How many threads share the work; 0 for one on each processor.
    pub threads: usize,
}

/// The values of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The whole key of the field.
    pub key: Key,
    /// The hash of its grid: ecCodes' key `md5GridSection`.
    pub grid: [u8; 16],
    /// A value for each chosen point, in the order of the choice. NaN where the message has none.
    pub values: Vec<f64>,
}

/// The answer to [`values`].
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// The fields that were found, in the request's order.
    pub rows: Vec<Row>,
    /// Where the points of the first field are, if they were chosen by location.
    pub places: Vec<PointInBox>,
    /// How many fields were decoded as a whole by ecCodes, because their packing has no jump index.
    pub whole: u64,
    /// How many fields were read as a whole, because their jump index was not made yet, is damaged, or has another version.
    pub indexed: u64,
    /// The fields that do not exist. `None` if they are unknown; see [`Inspection::missing`].
    pub missing: Option<Missing>,
}

/// The values of chosen points of the fields that a request names.
///
/// A field that is replaced meanwhile comes in its old or its new state. One that is wiped meanwhile is left out.
///
/// # Errors
/// As [`FieldStore::inspect`] and [`FieldStore::read_parts`]; [`isotach_fields::Error::Invalid`] for points that are none,
/// or that a field's grid does not have; [`isotach_fields::Error::Corrupt`] for a field that is damaged;
/// [`Error::OtherGrid`]; [`Error::NotDecoded`] where ecCodes is missing or refuses a field.
pub fn values(
    store: &FieldStore,
    request: &Request,
    points: &Points,
    options: &ValuesOptions,
) -> Result<Values> {
    let choice = Choice::new(points)?;
    let work = Work::new(store, Fields::Request(store.inspect(request)?.into()), choice, options.grids);
    work.run_on(options.threads)?;
    work.finish()
}

/// The values of chosen points of single fields, in the order of their keys; `None` for one that does not exist.
///
/// # Errors
/// As [`values`] and [`FieldStore::locate`].
pub fn values_at(
    store: &FieldStore,
    keys: &[Key],
    points: &Points,
    options: &ValuesOptions,
) -> Result<Vec<Option<Row>>> {
    let fields = Fields::Keys(keys.iter());
    let work = Work::new(store, fields, Choice::new(points)?, options.grids);
    work.run_on(options.threads)?;
    let mut rows: Vec<Option<Row>> = keys.iter().map(|_| None).collect();
    for (number, row) in work.rows() {
        rows[number] = Some(row);
    }
    Ok(rows)
}

/// Where the fields come from.
enum Fields<'w> {
    Request(Box<Inspection>),
    Keys(std::slice::Iter<'w, Key>),
}

/// Fields with their numbers.
type Batch = Vec<(usize, Inspected)>;

/// What is left to read.
struct Left<'w> {
    /// Fields that were found.
    batches: VecDeque<Batch>,
    /// Where those behind them come from.
    source: Fields<'w>,
    /// How many fields were found.
    taken: usize,
}

/// Divides items evenly among threads, in batches that are not too large.
fn batches<T>(items: Vec<T>, threads: usize) -> VecDeque<Vec<T>> {
    let size = items.len().div_ceil(threads).clamp(1, BATCH_MAX);
    let mut items = items.into_iter();
    std::iter::from_fn(|| {
        Some(items.by_ref().take(size).collect()).filter(|batch: &Vec<T>| !batch.is_empty())
    })
    .collect()
}

/// The work of one request.
pub(crate) struct Work<'w> {
    pub(crate) store: &'w FieldStore,
    pub(crate) choice: Choice<'w>,
    grids: Grids,
    /// The grid of the first field that was read, and its key.
    first: OnceLock<([u8; 16], String)>,
    fields: Mutex<Left<'w>>,
    rows: Mutex<Vec<(usize, Row)>>,
    /// Indexes that are to be kept.
    made: Mutex<Vec<(Inspected, Vec<u8>)>>,
    /// Whether the store refuses all indexes.
    refuses: AtomicBool,
    has_failed: AtomicBool,
    whole: AtomicU64,
    indexed: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'w> Work<'w> {
    fn new(store: &'w FieldStore, fields: Fields<'w>, choice: Choice<'w>, grids: Grids) -> Self {
        Self {
            store,
            choice,
            grids,
            first: OnceLock::new(),
            fields: Mutex::new(Left { batches: VecDeque::new(), source: fields, taken: 0 }),
            rows: Mutex::default(),
            made: Mutex::default(),
            refuses: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            whole: AtomicU64::new(0),
            indexed: AtomicU64::new(0),
        }
    }

    /// The next fields; none at the end, and after an error.
    fn next_batch(&self) -> Result<Batch> {
        let left = &mut *lock(&self.fields);
        match left.batches.pop_front().filter(|_| !self.has_failed.load(Ordering::Relaxed)) {
            Some(batch) => Ok(batch),
            None => self.find(left, BATCH_MAX),
        }
    }

    /// Finds up to so many fields; none at the end, and after an error.
    fn find(&self, left: &mut Left<'_>, fields_max: usize) -> Result<Batch> {
        let mut batch = Vec::new();
        while batch.len() < fields_max && !self.has_failed.load(Ordering::Relaxed) {
            let found = match &mut left.source {
                Fields::Request(inspection) => inspection.next().map(|field| field.map(Some)),
                Fields::Keys(keys) => keys.next().map(|key| self.store.locate(key)),
            };
            match found {
                None => break,
                Some(Ok(field)) => batch.extend(field.map(|field| (left.taken, field))),
                Some(Err(error)) => return self.failed(error.into()),
            }
            left.taken += 1;
        }
        Ok(batch)
    }

    /// Reads all fields, on up to this many threads; 0 for one on each processor. This thread is one of them. Few fields are
    /// divided among all threads, because one that is decoded as a whole may take long.
    fn run_on(&self, threads: usize) -> Result<()> {
        let threads = threads_or_all(threads);
        let (first, others) = {
            let left = &mut *lock(&self.fields);
            let found = self.find(left, BATCH_MAX.saturating_mul(threads))?;
            left.batches = batches(found, threads);
            (left.batches.pop_front().unwrap_or_default(), left.batches.len().min(threads - 1))
        };
        thread::scope(|scope| {
            let start = |_| thread::Builder::new().spawn_scoped(scope, || self.run(self.next_batch()?)).ok();
            // Where the system gives no thread, those that run do its work.
            let others: Vec<_> = (0..others).map_while(start).collect();
            let own = self.run(first);
            let join = |other: thread::ScopedJoinHandle<'_, Result<()>>| {
                other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            others.into_iter().map(join).fold(own, Result::and)
        })
    }

    fn failed<T>(&self, error: Error) -> Result<T> {
        self.has_failed.store(true, Ordering::Relaxed);
        Err(error)
    }

    /// Reads a batch, and then what is left.
    fn run(&self, mut batch: Batch) -> Result<()> {
        while !batch.is_empty() {
            let (numbers, fields): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            let read = self.read(&fields).or_else(|error| self.failed(error))?;
            let rows = numbers.into_iter().zip(read);
            lock(&self.rows).extend(rows.filter_map(|(number, row)| Some((number, row?))));
            batch = self.next_batch()?;
        }
        Ok(())
    }

    /// Refuses a field with another grid than expected.
    pub(crate) fn check_grid(&self, field: &Inspected, grid: [u8; 16]) -> Result<()> {
        let (wanted, expected) = match self.grids {
            Grids::Any => return Ok(()),
            Grids::Hash(hash) => (hash, grid_text(&hash)),
            Grids::Equal => {
                let (hash, of) = self.first.get_or_init(|| (grid, field.key.to_string()));
                if *hash == grid {
                    return Ok(());
                }
                (*hash, format!("{} as field {of}", grid_text(hash)))
            }
        };
        if wanted == grid {
            return Ok(());
        }
        Err(Error::other_grid(field, grid, expected))
    }

    /// Counts a field that was decoded as a whole.
    pub(crate) fn count_whole(&self) {
        self.whole.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a field that was read as a whole because its jump index could not be used.
    pub(crate) fn count_indexed(&self) {
        self.indexed.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the jump index of a field that was read as a whole. A dataset that cannot be written to goes without.
    pub(crate) fn keep(&self, field: &Inspected, index: Vec<u8>) {
        let mut made = lock(&self.made);
        made.push((field.clone(), index));
        if made.len() >= KEPT_AT_ONCE {
            let some = std::mem::take(&mut *made);
            drop(made);
            self.keep_all(&some);
        }
    }

    fn keep_all(&self, made: &[(Inspected, Vec<u8>)]) {
        if !made.is_empty()
            && !self.refuses.load(Ordering::Relaxed)
            && self.store.keep_jump_indexes(made).is_err()
        {
            self.refuses.store(true, Ordering::Relaxed);
        }
    }

    /// The rows with their numbers. Keeps the indexes that were made.
    fn rows(&self) -> Vec<(usize, Row)> {
        let made = std::mem::take(&mut *lock(&self.made));
        self.keep_all(&made);
        let mut rows = std::mem::take(&mut *lock(&self.rows));
        rows.sort_unstable_by_key(|(number, _)| *number);
        rows
    }

    fn finish(self) -> Result<Values> {
        let rows: Vec<Row> = self.rows().into_iter().map(|(_, row)| row).collect();
        let chosen = rows.first().and_then(|row| self.choice.known(row.grid));
        let length = rows.first().map_or(0, |row| row.values.len());
        if let Some(other) = rows.iter().find(|row| row.values.len() != length) {
            let what = format!("{length} points of one grid and {} of another", other.values.len());
            return Err(Error::invalid(what, "fields of one grid in a request for a box".to_owned()));
        }
        let missing = match &lock(&self.fields).source {
            Fields::Request(inspection) => inspection.missing(),
            Fields::Keys(_) => None,
        };
        Ok(Values {
            rows,
            places: chosen.map(|chosen| chosen.places.clone()).unwrap_or_default(),
            whole: self.whole.into_inner(),
            indexed: self.indexed.into_inner(),
            missing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_divided_evenly_among_threads_in_batches_of_few() {
        for (fields, threads, sizes) in [
            (0, 2, &[][..]),
            (1, 8, &[1]),
            (5, 2, &[3, 2]),
            (8, 8, &[1; 8]),
            (63, 2, &[32, 31]),
            (128, 2, &[64, 64]),
            (100, 1, &[64, 36]),
        ] {
            let divided = batches((0..fields).collect(), threads);
            assert_eq!(divided.iter().map(Vec::len).collect::<Vec<_>>(), sizes, "{fields} for {threads}");
            assert!(divided.into_iter().flatten().eq(0..fields), "in their order");
        }
    }
}
