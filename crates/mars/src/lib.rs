//! The language of fields: keys, key types, schema and requests. No I/O.
//!
//! A field has a [`Key`]. A [`Schema`] splits it in three and makes its values canonical by their [`KeyType`]s
//! ([`Schema::split`]), and turns a [`Request`] in MARS language into [`Plan`]s that say what to look for
//! ([`Schema::plans`]). What must stay true: whatever is stored under a split key is found by asking for the key, in
//! any spelling.

mod clock;
mod error;
mod key;
mod key_text;
mod request;
mod schema;
mod text;
mod types;

pub use clock::Clock;
pub use error::{Error, KeyError, Mismatch, Refused, RequestError, SchemaError};
pub use key::Key;
pub use request::Request;
pub use schema::{
    Candidates, JoinedCandidates, Level, LevelFilter, LevelKey, Match, Plan, Presence, Rule, RuleId, Schema,
    SplitKey, Splitter, Values, Wanted, WantedFields,
};
pub use types::{KeyType, param_id, param_name};
