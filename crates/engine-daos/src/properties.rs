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
pub(crate) fn from_daos((number, value): (u32, Value)) -> Option<Property> {
    let named = NAMES.iter().find(|named| named.number == number)?;
    let value = match (value, named.values) {
        (Value::Text(text), _) => text,
        (Value::Number(value), Values::Words(words)) => {
            let word = usize::try_from(value).ok().and_then(|at| words.get(at));
            word.map_or_else(|| value.to_string(), |word| (*word).to_owned())
        }
        (Value::Number(value), Values::Choices(words)) => {
            let word = words.iter().find(|(_, number)| *number == value);
            word.map_or_else(|| value.to_string(), |(word, _)| (*word).to_owned())
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
    if named.values != Values::Status {
        let expected = "status=healthy, which is all that DAOS lets be changed; a label is what stores know a container by";
        return Err(Error::invalid(format!("property {name}"), expected));
    }
    if text != HEALTHY {
        let expected = "healthy, by which you accept what was lost";
        return Err(Error::invalid(format!("{text:?} for property {name}"), expected));
    }
    Ok((named.number, status_value(DAOS_PROP_CO_HEALTHY, DAOS_PROP_CO_CLEAR, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(name: &str, value: &str) -> Property {
        Property { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn a_loss_is_accepted_and_nothing_else_is_changed() {
        let healthy = property("status", "healthy");
        let (number, value) = read(&healthy).unwrap();
        assert_eq!(from_daos((number, Value::Number(value))), Some(healthy));
        for (name, value, expected) in [
            ("colour", "red", "one of: label, layout_type"),
            ("status", "unclean", "healthy"),
            ("label", "other", "know a container by"),
            ("rd_fac", "2", "all that DAOS lets be changed"),
        ] {
            let error = read(&property(name, value)).unwrap_err();
            assert!(error.code() == "invalid-input" && error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn properties_are_told_by_the_words_of_daos() {
        for (name, number, word) in
            [("cksum", 2, "crc32"), ("rd_fac", 1, "1"), ("ec_cell_sz", 65_536, "65536")]
        {
            let named = Named::of(name).unwrap().number;
            assert_eq!(from_daos((named, Value::Number(number))), Some(property(name, word)));
        }
    }
}
