//! Changing keys of a message.
//!
//! What must stay true: the message that comes back holds every change that was asked for, or there is none.

use std::ffi::{CStr, CString};

use isotach_engine_kit::context::Context;

use super::{
    Eccodes, EccodesError,
    kept::{check_kept, is_angle},
    key::one_message,
};
use crate::ffi::{Handle, Refusal};

impl Eccodes {
    /// The message with these keys set, one after the other, each to a value in text as `grib_set` takes it.
    ///
    /// A key that depends on another comes after it, as `class` after `setLocalDefinition`. What ecCodes works out from
    /// the keys, such as lengths and packed values (`packingType`), follows.
    ///
    /// # Errors
    /// [`EccodesError::NotOneMessage`] if `message` is anything but one whole message, [`EccodesError::Refused`] naming
    /// the key if ecCodes does not set it.
    pub fn edit_message<'e>(
        &'static self,
        message: &[u8],
        edits: impl IntoIterator<Item = (&'e str, &'e str)>,
    ) -> Result<Vec<u8>, EccodesError> {
        one_message(message)?;
        let mut handle = Handle::copy(self.api()?, message).context(|| "open the message".to_owned())?;
        for (key, value) in edits {
            let attempted = || format!("set the key {key} to {value}");
            let name = CString::new(key)
                .map_err(|_| Refusal { reason: "The name holds a byte of value zero".to_owned() })
                .context(attempted)?;
            set(&mut handle, &name, value).context(attempted)?;
        }
        handle.message().context(|| "read the changed message".to_owned())
    }

    /// As [`Eccodes::edit_message`], for keys by which the field is known: refused if the message then carries another value, because MARS may
    /// derive values from those that were set. An empty value stands for a key that the message must not carry.
    ///
    /// # Errors
    /// As [`Eccodes::edit_message`] and [`Eccodes::message_key`]; [`EccodesError::Refused`] naming the key.
    pub fn relabel_message<'e>(
        &'static self,
        message: &[u8],
        mut keys: impl Iterator<Item = (&'e str, &'e str)> + Clone,
    ) -> Result<Vec<u8>, EccodesError> {
        let changed = self.edit_message(message, keys.clone())?;
        let carried = self.message_key(&changed)?;
        let found = |name: &str| {
            let pair = carried.iter().find(|(carried, _)| carried == name);
            pair.map_or("", |(_, value)| value.as_str())
        };
        match keys.find(|(name, value)| found(name) != *value) {
            None => Ok(changed),
            Some((name, value)) => {
                let found = if found(name).is_empty() { "no value" } else { found(name) };
                let doing = format!("set the key {name} to {value}");
                Err(EccodesError::Refused { doing, reason: format!("the message then has {found}") })
            }
        }
    }
}

/// Sets a key as text, and as a number where it takes no text.
fn set(handle: &mut Handle<'static>, key: &CStr, value: &str) -> Result<(), Refusal> {
    // ecCodes never returns from setting some angles to infinity.
    if is_angle(key) && value.parse().is_ok_and(|angle: f64| !angle.is_finite()) {
        return Err(Refusal { reason: "The angle is not finite".to_owned() });
    }
    let refused = match handle.set_string(key, value) {
        Ok(()) => return check_kept(handle, key, value),
        Err(refused) => refused,
    };
    let as_number = match (value.parse::<i64>(), value.parse::<f64>()) {
        (Ok(number), _) => handle.set_long(key, number),
        (Err(_), Ok(number)) => handle.set_double(key, number),
        (Err(_), Err(_)) => return Err(refused),
    };
    as_number.map_err(|_| refused)?;
    check_kept(handle, key, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needs_eccodes::eccodes;

    fn sample(eccodes: &'static Eccodes) -> Vec<u8> {
        let mut handle = Handle::sample(eccodes.api().unwrap(), c"regular_ll_pl_grib2").unwrap();
        handle.set_long(c"setLocalDefinition", 1).unwrap();
        handle.message().unwrap()
    }

    fn value(eccodes: &'static Eccodes, message: &[u8], name: &str) -> Option<String> {
        let key = eccodes.message_key(message).unwrap();
        key.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    #[test]
    fn a_fraction_that_a_message_does_not_keep_is_refused() {
        let Some(eccodes) = eccodes() else { return };
        let edits = [("productDefinitionTemplateNumber", "1"), ("number", "5.5")];
        let refused = eccodes.edit_message(&sample(eccodes), edits).unwrap_err();
        assert!(refused.to_string().contains("set the key number to 5.5"), "{refused}");
        assert!(refused.to_string().contains("would have 5"), "{refused}");
        for edit in
            [("number", "5.0009"), ("level", "850.0009"), ("dataDate", "20240105.4"), ("hour", "0.0005")]
        {
            let edits = [("productDefinitionTemplateNumber", "1"), edit];
            assert!(eccodes.edit_message(&sample(eccodes), edits).is_err(), "{edit:?}");
        }
    }

    #[test]
    fn a_value_that_a_message_does_not_take_is_refused() {
        let Some(eccodes) = eccodes() else { return };
        let message = sample(eccodes);
        for (key, value) in [
            ("step", "soon"),
            ("step", "inf"),
            ("typeOfLevel", "bogus"),
            ("stepRange", "0-6"),
            ("class", "zz"),
            ("class", "1.0005"),
            ("centre", "0.0005"),
            ("latitudeOfFirstGridPointInDegrees", "inf"),
            ("longitudeOfFirstGridPointInDegrees", "1e999"),
            ("scaleFactorOfFirstFixedSurface", "511"),
        ] {
            let Err(refused) = eccodes.edit_message(&message, [(key, value)]) else {
                panic!("{key} {value}")
            };
            assert!(refused.to_string().contains(&format!("set the key {key} to {value}")), "{refused}");
        }
        let surface = [("typeOfLevel", "surface"), ("level", "360")];
        assert!(eccodes.edit_message(&message, surface).is_err());
        for (key, kept) in [
            ("centre", "98"),
            ("centre", "ecmf"),
            ("class", "RD"),
            ("stream", "1035"),
            ("step", "6h"),
            ("latitudeOfFirstGridPointInDegrees", "59.123456"),
            ("longitudeOfFirstGridPointInDegrees", "-10.5"),
            ("scaleValuesBy", "2"),
            ("swapScanningX", "1"),
            ("stepRange", "6-6"),
            ("scaleFactorOfFirstFixedSurface", "255"),
        ] {
            eccodes.edit_message(&message, [(key, kept)]).unwrap();
        }
    }

    #[test]
    fn an_edited_message_has_the_key_that_was_asked_for() {
        let Some(eccodes) = eccodes() else { return };
        let edits = [("class", "rd"), ("expver", "x001"), ("dataDate", "20240105"), ("level", "850")];
        let edited = eccodes.edit_message(&sample(eccodes), edits).unwrap();
        for (name, expected) in
            [("class", "rd"), ("expver", "x001"), ("date", "20240105"), ("levelist", "850")]
        {
            assert_eq!(value(eccodes, &edited, name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_key_that_takes_no_text_is_set_as_a_number() {
        let Some(eccodes) = eccodes() else { return };
        let handle = Handle::sample(eccodes.api().unwrap(), c"regular_ll_pl_grib1").unwrap();
        let message = handle.message().unwrap();
        let edited = eccodes.edit_message(&message, [("dataDate", "20240105"), ("level", "700")]).unwrap();
        assert_eq!(value(eccodes, &edited, "date").as_deref(), Some("20240105"));
        assert_eq!(value(eccodes, &edited, "levelist").as_deref(), Some("700"));
    }

    #[test]
    fn a_message_can_be_packed_anew() {
        let Some(eccodes) = eccodes() else { return };
        let message = sample(eccodes);
        let edited = eccodes.edit_message(&message, [("packingType", "grid_ieee")]).unwrap();
        let handle = Handle::borrow(eccodes.api().unwrap(), &edited).unwrap();
        assert_eq!(handle.string(c"packingType").unwrap(), "grid_ieee");
    }

    #[test]
    fn a_key_that_cannot_be_set_is_named() {
        let Some(eccodes) = eccodes() else { return };
        for (key, value) in [("nosuchkey", "1"), ("dataDate", "soon"), ("bad\0name", "1")] {
            let error = eccodes.edit_message(&sample(eccodes), [(key, value)]).unwrap_err().to_string();
            assert!(error.contains(&format!("set the key {key} to {value}")), "{error}");
        }
    }

    #[test]
    fn only_messages_are_edited() {
        let Some(eccodes) = eccodes() else { return };
        let error = eccodes.edit_message(b"hello", [("class", "rd")]).unwrap_err();
        assert!(matches!(error, EccodesError::NotOneMessage { .. }), "{error}");
    }
}
