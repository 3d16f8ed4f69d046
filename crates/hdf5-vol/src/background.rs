//! Transfers that go on while the program does other things (`H5Dwrite_async`, `H5Dread_async`). A thread for each file does them in order.
//!
//! What must stay true: the thread calls nothing of HDF5, in which another thread may be. Whatever shows or commits elements of a file calls [`wait`]
//! first: `handle::handle`, the transfers that a callback does itself, and the commit of a view.

use std::{
    collections::BTreeMap,
    io, mem, process,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
};

use isotach_hdf5::Stay;

use crate::request::Operation;

/// What is to be done.
pub(crate) struct Work {
    /// A failure is a text for the error stack.
    pub(crate) act: Box<dyn FnOnce() -> Result<(), String> + Send>,
    /// The file, which stays at its version until the work is done.
    pub(crate) file: Stay,
    /// Whether it writes: then nothing is committed after a failure.
    pub(crate) writes: bool,
}

type Job = (Work, Arc<Operation>);

/// The thread of a file.
struct Worker {
    jobs: Sender<Job>,
    left: Arc<Left>,
    thread: JoinHandle<()>,
    /// The process that has the thread: a fork has only a copy of this.
    process: u32,
}

/// A job that is done when this is dropped, whatever has become of it.
struct One<'l>(&'l Left);

impl Drop for One<'_> {
    fn drop(&mut self) {
        self.0.end_one();
    }
}

/// How many jobs are not done.
#[derive(Default)]
struct Left {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Left {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_one(&self) {
        *self.count() -= 1;
        self.changed.notify_all();
    }

    fn wait(&self) {
        drop(self.changed.wait_while(self.count(), |count| *count > 0));
    }
}

/// How many views each file has, by its number: the last one ends its thread.
static VIEWS: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());
/// By the number of the file.
static WORKERS: Mutex<BTreeMap<u64, Worker>> = Mutex::new(BTreeMap::new());
/// How many there are, so that a program without any loses no time.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn workers() -> MutexGuard<'static, BTreeMap<u64, Worker>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a view of a file.
pub(crate) fn enter(file: u64) {
    *VIEWS.lock().unwrap_or_else(PoisonError::into_inner).entry(file).or_default() += 1;
}

/// Counts a view less. With the last one the thread of the file ends, once all work is done.
pub(crate) fn leave(file: u64) {
    let mut views = VIEWS.lock().unwrap_or_else(PoisonError::into_inner);
    let left = views.get_mut(&file).map_or(0, |count| {
        *count -= 1;
        *count
    });
    if left == 0 {
        views.remove(&file);
        drop(views);
        end(file);
    }
}

/// Queues work behind the earlier work of the file. Does it at once if no thread can be started.
pub(crate) fn start(file: u64, work: Work) -> Arc<Operation> {
    let operation = Arc::new(Operation::default());
    let job = (work, Arc::clone(&operation));
    let mut workers = workers();
    let refused = match workers.get(&file).filter(|worker| worker.is_here()) {
        Some(worker) => worker.queue(job),
        None => match Worker::new() {
            Ok(worker) => {
                let refused = worker.queue(job);
                match workers.insert(file, worker) {
                    // The parent process has its thread, and not this one.
                    Some(of_parent) => mem::forget(of_parent),
                    None => drop(COUNT.fetch_add(1, Ordering::Relaxed)),
                }
                refused
            }
            Err(_) => Some(job),
        },
    };
    drop(workers);
    if let Some((work, operation)) = refused {
        operation.run(work);
    }
    operation
}

/// Waits until all work of the file is done.
pub(crate) fn wait(file: u64) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let left = workers().get(&file).filter(|worker| worker.is_here()).map(|worker| Arc::clone(&worker.left));
    if let Some(left) = left {
        left.wait();
    }
}

/// Ends the thread of a file.
fn end(file: u64) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let Some(worker) = workers().remove(&file) else { return };
    COUNT.fetch_sub(1, Ordering::Relaxed);
    if worker.is_here() {
        drop(worker.jobs);
        // It has nothing to tell: an operation has its outcome.
        drop(worker.thread.join());
    } else {
        // This process has no such thread, and another may have its place.
        mem::forget(worker);
    }
}

impl Worker {
    fn new() -> io::Result<Self> {
        let (jobs, given) = mpsc::channel::<Job>();
        let left = Arc::<Left>::default();
        let of_thread = Arc::clone(&left);
        let work = move || {
            for (work, operation) in given {
                let _ended = One(&of_thread);
                operation.run(work);
            }
        };
        let thread = thread::Builder::new().name("isotach-h5".to_owned()).spawn(work)?;
        Ok(Self { jobs, left, thread, process: process::id() })
    }

    fn is_here(&self) -> bool {
        self.process == process::id()
    }

    /// Queues a job. Gives it back if the thread has ended.
    fn queue(&self, job: Job) -> Option<Job> {
        *self.left.count() += 1;
        let refused = self.jobs.send(job).err()?;
        self.left.end_one();
        Some(refused.0)
    }
}
