//! The options in a pool's URI: `posix:/path?sync=no&checkpoint=1048576`.

use std::path::PathBuf;

use isotach_object::{Error, PoolUri, Result};

use crate::capability::SCHEME;

/// Bytes of log between runs, unless the URI says otherwise. A handle that opens a container in use replays half of this on average.
const CHECKPOINT: u64 = 1 << 20;
/// The smallest interval, so that a checkpoint is never due at every frame.
const CHECKPOINT_MIN: u64 = 256;
/// The largest interval: no log is that long.
pub(crate) const CHECKPOINT_MAX: u64 = 1 << 40;

/// Bytes of a staged transaction's records in one segment, unless the URI says otherwise. The stage and every reader that replays it hold
/// as many in memory.
const SEGMENT: u64 = 4 << 20;
/// The smallest segment: each takes a record in the frame.
const SEGMENT_MIN: u64 = 256;
/// The largest segment: it fits a frame.
const SEGMENT_MAX: u64 = 512 << 20;

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
    let checkpoint = uri.number("checkpoint", CHECKPOINT, &(CHECKPOINT_MIN..=CHECKPOINT_MAX))?;
    let segment = uri.number("segment", SEGMENT, &(SEGMENT_MIN..=SEGMENT_MAX))?;
    Ok((PathBuf::from(uri.path()), Options { sync, checkpoint, segment }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_are_refused() {
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
