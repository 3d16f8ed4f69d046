//! What a pool's URI says: `posix:/path?sync=no&checkpoint=1048576`.

use std::path::PathBuf;

use isotach_object::{Error, PoolUri, Result};

use crate::capability::SCHEME;

/// Bytes of log after which somebody writes a run, unless the URI says otherwise. Whoever opens a container that is being written to
/// replays half of this, as a rule.
const CHECKPOINT: u64 = 1 << 20;
/// The smallest interval, so that a checkpoint is never due at every frame.
const MIN_CHECKPOINT: u64 = 256;
/// The largest: a log that long is far past any use.
pub(crate) const MAX_CHECKPOINT: u64 = 1 << 40;

/// Bytes of a staged transaction's records that go to a data file together, unless the URI says otherwise: so many are held
/// in memory, by who stages them and by who replays them.
const SEGMENT: u64 = 4 << 20;
/// No fewer: each takes a record in the frame.
const MIN_SEGMENT: u64 = 256;
/// No more: a segment fits a frame.
const MAX_SEGMENT: u64 = 512 << 20;

/// How the handles of a pool behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether flushing waits for the device.
    pub(crate) sync: bool,
    /// Bytes of log between checkpoints.
    pub(crate) checkpoint: u64,
    /// Bytes of records in a segment.
    pub(crate) segment: u64,
}

/// Reads the pool's directory and options.
pub(crate) fn parse(uri: &PoolUri) -> Result<(PathBuf, Options)> {
    if uri.scheme() != SCHEME || uri.path().is_empty() {
        return Err(Error::invalid(format!("store {uri}"), "posix:/path/to/a/directory"));
    }
    uri.check_options(&["sync", "checkpoint", "segment"])?;
    let sync = match uri.option("sync") {
        None | Some("yes") => true,
        Some("no") => false,
        Some(_) => return Err(uri.wrong_option("sync", "yes or no")),
    };
    let checkpoint = uri.number("checkpoint", CHECKPOINT, &(MIN_CHECKPOINT..=MAX_CHECKPOINT))?;
    let segment = uri.number("segment", SEGMENT, &(MIN_SEGMENT..=MAX_SEGMENT))?;
    Ok((PathBuf::from(uri.path()), Options { sync, checkpoint, segment }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_are_named() {
        let parse = |text: &str| parse(&text.parse().unwrap());
        let (path, options) = parse("posix:/a?sync=no&checkpoint=4096&segment=300").unwrap();
        assert_eq!((path, options), ("/a".into(), Options { sync: false, checkpoint: 4096, segment: 300 }));
        let usual = Options { sync: true, checkpoint: CHECKPOINT, segment: SEGMENT };
        assert_eq!(parse("posix:/a").unwrap().1, usual);
        for wrong in [
            "posix:",
            "posix:/a?sync=maybe",
            "posix:/a?checkpoint=1",
            "posix:/a?segment=4x",
            "posix:/a?snyc=no",
            "rados:/a",
        ] {
            assert_eq!(parse(wrong).unwrap_err().code(), "invalid-input", "{wrong}");
        }
    }
}
