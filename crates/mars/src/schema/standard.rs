//! The schema for sites without their own.

use std::sync::LazyLock;

use super::Schema;

const TEXT: &str = include_str!("standard.schema");

static STANDARD: LazyLock<Option<Schema>> = LazyLock::new(|| Schema::parse(TEXT).ok());

pub(super) fn schema() -> Schema {
    // A test reads the text, so that it cannot fail here; an empty schema would take no field.
    STANDARD.clone().unwrap_or_else(|| Schema {
        source: "".into(),
        tree: std::sync::Arc::default(),
        compiled: std::sync::Arc::default(),
        clock: crate::Clock::system(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Request, Wanted};

    fn split(text: &str) -> String {
        let split = schema().split(&text.parse::<Key>().unwrap()).unwrap();
        format!("{} | {} | {}", split.dataset, split.collocation, split.element)
    }

    #[test]
    fn its_text_is_a_schema() {
        assert_eq!(Schema::parse(TEXT).map(|schema| schema.rules().count() > 40), Ok(true));
    }

    #[test]
    fn ordinary_labels_of_mars_fit() {
        assert_eq!(
            split(
                "domain=g,class=od,expver=1,stream=oper,date=20240101,time=12,type=fc,levtype=sfc,step=24,param=2t"
            ),
            "class=od,expver=0001,stream=oper,date=20240101,time=1200,domain=g | type=fc,levtype=sfc | step=24,param=167"
        );
        assert_eq!(
            split(
                "class=od,expver=1,stream=enfo,date=20240101,time=0,type=pf,levtype=pl,number=3,step=6,levelist=850,param=t"
            ),
            "class=od,expver=0001,stream=enfo,date=20240101,time=0000 | type=pf,levtype=pl | step=6,number=3,levelist=850,param=130"
        );
        assert_eq!(
            split("class=ea,expver=1,stream=moda,date=20240101,type=an,levtype=sfc,param=2t,time=0,step=0"),
            "class=ea,expver=0001,stream=moda | type=an,levtype=sfc | date=20240101,time=0000,step=0,param=167"
        );
        assert_eq!(
            split(
                "class=od,expver=1,stream=wave,date=20240101,time=0,type=an,levtype=sfc,step=0,param=140251,direction=1,frequency=2"
            ),
            "class=od,expver=0001,stream=wave,date=20240101,time=0000 | type=an,levtype=sfc | step=0,param=140251,frequency=2,direction=1"
        );
    }

    /// FDB passes over a rule with a level of more keys than the message has. Destination Earth's messages have most.
    #[test]
    fn no_level_has_more_keys_than_an_ordinary_message() {
        let schema = schema();
        let last = schema.rules().last().unwrap().line;
        for rule in schema.rules().filter(|rule| rule.line != last) {
            let is_of_many = rule.dataset.names().any(|name| name == "activity");
            let most = if is_of_many { 10 } else { 9 };
            for level in rule.levels() {
                let names: Vec<_> = level.names().collect();
                assert!(names.len() <= most, "line {}: {names:?}", rule.line);
            }
        }
    }

    /// FDB looks for the collocation under the first rule whose dataset fits, and under no other.
    #[test]
    fn observations_stand_beside_the_fields_of_their_dataset() {
        for stream in ["oper", "lwda", "enda", "wave", "xxxx"] {
            let field = format!(
                "class=od,expver=1,stream={stream},date=20240101,time=0,type=fc,levtype=sfc,step=0,param=2t"
            );
            let observation = format!(
                "class=od,expver=1,stream={stream},date=20240101,time=0,type=ob,obsgroup=conv,reportype=1"
            );
            let line = |key: String| {
                let split = schema().split(&key.parse::<Key>().unwrap()).unwrap();
                schema().rule(split.rule).map(|rule| rule.line)
            };
            assert_eq!(line(field), line(observation), "{stream}");
        }
    }

    /// FDB reads by every dataset rule that matches: a field would be found once for each.
    #[test]
    fn dataset_rules_of_the_same_keys_share_no_field() {
        let rules = schema().rules().cloned().collect::<Vec<_>>();
        let constrained = rules.iter().flat_map(|rule| &rule.constrained);
        let streams = constrained.filter(|key| key.name == "stream").filter_map(|key| match &key.allowed {
            Wanted::OneOf(values) | Wanted::NoneOf(values) => Some(values.as_slice().to_vec()),
            Wanted::Any => None,
        });
        let streams: std::collections::BTreeSet<String> = streams.flatten().collect();
        for stream in streams.into_iter().chain(["xxxx".to_owned()]) {
            for class in ["od", "rd", "ti", "ms", "d1", "ce"] {
                let request: Request = format!("class={class},stream={stream}").parse().unwrap();
                let plans = schema().plans(&request, crate::Match::Partial).unwrap();
                let datasets: std::collections::BTreeSet<_> = plans
                    .iter()
                    .map(|plan| &rules[plan.rule.0])
                    .map(|rule| (rule.dataset.names().map(str::to_owned).collect::<Vec<_>>(), rule.line))
                    .collect();
                let keys: std::collections::BTreeSet<_> = datasets.iter().map(|(keys, _)| keys).collect();
                assert_eq!(keys.len(), datasets.len(), "{request}: {datasets:?}");
            }
        }
    }

    #[test]
    fn a_message_without_class_and_stream_still_fits() {
        assert_eq!(
            split("date=20240101,time=0,levtype=sfc,step=3,param=tp,origin=kwbc"),
            "date=20240101,time=0000 | origin=kwbc,levtype=sfc | step=3,param=228"
        );
    }

    #[test]
    fn a_request_without_a_date_says_so() {
        let request: Request =
            "class=od,expver=1,stream=oper,time=0,type=fc,levtype=sfc,step=3,param=tp".parse().unwrap();
        let error = schema().plans(&request, crate::Match::Exact).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the request is incomplete: in the schema, the rule [class, expver, "),
            "{error}"
        );
        assert!(error.to_string().ends_with(" also needs date"), "{error}");
    }
}
