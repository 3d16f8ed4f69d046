//! Changing keys of a message.
//!
//! What must stay true: the message that comes back holds every change that was asked for, or there is none.

use std::ffi::{CStr, CString};

use isotach_engine_kit::context::Context;

use super::{Eccodes, EccodesError, key::one_message};
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
}

/// Sets a key as text, and as a number where it takes no text.
fn set(handle: &mut Handle<'static>, key: &CStr, value: &str) -> Result<(), Refusal> {
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

/// Keys that say nothing of what was set: actions, and the packing, of which constant values have only some.
const NOT_KEPT: [&CStr; 3] = [c"packingType", c"scaleValuesBy", c"offsetValuesBy"];
/// The precision of an angle in GRIB 1, in degrees.
const PRECISION: f64 = 1e-3;

/// Refuses a value that the message does not hold afterwards, of which ecCodes may say nothing.
fn check_kept(handle: &Handle<'static>, key: &CStr, value: &str) -> Result<(), Refusal> {
    // A key that cannot be read, as an array, was set or refused.
    let Ok(kept) = handle.string(key) else { return Ok(()) };
    let is_code = value.parse().is_ok_and(|code: i64| {
        // A number with all bits set is the code of a missing value.
        kept == "MISSING" || handle.long(key).is_ok_and(|kept| kept == code)
    });
    // The text of a number has six digits.
    let is_near =
        value.parse().is_ok_and(|number| handle.double(key).is_ok_and(|kept| is_near(number, kept)));
    if is_code || is_near || is_same(value.trim(), kept.trim()) || NOT_KEPT.contains(&key) {
        return Ok(());
    }
    Err(Refusal { reason: format!("The message would have {kept} there") })
}

/// Whether a number is the other one as precisely as a message keeps it, or the same angle.
fn is_near(value: f64, kept: f64) -> bool {
    let difference = (kept - value).abs();
    let precision = PRECISION.max(1e-6 * value.abs());
    difference <= precision || (difference - 360.0).abs() <= precision
}

/// Whether two texts say the same: a word in any case, a number, a duration with a unit (`90m`) and one in hours (`1.5`), or
/// a range of such (`60m-120m`, `1-2`).
fn is_same(value: &str, kept: &str) -> bool {
    if let (Some((from, to)), Some((kept_from, kept_to))) = (value.split_once('-'), kept.split_once('-'))
        && !from.is_empty()
    {
        return is_same(from, kept_from) && is_same(to, kept_to);
    }
    let is_equal = |of: &dyn Fn(&str) -> Option<f64>| of(value).is_some() && of(value) == of(kept);
    value.eq_ignore_ascii_case(kept) || is_equal(&|text| text.parse().ok()) || is_equal(&seconds)
}

/// The seconds of a duration, which is in hours if it has no unit.
fn seconds(text: &str) -> Option<f64> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let (digits, unit) = match unit {
        "s" => (digits, 1.0),
        "m" => (digits, 60.0),
        "h" => (digits, 3600.0),
        "D" => (digits, 86_400.0),
        _ => (text, 3600.0),
    };
    digits.parse::<f64>().ok().map(|number| number * unit)
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
    }

    #[test]
    fn a_value_that_a_message_does_not_take_is_refused() {
        let Some(eccodes) = eccodes() else { return };
        let message = sample(eccodes);
        for (key, value) in
            [("step", "soon"), ("typeOfLevel", "bogus"), ("stepRange", "0-6"), ("class", "zz")]
        {
            let refused = eccodes.edit_message(&message, [(key, value)]).unwrap_err().to_string();
            assert!(refused.contains(&format!("set the key {key} to {value}")), "{refused}");
        }
        for (key, kept) in [
            ("centre", "98"),
            ("centre", "ecmf"),
            ("class", "RD"),
            ("stream", "1035"),
            ("step", "6h"),
            ("latitudeOfFirstGridPointInDegrees", "59.123456"),
            ("longitudeOfFirstGridPointInDegrees", "-10.5"),
            ("scaleValuesBy", "2"),
            ("scaleFactorOfFirstFixedSurface", "255"),
        ] {
            eccodes.edit_message(&message, [(key, kept)]).unwrap();
        }
    }

    #[test]
    fn a_value_is_the_same_as_a_number_a_word_or_a_duration() {
        for (value, kept) in [
            ("6", "6.0"),
            ("RD", "rd"),
            ("90m", "1.5"),
            ("1D", "24"),
            ("60m", "3600s"),
            ("0001", "1"),
            ("60m-120m", "1-2"),
        ] {
            assert!(is_same(value, kept), "{value} {kept}");
        }
        for (value, kept) in
            [("abc", "0"), ("60m", "60"), ("5.5", "5"), ("bogus", "surface"), ("", "0"), ("0-6", "0-7")]
        {
            assert!(!is_same(value, kept), "{value} {kept}");
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
