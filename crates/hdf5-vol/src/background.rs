//! Transfers that go on while the program does other things (`H5Dwrite_async`, `H5Dread_async`). A thread for each file does them in order.
//!
//! What must stay true: the thread calls nothing of HDF5, in which another thread may be; and whatever shows a file as it is after its transfers
//! calls [`wait`] first: commits, reads, and the end of the last handle.

use std::{
    collections::BTreeMap,
    io, process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
};

use crate::request::Operation;

/// What is to be done; a failure is a text for the error stack.
pub(crate) type Work = Box<dyn FnOnce() -> Result<(), String> + Send>;
type Job = (Work, Arc<Operation>);

/// The thread of a file.
struct Worker {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
    /// The process that has the thread: a fork has only a copy of this.
    process: u32,
}

/// By the number of the file.
static WORKERS: Mutex<BTreeMap<u64, Worker>> = Mutex::new(BTreeMap::new());
/// How many there are, so that a call without any costs nothing.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn workers() -> MutexGuard<'static, BTreeMap<u64, Worker>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has something done after all that was given for this file before: at once where there can be no thread.
pub(crate) fn start(file: u64, work: Work) -> Arc<Operation> {
    let operation = Arc::new(Operation::default());
    let job = (work, Arc::clone(&operation));
    let mut workers = workers();
    let known = workers.get(&file).filter(|worker| worker.process == process::id());
    let left = match known {
        Some(worker) => worker.give(job),
        None => match Worker::new() {
            Ok(worker) => {
                let left = worker.give(job);
                if workers.insert(file, worker).is_none() {
                    COUNT.fetch_add(1, Ordering::Relaxed);
                }
                left
            }
            Err(_) => Some(job),
        },
    };
    drop(workers);
    if let Some((work, operation)) = left {
        operation.run(work);
    }
    operation
}

/// Waits until all that was given for this file is done.
pub(crate) fn wait(file: u64) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let Some(worker) = workers().remove(&file) else { return };
    COUNT.fetch_sub(1, Ordering::Relaxed);
    if worker.process == process::id() {
        drop(worker.jobs);
        // It has nothing to tell: what a job has to tell is in its operation.
        drop(worker.thread.join());
    }
}

impl Worker {
    fn new() -> io::Result<Self> {
        let (jobs, given) = mpsc::channel::<Job>();
        let work = move || given.into_iter().for_each(|(work, operation)| operation.run(work));
        let thread = thread::Builder::new().name("isotach-h5".to_owned()).spawn(work)?;
        Ok(Self { jobs, thread, process: process::id() })
    }

    /// Gives it a job, or gives it back if the thread has ended.
    fn give(&self, job: Job) -> Option<Job> {
        self.jobs.send(job).err().map(|left| left.0)
    }
}
