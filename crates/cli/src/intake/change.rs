//! Changing messages on their way into a store, and leaving some out.

use std::borrow::Cow;

use clap::Args;
use isotach_grib::Eccodes;
use isotach_mars::{Key, LevelFilter, Match, Plan, Request, RequestError, Schema, Wanted};

use crate::{
    failure::{Failure, Outcome},
    requests::name_list,
};

/// What is changed in messages.
#[derive(Debug, Default, Args)]
pub(crate) struct ModifyFlag {
    /// Set keys of each message through ecCodes, in this order, as expver=x001,packingType=grid_ccsds
    ///
    /// The field is then archived under the key that the changed message carries.
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = edits)]
    pub(crate) modify: Option<Edits>,
}

/// Which messages are taken.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterFlags {
    /// Take only messages that this request would list, as step=0/6,levtype=pl; keys are those before --modify
    #[arg(long, value_name = "REQUEST")]
    pub(crate) include_filter: Option<String>,
    /// Leave out messages that this request would list
    #[arg(long, value_name = "REQUEST")]
    pub(crate) exclude_filter: Option<String>,
}

/// Keys of ecCodes with their values, in the order in which they are set. Their case counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edits(Vec<(String, String)>);

impl Edits {
    /// The keys and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

fn edits(text: &str) -> Result<Edits, String> {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("{pair:?}: expected a key and its value, as in expver=x001")),
    };
    name_list(text).iter().map(|text| pair(text)).collect::<Result<_, _>>().map(Edits)
}

/// What is set in each message, and which messages are taken.
#[derive(Debug, Default)]
pub(crate) struct Change {
    edits: Option<Edits>,
    include: Option<Request>,
    exclude: Option<Request>,
}

impl Change {
    /// What the flags say.
    pub(crate) fn new(modify: &ModifyFlag, filter: &FilterFlags) -> Outcome<Self> {
        let request = |text: &Option<String>, flag| {
            let parsed = text.as_deref().map(str::parse::<Request>).transpose();
            // A filter without keys filters nothing.
            let parsed = parsed.map(|request| request.filter(|request| !request.is_empty()));
            parsed.map_err(|error| Failure::from(error).about(flag))
        };
        Ok(Self {
            edits: modify.modify.clone(),
            include: request(&filter.include_filter, INCLUDE)?,
            exclude: request(&filter.exclude_filter, EXCLUDE)?,
        })
    }

    /// Refuses a filter that means nothing under this schema.
    pub(crate) fn check(&self, schema: &Schema) -> Outcome {
        for (request, flag) in [(&self.include, INCLUDE), (&self.exclude, EXCLUDE)] {
            if let Some(request) = request {
                // A listing passes such keywords over, but a filter with one would take or leave out everything.
                schema.check_effect(request).map_err(|error| Failure::from(error).about(flag))?;
            }
        }
        Ok(())
    }

    /// Whether the filters take a message with this key.
    pub(crate) fn takes(&self, key: &Key, schema: &Schema) -> Outcome<bool> {
        let asks_for = |request: &Request| -> Outcome<bool> { Ok(matches(request, key, schema)?) };
        let included = self.include.as_ref().map_or(Ok(true), asks_for)?;
        Ok(included && !self.exclude.as_ref().map_or(Ok(false), asks_for)?)
    }

    /// A message with its keys set.
    pub(crate) fn edit<'m>(&self, message: &'m [u8]) -> Outcome<Cow<'m, [u8]>> {
        let Some(edits) = &self.edits else { return Ok(Cow::Borrowed(message)) };
        let edited = Eccodes::load()?.edit_message(message, edits.iter());
        edited.map(Cow::Owned).map_err(|error| Failure::from(error).about("--modify"))
    }
}

const INCLUDE: &str = "--include-filter";
const EXCLUDE: &str = "--exclude-filter";

fn plans(request: &Request, schema: &Schema) -> Result<Vec<Plan>, RequestError> {
    schema.plans(request, Match::Partial)
}

/// Whether a key has what some plan of the request wants. What the request does not name does not count: a message that no
/// rule takes can be filtered out.
fn matches(request: &Request, key: &Key, schema: &Schema) -> Result<bool, RequestError> {
    let canonical = schema.split(key).map(|split| split.whole());
    let key = canonical.as_ref().unwrap_or(key);
    let has = |level: &LevelFilter| {
        let is_open = |name: &str| !request.contains(name) || matches!(level.wanted(name), Some(Wanted::Any));
        let value = |name: &str| key.get(name).unwrap_or_default();
        level.names().all(|name| is_open(name) || level.matches_value(name, value(name)))
    };
    Ok(plans(request, schema)?.iter().any(|plan| plan.levels().into_iter().all(has)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(include: &str, exclude: &str, key: &str) -> bool {
        let schema = Schema::parse("[ class, date: Date [ type [ step: Step, param: Param ]]]").unwrap();
        let request = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        let change = Change { edits: None, include: request(include), exclude: request(exclude) };
        change.check(&schema).unwrap();
        change.takes(&key.parse().unwrap(), &schema).unwrap()
    }

    const KEY: &str = "class=od,date=20240101,type=fc,step=6,param=130";

    #[test]
    fn a_filter_takes_what_a_listing_would_show() {
        for include in ["step=0/6", "step=0/to/12/by/6", "param=t", "class=OD,date=2024-01-01", "step=360m"] {
            assert!(taken(include, "", KEY), "{include}");
            assert!(!taken("", include, KEY), "{include}");
        }
        for include in ["step=12", "param=u", "step=6,param=u"] {
            assert!(!taken(include, "", KEY), "{include}");
            assert!(taken("", include, KEY), "{include}");
        }
    }

    #[test]
    fn what_both_filters_name_is_left_out() {
        assert!(!taken("step=6", "param=t", KEY));
        assert!(taken("step=6", "param=u", KEY));
    }

    #[test]
    fn a_message_that_no_rule_takes_can_be_left_out() {
        assert!(!taken("", "type=fc", "class=od,type=fc,unheard=of"));
        assert!(!taken("type=an", "", "class=od,type=fc,unheard=of"));
        let schema = Schema::parse("[ class, stream=oper/scda [ type [ step ]]]").unwrap();
        let exclude = Some("class=ea".parse().unwrap());
        let change = Change { exclude, ..Change::default() };
        assert!(!change.takes(&"class=ea,stream=enda,type=an,step=0".parse().unwrap(), &schema).unwrap());
    }

    #[test]
    fn a_filter_without_keys_filters_nothing_and_one_without_effect_is_a_mistake() {
        let schema = Schema::standard();
        let filter = |text: &str| FilterFlags { include_filter: None, exclude_filter: Some(text.to_owned()) };
        let change = Change::new(&ModifyFlag::default(), &filter("")).unwrap();
        assert!(change.takes(&KEY.parse().unwrap(), &schema).unwrap());
        let change = Change::new(&ModifyFlag::default(), &filter("area=1")).unwrap();
        assert!(matches!(change.check(&schema), Err(Failure::Usage(_))));
    }

    #[test]
    fn edits_keep_their_order_and_the_case_of_their_keys() {
        let edits = edits("setLocalDefinition=1, class=rd,packingType=grid_ieee").unwrap();
        let expected = [("setLocalDefinition", "1"), ("class", "rd"), ("packingType", "grid_ieee")];
        assert!(edits.iter().eq(expected));
    }

    #[test]
    fn an_edit_without_a_key_or_a_value_is_named() {
        for (text, named) in [("expver", "\"expver\""), ("a=1,=2", "\"=2\""), ("a=", "\"a=\""), ("", "\"\"")]
        {
            assert!(edits(text).unwrap_err().starts_with(named), "{text}");
        }
    }
}
