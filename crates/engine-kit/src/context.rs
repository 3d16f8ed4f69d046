//! Turns the error numbers of vendor libraries into errors that say what was attempted.

/// An error of a vendor's library, which says nothing about what was attempted.
pub trait VendorError {
    /// What it becomes.
    type Error;

    /// The error for `attempted`, a phrase such as "open the pool a".
    fn during(self, attempted: String) -> Self::Error;
}

/// Adds to a result what was attempted.
pub trait Context<T, E: VendorError> {
    /// Describes an error by what was attempted.
    ///
    /// # Errors
    /// The described error.
    fn context(self, attempted: impl FnOnce() -> String) -> Result<T, E::Error>;
}

impl<T, E: VendorError> Context<T, E> for Result<T, E> {
    fn context(self, attempted: impl FnOnce() -> String) -> Result<T, E::Error> {
        self.map_err(|error| error.during(attempted()))
    }
}
