//! Work on chunks by several threads: filters, checksums and copies take longer than the store.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::Result;

/// Fewer bytes are not worth a thread.
const WORTH: usize = 4 << 20;
const THREADS_MAX: usize = 8;

/// What `each` makes of the numbers below `count`, in their order. It gets a buffer that it may use as it likes. `bytes` is the size of the
/// work.
pub(crate) fn map<T: Send>(
    count: usize,
    bytes: usize,
    each: impl Fn(usize, &mut Vec<u8>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = if bytes < WORTH || count < 2 { 1 } else { threads().min(count) };
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, T)>> {
        let (mut buffer, mut done) = (Vec::new(), Vec::new());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return Ok(done);
            }
            done.push((at, each(at, &mut buffer)?));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        others.into_iter().fold(own, |done, other| {
            let other = other.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked));
            done.and_then(|mut done| {
                done.extend(other?);
                Ok(done)
            })
        })
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, |threads| threads.get().min(THREADS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn results_come_in_order_and_an_error_of_any_thread_is_returned() {
        for bytes in [0, WORTH] {
            let squares = map(1000, bytes, |at, buffer| {
                buffer.resize(at, 0);
                Ok(buffer.len() * at)
            });
            assert!(squares.unwrap().iter().enumerate().all(|(at, square)| *square == at * at));
            let failed =
                map(1000, bytes, |at, _| if at == 700 { Err(Error::not_found("700")) } else { Ok(at) });
            assert!(matches!(failed, Err(Error::NotFound { .. })));
            assert!(map(0, bytes, |at, _| Ok(at)).unwrap().is_empty());
        }
    }
}
