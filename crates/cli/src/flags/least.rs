//! Keys that a request must name.

use clap::Args;

/// What a request must say at least.
#[derive(Debug, Default, Args)]
pub(crate) struct LeastFlag {
    /// Refuse a request that does not name all of these keys, as class,expver
    ///
    /// Guards a script against a request that means more than it should, as FDB's programs do by default.
    #[arg(long, value_name = "KEY,...")]
    pub(crate) minimum_keys: Option<String>,
}

impl LeastFlag {
    /// The keys.
    pub(crate) fn names(&self) -> Vec<&str> {
        let text = self.minimum_keys.as_deref().unwrap_or_default();
        name_list(text).into_iter().filter(|name| !name.is_empty()).collect()
    }
}

/// The parts of a list with commas, blanks around them dropped.
pub(super) fn name_list(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).collect()
}
