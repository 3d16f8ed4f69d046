//! Reading: a request becomes one plan for every rule that could hold what it asks for.

use std::sync::Arc;

use super::Schema;
use super::filter::{KeyFilter, LevelFilter, Values, Wanted};
use super::rule::{Level, LevelKey, NameId, Presence, Rule, RuleId};
use crate::error::{Mismatch, RequestError};
use crate::request::{Request, keywords};
use crate::text::nearest;
use crate::types::{KeyType, RangeFault, VALUES_MAX, expand};

/// How much a request must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// For retrieving and inspecting: every mandatory key must be named, by its values or by a word such as `all`; an
    /// optional key that is left out matches absent or its default; a step also matches the range from 0 to it. Keys that a
    /// rule does not know are passed over.
    Exact,
    /// For listing, wiping and the like: a key that is left out may be anything. A rule that does not know a key of the
    /// request holds nothing of it.
    Partial,
}

/// The search under one rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The rule.
    pub rule: RuleId,
    /// What is wanted of the dataset key.
    pub dataset: LevelFilter,
    /// What is wanted of the collocation key.
    pub collocation: LevelFilter,
    /// What is wanted of the element key.
    pub element: LevelFilter,
}

impl Plan {
    /// The three filters, outermost level first.
    #[must_use]
    pub fn levels(&self) -> [&LevelFilter; 3] {
        [&self.dataset, &self.collocation, &self.element]
    }
}

/// Whether a request could not ask for this value, because it is a word of the language.
pub(super) fn is_reserved(value: &str) -> bool {
    // Longer values need no comparison: this runs for every archived value.
    let value = if value.len() > 3 { value.trim() } else { value };
    value.len() <= 3 && (keywords::is_wildcard(value) || keywords::is_off(value))
}

/// How far a rule is from fitting; a value it refuses counts double, being the rule's subject.
pub(super) fn badness(mismatch: &Mismatch) -> usize {
    mismatch.refused.len() * 2 + mismatch.missing.len() + mismatch.unused.len()
}

/// A key of the request that the schema knows.
pub(super) struct Named<'a> {
    pub(super) number: NameId,
    pub(super) name: &'a str,
    /// The name that the request has for it.
    pub(super) given: &'a str,
    /// `None` if any value will do.
    pub(super) values: Option<&'a [String]>,
    /// Whether MARS also knows it as a keyword that names no field: a rule need not know it then.
    is_ignored: bool,
}

/// A list of values as worked out for one type, kept because many rules share it.
type Expanded = Result<Values, RangeFault>;

/// A request on its way to its plans.
pub(super) struct Planner<'a> {
    schema: &'a Schema,
    mode: Match,
    pub(super) named: Vec<Named<'a>>,
    expanded: Vec<(usize, KeyType, Expanded)>,
    fault: Option<RequestError>,
}

impl Schema {
    /// The plans for a request, one for each rule that could hold what it asks for, in the order of the rules. None, if
    /// no rule takes the values it names: such fields cannot be there.
    ///
    /// # Errors
    /// [`RequestError::UnknownKey`], [`RequestError::BadValue`], [`RequestError::BadRange`] and
    /// [`RequestError::TooManyValues`] for what no rule can make sense of; [`RequestError::Incomplete`] if `mode` is
    /// [`Match::Exact`] and every rule that takes the values lacks a mandatory key.
    pub fn plans(&self, request: &Request, mode: Match) -> Result<Vec<Plan>, RequestError> {
        Planner::new(self, request, mode)?.plans()
    }

    /// Why rules that take the values of an exact request give no plan, nearest first: what to tell a user whose
    /// request found nothing because another rule, that needs less, answered it.
    ///
    /// # Errors
    /// As [`Schema::plans`], but never [`RequestError::Incomplete`].
    pub fn mismatches(&self, request: &Request) -> Result<Vec<Mismatch>, RequestError> {
        Ok(Planner::new(self, request, Match::Exact)?.mismatches())
    }
}

impl<'a> Planner<'a> {
    pub(super) fn new(schema: &'a Schema, request: &'a Request, mode: Match) -> Result<Self, RequestError> {
        let mut named = Vec::with_capacity(request.len());
        for (given, values) in request.iter() {
            let Some((name, number)) = schema.known_name(given)? else { continue };
            if values.iter().any(|value| keywords::is_off(value)) {
                continue;
            }
            let is_any = values.iter().any(|value| keywords::is_wildcard(value));
            if is_any && values.iter().any(|value| value.trim().eq_ignore_ascii_case("to")) {
                let reason = "all, any and * stand for every value, and end no range".to_owned();
                return Err(RequestError::BadRange {
                    name: name.to_owned(),
                    range: values.join("/"),
                    reason,
                });
            }
            let is_ignored = keywords::has_no_effect(name);
            named.push(Named { number, name, given, values: (!is_any).then_some(values), is_ignored });
        }
        Ok(Self { schema, mode, named, expanded: Vec::new(), fault: None })
    }

    pub(super) fn plans(&mut self) -> Result<Vec<Plan>, RequestError> {
        let schema = self.schema;
        let plans: Vec<Plan> = schema.compiled.rules.iter().filter_map(|rule| self.plan(rule)).collect();
        if !plans.is_empty() {
            return Ok(plans);
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let incomplete = match self.mode {
            // A rule with a place for all that is given is more likely meant than one that needs less beside it.
            Match::Exact => self
                .mismatches()
                .into_iter()
                .filter(|mismatch| !mismatch.missing.is_empty())
                .min_by_key(|mismatch| !mismatch.unused.is_empty()),
            Match::Partial => None,
        };
        incomplete.map_or(Ok(plans), |mismatch| Err(RequestError::Incomplete(mismatch)))
    }

    fn plan(&mut self, rule: &Rule) -> Option<Plan> {
        if !self.takes(rule) {
            return None;
        }
        let mut filter = |level: &Level| {
            let keys = level.keys.iter();
            let keys = keys.map(|key| Some(KeyFilter { wanted: self.wanted(key)?, key: Arc::clone(key) }));
            Some(LevelFilter { keys: keys.collect::<Option<_>>()? })
        };
        let (dataset, collocation) = (filter(&rule.dataset)?, filter(&rule.collocation)?);
        Some(Plan { rule: rule.id, dataset, collocation, element: filter(&rule.element)? })
    }

    /// Whether the rule knows the keys that it must and takes some value of each; cheap, for most rules fail here.
    fn takes(&self, rule: &Rule) -> bool {
        let clock = self.schema.clock;
        let knows = |named: &Named<'_>| rule.knows.binary_search(&named.number).is_ok();
        let known = self.mode == Match::Exact
            || self.named.iter().all(|named| named.values.is_none() || named.is_ignored || knows(named));
        known
            && rule.constrained.iter().all(|key| {
                let Some(values) = self.values(key.name_id) else { return true };
                // A longer list may be a range; what it comes to is seen later.
                values.len() > 1 || values.iter().any(|value| key.admits_raw(value, clock))
            })
    }

    fn values(&self, number: NameId) -> Option<&'a [String]> {
        self.named.iter().find(|named| named.number == number).and_then(|named| named.values)
    }

    /// What is wanted of a key; `None` if the rule cannot hold what is.
    fn wanted(&mut self, key: &LevelKey) -> Option<Wanted> {
        if matches!(key.presence, Presence::Hidden { .. }) || key.kind == KeyType::Ignore {
            return Some(Wanted::OneOf(key.left_out.clone()));
        }
        match self.given(key) {
            Some(values) => self.admitted(key, &values?),
            None if self.mode == Match::Exact && !self.is_any(key) => {
                (!key.is_mandatory()).then(|| Wanted::OneOf(key.left_out.clone()))
            }
            None => Some(key.allowed.clone()),
        }
    }

    /// Whether the request takes every value of a key by a word such as `all`.
    fn is_any(&self, key: &LevelKey) -> bool {
        let is_of_key = |named: &Named<'_>| named.number == key.name_id || named.number == key.kept_id;
        self.named.iter().any(|named| named.values.is_none() && is_of_key(named))
    }

    /// The values the request names for a key; outer `None` if it names none, inner if they make no sense here.
    fn given(&mut self, key: &LevelKey) -> Option<Option<Values>> {
        let own = self.expanded(key.name_id, key.kind);
        if key.kept_id == key.name_id {
            return own;
        }
        let part = self.expanded(key.kept_id, key.kind);
        match (own, part) {
            (Some(own), Some(part)) => Some(own.zip(part).map(|(own, part)| {
                Values::new(own.as_slice().iter().filter(|value| part.contains(value)).cloned().collect())
            })),
            (own, part) => own.or(part),
        }
    }

    fn expanded(&mut self, number: NameId, kind: KeyType) -> Option<Option<Values>> {
        let at = self.named.iter().position(|named| named.number == number && named.values.is_some())?;
        let known = self.expanded.iter().find(|(known, of, _)| *known == at && *of == kind);
        if let Some((_, _, values)) = known {
            return Some(values.as_ref().ok().cloned());
        }
        let named = self.named.get(at)?;
        let given = keywords::with_numbered_months(named.name, named.values?);
        let values = expand(kind, &given, self.schema.clock).map(|mut list| {
            if kind == KeyType::Step && self.mode == Match::Exact {
                list = with_ranges_from_zero(list);
            }
            Values::new(list)
        });
        if let Err(fault) = &values {
            self.fault.get_or_insert_with(|| request_error(named.name, fault.clone()));
        }
        let found = values.as_ref().ok().cloned();
        self.expanded.push((at, kind, values));
        Some(found)
    }

    /// Those of the values that the rule takes.
    fn admitted(&self, key: &LevelKey, values: &Values) -> Option<Wanted> {
        let takes = |value: &String| (!value.is_empty() || !key.is_mandatory()) && key.allowed.admits(value);
        if values.as_slice().iter().all(takes) && !values.as_slice().is_empty() {
            return Some(Wanted::OneOf(values.clone()));
        }
        let left: Vec<String> = values.as_slice().iter().filter(|value| takes(value)).cloned().collect();
        (!left.is_empty()).then(|| Wanted::OneOf(Values::new(left)))
    }

    /// What the rules that take the values of the request lack, nearest first.
    fn mismatches(&mut self) -> Vec<Mismatch> {
        let schema = self.schema;
        let mut found: Vec<Mismatch> =
            schema.compiled.rules.iter().filter_map(|rule| self.mismatch(rule)).collect();
        found.sort_by_key(badness);
        found
    }

    fn mismatch(&mut self, rule: &Rule) -> Option<Mismatch> {
        if !self.takes(rule) {
            return None;
        }
        let mut mismatch = rule.mismatch();
        for key in rule.keys() {
            match self.given(key) {
                None if key.is_mandatory()
                    && key.kind != KeyType::Ignore
                    && !self.is_any(key)
                    && !mismatch.missing.contains(&key.name) =>
                {
                    mismatch.missing.push(key.name.clone());
                }
                Some(values) if values.as_ref().and_then(|values| self.admitted(key, values)).is_none() => {
                    return None;
                }
                _ => {}
            }
        }
        let unknown = self
            .named
            .iter()
            .filter(|named| !named.is_ignored && rule.knows.binary_search(&named.number).is_err());
        mismatch.unused = unknown.map(|named| named.name.to_owned()).collect();
        (badness(&mismatch) > 0).then_some(mismatch)
    }
}

impl Schema {
    /// The keywords of a request that say nothing about which fields it means, at least under one of the rules that could
    /// hold them: `area`, `target` and the like. [`Schema::plans`] passes over them where a rule does not keep such a key.
    ///
    /// ```
    /// use isotach_mars::{Match, Schema};
    ///
    /// let request = "class=od,area=75/-10/30/40,target=out.grib".parse()?;
    /// assert_eq!(Schema::standard().without_effect(&request, Match::Partial)?, ["area", "target"]);
    /// # Ok::<(), isotach_mars::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Schema::plans`].
    pub fn without_effect<'r>(
        &self,
        request: &'r Request,
        mode: Match,
    ) -> Result<Vec<&'r str>, RequestError> {
        let plans = self.plans(request, mode)?;
        let rules: Vec<&Rule> = plans.iter().filter_map(|plan| self.rule(plan.rule)).collect();
        let is_kept = |name: &str| {
            let keeps = |rule: &&Rule, number| rule.keys().any(|key| key.is_whole(number));
            let number = self.compiled.number(name);
            number.is_some_and(|number| rules.iter().all(|rule| keeps(rule, number)))
        };
        let names = request.iter().map(|(name, _)| name);
        Ok(names.filter(|name| keywords::has_no_effect(name) && !is_kept(name)).collect())
    }

    /// Refuses a request with something in it that does not narrow it, a keyword without effect or a key that is `off`: for
    /// operations that change, remove or leave out what a request names.
    ///
    /// # Errors
    /// As [`Schema::plans`]; [`RequestError::NoEffect`] and [`RequestError::SwitchedOff`].
    pub fn check_effect(&self, request: &Request) -> Result<(), RequestError> {
        if let Some(name) = self.without_effect(request, Match::Partial)?.first() {
            return Err(RequestError::NoEffect { name: (*name).to_owned() });
        }
        let off = request.iter().find(|(_, values)| values.iter().any(|value| keywords::is_off(value)));
        off.map_or(Ok(()), |(name, _)| Err(RequestError::SwitchedOff { name: name.to_owned() }))
    }

    /// The name and number by which the schema knows a key of a request; `None` for a keyword that is no key.
    fn known_name<'a>(&self, name: &'a str) -> Result<Option<(&'a str, NameId)>, RequestError> {
        if let Some(number) = self.compiled.number(name) {
            return Ok(Some((name, number)));
        }
        let usual = keywords::usual_name(name);
        if let Some((usual, number)) = usual.and_then(|usual| Some((usual, self.compiled.number(usual)?))) {
            return Ok(Some((usual, number)));
        }
        if keywords::has_no_effect(name) {
            return Ok(None);
        }
        let suggestion = nearest(name, self.compiled.names.iter().map(String::as_str)).map(str::to_owned);
        Err(RequestError::UnknownKey { name: name.to_owned(), suggestion })
    }
}

/// Each step followed by the range from 0 to it: an accumulation is asked for by its end.
fn with_ranges_from_zero(steps: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(steps.len() * 2);
    let named: std::collections::HashSet<String> =
        steps.iter().filter(|step| step.contains('-')).cloned().collect();
    for step in steps {
        let range = (!step.contains('-') && step != "0" && !step.is_empty()).then(|| format!("0-{step}"));
        all.push(step);
        all.extend(range.filter(|range| !named.contains(range)));
    }
    all
}

pub(super) fn request_error(name: &str, fault: RangeFault) -> RequestError {
    let name = name.to_owned();
    match fault {
        RangeFault::Value { value, expected } => {
            RequestError::BadValue { name, value, expected: expected.into_owned() }
        }
        RangeFault::Range { range, reason } => {
            RequestError::BadRange { name, range, reason: reason.into_owned() }
        }
        RangeFault::TooMany => RequestError::TooManyValues { name, limit: VALUES_MAX },
    }
}
