//! What a pool's URI says: `posix:/path?sync=no&checkpoint=1048576`.

use std::path::PathBuf;

use isotach_object::{Error, PoolUri, Result};

use crate::SCHEME;

/// Bytes of log after which somebody writes a run, unless the URI says otherwise. Whoever opens a container that is being written to
/// replays half of this, as a rule.
const CHECKPOINT: u64 = 1 << 20;
/// The smallest interval, so that a checkpoint is never due at every frame.
const MIN_CHECKPOINT: u64 = 256;
/// The largest: a log that long is far past any use.
const MAX_CHECKPOINT: u64 = 1 << 40;

/// How the handles of a pool behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether flushing waits for the device.
    pub(crate) sync: bool,
    /// Bytes of log between checkpoints.
    pub(crate) checkpoint: u64,
}

/// Reads the pool's directory and options.
pub(crate) fn parse(uri: &PoolUri) -> Result<(PathBuf, Options)> {
    if uri.scheme() != SCHEME || uri.path().is_empty() {
        return Err(Error::invalid(format!("store {uri}"), "posix:/path/to/a/directory"));
    }
    let wrong =
        |name: &str, expected: &str| Error::invalid(format!("option {name:?} of store {uri}"), expected);
    if let Some(name) = uri.option_names().find(|name| !["sync", "checkpoint"].contains(name)) {
        return Err(wrong(name, "sync or checkpoint"));
    }
    let sync = match uri.option("sync") {
        None | Some("yes") => true,
        Some("no") => false,
        Some(_) => return Err(wrong("sync", "yes or no")),
    };
    let checkpoint = match uri.option("checkpoint").map(str::parse::<u64>) {
        None => CHECKPOINT,
        Some(Ok(bytes)) if (MIN_CHECKPOINT..=MAX_CHECKPOINT).contains(&bytes) => bytes,
        Some(_) => {
            let expected = format!("a number of bytes from {MIN_CHECKPOINT} to {MAX_CHECKPOINT}");
            return Err(wrong("checkpoint", &expected));
        }
    };
    Ok((PathBuf::from(uri.path()), Options { sync, checkpoint }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_are_named() {
        let parse = |text: &str| parse(&text.parse().unwrap());
        let (path, options) = parse("posix:/a?sync=no&checkpoint=4096").unwrap();
        assert_eq!((path, options), ("/a".into(), Options { sync: false, checkpoint: 4096 }));
        assert_eq!(parse("posix:/a").unwrap().1, Options { sync: true, checkpoint: CHECKPOINT });
        for wrong in
            ["posix:", "posix:/a?sync=maybe", "posix:/a?checkpoint=1", "posix:/a?snyc=no", "rados:/a"]
        {
            assert_eq!(parse(wrong).unwrap_err().code(), "invalid-input", "{wrong}");
        }
    }
}
