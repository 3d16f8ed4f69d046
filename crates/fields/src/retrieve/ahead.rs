//! Reading large fields on other threads while the caller processes those before them.
//!
//! What must stay true: a field is read once, by whoever claims it first: a thread, or the caller. A caller whose field a thread is
//! reading reads a later field meanwhile. So all of them read at the same time, and nobody waits for a thread that does not run. On a
//! busy machine nothing is read ahead ([`super::contention`]).

use std::{
    collections::VecDeque,
    fmt, process,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use isotach_engine_kit::aligned::AlignedBuffer;

use crate::{
    Result,
    retrieve::{buffers::Buffers, contention::are_processors_busy, inspect::Inspected},
    store::Inner,
    sync::lock,
};

/// A smaller field is read in less time than it takes to wake a thread.
const LENGTH_MIN: u64 = 256 << 10;
/// More threads would read what leaves the processor's cache before the caller uses it. The caller reads, too, so there is one thread fewer
/// than processors, but at least one: reads from a device are under way together then.
const THREADS_MAX: usize = 3;

/// The threads of a retrieval. They start when it first begins a field ahead of another.
///
/// A process must not fork while it has threads: a child has only the forking one, and the locks that the others held stay locked.
pub(crate) struct ReadAhead {
    store: Arc<Inner>,
    buffers: Buffers,
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
    threads_max: usize,
    /// The process that has the threads. A forked child has none.
    process: u32,
}

/// The reads that no thread has claimed yet, and those that the caller has claimed.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    reads: VecDeque<Arc<AheadRead>>,
    is_closed: bool,
}

/// A read of a field.
pub(crate) struct AheadRead {
    pub(crate) field: Inspected,
    progress: Mutex<Progress>,
    changed: Condvar,
}

enum Progress {
    Unclaimed,
    Claimed,
    Read(Result<AlignedBuffer>),
}

impl ReadAhead {
    pub(crate) fn new(store: &Arc<Inner>, buffers: &Buffers) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            store: Arc::clone(store),
            buffers: buffers.clone(),
            queue: Arc::default(),
            threads: Vec::new(),
            threads_max: (processors - 1).clamp(1, THREADS_MAX),
            process: process::id(),
        }
    }

    /// The number of fields like this one to begin ahead; 0 if that does not pay.
    pub(crate) fn depth(&self, field: &Inspected) -> usize {
        let length = field.location.length;
        if length >= LENGTH_MIN && !are_processors_busy(length) { self.threads_max + 2 } else { 0 }
    }

    /// Lets a thread read a field.
    pub(crate) fn begin(&mut self, field: Inspected) -> Arc<AheadRead> {
        let read = AheadRead { field, progress: Mutex::new(Progress::Unclaimed), changed: Condvar::new() };
        let read = Arc::new(read);
        lock(&self.queue.state).reads.push_back(Arc::clone(&read));
        self.queue.changed.notify_one();
        if self.threads.is_empty() {
            self.start();
        }
        read
    }

    fn start(&mut self) {
        for _ in 0..self.threads_max {
            let (store, buffers) = (Arc::clone(&self.store), self.buffers.clone());
            let queue = Arc::clone(&self.queue);
            let work = move || queue.work(&store, &buffers);
            // Without a thread the caller reads all fields.
            self.threads.extend(thread::Builder::new().name("isotach-read".to_owned()).spawn(work));
        }
    }

    /// The bytes of a field whose read has begun.
    pub(crate) fn end(&self, read: &AheadRead) -> Result<AlignedBuffer> {
        while !read.claim() && process::id() == self.process {
            if let Some(outcome) = read.outcome() {
                return outcome;
            }
            match self.queue.claim_next() {
                Some(later) => later.read_claimed(&self.store, &self.buffers),
                None => read.wait(),
            }
        }
        read.read(&self.store, &self.buffers)
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        if process::id() != self.process {
            // These threads do not exist here, and another may have the place of one.
            std::mem::forget(std::mem::take(&mut self.threads));
            return;
        }
        let mut state = lock(&self.queue.state);
        state.is_closed = true;
        state.reads.clear();
        drop(state);
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            // Where a thread panicked, the caller read the field itself.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadAhead({} threads)", self.threads.len())
    }
}

impl fmt::Debug for AheadRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AheadRead({})", self.field.key)
    }
}

impl Queue {
    /// Reads fields until the queue is closed.
    fn work(&self, store: &Inner, buffers: &Buffers) {
        while self.wait() {
            if let Some(read) = self.claim_next() {
                read.read_claimed(store, buffers);
            }
        }
    }

    /// Waits for a read. False if the queue is closed.
    fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        while state.reads.is_empty() && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_closed
    }

    /// Claims the first read that nobody has claimed.
    fn claim_next(&self) -> Option<Arc<AheadRead>> {
        let mut state = lock(&self.state);
        loop {
            let read = state.reads.pop_front()?;
            if read.claim() {
                return Some(read);
            }
        }
    }
}

impl AheadRead {
    /// Whether this caller is to read it.
    fn claim(&self) -> bool {
        let mut progress = lock(&self.progress);
        let is_unclaimed = matches!(*progress, Progress::Unclaimed);
        if is_unclaimed {
            *progress = Progress::Claimed;
        }
        is_unclaimed
    }

    fn read(&self, store: &Inner, buffers: &Buffers) -> Result<AlignedBuffer> {
        let mut read = store.read_fields(std::slice::from_ref(&self.field), buffers)?;
        Ok(read.pop().unwrap_or_default())
    }

    /// Reads a claimed field and stores the outcome.
    fn read_claimed(&self, store: &Inner, buffers: &Buffers) {
        let claimed = Claimed(self);
        let outcome = self.read(store, buffers);
        claimed.finish(outcome);
    }

    /// Takes the outcome of a read that has ended.
    fn outcome(&self) -> Option<Result<AlignedBuffer>> {
        let mut progress = lock(&self.progress);
        match std::mem::replace(&mut *progress, Progress::Claimed) {
            Progress::Read(outcome) => Some(outcome),
            before => {
                *progress = before;
                None
            }
        }
    }

    /// Waits while another thread reads it.
    fn wait(&self) {
        let mut progress = lock(&self.progress);
        while matches!(*progress, Progress::Claimed) {
            progress = self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A read that was claimed. If its thread panics, the caller that needs the field reads it.
struct Claimed<'r>(&'r AheadRead);

impl Claimed<'_> {
    fn finish(self, outcome: Result<AlignedBuffer>) {
        *lock(&self.0.progress) = Progress::Read(outcome);
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        let mut progress = lock(&self.0.progress);
        if matches!(*progress, Progress::Claimed) {
            *progress = Progress::Unclaimed;
        }
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
