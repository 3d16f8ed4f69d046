//! Trying again what lost against another.

use std::time::{Duration, Instant};

use isotach_object::Backoff;

use crate::{
    abi::errors::*,
    runtime::error::{Der, Result, refuse},
};

/// How long something is tried that others always are faster than.
const LONGEST: Duration = Duration::from_secs(30);

/// Does something until nobody else was faster, which it tells by `DER_TX_RESTART`.
///
/// # Errors
/// `DER_AGAIN` when it was tried for long; at once whatever else `act` fails with.
pub(crate) fn until_first<T>(act: impl FnMut() -> Result<T>) -> Result<T> {
    within(LONGEST, act)
}

fn within<T>(longest: Duration, mut act: impl FnMut() -> Result<T>) -> Result<T> {
    let (backoff, begun) = (Backoff::default(), Instant::now());
    let mut attempts = 0;
    loop {
        attempts += 1;
        match act() {
            Err(Der(DER_TX_RESTART)) if begun.elapsed() < longest => backoff.pause(attempts, Duration::MAX),
            Err(Der(DER_TX_RESTART)) => return refuse(DER_AGAIN, "others always were faster"),
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loses_is_tried_again_up_to_an_end_that_is_no_restart() {
        let mut attempts = 0;
        let mut lose = |until| {
            attempts += 1;
            if attempts < until { Err(Der(DER_TX_RESTART)) } else { Ok(attempts) }
        };
        assert_eq!(until_first(|| lose(5)), Ok(5));
        assert_eq!(within(Duration::ZERO, || Err::<(), _>(Der(DER_TX_RESTART))), Err(Der(DER_AGAIN)));
        assert_eq!(until_first(|| Err::<(), _>(Der(DER_EXIST))), Err(Der(DER_EXIST)));
    }
}
