//! Reading and decoding the fields of an array, several at a time and detached from the interpreter.
//!
//! What must stay true: a field that cannot be read or decoded here is left to the caller, who reads it alone. So errors, packings that
//! only ecCodes knows, and grids that differ in a flag have one path, which is in Python.

use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_fields::{FieldStore, Location as FieldLocation, Result as FieldsResult};
use isotach_grib::{JumpError, PackedMessage};
use isotach_mars::Key;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use crate::{buffer::Output, convert, error::Outcome, handle::Handle, location::Location};

/// Fields up to this size are read into a buffer that is used again. Of a larger one the store checks first that it exists.
const REUSED_MAX: u64 = 64 << 20;
/// How often the calling thread asks whether the user has interrupted the program.
const INTERRUPTED_EVERY: Duration = Duration::from_millis(100);

/// How a message becomes a row.
type Decode<T> = fn(&PackedMessage<'_>, &mut [T]) -> Result<(), JumpError>;

/// Decodes fields, given by their locations or keys, to the rows of an array, and returns the rows that are left to the caller. A row
/// without a field is not written. The fields must have the grid whose section has this MD5, in hexadecimal digits.
#[pyfunction]
pub(crate) fn decode_into(
    handle: &Bound<'_, Handle>,
    fields: Vec<Option<Bound<'_, PyAny>>>,
    grid: String,
    target: &Bound<'_, PyAny>,
) -> Outcome<Vec<usize>> {
    let (py, mut output) = (handle.py(), Output::of(target)?);
    let store = handle.get().store(py)?;
    let fields = fields.iter().map(|field| field.as_ref().map(Wanted::of).transpose());
    let fields = fields.collect::<Outcome<Vec<_>>>()?;
    let work = Work { store, fields, grid, is_stopped: AtomicBool::new(false), left: Mutex::default() };
    // The store is dropped detached, too: the handle may be closed meanwhile.
    let left = if let Some(values) = output.as_floats_mut() {
        py.detach(move || work.decode(values, |message, row| message.decode_into(row)))
    } else if let Some(values) = output.as_floats_mut() {
        py.detach(move || work.decode(values, |message, row| message.decode_into_single(row)))
    } else {
        Err(PyTypeError::new_err("an array of another type: expected one of float64 or float32"))
    };
    Ok(left?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What names a field.
enum Wanted {
    Location(FieldLocation),
    Key(Key),
}

impl Wanted {
    fn of(given: &Bound<'_, PyAny>) -> Outcome<Self> {
        Ok(match given.cast::<Location>() {
            Ok(location) => Self::Location(location.get().0.clone()),
            Err(_) => Self::Key(convert::key(given)?),
        })
    }

    /// The field's bytes, in a buffer that is used again. `None` if it does not exist.
    fn read(&self, store: &FieldStore, buffer: &mut AlignedBuffer) -> FieldsResult<Option<()>> {
        let found;
        let location = match self {
            Self::Location(location) => location,
            Self::Key(key) => match store.locate(key)? {
                Some(field) => {
                    found = field.location;
                    &found
                }
                None => return Ok(None),
            },
        };
        if location.relabel.is_some() || location.length > REUSED_MAX {
            *buffer = store.read(location)?.into_vec().into();
        } else {
            *buffer = mem::take(buffer).with_length(location.length as usize);
            store.read_into(location, buffer)?;
        }
        Ok(Some(()))
    }
}

/// The fields of an array, for several threads.
struct Work {
    store: FieldStore,
    /// The field of each row.
    fields: Vec<Option<Wanted>>,
    grid: String,
    /// Whether the rows that no thread has begun are left.
    is_stopped: AtomicBool,
    /// The rows that are not decoded.
    left: Mutex<Vec<usize>>,
}

impl Work {
    /// Decodes the rows on this thread, and on others if there are several processors. Returns the rows that are left.
    fn decode<T: Send>(self, values: &mut [T], decode: Decode<T>) -> PyResult<Vec<usize>> {
        let points = self.points(values.len())?;
        let rows = Mutex::new(self.fields.iter().zip(values.chunks_exact_mut(points)).enumerate());
        let next = || lock(&rows).next();
        let run = |check: &mut dyn FnMut() -> PyResult<()>| -> PyResult<()> {
            let mut buffer = AlignedBuffer::default();
            while let Some((row, (field, values))) = next() {
                if let Some(field) = field
                    && !self.decode_row(field, values, decode, &mut buffer)
                {
                    lock(&self.left).push(row);
                }
                check()?;
            }
            Ok(())
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(self.fields.len());
        thread::scope(|scope| {
            // Where the system gives no thread, those that run decode its rows.
            for _ in 1..threads {
                let _ = thread::Builder::new().spawn_scoped(scope, || run(&mut || Ok(())));
            }
            let mut asked = Instant::now();
            run(&mut || self.check_signals(&mut asked))
        })?;
        let mut left = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        left.sort_unstable();
        Ok(left)
    }

    /// How many of the numbers belong to each row.
    fn points(&self, numbers: usize) -> PyResult<usize> {
        let rows = self.fields.len();
        let points = numbers.checked_div(rows).unwrap_or(0);
        if points > 0 && points * rows == numbers {
            return Ok(points);
        }
        Err(PyValueError::new_err(format!(
            "an array of {numbers} numbers for {rows} fields: expected as many numbers for each field as its grid has points"
        )))
    }

    /// Ends the work if the user has interrupted the program.
    fn check_signals(&self, asked: &mut Instant) -> PyResult<()> {
        if asked.elapsed() < INTERRUPTED_EVERY {
            return Ok(());
        }
        *asked = Instant::now();
        Python::attach(|py| py.check_signals())
            .inspect_err(|_| self.is_stopped.store(true, Ordering::Relaxed))
    }

    /// Whether the row is decoded.
    fn decode_row<T>(
        &self,
        field: &Wanted,
        values: &mut [T],
        decode: Decode<T>,
        buffer: &mut AlignedBuffer,
    ) -> bool {
        if self.is_stopped.load(Ordering::Relaxed) {
            return false;
        }
        match field.read(&self.store, buffer) {
            Ok(Some(())) => self.decode_message(buffer, values, decode).is_some(),
            Ok(None) => false,
            Err(_) => {
                // The caller meets the error again, and other fields may take as long to fail.
                self.is_stopped.store(true, Ordering::Relaxed);
                false
            }
        }
    }

    /// `None` if the message is of another grid or cannot be decoded here.
    fn decode_message<T>(&self, message: &[u8], values: &mut [T], decode: Decode<T>) -> Option<()> {
        let packed = PackedMessage::of(message).ok()?;
        let digits = packed.grid_md5().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        if digits != self.grid || packed.points() != values.len() as u64 {
            return None;
        }
        decode(&packed, values).ok()
    }
}
