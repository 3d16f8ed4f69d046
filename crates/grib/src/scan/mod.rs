//! Scanning: cutting an input into GRIB messages without looking inside them.
//!
//! Three scanners, each a [`Scanner`] over one [`finder::Finder`], which holds every rule; they differ in where the bytes
//! come from ([`source`]) and in what they hand out. All number messages from 1, bad ones included, and give byte offsets
//! from the start of the input, because those two are what an operator needs to find a message again.

mod error;
mod finder;
mod large;
mod location;
mod message;
mod scanner;
mod slice;
mod source;

pub use error::{ScanError, ScanProblem};
pub use finder::MessageLocation;
pub use location::LocationScanner;
pub use message::{Message, MessageScanner};
pub use scanner::Scanner;
pub use slice::{MessageRef, SliceScanner};

/// The longest message a scanner accepts by default: 2 GiB.
///
/// A damaged length must not make a stream's whole remainder pile up in memory.
pub const DEFAULT_MAX_LENGTH: u64 = 1 << 31;

#[cfg(test)]
mod tests;
