//! Names of containers and snapshots.

use std::{collections::BTreeSet, fmt, str::FromStr};

use crate::Error;

/// The longest label, in bytes (DAOS: 127).
const MAX_LABEL: usize = 127;

/// The name of a container or snapshot: 1 to 127 of `A-Z a-z 0-9 . _ : -`, and neither `.` nor `..` nor a
/// leading dot, so that it can never leave or hide in a directory. The alphabet is DAOS's.
///
/// ```
/// use isotach_object::Label;
/// assert!("od:0001:oper:20240101".parse::<Label>().is_ok());
/// assert!("../escape".parse::<Label>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(String);

impl Label {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Refuses a name that is given twice, as [`crate::PreparedTransactions::commit_prepared`] must.
///
/// # Errors
/// [`Error::InvalidInput`].
pub fn check_distinct(names: &[Label]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => Err(Error::invalid(format!("name {twice} given twice"), "each name once")),
        None => Ok(()),
    }
}

impl FromStr for Label {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._:-".contains(&b);
        let good =
            (1..=MAX_LABEL).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('.');
        if good {
            Ok(Self(text.to_owned()))
        } else {
            let expected = "1 to 127 of the characters A-Z a-z 0-9 . _ : - and no dot in front";
            Err(Error::invalid(format!("label {text:?}"), expected))
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_could_leave_its_directory_is_refused() {
        for text in ["", ".", "..", ".hidden", "a/b", "a\0b", "ü", &"x".repeat(128)] {
            assert!(text.parse::<Label>().is_err(), "{text:?}");
        }
        assert!("x".repeat(127).parse::<Label>().is_ok());
    }
}
