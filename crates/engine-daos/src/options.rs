//! The URI of a pool: `daos://POOL[?OPTION=VALUE&...]`.

use isotach_daos_abi::property_names::CHECKSUMS;
use isotach_object::{Capabilities, Error, Label, PoolUri, Result};

/// The scheme of the engine's URIs.
pub(crate) const SCHEME: &str = "daos";

/// The engine's capabilities beyond the core.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    transactions: true,
    history: false,
    prepared_transactions: false,
    holes: false,
    snapshots: true,
    redundancy: true,
    ordered_listing: false,
    ordered_updates: false,
    pending_reads: true,
    lent_reads: false,
    multi_process: true,
    permissions: true,
    persistent: true,
};

/// The default number of parallel operations of a handle.
pub(crate) const DEPTH: usize = 16;

const KNOWN: [&str; 6] = ["system", "depth", "chunk", "oids", "csum", "size"];

/// The options in a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// DAOS's pool: a label or the text of a UUID.
    pub(crate) pool: String,
    /// The DAOS system, or `None` for the agent's.
    pub(crate) system: Option<String>,
    /// The number of parallel operations of a handle.
    pub(crate) depth: usize,
    /// Bytes of an array under one distribution key, in new containers.
    pub(crate) chunk: u64,
    /// The number of object ids that a handle reserves together.
    pub(crate) oids: u64,
    /// DAOS's number of the checksum in new containers.
    pub(crate) checksum: u64,
    /// The size of a new pool, in `dmg`'s form.
    pub(crate) size: String,
}

impl Options {
    /// Reads a URI.
    pub(crate) fn of(uri: &PoolUri) -> Result<Self> {
        if uri.scheme() != SCHEME {
            return Err(Error::invalid(format!("store {uri}"), "a URI such as daos://POOL"));
        }
        uri.check_options(&KNOWN)?;
        let pool = uri.path().trim_end_matches('/');
        // A label with a leading dash would be an option of `dmg`.
        if pool.parse::<Label>().is_err() || pool.starts_with('-') {
            let expected = "daos://POOL, where POOL is the label or the UUID of a pool of DAOS's";
            return Err(Error::invalid(format!("store {uri}"), expected));
        }
        let text = |option: &str| uri.option(option).filter(|text| !text.is_empty()).map(str::to_owned);
        let checksum = uri.option("csum").unwrap_or("crc32");
        let Some(checksum) = CHECKSUMS.iter().position(|name| *name == checksum) else {
            return Err(uri.wrong_option("csum", &CHECKSUMS.join(", ")));
        };
        Ok(Self {
            pool: pool.to_owned(),
            system: text("system"),
            depth: uri.number("depth", DEPTH, &(1..=1024))?,
            chunk: uri.number("chunk", 8 << 20, &(4 << 10..=1 << 30))?,
            oids: uri.number("oids", 1024, &(1..=1 << 32))?,
            checksum: checksum as u64,
            size: text("size").unwrap_or_else(|| "100%".to_owned()),
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
    fn a_uri_says_the_pool_and_the_rest_has_defaults() {
        let plain = options("daos://tank").unwrap();
        assert_eq!((plain.pool.as_str(), plain.depth, plain.chunk), ("tank", 16, 8 << 20));
        assert_eq!((plain.checksum, plain.system), (2, None));
        let all =
            options("daos://tank/?system=prod&depth=4&chunk=1048576&oids=100&csum=off&size=1T").unwrap();
        assert_eq!((all.pool.as_str(), all.system.as_deref(), all.oids), ("tank", Some("prod"), 100));
        assert_eq!((all.checksum, all.size.as_str()), (0, "1T"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_and_says_what_would_do() {
        let wrong = [
            ("daos://", "daos://POOL"),
            ("daos://tank/container", "daos://POOL"),
            ("daos://tank?depth=0", "from 1 to 1024"),
            ("daos://tank?csum=md5", "crc32"),
            ("daos://tank?svcl=0", "one of: system"),
        ];
        for (uri, expected) in wrong {
            let error = options(uri).unwrap_err();
            assert!(error.code() == "invalid-input" && error.to_string().contains(expected), "{error}");
        }
    }
}
