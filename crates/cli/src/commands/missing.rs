//! Which fields of a request are not there, in a line that people can read.

use isotach_mars::{Key, Request};

use crate::output::count;

/// How many missing fields are named.
const NAMED: usize = 5;

/// What the library found missing of a request.
#[derive(Debug)]
pub(crate) struct Missing<'r> {
    /// The request.
    pub(crate) request: &'r Request,
    /// None if it cannot be told.
    pub(crate) found: Option<isotach_fields::Missing>,
}

impl Missing<'_> {
    /// How many.
    pub(crate) fn count(&self) -> u64 {
        self.found.as_ref().map_or(0, |found| found.count)
    }

    /// The line, unless nothing is missing.
    pub(crate) fn text(&self) -> Option<String> {
        let found = self.found.as_ref().filter(|found| found.count > 0)?;
        let named: Vec<String> =
            found.keys.iter().take(NAMED).map(|key| self.telling(key).to_string()).collect();
        let rest = found.count.saturating_sub(named.len() as u64);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        Some(format!("{} missing: {}{more}", count(found.count, "field"), named.join("; ")))
    }

    /// The pairs that tell one field of the request from another; all of them if it names but one.
    fn telling(&self, key: &Key) -> Key {
        let varies = |name: &str| self.request.get(name).is_none_or(|values| values.len() > 1);
        let telling: Key = key.iter().filter(|(name, _)| varies(name)).collect();
        if telling.is_empty() { key.clone() } else { telling }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: &str, keys: &[&str], more: u64) -> Option<String> {
        let keys: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
        let found = isotach_fields::Missing { count: keys.len() as u64 + more, keys };
        Missing { request: &request.parse().unwrap(), found: Some(found) }.text()
    }

    #[test]
    fn only_what_tells_the_fields_apart_is_named() {
        let said = text("class=od,step=6/7/8", &["class=od,step=7", "class=od,step=8"], 0);
        assert_eq!(said.unwrap(), "2 fields missing: step=7; step=8");
        assert_eq!(
            text("class=od,step=7", &["class=od,step=7"], 0).unwrap(),
            "1 field missing: class=od,step=7"
        );
    }

    #[test]
    fn many_are_counted_and_none_is_silent() {
        let keys: Vec<String> = (0..9).map(|step| format!("step={step}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let said = text("step=0/to/99", &keys, 91).unwrap();
        assert_eq!(said, "100 fields missing: step=0; step=1; step=2; step=3; step=4; and 95 more");
        assert_eq!(text("step=0", &[], 0), None);
    }
}
