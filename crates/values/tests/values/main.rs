//! Values of points of stores, compared with what ecCodes decodes of whole messages.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]
#![expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]

mod index;
mod points;
mod properties;
mod stores;
mod trouble;
