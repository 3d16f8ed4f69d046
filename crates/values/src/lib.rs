//! Values of chosen points of many fields, read and decoded without the rest of the fields' bytes.
//!
//! The catalogue keeps a **jump index** of a field, which says where in its message the bits of each point are. [`values`]
//! looks up the indexes of all fields of a request, reads only the bytes of the chosen points, of many fields at once, and
//! decodes them. A field whose index is missing or damaged is read as a whole once, and its index is kept. A packing that has none is decoded
//! as a whole by ecCodes, and counted as such. [`index_fields`] makes the missing indexes of a store.
//!
//! What must stay true: a value equals that of the message decoded as a whole, bit for bit. It is NaN only where the
//! message has no value for its point. What cannot be read or decoded is an error that names the field.
//!
//! ```
//! use isotach_fields::Config;
//! use isotach_grib::{Eccodes, EccodesError, FieldName, ForecastPlan, MessageMaker};
//! use isotach_open::{registry, with_grib};
//! use isotach_values::{Points, ValuesOptions, values};
//!
//! let eccodes = match Eccodes::load() {
//!     Ok(eccodes) => eccodes,
//!     Err(EccodesError::NotInstalled { .. }) => return Ok(()),
//!     Err(error) => return Err(error.into()),
//! };
//! let config = Config::single(&"memory:values".parse()?);
//! let store = with_grib(isotach_fields::FieldStore::create(&config, &registry())?);
//! let mut maker = MessageMaker::new(eccodes, ForecastPlan { message_size: 4096, ..Default::default() })?;
//! for step in [0, 6] {
//!     let message = maker.message(FieldName { member: 1, step, level: 850, param: 130 })?;
//!     store.archive(&isotach_mars::Key::from(eccodes.message_key(&message)?), &message)?;
//! }
//! store.flush()?;
//!
//! // Point 10 and points 20 to 24 of both fields.
//! let request = "class=od,stream=enfo,expver=0001,date=20240101,time=0000,domain=g,type=pf,levtype=pl,number=1,\
//!     levelist=850,step=0/6,param=t".parse()?;
//! let found = values(&store, &request, &Points::Ranges(vec![10..11, 20..25]), &ValuesOptions::default())?;
//! assert_eq!((found.rows.len(), found.rows[0].values.len(), found.whole), (2, 6, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod error;
mod index;
mod message;
mod rows;
mod stored;
mod work;

pub use choice::Points;
pub use error::{Error, Result};
pub use index::{IndexReport, index_fields};
pub use isotach_grib::{GeoBox, PointInBox};
pub use message::values_in_file;
pub use work::{Grids, Row, Values, ValuesOptions, values, values_at};

/// How many threads share the work if the caller does not say.
fn threads_or_all(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

/// The digits of a grid's hash, as ecCodes writes its key `md5GridSection`.
///
/// ```
/// assert_eq!(isotach_values::grid_text(&[0xab; 16]), "ab".repeat(16));
/// ```
#[must_use]
pub fn grid_text(md5: &[u8; 16]) -> String {
    md5.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a grid from its 32 hexadecimal digits.
///
/// ```
/// assert_eq!(isotach_values::parse_grid(&"ab".repeat(16)), Some([0xab; 16]));
/// assert_eq!(isotach_values::parse_grid("ab"), None);
/// ```
#[must_use]
pub fn parse_grid(text: &str) -> Option<[u8; 16]> {
    let digits = Some(text).filter(|text| text.len() == 32 && !text.starts_with('+'))?;
    let number = u128::from_str_radix(digits, 16).ok()?;
    Some(std::array::from_fn(|at| (number >> (120 - 8 * at)) as u8))
}
