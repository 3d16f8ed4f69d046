//! Attributes: named values of an object.

use crate::{Charset, Space};

/// A named value of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The encoding of the name.
    pub charset: Charset,
    /// Its number in the order of creation on its object. [`crate::Object::put_attribute`] sets it for a new attribute, and keeps it for
    /// one that is replaced.
    pub order: u64,
    /// The encoded datatype.
    pub datatype: Vec<u8>,
    /// The extent.
    pub space: Space,
    /// The encoded creation property list.
    pub creation: Vec<u8>,
    /// The elements, in the form of the file.
    pub value: Vec<u8>,
}
