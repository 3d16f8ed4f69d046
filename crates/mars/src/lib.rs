//! The language of fields: keys, key types, schema and requests. No I/O.
mod clock;
mod error;
mod key;
mod key_text;
mod text;
mod types;

pub use clock::Clock;
pub use error::{Error, KeyError, Mismatch, Refused, RequestError, SchemaError};
pub use key::Key;
pub use types::{KeyType, param_id, param_name};
