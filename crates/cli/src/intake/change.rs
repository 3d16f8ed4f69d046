//! Changes messages on their way into a store, and filters them.

use std::borrow::Cow;

use clap::Args;
use isotach_grib::Eccodes;
use isotach_mars::{Key, LevelFilter, Match, Request, RequestError, Schema, Wanted};

use crate::{
    failure::{Failure, Outcome},
    requests::name_list,
};

/// The changes of messages.
#[derive(Debug, Default, Args)]
pub(crate) struct ModifyFlag {
    /// Set keys of each message through ecCodes, in this order, as expver=x001,packingType=grid_ccsds
    ///
    /// The field is then archived under the key of the changed message.
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = edits)]
    pub(crate) modify: Option<Edits>,
}

/// The selection of messages.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterFlags {
    /// Archive only messages that this request would list, as step=0/6,levtype=pl; keys are those before --modify
    #[arg(long, value_name = "REQUEST")]
    include_filter: Option<String>,
    /// Leave out messages that this request would list
    #[arg(long, value_name = "REQUEST")]
    exclude_filter: Option<String>,
}

/// Keys of ecCodes with their values, in the order in which they are set. Keys are case-sensitive.
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

/// The changes and filters of a command.
#[derive(Debug, Default)]
pub(crate) struct MessageRules {
    edits: Option<Edits>,
    include: Option<Request>,
    exclude: Option<Request>,
}

impl MessageRules {
    /// Parses the flags.
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

    /// Refuses a filter with a keyword that has no effect. A listing ignores such keywords, but a filter with one would
    /// match every message.
    pub(crate) fn check(&self, schema: &Schema) -> Outcome {
        for (request, flag) in [(&self.include, INCLUDE), (&self.exclude, EXCLUDE)] {
            if let Some(request) = request {
                schema.check_effect(request).map_err(|error| Failure::from(error).about(flag))?;
            }
        }
        Ok(())
    }

    /// Whether the filters accept a message with this key.
    pub(crate) fn accepts(&self, key: &Key, schema: &Schema) -> Outcome<bool> {
        let is_match = |request: &Request| -> Outcome<bool> { Ok(matches(request, key, schema)?) };
        let included = self.include.as_ref().map_or(Ok(true), is_match)?;
        Ok(included && !self.exclude.as_ref().map_or(Ok(false), is_match)?)
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

/// Whether a key matches some plan of the request. Keys that the request does not name are ignored, so a filter can exclude
/// a message that fits no rule.
fn matches(request: &Request, key: &Key, schema: &Schema) -> Result<bool, RequestError> {
    let canonical = schema.split(key).map(|split| split.whole());
    let key = canonical.as_ref().unwrap_or(key);
    let is_match = |level: &LevelFilter| {
        let is_open = |name: &str| !request.contains(name) || matches!(level.wanted(name), Some(Wanted::Any));
        let value = |name: &str| key.get(name).unwrap_or_default();
        level.names().all(|name| is_open(name) || level.matches_value(name, value(name)))
    };
    Ok(schema.plans(request, Match::Partial)?.iter().any(|plan| plan.levels().into_iter().all(is_match)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(include: &str, exclude: &str, key: &str) -> bool {
        let schema = Schema::parse("[ class, date: Date [ type [ step: Step, param: Param ]]]").unwrap();
        let request = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        let change = MessageRules { edits: None, include: request(include), exclude: request(exclude) };
        change.check(&schema).unwrap();
        change.accepts(&key.parse().unwrap(), &schema).unwrap()
    }

    const KEY: &str = "class=od,date=20240101,type=fc,step=6,param=130";

    #[test]
    fn a_filter_matches_what_a_listing_shows_and_exclusion_wins() {
        for request in ["step=0/6", "step=0/to/12/by/6", "param=t", "class=OD,date=2024-01-01", "step=360m"] {
            assert!(accepts(request, "", KEY) && !accepts("", request, KEY), "{request}");
        }
        for request in ["step=12", "param=u", "step=6,param=u"] {
            assert!(!accepts(request, "", KEY) && accepts("", request, KEY), "{request}");
        }
        assert!(!accepts("step=6", "param=t", KEY));
        assert!(accepts("step=6", "param=u", KEY));
    }

    #[test]
    fn a_filter_can_exclude_a_message_that_fits_no_rule() {
        assert!(!accepts("", "type=fc", "class=od,type=fc,unheard=of"));
        assert!(!accepts("type=an", "", "class=od,type=fc,unheard=of"));
        let schema = Schema::parse("[ class, stream=oper/scda [ type [ step ]]]").unwrap();
        let exclude = Some("class=ea".parse().unwrap());
        let change = MessageRules { exclude, ..MessageRules::default() };
        assert!(!change.accepts(&"class=ea,stream=enda,type=an,step=0".parse().unwrap(), &schema).unwrap());
    }

    #[test]
    fn an_empty_filter_accepts_all_and_one_without_effect_is_a_usage_error() {
        let schema = Schema::standard();
        let filter = |text: &str| FilterFlags { include_filter: None, exclude_filter: Some(text.to_owned()) };
        let change = MessageRules::new(&ModifyFlag::default(), &filter("")).unwrap();
        assert!(change.accepts(&KEY.parse().unwrap(), &schema).unwrap());
        let change = MessageRules::new(&ModifyFlag::default(), &filter("area=1")).unwrap();
        assert!(matches!(change.check(&schema), Err(Failure::Usage(_))));
    }

    #[test]
    fn edits_keep_order_and_case_and_incomplete_ones_are_named() {
        let parsed = edits("setLocalDefinition=1, class=rd,packingType=grid_ieee").unwrap();
        let expected = [("setLocalDefinition", "1"), ("class", "rd"), ("packingType", "grid_ieee")];
        assert!(parsed.iter().eq(expected));
        for (text, named) in [("expver", "\"expver\""), ("a=1,=2", "\"=2\""), ("a=", "\"a=\""), ("", "\"\"")]
        {
            assert!(edits(text).unwrap_err().starts_with(named), "{text}");
        }
    }
}
