//! GRIB messages: finding them in files, and what they say of themselves.
//!
//! Three parts that need each other little:
//!
//! - **Scanning** ([`MessageScanner`], [`SliceScanner`], [`LocationScanner`]) is Rust alone. It finds where messages
//!   begin and end, and checks that they are whole. It knows the indicator section of GRIB 1 and GRIB 2 and nothing else.
//! - **Points and values** ([`JumpInfo`], [`PackedMessage`], [`GridPoints`]) are Rust alone, too: decoding any points of a message that is packed
//!   simply or by CCSDS, and finding the point nearest to a location.
//! - Everything else inside a message goes through **ecCodes**, loaded at run time, so that this crate builds
//!   and scans on a machine without it.
//!
//! What must stay true: no length found in a file is believed before the bytes it promises have been seen, and no input,
//! however broken, makes a scanner panic.
//!
//! ```
//! use isotach_grib::{MessageScanner, ScanError};
//!
//! // Two messages of the least that a scanner looks at, with padding before, between and behind.
//! let tiny = [b"GRIB\x00\x00\x0c\x01".as_slice(), b"7777"].concat();
//! let file = [&[0; 5], tiny.as_slice(), &[0; 30], tiny.as_slice(), &[0; 7]].concat();
//!
//! let mut places = Vec::new();
//! for message in MessageScanner::new(file.as_slice()) {
//!     let message = message?;
//!     places.push((message.number, message.offset, message.bytes.len()));
//! }
//! assert_eq!(places, [(1, 5, 12), (2, 47, 12)]);
//! # Ok::<(), ScanError>(())
//! ```

mod eccodes;
mod ffi;
mod grid;
mod jump;
mod locate;
mod maker;
mod reserve;
mod scan;
mod values;

pub use eccodes::{Eccodes, EccodesError, Pause, message_key};
pub use grid::{FieldLabel, Grid, Points};
pub use jump::{Extraction, JumpError, JumpInfo, PackedMessage, grid_md5};
pub use locate::{GeoBox, GridPoints, NearestPoint, PointInBox};
pub use maker::{FieldName, ForecastPlan, Layout, MessageMaker};
pub use values::{DecodeError, decode_values};
#[cfg(test)]
mod needs_eccodes;

pub use scan::{
    DEFAULT_MAX_LENGTH, LocationScanner, Message, MessageLocation, MessageRef, MessageScanner, ScanError,
    ScanProblem, Scanner, SliceScanner,
};
