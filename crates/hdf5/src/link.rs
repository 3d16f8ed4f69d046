//! Links, and the orders in which they are listed.

use crate::Kind;

/// A link of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub target: Target,
    /// Its number in the order of creation within its group.
    pub order: u64,
    /// The encoding of its name.
    pub charset: Charset,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To an object of the same file.
    Hard {
        /// The object's number.
        number: u64,
        /// What it is.
        kind: Kind,
    },
    /// To a path, from the group that holds the link or, with a slash in front, from the root.
    Soft(String),
    /// To a path in another file.
    External {
        /// The name of the file.
        file: String,
        /// The path in it.
        path: String,
    },
    /// To what a class of links that a program has registered makes of some bytes.
    User {
        /// The number of the class.
        class: u8,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// The encoding of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// ASCII.
    #[default]
    Ascii,
    /// UTF-8.
    Utf8,
}

/// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The bytes of the name.
    Name,
    /// The order of creation.
    CreationOrder,
}

/// The direction of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest first.
    Increasing,
    /// Greatest first.
    Decreasing,
    /// As it costs least, which is smallest first.
    Native,
}
