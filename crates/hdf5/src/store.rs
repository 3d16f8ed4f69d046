//! [`Store`]: the container of a file: numbers, arrays, and the chunks that were decoded last.

use std::{
    collections::HashMap,
    ops::Range,
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use isotach_object::{ArrayRead, Cell, Container, Update};

use crate::{
    Error, Filter, Result,
    fence::{fence, number_of},
    filters,
    layout::{FIRST_NUMBER, array, in_place_cell},
    records::{Chunk, Form},
};

/// How many numbers are allocated at once.
const NUMBERS: u64 = 1024;
/// The longest chunk that is in its entry, in bytes.
pub(crate) const INLINE_CHUNK: usize = 4096;
/// The longest value of an attribute or of a map that is in its record, in bytes.
pub(crate) const INLINE: usize = 32 << 10;
/// How many bytes of decoded chunks are kept.
const DECODED_MAX: usize = 32 << 20;

/// The container of a file.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) container: Arc<dyn Container>,
    /// The process that opened it. After a fork, the child has the numbers and the changes of its parent, which are not to count twice.
    process: u32,
    numbers: Mutex<Numbers>,
    /// Whether arrays were written since the last flush began.
    has_written: AtomicBool,
    /// Held while arrays are flushed.
    flushing: Mutex<()>,
    decoded: Mutex<Decoded>,
}

/// Numbers that were allocated for this process.
#[derive(Debug, Default)]
struct Numbers {
    range: Range<u64>,
    /// They are not below the fence of a sweep, as it was since the version began.
    is_above_fence: bool,
}

/// Decoded chunks by the number of their array, which never changes.
#[derive(Debug, Default)]
struct Decoded {
    chunks: HashMap<u64, Arc<Vec<u8>>>,
    bytes: usize,
}

impl Store {
    pub(crate) fn new(container: Arc<dyn Container>) -> Self {
        Self {
            container,
            process: process::id(),
            numbers: Mutex::default(),
            has_written: AtomicBool::new(false),
            flushing: Mutex::default(),
            decoded: Mutex::default(),
        }
    }

    /// Fails in another process than the one that opened it.
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.process == process::id() {
            return Ok(());
        }
        let what = format!("container {}, which was opened before a fork", self.container.label());
        Err(Error::invalid(what, "a file that this process has opened"))
    }

    /// A number that nothing else in the container ever gets.
    pub(crate) fn number(&self) -> Result<u64> {
        self.check_process()?;
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = FIRST_NUMBER;
        if !numbers.is_above_fence {
            first = first.max(number_of(fence(&*self.container)?.as_deref())?);
            numbers.is_above_fence = true;
        }
        numbers.range.start = numbers.range.start.max(first);
        while numbers.range.is_empty() {
            numbers.range = self.allocate()?;
            numbers.range.start = numbers.range.start.max(first);
        }
        let number = numbers.range.start;
        numbers.range.start += 1;
        Ok(number)
    }

    /// Numbers that nothing else in the container ever gets.
    pub(crate) fn allocate(&self) -> Result<Range<u64>> {
        let mut range = self.container.allocate_ids(NUMBERS)?;
        range.start = range.start.max(FIRST_NUMBER);
        Ok(range)
    }

    /// From here on, numbers are above the fence that there is now: what has them is not committed before.
    pub(crate) fn begin_version(&self) {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).is_above_fence = false;
    }

    /// Writes a new array and returns its number.
    pub(crate) fn write_array(&self, bytes: &[u8]) -> Result<u64> {
        let number = self.number()?;
        self.write_array_as(number, bytes)?;
        Ok(number)
    }

    /// Writes a new array of this number, which [`Store::number`] returned.
    pub(crate) fn write_array_as(&self, number: u64, bytes: &[u8]) -> Result<()> {
        self.check_process()?;
        self.container.write_new(array(number), bytes)?;
        self.has_written.store(true, Ordering::Release);
        Ok(())
    }

    /// Flushes if arrays were written since the last time. Waits for a flush of another thread, which may be that of the caller's arrays.
    pub(crate) fn flush_arrays(&self) -> Result<()> {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_written.swap(false, Ordering::AcqRel) {
            self.container.flush().inspect_err(|_| self.has_written.store(true, Ordering::Release))?;
        }
        Ok(())
    }

    /// Stores the bytes of a chunk, after its filters.
    pub(crate) fn write_chunk(&self, chunk_filters: &[Filter], bytes: &[u8]) -> Result<Chunk> {
        let (encoded, mask) = filters::encode(chunk_filters, bytes)?;
        self.write_encoded(mask, &encoded)
    }

    /// Stores the bytes of a chunk that were filtered.
    pub(crate) fn write_encoded(&self, mask: u32, encoded: &[u8]) -> Result<Chunk> {
        let form = if encoded.len() <= INLINE_CHUNK {
            Form::Inline(encoded.to_vec())
        } else {
            Form::Array(self.write_array(encoded)?)
        };
        Ok(Chunk { form, mask, stored_length: encoded.len() as u64 })
    }

    /// Destroys arrays that nothing names. One that stays loses only space, so that failures do not matter.
    pub(crate) fn discard(&self, arrays: &[isotach_object::ObjectId]) {
        let updates: Vec<_> = arrays.iter().map(|object| Update::Destroy { object: *object }).collect();
        let _ = self.container.update(&updates);
    }

    pub(crate) fn decoded(&self, array: u64) -> Option<Arc<Vec<u8>>> {
        self.decoded.lock().unwrap_or_else(PoisonError::into_inner).chunks.get(&array).cloned()
    }

    pub(crate) fn keep_decoded(&self, array: u64, bytes: &Arc<Vec<u8>>) {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if decoded.bytes + bytes.len() > DECODED_MAX {
            decoded.chunks.clear();
            decoded.bytes = 0;
        }
        if bytes.len() <= DECODED_MAX && decoded.chunks.insert(array, bytes.clone()).is_none() {
            decoded.bytes += bytes.len();
        }
    }
}

/// The bytes of a chunk as stored, by a handle that sees them. `None` if the array is gone or short.
pub(crate) fn stored_bytes(
    container: &dyn Container,
    dataset: u64,
    key: &[u8],
    chunk: &Chunk,
) -> Result<Option<Vec<u8>>> {
    let cell = match &chunk.form {
        Form::Inline(bytes) => return Ok(Some(bytes.clone())),
        Form::Array(number) => Cell::array(array(*number)),
        Form::InPlace => in_place_cell(dataset, key),
    };
    let size = container.size_many(&[cell])?.pop().flatten();
    if size.is_none_or(|size| size < chunk.stored_length) {
        return Ok(None);
    }
    front_of(container, cell, chunk.stored_length)
}

/// The bytes of an array that holds a value. `None` if it is gone or has another length.
pub(crate) fn value_bytes(container: &dyn Container, number: u64, length: u64) -> Result<Option<Vec<u8>>> {
    let cell = Cell::array(array(number));
    let size = container.size_many(&[cell])?.pop().flatten();
    if size == Some(length) { front_of(container, cell, length) } else { Ok(None) }
}

/// The first bytes of an array that had so many. `None` if it is gone meanwhile.
fn front_of(container: &dyn Container, cell: Cell<'_>, length: u64) -> Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; length as usize];
    let mut reads = [ArrayRead { cell, offset: 0, buffer: &mut bytes, filled: 0 }];
    container.read_many(&mut reads)?;
    Ok((reads[0].filled as u64 == length).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use isotach_engine_kit::hooks::{Hooked, Hooks};
    use isotach_object::{ContainerOptions, Engine as _, memory::Memory};

    use super::*;

    /// Says that a flush has begun, and ends it when it is told to.
    #[derive(Debug)]
    struct Slow {
        begun: mpsc::Sender<()>,
        end: Mutex<mpsc::Receiver<()>>,
    }

    impl Hooks for Slow {
        fn flush(&self, inner: &dyn Container) -> isotach_object::Result<()> {
            self.begun.send(()).unwrap();
            self.end.lock().unwrap().recv().unwrap();
            inner.flush()
        }
    }

    #[test]
    fn a_flush_of_arrays_waits_for_that_of_another_thread() {
        let (engine, uri) = (Memory::new(), "memory:flush".parse().unwrap());
        engine.create_pool(&uri).unwrap();
        let (pool, label) = (engine.open_pool(&uri).unwrap(), "flush".parse().unwrap());
        pool.create_container(&label, &ContainerOptions::default()).unwrap();
        let ((begun, has_begun), (end, ended)) = (mpsc::channel(), mpsc::channel());
        let slow = Slow { begun, end: Mutex::new(ended) };
        let store = Store::new(Arc::new(Hooked::new(pool.open_container(&label).unwrap(), slow)));
        store.write_array(&[1]).unwrap();
        thread::scope(|scope| {
            let flush = || store.flush_arrays().unwrap();
            scope.spawn(flush);
            has_begun.recv().unwrap();
            let (done, is_done) = mpsc::channel();
            scope.spawn(move || {
                flush();
                done.send(()).unwrap();
            });
            let too_early = is_done.recv_timeout(Duration::from_millis(100));
            end.send(()).unwrap();
            assert!(too_early.is_err(), "what was written is not flushed yet");
            is_done.recv().unwrap();
        });
    }
}
