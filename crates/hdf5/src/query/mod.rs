//! Queries: which elements of a dataset, and which objects of a file, pass a condition.
//!
//! A [`Condition`] is bound to a datatype ([`bound`]): each test of a number is a range of keys, which have the order of the numbers ([`number`]).
//! The chunks of a dataset are then answered one by one ([`select`]), and the answers joined ([`selection`]). [`find`] asks objects.
//!
//! What must stay true: an index changes how fast an answer is, and never the answer.

mod bits;
mod bound;
mod column;
mod condition;
mod find;
mod number;
mod parse;
mod select;
mod selection;
mod tokens;

pub(crate) use bits::Bits;
pub(crate) use column::Column;
pub(crate) use condition::member_text;
pub use condition::{Comparison, Condition, Literal, Test};
pub use find::{Findings, Found, Unsearched};
pub(crate) use number::{KeyRange, Number, Place};
pub use parse::parse_member;
pub use selection::{Selection, Work};
