//! The house rules as tests: what no compiler lint can say of this repository is checked here.
//!
//! Each rule is a function from the files of the repository to [`Finding`]s, with a test that a breach is found; the
//! tests in `tests/house_rules.rs` run them all on the repository itself. A finding names the rule, the place, and
//! what to do instead.
//!
//! What must stay true: nothing here needs the network, nothing but the standard library and a JSON parser is used,
//! and a rule that cannot read what it checks fails rather than passes.
//!
//! ```
//! use isotach_tidy::{SourceFile, heads};
//!
//! let file = SourceFile::new("crates/x/src/lib.rs", "pub fn x() {}\n");
//! let findings = heads::check(&[file]);
//! assert!(findings[0].to_string().starts_with("crates/x/src/lib.rs:1: a file says what it is for"));
//! ```

mod finding;
pub mod format_page;
pub mod heads;
pub mod imports;
pub mod layers;
pub mod lengths;
pub mod libraries;
pub mod licences;
pub mod links;
pub mod manifests;
pub mod metadata;
pub mod ratchet;
pub mod test_names;
mod tree;
pub mod words;

pub use finding::{Finding, report};
pub use tree::{SourceFile, repository_root, source_files};
