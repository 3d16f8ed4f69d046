//! Indexes of the values in datasets: what a query need not read of a chunk.
//!
//! An entry says for one chunk how small and how large its numbers are, how many are not a number, and optionally where each is ([`bins`]).
//! The dataset's settings say what is indexed; with settings, entries are made whenever a chunk is stored.
//!
//! What must stay true: an entry counts only for the array that it was built from. Arrays never change, and their numbers are never used
//! again, so that an entry is right or of another array, whoever has written to the dataset since. A chunk that is in its entry, or that
//! is changed in place, has no index.

mod bins;
mod build;
mod entries;
mod indexing;
mod records;

pub(crate) use bins::Directory;
pub use build::{IndexInfo, IndexOptions};
pub(crate) use indexing::{Indexing, bins_in, datatype_of};
pub(crate) use records::{Entry, Summary};

/// The key of the settings among the entries, whose keys are the places of chunks.
pub(crate) const SETTINGS_KEY: &[u8] = b"i";
