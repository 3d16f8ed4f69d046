//! The key of a message: what MARS, and FDB, call the field.
//!
//! What must stay true: two fields that differ have different keys. Old ecCodes breaks this for steps below the hour: 2.28
//! calls 90 minutes in GRIB 2 a step of 90, and in GRIB 1 a step of 0. Such steps are therefore read in seconds, which
//! all versions do alike.

use super::unknown::Unknown;
use isotach_engine_kit::context::Context;

use super::{Eccodes, EccodesError};
use crate::SliceScanner;
use crate::ffi::Handle;

impl Eccodes {
    /// The MARS key of one GRIB message: keys and values of the namespace `mars`, in ecCodes' order.
    ///
    /// `param` is the numeric parameter id (`130`, never `130.128`), as FDB stores it. `step` is in hours where it is whole
    /// hours, else in minutes or seconds with their unit (`90m`, `10s`). All other values are as ecCodes writes them, such
    /// as `levelist` with its fraction (`0.1`). A newer ecCodes may know keys that an older does not. Keys of the namespace
    /// that begin with `_`, such as `_leg_number`, are left out: they describe the field and do not name it.
    ///
    /// A message that is not labelled for MARS, one without `class`, may be of a level that MARS has no word for. Then
    /// `levtype` is ecCodes' `typeOfLevel` in small letters, and a layer between two levels has its
    /// upper one as `levelist`; else different fields would have one key.
    ///
    /// Decodes headers only; the cost does not depend on the number of values.
    ///
    /// # Errors
    /// [`EccodesError::NotOneMessage`] if `message` is anything but one whole message, [`EccodesError::Refused`] if ecCodes
    /// cannot decode its headers, [`EccodesError::TooOld`] if it does not know a template that the message follows.
    pub fn message_key(&'static self, message: &[u8]) -> Result<Vec<(String, String)>, EccodesError> {
        one_message(message)?;
        let handle = Handle::borrow(self.api()?, message).context(|| "open the message".to_owned())?;
        let mut pairs = if below_the_hour(&handle) { self.key_by_seconds(message)? } else { mars(&handle)? };
        // Without a table behind it, MARS' param is the id already; finding the id is half the work of a whole key.
        match pairs.iter_mut().find(|(key, _)| key == "param") {
            Some((_, value)) if value.contains('.') => *value = param_id(&handle)?,
            Some(_) => {}
            None => match param_id(&handle) {
                Ok(id) => pairs.push(("param".to_owned(), id)),
                Err(_) => {
                    if let Some(unknown) = Unknown::of(self, &handle) {
                        return Err(unknown.into());
                    }
                }
            },
        }
        if !pairs.iter().any(|(key, _)| key == "class") {
            complete(&handle, &mut pairs);
        }
        Ok(pairs)
    }

    fn key_by_seconds(&'static self, message: &[u8]) -> Result<Vec<(String, String)>, EccodesError> {
        // A copy, because asking for another unit modifies the handle.
        let mut handle = Handle::copy(self.api()?, message).context(|| "open the message".to_owned())?;
        handle.set_string(c"stepUnits", "s").context(|| "set the key stepUnits to s".to_owned())?;
        let mut pairs = mars(&handle)?;
        if let Some((_, step)) = pairs.iter_mut().find(|(key, _)| key == "step") {
            *step = step_of_seconds(step);
        }
        Ok(pairs)
    }
}

/// Tells apart by level what MARS' keys do not.
fn complete(handle: &Handle<'_>, pairs: &mut Vec<(String, String)>) {
    // Older ecCodes leave `levtype` out where newer ones say `unknown`.
    let known = pairs.iter().any(|(key, value)| key == "levtype" && value != "unknown");
    if !known && let Ok(kind) = handle.string(c"typeOfLevel") {
        pairs.retain(|(key, _)| key != "levtype");
        pairs.push(("levtype".to_owned(), kind.to_lowercase()));
    }
    let ends = (handle.string(c"topLevel"), handle.string(c"bottomLevel"));
    if let (Ok(top), Ok(bottom)) = ends
        && top != bottom
        && !pairs.iter().any(|(key, _)| key == "levelist")
    {
        pairs.push(("levelist".to_owned(), top));
    }
}

fn mars(handle: &Handle<'_>) -> Result<Vec<(String, String)>, EccodesError> {
    handle.namespace(c"mars", names_a_field).context(|| "read the MARS keys of the message".to_owned())
}

/// Whether a key of the namespace is part of a field's name. ecCodes marks with `_` what it only tells, such as
/// `_leg_number`, and the unit of the step is part of the step; FDB leaves these out as well.
fn names_a_field(key: &str) -> bool {
    !key.starts_with('_') && key != "stepunits"
}

fn param_id(handle: &Handle<'_>) -> Result<String, EccodesError> {
    handle.string(c"paramId").context(|| "read the key paramId".to_owned())
}

/// Whether one of the message's time ranges counts in a unit shorter than the hour.
fn below_the_hour(handle: &Handle<'_>) -> bool {
    // Minutes and seconds by GRIB 2's table 4.4; quarters and halves of an hour, and seconds, by GRIB 1's table 4.
    const SHORT: [i64; 4] = [0, 13, 14, 254];
    [c"indicatorOfUnitOfTimeRange", c"indicatorOfUnitForTimeRange"]
        .into_iter()
        .any(|key| handle.long(key).is_ok_and(|unit| SHORT.contains(&unit)))
}

/// A step or range of steps in seconds, as in "5400" or "0s-5400s", in the longest unit that is exact for each.
fn step_of_seconds(step: &str) -> String {
    let part = |part: &str| {
        let seconds: u64 = part.trim_end_matches('s').parse().ok()?;
        Some(match seconds {
            _ if seconds.is_multiple_of(3600) => (seconds / 3600).to_string(),
            _ if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
            _ => format!("{seconds}s"),
        })
    };
    let parts: Option<Vec<String>> = step.split('-').map(part).collect();
    parts.map_or_else(|| step.to_owned(), |parts| parts.join("-"))
}

/// The MARS key of one GRIB message, through ecCodes: [`Eccodes::load`], then [`Eccodes::message_key`].
///
/// # Errors
/// Those of the two.
pub fn message_key(message: &[u8]) -> Result<Vec<(String, String)>, EccodesError> {
    Eccodes::load()?.message_key(message)
}

/// Checks that `bytes` are one message from first to last byte, so that ecCodes is not led astray by a wrong length.
pub(crate) fn one_message(bytes: &[u8]) -> Result<(), EccodesError> {
    let refuse = |reason: String| Err(EccodesError::NotOneMessage { reason });
    match SliceScanner::new(bytes).max_length(u64::MAX).next() {
        Some(Ok(found)) if found.bytes.len() == bytes.len() => Ok(()),
        Some(Ok(found)) => refuse(format!(
            "{} bytes, in which the first message is bytes {} to {}",
            bytes.len(),
            found.offset,
            found.offset + found.bytes.len() as u64
        )),
        Some(Err(error)) => refuse(error.to_string()),
        None => refuse("no bytes".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_an_underscore_in_front_do_not_name_a_field() {
        let names = ["class", "_leg_number", "_", "leg_number", "levelist", "stepunits"];
        let kept: Vec<_> = names.into_iter().filter(|name| names_a_field(name)).collect();
        assert_eq!(kept, ["class", "leg_number", "levelist"]);
    }
}
