//! What a field store is made of: spaces, pools, schema, clock; one typed structure, checked when it is used.

mod fdb;
mod file;
mod pattern;
mod yaml;

use isotach_mars::Clock;
use isotach_object::PoolUri;

pub use pattern::Pattern;

/// A part of a store: the datasets that match a pattern, and the pools they go to.
#[derive(Debug, Clone)]
pub struct Space {
    /// Its name, for people.
    pub name: String,
    /// Which new datasets go here. The first space that matches is taken.
    pub pattern: Pattern,
    /// The pool of the catalogue: which fields there are and where.
    pub catalogue: PoolUri,
    /// The pool of the store: the fields' bytes. May be the catalogue's pool, which saves a flush.
    pub store: PoolUri,
}

/// The configuration of a [`crate::FieldStore`].
///
/// ```
/// use isotach_fields::Config;
/// let config = Config::single(&"memory:forecasts".parse()?);
/// assert_eq!(config.spaces.len(), 1);
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    /// Where datasets go, in order of choice. Reading looks in all of them.
    pub spaces: Vec<Space>,
    /// The text of the schema. On creation `None` is the standard schema; on opening `None` is the store's own.
    pub schema: Option<String>,
    /// What day relative dates such as `-1` are counted from.
    pub clock: Clock,
}

impl Config {
    /// Everything in one pool.
    pub fn single(pool: &PoolUri) -> Self {
        Self::split(pool, pool)
    }

    /// One space with the catalogue and the store in pools of their own.
    pub fn split(catalogue: &PoolUri, store: &PoolUri) -> Self {
        let space = Space {
            name: "default".to_owned(),
            pattern: Pattern::all(),
            catalogue: catalogue.clone(),
            store: store.clone(),
        };
        Self { spaces: vec![space], schema: None, clock: Clock::system() }
    }

    /// With this schema text.
    #[must_use]
    pub fn with_schema(mut self, text: impl Into<String>) -> Self {
        self.schema = Some(text.into());
        self
    }

    /// With this clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}
