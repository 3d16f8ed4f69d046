//! Properties of a container in text, as `daos container create --properties` takes them: `label:fields;rd_fac:1`.

use crate::{
    abi::{
        properties::DAOS_PROP_LABEL_MAX_LEN,
        property_names::{Named, Values},
    },
    containers::properties::{Properties, Value},
    runtime::error::{Result, invalid},
};

/// One property. Those that a program cannot set in text are refused, as on DAOS.
fn property(name: &str, text: &str) -> Option<(u32, Value)> {
    let property = Named::of(name).filter(|property| property.is_settable)?;
    let value = match property.values {
        Values::Text => (text.len() <= DAOS_PROP_LABEL_MAX_LEN).then(|| Value::Text(text.to_owned())),
        values => values.number_of(text).map(Value::Number),
    };
    Some((property.number, value?))
}

/// Reads properties.
pub(crate) fn parse(text: &str) -> Result<Properties> {
    let mut properties = Properties::new();
    for part in text.split(';').filter(|part| !part.is_empty()) {
        match part.split_once(':').and_then(|(name, value)| property(name, value)) {
            Some((number, value)) => drop(properties.insert(number, value)),
            None => return invalid(&format!("the property {part:?}")),
        }
    }
    if properties.is_empty() { invalid("a text without properties") } else { Ok(properties) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::properties::*;

    #[test]
    fn properties_are_parsed_and_invalid_ones_are_refused() {
        let found = parse("rd_fac:1;label:a:b;cksum:crc32;ec_cell_sz:0x10000;;").unwrap();
        let expected = [
            (DAOS_PROP_CO_REDUN_FAC, Value::Number(1)),
            (DAOS_PROP_CO_LABEL, Value::Text("a:b".to_owned())),
            (DAOS_PROP_CO_CSUM, Value::Number(DAOS_PROP_CO_CSUM_CRC32)),
            (DAOS_PROP_CO_EC_CELL_SZ, Value::Number(65_536)),
        ];
        assert_eq!(found, Properties::from(expected));
        assert_eq!(parse("rf:4;encryption:aes-gcm256").unwrap().len(), 2);
        let wrong = "; label rd_fac:5 rd_fac: cksum:md5 cksum_size:k layout_type:posix what:1";
        for wrong in wrong.split(' ').chain([""]) {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
