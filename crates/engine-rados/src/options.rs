//! The URI of a pool: `rados://POOL[/NAME][?OPTION=VALUE&...]`.
//!
//! POOL is Ceph's pool. Several of ours may be in one, each under a NAME.

use std::time::Duration;

use isotach_object::{Error, PoolUri, Result};

/// The scheme of the engine's URIs.
pub(crate) const SCHEME: &str = "rados";

/// How many operations of a handle are under way at once, where nothing else is asked for.
pub(crate) const DEPTH: usize = 16;

const KNOWN: [&str; 10] =
    ["conf", "user", "keyring", "data", "timeout", "depth", "chunk", "entries", "grace", "full"];
/// The longest name of a pool of ours; with a container's number it is the name of a namespace, of which Ceph takes 256 bytes.
const MAX_NAME: usize = 128;

/// What a URI asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// Ceph's pool, which must be replicated: it holds the entries.
    pub(crate) pool: String,
    /// The name of our pool in it; empty for the only one.
    pub(crate) name: String,
    /// The configuration file; none for librados' default.
    pub(crate) conf: Option<String>,
    /// The user, without `client.`.
    pub(crate) user: String,
    /// The file with the user's key; none for what the configuration says.
    pub(crate) keyring: Option<String>,
    /// Ceph's pool for the bytes of arrays, which may be erasure coded.
    pub(crate) data: String,
    /// How long an operation may take.
    pub(crate) timeout: Duration,
    /// How many operations of a handle are under way at once.
    pub(crate) depth: usize,
    /// The most bytes of one object.
    pub(crate) chunk: usize,
    /// How many entries an omap may hold before it is split.
    pub(crate) entries: u64,
    /// How old bytes must be that nothing refers to before a purge takes them for left over.
    pub(crate) grace: Duration,
    /// Whether writes wait while the cluster is full, and do not fail.
    pub(crate) waits_when_full: bool,
}

impl Options {
    /// Reads a URI.
    pub(crate) fn of(uri: &PoolUri) -> Result<Self> {
        if uri.scheme() != SCHEME {
            return Err(Error::invalid(format!("store {uri}"), "a URI such as rados://POOL"));
        }
        uri.check_options(&KNOWN)?;
        let (pool, name) = uri.path().split_once('/').unwrap_or((uri.path(), ""));
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
        if pool.is_empty() || !is_plain(pool) || !is_plain(name) || name.len() > MAX_NAME {
            let expected = format!(
                "rados://POOL or rados://POOL/NAME, without blanks, and a NAME of at most {MAX_NAME} bytes"
            );
            return Err(Error::invalid(format!("store {uri}"), expected));
        }
        let text = |option: &str| uri.option(option).filter(|text| !text.is_empty()).map(str::to_owned);
        let waits_when_full = match uri.option("full") {
            None | Some("fail") => false,
            Some("wait") => true,
            Some(_) => return Err(uri.wrong_option("full", "fail or wait")),
        };
        Ok(Self {
            pool: pool.to_owned(),
            name: name.to_owned(),
            conf: text("conf"),
            user: text("user").unwrap_or_else(|| "admin".to_owned()),
            keyring: text("keyring"),
            data: text("data").unwrap_or_else(|| pool.to_owned()),
            timeout: Duration::from_secs(uri.number("timeout", 60, &(1..=86_400))?),
            depth: uri.number("depth", DEPTH, &(1..=1024))?,
            chunk: uri.number("chunk", 8 << 20, &(64 << 10..=64 << 20))?,
            entries: uri.number("entries", 100_000, &(1..=120_000))?,
            grace: Duration::from_secs(uri.number("grace", 3600, &(0..=31_536_000))?),
            waits_when_full,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(uri: &str) -> Result<Options> {
        Options::of(&uri.parse().unwrap())
    }

    #[test]
    fn a_uri_says_pool_and_name_and_the_rest_has_defaults() {
        let plain = options("rados://fields").unwrap();
        assert_eq!((plain.pool.as_str(), plain.name.as_str(), plain.data.as_str()), ("fields", "", "fields"));
        assert_eq!((plain.user.as_str(), plain.timeout, plain.depth), ("admin", Duration::from_secs(60), 16));
        let all = "rados://fields/oper?user=me&data=bulk&timeout=5&depth=4&chunk=65536&full=wait&entries=10&grace=0";
        let all = options(all).unwrap();
        assert_eq!((all.name.as_str(), all.data.as_str(), all.user.as_str()), ("oper", "bulk", "me"));
        assert_eq!((all.timeout.as_secs(), all.chunk, all.entries), (5, 65_536, 10));
        assert!(all.waits_when_full && all.grace.is_zero());
    }

    #[test]
    fn invalid_options_are_refused_with_the_expected_form() {
        let wrong = [
            ("rados://", "rados://POOL"),
            ("rados://a/b/c", "rados://POOL/NAME"),
            ("rados://a b", "without blanks"),
            ("rados://p?depth=0", "from 1 to 1024"),
            ("rados://p?timeout=soon", "from 1 to 86400"),
            ("rados://p?full=perhaps", "fail or wait"),
            ("rados://p?pgs=3", "one of: conf"),
        ];
        for (uri, expected) in wrong {
            let error = options(uri).unwrap_err();
            assert!(error.code() == "invalid-input" && error.to_string().contains(expected), "{error}");
        }
    }
}
