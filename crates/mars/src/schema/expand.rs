//! Expanding a request: each value in the form in which fields have it, each range as a list.

use super::Schema;
use super::plan::{Match, Named, Planner, request_error};
use super::rule::Rule;
use crate::error::RequestError;
use crate::request::{Request, keywords};
use crate::types::{KeyType, expand};

impl Schema {
    /// The request with its ranges as lists, each value in canonical form, and each key under its usual name. Keywords that say nothing about
    /// which fields are meant, and words for every value, stay as they are; a key that is `off` goes.
    ///
    /// ```
    /// use isotach_mars::Schema;
    ///
    /// let request = "class=od,step=0/to/12/by/6,param=2t,time=12,area=10/0/0/10".parse()?;
    /// let expanded = Schema::standard().expanded(&request)?;
    /// assert_eq!(expanded.to_string(), "class=od,step=0/6/12,param=167,time=1200,area=10/0/0/10");
    /// # Ok::<(), isotach_mars::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Schema::plans`] of [`Match::Partial`].
    pub fn expanded(&self, request: &Request) -> Result<Request, RequestError> {
        let named = Planner::new(self, request, Match::Partial)?.named;
        let mut expanded = request.clone();
        for named in named {
            let Some(given) = named.values else { continue };
            let values = self.expanded_values(self.rules(), &named)?.map(|(_, values)| values);
            expanded.rename(named.given, named.name, values.unwrap_or_else(|| given.to_vec()));
        }
        for (name, _) in
            request.iter().filter(|(_, values)| values.iter().any(|value| keywords::is_off(value)))
        {
            expanded.remove(name);
        }
        Ok(expanded)
    }

    /// The values of one key, by the type of the first of the rules for which they make sense; `None` if none of them
    /// keeps the key.
    pub(super) fn expanded_values<'r>(
        &self,
        rules: impl Iterator<Item = &'r Rule>,
        named: &Named<'_>,
    ) -> Result<Option<(KeyType, Vec<String>)>, RequestError> {
        let mut tried: Vec<KeyType> = Vec::new();
        let mut first_fault = None;
        let given = keywords::with_numbered_months(named.name, named.values.unwrap_or_default());
        for key in rules.flat_map(Rule::keys) {
            if !key.is_whole(named.number) || tried.contains(&key.kind) {
                continue;
            }
            tried.push(key.kind);
            match expand(key.kind, &given, self.clock) {
                Ok(values) => return Ok(Some((key.kind, values))),
                Err(fault) => first_fault = first_fault.or(Some(request_error(named.name, fault))),
            }
        }
        first_fault.map_or(Ok(None), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, RequestError> {
        let schema = Schema::parse("step: Step; time: Time; [ class, time [ levelist? [ step ]]]").unwrap();
        schema.expanded(&text.parse().unwrap()).map(|request| request.to_string())
    }

    #[test]
    fn an_expanded_request_is_expanded_to_itself() {
        let once = expanded("class=OD,time=6/to/18/by/6,step=0/6,level=500").unwrap();
        assert_eq!(once, "class=od,time=0600/1200/1800,step=0/6,levelist=500");
        assert_eq!(expanded(&once).unwrap(), once);
    }

    #[test]
    fn what_stands_for_every_value_stays_and_what_is_off_goes() {
        assert_eq!(expanded("class=all,time=*,levelist=off,step=0").unwrap(), "class=all,time=*,step=0");
    }

    #[test]
    fn unknown_keys_and_values_of_another_type_are_refused() {
        assert!(matches!(expanded("colour=red"), Err(RequestError::UnknownKey { .. })));
        assert!(matches!(expanded("step=soon"), Err(RequestError::BadValue { .. })));
    }
}
