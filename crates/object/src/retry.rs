//! Trying again what lost against another writer.

use std::{
    hash::{BuildHasher, RandomState},
    thread,
    time::Duration,
};

use crate::{Error, Result};

/// How often something is tried, and how long is waited in between: each time up to twice as long as before, by chance,
/// so that those who met do not meet again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// How often it is tried in all; at least once.
    pub attempts: u32,
    /// The longest wait after the first conflict.
    pub first: Duration,
    /// The longest wait of all.
    pub longest: Duration,
}

impl Default for Backoff {
    /// 32 attempts, and waits from 100 microseconds to 50 milliseconds.
    fn default() -> Self {
        Self { attempts: 32, first: Duration::from_micros(100), longest: Duration::from_millis(50) }
    }
}

impl Backoff {
    /// Waits after this many attempts, one or more, and not longer than `most`.
    pub fn pause(&self, attempts: u32, most: Duration) {
        thread::sleep(part_of(self.limit(attempts)).min(most));
    }

    /// The longest wait after this many conflicts, one or more.
    fn limit(&self, conflicts: u32) -> Duration {
        let doubled = 1_u32.checked_shl(conflicts - 1).unwrap_or(u32::MAX);
        self.first.saturating_mul(doubled).min(self.longest)
    }
}

/// Repeats `attempt` until it meets no conflict. It is called again each time, and reads again what its
/// preconditions are to say.
///
/// ```
/// # use isotach_object::{ContainerOptions, Engine, Error, KeyValue, memory::Memory};
/// # use isotach_object::{ObjectClass, ObjectId, ObjectType};
/// use isotach_object::{Backoff, retry};
/// # let engine = Memory::new();
/// # engine.create_pool(&"memory:doc".parse()?)?;
/// # let pool = engine.open_pool(&"memory:doc".parse()?)?;
/// # pool.create_container(&"c".parse()?, &ContainerOptions::default())?;
/// # let container = pool.open_container(&"c".parse()?)?;
/// # let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
/// let counter = KeyValue::new(&*container, object)?;
/// counter.put(b"n", &[6])?;
/// retry(Backoff::default(), || {
///     let seen = counter.get(b"n")?.unwrap_or_default();
///     counter.compare_and_put(b"n", &seen, &[seen[0] + 1])
/// })?;
/// assert_eq!(counter.get(b"n")?, Some(vec![7]));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The last `Conflict` when there is no attempt left; any other error at once.
pub fn retry<T>(backoff: Backoff, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut conflicts = 0;
    loop {
        match attempt() {
            Err(Error::Conflict { .. }) if conflicts + 1 < backoff.attempts => {
                conflicts += 1;
                backoff.pause(conflicts, Duration::MAX);
            }
            outcome => return outcome,
        }
    }
}

/// Some part of a duration, by chance.
fn part_of(limit: Duration) -> Duration {
    // The keys of the hasher differ each time.
    let chance = RandomState::new().hash_one(()) as u32;
    limit.mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict(number: u32) -> Error {
        Error::Conflict { what: format!("attempt {number}") }
    }

    const AT_ONCE: Backoff = Backoff { attempts: 5, first: Duration::ZERO, longest: Duration::ZERO };

    #[test]
    fn conflicts_are_retried_and_the_last_one_is_returned() {
        let mut attempts = 0;
        let mut lose = |until: u32| {
            attempts += 1;
            if attempts < until { Err(conflict(attempts)) } else { Ok(attempts) }
        };
        assert_eq!(retry(AT_ONCE, || lose(5)).unwrap(), 5);
        attempts = 0;
        let mut lose = || {
            attempts += 1;
            Err::<(), _>(conflict(attempts))
        };
        let text = retry(AT_ONCE, &mut lose).unwrap_err().to_string();
        assert_eq!(text, "conflict: attempt 5");
    }

    #[test]
    fn other_errors_are_returned_at_once() {
        let mut attempts = 0;
        let fail = || {
            attempts += 1;
            Err::<(), _>(Error::not_found("x"))
        };
        assert_eq!(retry(AT_ONCE, fail).unwrap_err().code(), "not-found");
        assert_eq!(attempts, 1);
        let none = Backoff { attempts: 0, ..AT_ONCE };
        assert!(retry(none, || Err::<(), _>(conflict(1))).is_err(), "it is tried once at least");
    }

    #[test]
    fn waits_double_up_to_the_longest_and_a_part_of_it_is_waited() {
        let backoff = Backoff { first: Duration::from_millis(3), ..Backoff::default() };
        let limits = [1, 2, 3, 5, 40].map(|conflicts| backoff.limit(conflicts).as_millis());
        assert_eq!(limits, [3, 6, 12, 48, 50]);
        let parts: Vec<_> = (0..100).map(|_| part_of(Duration::from_secs(1))).collect();
        assert!(parts.iter().all(|part| *part <= Duration::from_secs(1)));
        assert!(parts.iter().any(|part| *part < parts[0]) || parts.iter().any(|part| *part > parts[0]));
    }
}
