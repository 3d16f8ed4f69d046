//! What the three scanners are alike in: a source of bytes, the finder, and the options that they pass on to it.

use std::fmt;

use super::finder::Finder;

/// Looks for GRIB messages in a source `S`, and is an iterator over them: a [`MessageScanner`](crate::MessageScanner), a
/// [`SliceScanner`](crate::SliceScanner) or a [`LocationScanner`](crate::LocationScanner).
pub struct Scanner<S> {
    pub(super) source: S,
    pub(super) finder: Finder,
}

impl<S> Scanner<S> {
    pub(super) fn over(source: S) -> Self {
        Self { source, finder: Finder::default() }
    }

    /// Whether to go on after a bad message, at the next "GRIB" behind its mark. The error is yielded either way.
    #[must_use]
    pub fn skip_bad(mut self, skip_bad: bool) -> Self {
        self.finder.skip_bad = skip_bad;
        self
    }

    /// The longest message to accept, in bytes ([`crate::DEFAULT_MAX_LENGTH`] unless set).
    #[must_use]
    pub fn max_length(mut self, max_length: u64) -> Self {
        self.finder.max_length = max_length;
        self
    }
}

impl<S> fmt::Debug for Scanner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("finder", &self.finder).finish_non_exhaustive()
    }
}
