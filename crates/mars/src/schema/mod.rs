//! [`Schema`]: how keys are split into dataset, collocation and element, in FDB's schema language.
//!
//! What must stay true: a field that [`Schema::split`] accepts is found again by the plan of a request with the same
//! keys, and everything in a split key is canonical.

mod compile;
mod expand;
mod filter;
mod parse;
mod plan;
mod rule;
mod show;
mod split;
mod splitter;
mod standard;
mod ticked;
mod tree;
mod wanted;

use std::fmt;
use std::sync::Arc;

use crate::clock::Clock;
use crate::error::SchemaError;

pub use filter::{Candidates, JoinedCandidates, LevelFilter, Values, Wanted};
pub use plan::{Match, Plan};
pub use rule::{Level, LevelKey, Presence, Rule, RuleId};
pub use split::SplitKey;
pub use splitter::Splitter;
pub use wanted::WantedFields;

use compile::Compiled;
use tree::Tree;

/// The rules by which fields are named and grouped. Cheap to clone; threads may share one.
///
/// ```
/// use isotach_mars::{Key, Schema};
///
/// let schema = Schema::parse(
///     "param: Param; step: Step;
///      [ class, stream=oper/scda, date
///          [ type, levtype
///              [ step, levelist?, param ] ] ]",
/// )?;
/// let key: Key = "class=od,stream=oper,date=20240101,type=fc,levtype=sfc,step=1440m,param=2t".parse()?;
/// let split = schema.split(&key)?;
/// assert_eq!(split.dataset.to_string(), "class=od,stream=oper,date=20240101");
/// assert_eq!(split.element.to_string(), "step=24,param=167");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Schema {
    source: Arc<str>,
    tree: Arc<Tree>,
    compiled: Arc<Compiled>,
    clock: Clock,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// Where the text stops being a schema: line, column, what was expected and what was found.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let tree = parse::tree(text)?;
        let compiled = compile::compile(&tree);
        Ok(Self {
            source: Arc::from(text),
            tree: Arc::new(tree),
            compiled: Arc::new(compiled),
            clock: Clock::system(),
        })
    }

    /// The schema used where none is given. It fits the streams of an operational centre as MARS labels them, and
    /// takes other messages too if they have at least `date`, `time`, `levtype` and `param`.
    #[must_use]
    pub fn standard() -> Self {
        standard::schema()
    }

    /// The same schema with another idea of what day it is.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The text the schema was read from, comments and all.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// A number that is the same for equal schemas, whatever their comments and layout, on every machine.
    #[must_use]
    pub fn digest(&self) -> u64 {
        // FNV-1a over the normal form: small, and fixed by its definition rather than by a library's version.
        self.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// The rules in the order in which they are tried.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.compiled.rules.iter()
    }

    /// Whether some rule has a place for a key of this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.compiled.number(name).is_some()
    }

    /// One rule.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        self.compiled.rules.get(id.0)
    }
}

impl PartialEq for Schema {
    /// Schemas are equal if they say the same, whatever their comments and layout.
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

impl Eq for Schema {}

impl fmt::Display for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::tree(&self.tree, out)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({} rules)", self.compiled.rules.len())
    }
}
