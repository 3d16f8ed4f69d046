//! The configuration of a field store: spaces, pools, schema, clock. One typed structure, checked when it is used.

mod fdb;
mod file;
pub(crate) mod forbidden;
mod pattern;
mod spread;
mod yaml;

use isotach_mars::Clock;
use isotach_object::PoolUri;

pub use pattern::Pattern;
pub use spread::Spread;

use self::forbidden::{Forbidden, Limits};

/// A part of a store: the datasets that match a pattern, and the pools they go to.
#[derive(Debug, Clone)]
pub struct Space {
    /// Its name, for users.
    pub name: String,
    /// Which new datasets go here. The first space that matches is taken.
    pub pattern: Pattern,
    /// The pool of the catalogue, which maps fields to locations.
    pub catalogue: PoolUri,
    /// The pool of the store: the fields' bytes. May be the catalogue's pool, which saves a flush.
    pub store: PoolUri,
    /// The actions that are forbidden there, independent of the locks of its datasets.
    pub forbidden: Forbidden,
    /// Spaces of one group are the roots of one FDB space: a new dataset goes to one of them, or is refused.
    pub group: usize,
    /// How new datasets are spread over them.
    pub spread: Spread,
}

impl Space {
    /// One that takes every dataset and forbids nothing.
    pub fn new(name: &str, catalogue: &PoolUri, store: &PoolUri) -> Self {
        Self {
            name: name.to_owned(),
            pattern: Pattern::all(),
            catalogue: catalogue.clone(),
            store: store.clone(),
            forbidden: Forbidden::default(),
            group: 0,
            spread: Spread::First,
        }
    }
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
    /// The spaces, in order of choice. Reading searches all of them.
    pub spaces: Vec<Space>,
    /// The text of the schema. On creation `None` is the standard schema; on opening `None` is the store's own.
    pub schema: Option<String>,
    /// Settings of a configuration file without effect here, each with its place.
    pub notes: Vec<String>,
    /// The clock for relative dates such as `-1`.
    pub clock: Clock,
}

impl Config {
    /// Everything in one pool.
    pub fn single(pool: &PoolUri) -> Self {
        Self::split(pool, pool)
    }

    /// One space with the catalogue and the store in pools of their own.
    pub fn split(catalogue: &PoolUri, store: &PoolUri) -> Self {
        let space = Space::new("default", catalogue, store);
        Self { spaces: vec![space], schema: None, clock: Clock::system(), notes: Vec::new() }
    }

    /// The prohibitions in the catalogues of a pool.
    pub(crate) fn limits_of(&self, catalogue: &PoolUri) -> Limits {
        let mut limits = Limits::default();
        let there = self.spaces.iter().filter(|space| space.catalogue == *catalogue);
        there.for_each(|space| limits.push(&space.pattern, &space.forbidden));
        limits
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
