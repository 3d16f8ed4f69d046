//! Properties of containers by the names that DAOS's own tools have for them.

use isotach_daos_abi::{
    properties::{DAOS_PROP_CO_CLEAR, DAOS_PROP_CO_HEALTHY},
    property_names::{NAMES, Named, Values, status_of, status_value},
};
use isotach_object::{Error, Property, Result};

use crate::ffi::Value;

/// The words of a container's status.
const HEALTHY: &str = "healthy";
const UNCLEAN: &str = "unclean";

/// A property in text; those that have no name are left out.
pub(crate) fn told((number, value): (u32, Value)) -> Option<Property> {
    let named = NAMES.iter().find(|named| named.number == number)?;
    let value = match (value, named.values) {
        (Value::Text(text), _) => text,
        (Value::Number(value), Values::Words(words)) => {
            let word = usize::try_from(value).ok().and_then(|at| words.get(at));
            word.map_or_else(|| value.to_string(), |word| (*word).to_owned())
        }
        (Value::Number(value), Values::Status) => {
            let is_healthy = status_of(value) == DAOS_PROP_CO_HEALTHY;
            (if is_healthy { HEALTHY } else { UNCLEAN }).to_owned()
        }
        (Value::Number(value), _) => value.to_string(),
    };
    Some(Property { name: named.name.to_owned(), value })
}

/// A property as text has it.
///
/// # Errors
/// `InvalidInput`.
pub(crate) fn read(Property { name, value: text }: &Property) -> Result<(u32, u64)> {
    let Some(named) = Named::of(name) else {
        let names: Vec<&str> = NAMES.iter().map(|named| named.name).collect();
        return Err(Error::invalid(format!("property {name:?}"), format!("one of: {}", names.join(", "))));
    };
    let wrong = |expected: &str| Error::invalid(format!("{text:?} for property {name}"), expected);
    let value = match named.values {
        Values::Text => {
            let expected = "another property: a container is known by its label, to stores as to processes that have it open";
            return Err(Error::invalid(format!("property {name}"), expected));
        }
        Values::Status if text == HEALTHY => status_value(DAOS_PROP_CO_HEALTHY, DAOS_PROP_CO_CLEAR, 0),
        Values::Status => return Err(wrong("healthy, by which you accept what was lost")),
        values => values.number_of(text).ok_or_else(|| match values {
            Values::Words(words) => wrong(&format!("one of: {}", words.join(", "))),
            _ => wrong("a number"),
        })?,
    };
    Ok((named.number, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(name: &str, value: &str) -> Property {
        Property { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn what_is_told_of_a_property_is_read_again_and_what_cannot_be_is_refused_with_what_could() {
        for (name, value) in [
            ("cksum", "crc32"),
            ("rd_fac", "1"),
            ("layout_type", "METEO"),
            ("ec_cell_sz", "65536"),
            ("status", "healthy"),
        ] {
            let given = property(name, value);
            let (number, value) = read(&given).unwrap();
            assert_eq!(told((number, Value::Number(value))), Some(given));
        }
        assert_eq!(read(&property("cksum_size", "0x8000")).unwrap().1, 32_768);
        for (name, value, expected) in [
            ("colour", "red", "one of: label, layout_type"),
            ("cksum", "md5", "one of: off, crc16"),
            ("cksum_size", "large", "a number"),
            ("status", "unclean", "healthy"),
            ("label", "other", "known by its label"),
        ] {
            let error = read(&property(name, value)).unwrap_err();
            assert!(error.code() == "invalid-input" && error.to_string().contains(expected), "{error}");
        }
    }
}
