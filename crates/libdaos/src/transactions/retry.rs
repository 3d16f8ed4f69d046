//! Retrying an operation after a conflict.

use std::time::{Duration, Instant};

use isotach_object::Backoff;

use crate::{
    abi::errors::*,
    runtime::error::{Der, Result, refuse},
};

/// How long an operation is retried.
const LONGEST: Duration = Duration::from_secs(30);

/// Repeats `act` as long as it fails with `DER_TX_RESTART`, which stands for a conflict.
///
/// # Errors
/// `DER_AGAIN` after [`LONGEST`]; any other error of `act` at once.
pub(crate) fn retry_conflicts<T>(act: impl FnMut() -> Result<T>) -> Result<T> {
    within(LONGEST, act)
}

fn within<T>(longest: Duration, mut act: impl FnMut() -> Result<T>) -> Result<T> {
    let (backoff, begun) = (Backoff::default(), Instant::now());
    let mut attempts = 0;
    loop {
        attempts += 1;
        match act() {
            Err(Der(DER_TX_RESTART)) if begun.elapsed() < longest => backoff.pause(attempts, Duration::MAX),
            Err(Der(DER_TX_RESTART)) => return refuse(DER_AGAIN, "conflicts with others for too long"),
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_retried_for_a_time_and_then_reported_as_another_error() {
        let mut attempts = 0;
        let mut lose = |until| {
            attempts += 1;
            if attempts < until { Err(Der(DER_TX_RESTART)) } else { Ok(attempts) }
        };
        assert_eq!(retry_conflicts(|| lose(5)), Ok(5));
        assert_eq!(within(Duration::ZERO, || Err::<(), _>(Der(DER_TX_RESTART))), Err(Der(DER_AGAIN)));
        assert_eq!(retry_conflicts(|| Err::<(), _>(Der(DER_EXIST))), Err(Der(DER_EXIST)));
    }
}
