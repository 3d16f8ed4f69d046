//! Ranks of a parallel program as threads, and jobs that are killed.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use isotach_hdf5::Ranks;

/// What ranks that are threads share: a place for the messages of each.
#[derive(Debug)]
struct Meeting {
    posts: Vec<Mutex<Vec<Vec<u8>>>>,
    barrier: Barrier,
    /// How many messages are sent before the job dies.
    lives: AtomicU64,
}

#[derive(Debug)]
struct Rank {
    rank: usize,
    meeting: Arc<Meeting>,
}

impl Meeting {
    fn new(size: usize, lives: u64) -> Arc<Self> {
        let posts = (0..size).map(|_| Mutex::default()).collect();
        Arc::new(Self { posts, barrier: Barrier::new(size), lives: AtomicU64::new(lives * size as u64) })
    }

    fn rank(self: &Arc<Self>, rank: usize) -> Box<dyn Ranks> {
        Box::new(Rank { rank, meeting: self.clone() })
    }
}

impl Rank {
    /// Gives messages, and takes one of each rank, once all have given theirs.
    fn meet(&self, given: Vec<Vec<u8>>, mine: usize) -> Result<Vec<Vec<u8>>, String> {
        let Meeting { posts, barrier, lives } = &*self.meeting;
        let left = lives.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        // All ranks send the same number of messages before they take any, so that all die at the same one.
        if left.is_err() {
            return Err("the job was killed".to_owned());
        }
        *posts[self.rank].lock().unwrap() = given;
        barrier.wait();
        let taken = posts
            .iter()
            .map(|post| {
                let post = post.lock().unwrap();
                post.get(mine).or(post.first()).cloned().unwrap_or_default()
            })
            .collect();
        barrier.wait();
        Ok(taken)
    }
}

impl Ranks for Rank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.meeting.posts.len()
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        self.meet(vec![bytes.to_vec()], 0)
    }

    fn exchange(&self, bytes: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, String> {
        assert_eq!(bytes.len(), self.size());
        self.meet(bytes, self.rank)
    }
}

/// Runs a function as each of some ranks. Returns what each has returned.
pub(crate) fn as_ranks<T: Send>(size: usize, run: impl Fn(usize, Box<dyn Ranks>) -> T + Sync) -> Vec<T> {
    job(size, u64::MAX >> 8, run)
}

/// The same for a job that is killed after so many messages.
pub(crate) fn job<T: Send>(
    size: usize,
    lives: u64,
    run: impl Fn(usize, Box<dyn Ranks>) -> T + Sync,
) -> Vec<T> {
    let meeting = Meeting::new(size, lives);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                let (ranks, run) = (meeting.rank(rank), &run);
                scope.spawn(move || run(rank, ranks))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
