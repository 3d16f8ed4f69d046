//! The MARS language as requests use it beyond plain values: keywords that name no field, words that stand for values,
//! winds.

#[cfg(test)]
mod tests {
    use isotach_mars::{Match, Plan, Request, Schema};

    const SCHEMA: &str = "
        param: Param; step: Step; number: Integer; grid: Grid;
        [ class, stream=supd, date: Date [ type, grid [ step, param ]]]
        [ class, stream=clmn, year [ month, type [ param ]]]
        [ class, stream=dacl [ type [ date: ClimateDaily, param ]]]
        [ class, stream=mnth [ type [ date: ClimateMonthly, param ]]]
        [ class, stream, date: Date [ type, grid- [ step, number?, param ]]]";
    const FIELD: &str = "class=od,stream=enfo,date=20240101,type=pf,step=6,number=1,param=t";

    fn schema() -> Schema {
        Schema::parse(SCHEMA).unwrap()
    }

    #[track_caller]
    fn plans(text: &str, mode: Match) -> Vec<Plan> {
        schema().plans(&text.parse().unwrap(), mode).unwrap()
    }

    #[track_caller]
    fn texts(text: &str, mode: Match) -> Vec<String> {
        plans(text, mode).iter().map(|plan| format!("{plan:?}")).collect()
    }

    fn without_effect(text: &str, mode: Match) -> Vec<String> {
        let request: Request = text.parse().unwrap();
        let names = schema().without_effect(&request, mode).unwrap();
        names.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn keywords_that_name_no_field_change_nothing() {
        for keyword in [
            "accuracy=16",
            "area=75/-10/30/40",
            "expect=any",
            "format=packed",
            "padding=0",
            "repres=sh",
            "resol=av",
            "TARGET=\"out.grib\"",
            "use=infrequent",
        ] {
            for mode in [Match::Exact, Match::Partial] {
                assert_eq!(texts(&format!("{FIELD},{keyword}"), mode), texts(FIELD, mode), "{keyword}");
                let name = keyword.split('=').next().unwrap().to_lowercase();
                assert_eq!(without_effect(&format!("{FIELD},{keyword}"), mode), [name]);
            }
        }
        assert!(without_effect(FIELD, Match::Exact).is_empty());
    }

    #[test]
    fn a_name_that_mars_does_not_know_is_still_refused() {
        let request = format!("{FIELD},aera=1").parse().unwrap();
        let error = schema().plans(&request, Match::Exact).unwrap_err().to_string();
        assert!(error.starts_with("unknown key \"aera\""), "{error}");
    }

    #[test]
    fn a_grid_counts_under_the_rules_that_keep_it_only() {
        for mode in [Match::Exact, Match::Partial] {
            assert_eq!(texts(&format!("{FIELD},grid=1/1"), mode), texts(FIELD, mode));
            assert_eq!(without_effect(&format!("{FIELD},grid=1/1"), mode), ["grid"]);
        }
        let kept = "class=od,stream=supd,date=20240101,type=an,step=0,param=t,grid=1/1";
        let plan = &plans(kept, Match::Partial)[0];
        assert!(plan.collocation.matches(&"type=an,grid=1+1".parse().unwrap()));
        assert!(!plan.collocation.matches(&"type=an,grid=2+2".parse().unwrap()));
    }

    #[test]
    fn every_value_of_a_key_may_be_asked_for_by_a_word() {
        for word in ["all", "ALL", "any", "*"] {
            let plan = &plans(&FIELD.replace("number=1", &format!("number={word}")), Match::Exact)[0];
            assert!(plan.element.candidates().is_none());
            for number in ["", "1", "50"] {
                let element = format!("step=6,number={number},param=130").parse().unwrap();
                assert!(plan.element.matches(&element), "{number}");
            }
            let there = plan.element.enumerated(|name| match name {
                "number" => vec!["1", "2"],
                _ => Vec::new(),
            });
            let candidates: Vec<_> = there.candidates().unwrap().joined().collect();
            assert_eq!(candidates, ["6:1:130", "6:2:130", "0-6:1:130", "0-6:2:130"]);
        }
    }

    #[test]
    fn of_a_key_asked_for_by_a_word_no_value_is_missing() {
        let request = FIELD.replace("number=1", "number=all").replace("step=6", "step=6/12").parse().unwrap();
        let mut wanted = schema().wanted_fields(&request).unwrap();
        let found = schema().split(&FIELD.replace("number=1", "number=7").parse().unwrap()).unwrap();
        wanted.mark(found.rule, [&found.dataset, &found.collocation, &found.element]);
        let missing: Vec<String> = wanted.missing().map(|key| key.to_string()).collect();
        assert_eq!(missing, ["class=od,stream=enfo,date=20240101,type=pf,step=12,param=130"]);
    }

    #[test]
    fn the_short_words_for_retrieve_begin_a_request() {
        for verb in ["r", "ret", "RETR", "retrieve"] {
            let request: Request = format!("{verb},{FIELD}").parse().unwrap();
            assert_eq!(request.verb(), Some(verb.to_lowercase().as_str()));
            assert_eq!(request.get("class"), Some(&["od".to_owned()][..]));
        }
    }

    #[test]
    fn a_month_may_be_given_by_its_name() {
        let plan =
            &plans("class=d1,stream=clmn,year=2024,month=nov/January/3,type=fc,param=t", Match::Exact)[0];
        let candidates: Vec<_> = plan.collocation.candidates().unwrap().map(|key| key.to_string()).collect();
        assert_eq!(candidates, ["month=11,type=fc", "month=1,type=fc", "month=3,type=fc"]);
        let key = "class=d1,stream=clmn,year=2024,month=NOV,type=fc,param=t".parse().unwrap();
        assert!(
            plan.collocation.matches(&schema().split(&key).unwrap().collocation),
            "archived by a name, too"
        );
    }

    #[test]
    fn the_dates_of_climatologies_are_read_in_their_forms() {
        let daily = &plans("class=od,stream=dacl,type=an,date=aug-01/AUG-2/0803,param=t", Match::Exact)[0];
        let candidates: Vec<_> = daily.element.candidates().unwrap().map(|key| key.to_string()).collect();
        assert_eq!(candidates, ["date=0801,param=130", "date=0802,param=130", "date=0803,param=130"]);
        let monthly = &plans("class=od,stream=mnth,type=cl,date=aug/september,param=t", Match::Exact)[0];
        let candidates: Vec<_> = monthly.element.candidates().unwrap().map(|key| key.to_string()).collect();
        assert_eq!(candidates, ["date=8,param=130", "date=9,param=130"]);
    }

    /// The params that are looked for where an index has those of `there`.
    fn params(asked: &str, there: &[&str]) -> Option<Vec<String>> {
        let plan = &plans(&FIELD.replace("param=t", &format!("param={asked}")), Match::Exact)[0];
        let restricted = plan.element.restricted(|name, value| name != "param" || there.contains(&value))?;
        let mut found: Vec<String> =
            restricted.candidates()?.filter_map(|key| key.get("param").map(str::to_owned)).collect();
        let mut seen = std::collections::HashSet::new();
        found.retain(|param| seen.insert(param.clone()));
        Some(found)
    }

    #[test]
    fn a_wind_that_is_not_there_is_looked_for_as_vorticity_and_divergence() {
        let params = |asked, there: &[&str]| params(asked, there).unwrap_or_default().join("/");
        assert_eq!(params("u/v", &["130", "138", "155"]), "138/155");
        assert_eq!(params("u", &["130", "138", "155"]), "138/155");
        assert_eq!(params("t/v", &["130", "138", "155"]), "130/138/155");
        assert_eq!(params("vo/u", &["138", "155"]), "138/155");
        assert_eq!(params("u/v", &["131", "132", "138", "155"]), "131/132");
        assert_eq!(params("u/v", &["130", "138"]), "");
        assert_eq!(params("200131", &["200138", "200155", "138", "155"]), "200138/200155");
        assert_eq!(params("t", &["138", "155"]), "");
    }

    #[test]
    fn winds_found_as_vorticity_and_divergence_are_not_missing() {
        for asked in ["u/v", "u", "v", "vo/u"] {
            let request = FIELD.replace("param=t", &format!("param={asked}")).parse().unwrap();
            let mut wanted = schema().wanted_fields(&request).unwrap();
            for param in ["138", "155"] {
                let key = FIELD.replace("param=t", &format!("param={param}")).parse().unwrap();
                let found = schema().split(&key).unwrap();
                wanted.mark(found.rule, [&found.dataset, &found.collocation, &found.element]);
            }
            assert_eq!(wanted.missing_count(), 0, "{asked}");
        }
    }
}
