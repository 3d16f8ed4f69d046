//! What an object is: its kind, its datatype, and of a dataset how its data is stored.

use crate::{Error, Result};

/// What an HDF5 object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A group: it holds links.
    Group,
    /// A dataset: it holds elements.
    Dataset,
    /// A committed datatype.
    Datatype,
    /// A map (H5M).
    Map,
}

/// An object without its links, attributes and data. The library that calls reads the encoded parts; here they are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// What the object is.
    pub kind: Kind,
    /// How many hard links lead to it.
    pub references: u32,
    /// The time of creation in seconds since 1970, if the object keeps times.
    pub created: Option<i64>,
    /// The time of the last change in seconds since 1970, if the object keeps times.
    pub modified: Option<i64>,
    /// The encoded creation property list.
    pub creation: Vec<u8>,
    /// Whether the links of the group can be listed by creation order.
    pub tracks_link_order: bool,
    /// Whether the attributes can be listed by creation order.
    pub tracks_attribute_order: bool,
    /// The encoded datatype of a dataset, of a committed datatype or of the values of a map; otherwise empty.
    pub datatype: Vec<u8>,
    /// The encoded datatype of the keys of a map; otherwise empty.
    pub key_datatype: Vec<u8>,
    /// How the elements of a dataset are stored.
    pub data: Option<Data>,
    /// The comment on the object.
    pub comment: Option<String>,
}

impl Header {
    /// An object of this kind, without references, times, properties, order or data.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            references: 0,
            created: None,
            modified: None,
            creation: Vec::new(),
            tracks_link_order: false,
            tracks_attribute_order: false,
            datatype: Vec::new(),
            key_datatype: Vec::new(),
            data: None,
            comment: None,
        }
    }

    /// A dataset with this datatype and data; otherwise as [`Header::new`].
    pub fn dataset(datatype: Vec<u8>, data: Data) -> Self {
        Self { datatype, data: Some(data), ..Self::new(Kind::Dataset) }
    }

    /// A map with keys and values of these datatypes; otherwise as [`Header::new`].
    pub fn map(key_datatype: Vec<u8>, datatype: Vec<u8>) -> Self {
        Self { key_datatype, datatype, ..Self::new(Kind::Map) }
    }
}

/// How the elements of a dataset are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// The bytes of an element in the file, at least 1.
    pub element: u32,
    /// The extent.
    pub space: Space,
    /// The extent of a chunk in elements; of a dataset with [`Space::Simple`] as many numbers as dimensions, each at least 1. Empty
    /// for any other space, whose elements are one chunk.
    pub chunk: Vec<u64>,
    /// One element in the form of the file, for elements that were never written. Without it they are zeros.
    pub fill: Option<Vec<u8>>,
    /// The filters, in the order in which they are applied when a chunk is written.
    pub filters: Vec<Filter>,
    /// Whether the program asked for chunks, or they are this crate's choice ([`Data::auto_chunk`]).
    pub is_chunked: bool,
}

/// The size of a chunk of data for which a program asked for no chunks.
const AUTO_CHUNK: u64 = 1 << 20;

impl Data {
    /// The chunk for data for which a program asked for none: whole rows where they fit, about 1 MiB, never empty.
    ///
    /// ```
    /// assert_eq!(isotach_hdf5::Data::auto_chunk(&[1000, 1000], 8), [131, 1000]);
    /// assert_eq!(isotach_hdf5::Data::auto_chunk(&[3, 0, 1 << 30], 4), [1, 1, 1 << 18]);
    /// ```
    pub fn auto_chunk(dims: &[u64], element: u32) -> Vec<u64> {
        let mut left = (AUTO_CHUNK / u64::from(element.max(1))).max(1);
        let mut chunk: Vec<u64> = dims
            .iter()
            .rev()
            .map(|length| {
                let part = (*length).clamp(1, left);
                left = (left / part).max(1);
                if part < *length {
                    left = 1;
                }
                part
            })
            .collect();
        chunk.reverse();
        chunk
    }

    /// Refuses what cannot be stored.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |what: String, expected: &str| Err(Error::invalid(what, expected));
        if self.element == 0 {
            return wrong("elements of 0 bytes".to_owned(), "at least 1 byte");
        }
        if self.fill.as_ref().is_some_and(|fill| fill.len() != self.element as usize) {
            return wrong("a fill value of another size than an element".to_owned(), "one element");
        }
        let rank = match &self.space {
            Space::Simple { dims, max } => {
                if dims.len() != max.len() || dims.len() > MAX_RANK {
                    return wrong(
                        format!("an extent of {} dimensions", dims.len()),
                        "at most 32, with limits",
                    );
                }
                if dims.iter().zip(max).any(|(length, most)| length > most) {
                    return wrong(format!("an extent of {dims:?}"), "one within its limits");
                }
                elements(dims)?;
                dims.len()
            }
            Space::Null | Space::Scalar => 0,
        };
        if self.chunk.len() != rank || self.chunk.contains(&0) {
            return wrong(format!("chunks of {:?}", self.chunk), "one positive number for each dimension");
        }
        let bytes = elements(&self.chunk)?.checked_mul(u64::from(self.element));
        match bytes.filter(|bytes| *bytes < 1 << 32) {
            Some(_) => Ok(()),
            None => wrong(format!("chunks of {:?} elements", self.chunk), "chunks below 4 GiB"),
        }
    }
}

/// The most dimensions, as in HDF5.
const MAX_RANK: usize = 32;

/// How many elements an extent has.
pub(crate) fn elements(dims: &[u64]) -> Result<u64> {
    let product = dims.iter().try_fold(1_u64, |product, length| product.checked_mul(*length));
    // An extent with a zero has no elements, whatever the other lengths.
    let product = if dims.contains(&0) { Some(0) } else { product };
    product.ok_or_else(|| Error::invalid(format!("an extent of {dims:?}"), "less than 2^64 elements"))
}

/// The extent of a dataset or an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Space {
    /// No elements, ever.
    Null,
    /// One element.
    Scalar,
    /// An array.
    Simple {
        /// The lengths.
        dims: Vec<u64>,
        /// The greatest lengths; `u64::MAX` for no limit.
        max: Vec<u64>,
    },
}

impl Space {
    /// An array that cannot grow.
    pub fn fixed(dims: &[u64]) -> Self {
        Self::Simple { dims: dims.to_vec(), max: dims.to_vec() }
    }

    /// The lengths; none for a scalar or no elements.
    pub fn dims(&self) -> &[u64] {
        match self {
            Self::Simple { dims, .. } => dims,
            Self::Null | Self::Scalar => &[],
        }
    }

    /// How many elements there are.
    ///
    /// # Errors
    /// `InvalidInput` for 2^64 and more.
    pub fn count(&self) -> Result<u64> {
        match self {
            Self::Null => Ok(0),
            Self::Scalar => Ok(1),
            Self::Simple { dims, .. } => elements(dims),
        }
    }
}

/// One step of the filter pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// HDF5's registered number of the filter.
    pub id: u16,
    /// Bit 0: the filter is optional, so a chunk that it cannot encode is stored without it. Bit 1: only the caller has the filter.
    pub flags: u16,
    /// The client data values, as HDF5 stores them: with those that it computes for a dataset. Only shuffle may have none, and gets the
    /// size of an element.
    pub values: Vec<u32>,
    /// Its name, for listings.
    pub name: String,
}

impl Filter {
    /// The flag of an optional filter.
    pub const OPTIONAL: u16 = 1;
    /// The flag of a filter that only the caller has, who runs the whole pipeline of the dataset: by [`crate::Object::read_chunk`] and
    /// [`crate::Object::write_chunk`]. Elements cannot be read or written then.
    pub const FOREIGN: u16 = 2;

    /// Whether this crate has the filter.
    pub fn is_built_in(&self) -> bool {
        crate::filters::is_known(self.id)
    }
}
