//! The one public error of the field layer.
//!
//! A variant exists because a caller acts on it. Each names the field, dataset or place, and keeps its source. Codes
//! are stable, because other languages and scripts rely on them.

use std::error::Error as StdError;

use isotach_mars::{Key, KeyError, RequestError, SchemaError};

use crate::catalogue::locks::Action;

/// What every operation of the field layer returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation on fields failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field's key does not fit the schema; nothing was stored.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A request cannot be understood, or no rule of the schema answers it.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The schema's text is wrong.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The configuration or an argument is wrong.
    #[error("{what}: expected {expected}")]
    Invalid {
        /// The argument as given.
        what: String,
        /// What would have been accepted.
        expected: String,
    },
    /// There is no field store at this place.
    #[error("{store} is not a field store: {why}; `init` makes one")]
    NotAStore {
        /// The URI.
        store: String,
        /// What is missing.
        why: String,
    },
    /// The store exists already, with another schema.
    #[error("{store} is a field store already, with another schema; its own schema stays in force")]
    OtherSchema {
        /// The URI.
        store: String,
    },
    /// The store has a newer format than this program knows.
    #[error("{what} has format {found}, and this program knows up to {known}; use a newer one")]
    NewerFormat {
        /// The store or dataset.
        what: String,
        /// The format found.
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// The dataset is locked for this action.
    #[error(
        "dataset {dataset} is locked: no {action} until it is unlocked (`isotach unlock REQUEST --{action}`)"
    )]
    Locked {
        /// The dataset's key.
        dataset: String,
        /// What was attempted.
        action: Action,
    },
    /// The configuration forbids the action, and no `unlock` allows it.
    #[error("{what}: the configuration forbids {action}, by {by}")]
    Forbidden {
        /// The target of the action.
        what: String,
        /// What was attempted.
        action: Action,
        /// The key of the configuration, with its place.
        by: String,
    },
    /// A move has the dataset: archiving and flushing are refused.
    #[error(
        "dataset {dataset} is being moved: no archive until the move is over \
         (repeat a move that was killed; if that is refused, `isotach unlock REQUEST --archive` ends it)"
    )]
    Moving {
        /// The dataset's key.
        dataset: String,
    },
    /// The handle shows a snapshot, which is read-only.
    #[error("snapshot {snapshot} is read only: {what} the store as it is now, without `--at`")]
    ReadOnly {
        /// The snapshot's name.
        snapshot: String,
        /// What was attempted: a verb.
        what: &'static str,
    },
    /// A wipe or move names keys below the collocation level, but single fields cannot be removed.
    #[error(
        "the request names {names}, which tell single fields apart; only whole datasets and collocations can be removed \
         (`isotach delete` removes single fields)"
    )]
    BelowCollocation {
        /// The offending keys.
        names: String,
    },
    /// The dataset or one of its collocations was wiped, or moved, while this handle wrote to it. This many of the
    /// fields archived since the last flush are gone, or were moved. All others are flushed.
    #[error(
        "dataset {dataset} was wiped while it was written to: {} since the last flush {} gone",
        counted(*fields, "field"),
        are(*fields)
    )]
    Wiped {
        /// The dataset's key.
        dataset: String,
        /// How many fields.
        fields: u64,
    },
    /// A container of a listed dataset does not exist: it was destroyed by other means than this store.
    #[error("dataset {dataset} is lost: {source}; `isotach wipe` removes what is left of it")]
    LostDataset {
        /// The dataset's key.
        dataset: String,
        /// What does not exist.
        source: isotach_object::Error,
    },
    /// A container of a dataset cannot be read: its files are damaged.
    #[error("dataset {dataset} is damaged: {source}{}", advice(source))]
    DamagedDataset {
        /// The dataset's key.
        dataset: String,
        /// What is damaged.
        source: isotach_object::Error,
    },
    /// A container of a dataset may not be opened by this user.
    #[error("dataset {dataset} is closed to this user: {source}")]
    ClosedDataset {
        /// The dataset's key.
        dataset: String,
        /// Who may.
        source: isotach_object::Error,
    },
    /// A dataset below an overlay cannot be shown. All others can.
    #[error(
        "dataset {dataset} is an overlay of {below}, which {why}; `isotach overlay {below} {dataset} --remove` ends the \
         overlay"
    )]
    NothingBelow {
        /// The dataset that shows.
        dataset: String,
        /// The key of the dataset below.
        below: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A field from below an overlay cannot be relabelled with the key under which it is shown.
    #[error("field {field} is shown by an overlay, and cannot be given its key: {why}")]
    NotRelabelled {
        /// The field's key.
        field: String,
        /// Why not.
        why: String,
    },
    /// A write failed permanently: fields archived since the last flush are lost and must be archived again.
    #[error("{} archived into {dataset} since the last flush {} lost: {source}", counted(*fields, "field"), are(*fields))]
    Lost {
        /// The dataset's key.
        dataset: String,
        /// How many fields.
        fields: u64,
        /// The failure.
        source: isotach_object::Error,
    },
    /// Stored bytes are damaged.
    #[error("field {field} is corrupt: {what} in {place}")]
    Corrupt {
        /// The field's key.
        field: String,
        /// What is damaged and how it was noticed.
        what: String,
        /// The file or object, with the position.
        place: String,
    },
    /// Storing or reading one field failed.
    #[error("field {field}: {source}")]
    Field {
        /// The field's key.
        field: String,
        /// The failure.
        source: isotach_object::Error,
    },
    /// The key of a message could not be decoded. Nothing was stored.
    #[error("{source}")]
    Message {
        /// The failure of the decoder.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The copy differs from its source, which stays unchanged.
    #[error("the copy differs from its source, which is left as it is: {what}")]
    CopyDiffers {
        /// The difference.
        what: String,
    },
    /// A wipe of collocations, or a move, could not take back its count or its lock. The code is that of the failure.
    #[error("{what}: {source}; {remedy} ends it")]
    NotEnded {
        /// What was done, and what may stay.
        what: String,
        /// The first failure.
        source: Box<Self>,
        /// The command that ends it.
        remedy: &'static str,
    },
    /// A deletion failed after it had deleted fields durably. Repeated, it deletes the rest. The code is that of the failure.
    #[error("{source}; {} already deleted", were(*fields))]
    PartlyDeleted {
        /// How many fields.
        fields: u64,
        /// The failure.
        source: Box<Self>,
    },
    /// An operation of the object model failed.
    #[error(transparent)]
    Object(#[from] isotach_object::Error),
}

impl Error {
    /// All codes of this layer; those of the object model are in [`isotach_object::Error::CODES`].
    pub const CODES: [&str; 19] = [
        "key",
        "request",
        "schema",
        "invalid-input",
        "not-a-store",
        "other-schema",
        "newer-format",
        "locked",
        "forbidden",
        "moving",
        "read-only",
        "below-collocation",
        "wiped",
        "lost",
        "corrupt",
        "message",
        "nothing-below",
        "not-relabelled",
        "copy-differs",
    ];

    /// The stable code, shared by every language and by `--json`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Request(_) => "request",
            Self::Schema(_) => "schema",
            Self::Invalid { .. } => "invalid-input",
            Self::NotAStore { .. } => "not-a-store",
            Self::OtherSchema { .. } => "other-schema",
            Self::NewerFormat { .. } => "newer-format",
            Self::Locked { .. } => "locked",
            Self::Forbidden { .. } => "forbidden",
            Self::Moving { .. } => "moving",
            Self::ReadOnly { .. } => "read-only",
            Self::BelowCollocation { .. } => "below-collocation",
            Self::Wiped { .. } => "wiped",
            Self::Lost { .. } => "lost",
            Self::Corrupt { .. } => "corrupt",
            Self::Message { .. } => "message",
            Self::NothingBelow { .. } => "nothing-below",
            Self::NotRelabelled { .. } => "not-relabelled",
            Self::CopyDiffers { .. } => "copy-differs",
            Self::Field { source, .. }
            | Self::LostDataset { source, .. }
            | Self::DamagedDataset { source, .. }
            | Self::ClosedDataset { source, .. }
            | Self::Object(source) => source.code(),
            Self::NotEnded { source, .. } | Self::PartlyDeleted { source, .. } => source.code(),
        }
    }

    /// Whether the caller's input (a key, request, schema or argument) is wrong, not the storage.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Key(_)
            | Self::Request(_)
            | Self::Schema(_)
            | Self::Invalid { .. }
            | Self::ReadOnly { .. }
            | Self::BelowCollocation { .. } => true,
            Self::Object(source) => matches!(source, isotach_object::Error::InvalidInput { .. }),
            _ => false,
        }
    }

    pub(crate) fn invalid(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), expected: expected.into() }
    }

    /// A failure to open or read a dataset that the store lists.
    pub(crate) fn of_listed(dataset: &Key, error: Self) -> Self {
        match error {
            Self::Object(source @ isotach_object::Error::NotFound { .. }) => {
                Self::LostDataset { dataset: dataset.to_string(), source }
            }
            Self::Object(source @ isotach_object::Error::Corrupt { .. }) => {
                Self::DamagedDataset { dataset: dataset.to_string(), source }
            }
            Self::Object(source @ isotach_object::Error::PermissionDenied { .. }) => {
                Self::ClosedDataset { dataset: dataset.to_string(), source }
            }
            error => error,
        }
    }

    /// Whether the error concerns one dataset, while all others can be used.
    pub(crate) fn is_of_dataset(&self) -> bool {
        matches!(
            self,
            Self::LostDataset { .. }
                | Self::DamagedDataset { .. }
                | Self::ClosedDataset { .. }
                | Self::NothingBelow { .. }
        )
    }

    /// Whether the process may open no more files.
    pub(crate) fn is_too_many_open(&self) -> bool {
        self.code() == "too-many-open"
    }

    /// A failure of the object model while it stored or read this field.
    pub(crate) fn of_field(key: &Key, source: isotach_object::Error) -> Self {
        match source {
            isotach_object::Error::Corrupt { what, place } => {
                Self::Corrupt { field: key.to_string(), what, place }
            }
            source => Self::Field { field: key.to_string(), source },
        }
    }
}

/// Advice for a damaged container, unless the engine gives it.
fn advice(source: &isotach_object::Error) -> &'static str {
    if source.to_string().contains("`isotach repair`") {
        ""
    } else {
        "; `isotach repair` says what can be done"
    }
}

/// A count with its noun, as in `1 field` or `2 fields`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn were(fields: u64) -> String {
    format!("{} {}", counted(fields, "field"), if fields == 1 { "was" } else { "were" })
}

fn are(fields: u64) -> &'static str {
    if fields == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_field_is_counted_in_the_singular() {
        let wiped = |fields| Error::Wiped { dataset: "class=od".to_owned(), fields }.to_string();
        assert!(wiped(1).ends_with(": 1 field since the last flush is gone"), "{}", wiped(1));
        assert!(wiped(2).ends_with(": 2 fields since the last flush are gone"), "{}", wiped(2));
        let source = isotach_object::Error::Poisoned { what: "container od".to_owned() };
        let lost = Error::Lost { dataset: "class=od".to_owned(), fields: 1, source };
        assert!(
            lost.to_string().starts_with("1 field archived into class=od since the last flush is lost: ")
        );
    }

    #[test]
    fn damage_found_while_reading_a_field_names_the_field_and_the_place() {
        let key = Key::new().with("step", "6");
        let error =
            Error::of_field(&key, isotach_object::Error::corrupt("checksum differs", "data/1 at 4096"));
        assert_eq!(error.code(), "corrupt");
        assert_eq!(error.to_string(), "field step=6 is corrupt: checksum differs in data/1 at 4096");
        assert!(!error.is_usage());
    }

    #[test]
    fn a_full_disk_keeps_its_code_and_a_wrong_argument_is_the_callers() {
        let full = isotach_object::Error::NoSpace { what: "write".to_owned() };
        assert_eq!(Error::of_field(&Key::new(), full).code(), "no-space");
        assert!(Error::invalid("x", "y").is_usage());
    }

    #[test]
    fn every_code_is_in_the_list_of_codes() {
        let source = include_str!("error.rs");
        let code = source.split("pub fn code(&self)").nth(1).and_then(|rest| rest.split("\n    }\n").next());
        let given: Vec<&str> =
            code.unwrap().split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let known: Vec<&str> = Error::CODES.into_iter().collect();
        assert_eq!(given, known);
    }
}
