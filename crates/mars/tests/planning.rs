//! Reading: the plans of a request under each rule, and the errors of invalid requests.

#[cfg(test)]
mod tests {
    use isotach_mars::{Clock, Key, Match, Plan, Request, RequestError, Schema, Wanted};

    const SCHEMA: &str = "
        param: Param; step: Step; date: Date; time: Time; levelist: Double; expver: Expver; number: Integer;
        [ class, expver, stream=oper/scda, date, time, domain?g
            [ type=4i [ step, iteration, param ]]
            [ type, levtype [ step, levelist?, param ]]]
        [ class, expver, stream=enfo, date, time, domain
            [ type, levtype [ step, number?, levelist?, param ]]]
        [ class, stream=!oper/enfo, date: Year
            [ type [ date: Date, param ]]]";
    const FIELD: &str =
        "class=od,expver=1,stream=oper,date=20240101,time=12,type=fc,levtype=pl,levelist=850,step=24,param=t";

    fn schema() -> Schema {
        Schema::parse(SCHEMA).unwrap().with_clock(Clock::fixed(2024, 1, 2).unwrap())
    }

    #[track_caller]
    fn plans(text: &str, mode: Match) -> Vec<Plan> {
        schema().plans(&text.parse().unwrap(), mode).unwrap()
    }

    #[track_caller]
    fn message(text: &str, mode: Match) -> String {
        schema().plans(&text.parse::<Request>().unwrap(), mode).unwrap_err().to_string()
    }

    fn candidates(plan: &Plan) -> [String; 3] {
        plan.levels().map(|level| {
            let keys = level.candidates().map(|keys| keys.joined().collect::<Vec<_>>());
            keys.map_or_else(|| "any".to_owned(), |keys| keys.join(" "))
        })
    }

    fn matches(plan: &Plan, of: &str) -> bool {
        let split = schema().split(&of.parse().unwrap()).unwrap();
        split.rule == plan.rule
            && plan.dataset.matches(&split.dataset)
            && plan.collocation.matches(&split.collocation)
            && plan.element.matches(&split.element)
    }

    fn with(changes: &[(&str, &str)]) -> String {
        let mut key: Key = FIELD.parse().unwrap();
        for (name, value) in changes {
            key.set(name, value);
        }
        key.to_string()
    }

    #[test]
    fn an_exact_request_names_every_key_it_looks_for_in_its_own_order() {
        let text = FIELD.replace("step=24", "step=6/0").replace("param=t", "param=u/t");
        let plans = plans(&text, Match::Exact);
        assert_eq!(plans.len(), 1);
        assert_eq!(
            candidates(&plans[0]),
            [
                "od:0001:oper:20240101:1200: od:0001:oper:20240101:1200:g",
                "fc:pl",
                "6:850:131 6:850:130 0-6:850:131 0-6:850:130 0:850:131 0:850:130"
            ]
        );
        assert_eq!(plans[0].element.candidate_count(), Some(6));
    }

    #[test]
    fn an_optional_key_left_out_matches_absent_and_its_default_only() {
        let plan = &plans(FIELD, Match::Exact)[0];
        assert!(matches(plan, FIELD));
        assert!(matches(plan, &with(&[("domain", "g")])));
        assert!(!matches(plan, &with(&[("domain", "c")])));
        let named = &plans(&format!("{FIELD},domain=g"), Match::Exact)[0];
        assert!(!matches(named, FIELD));
        let without_level = &plans(&FIELD.replace(",levelist=850", ""), Match::Exact)[0];
        assert!(!matches(without_level, FIELD));
        assert!(matches(without_level, &with(&[("levelist", "")])));
    }

    #[test]
    fn an_empty_value_asks_for_an_absent_key() {
        let plan = &plans(&FIELD.replace("levelist=850", "levelist=''/850"), Match::Exact)[0];
        assert!(matches(plan, &with(&[("levelist", "")])));
        assert!(matches(plan, FIELD));
        assert!(plans(&FIELD.replace("class=od", "class=''"), Match::Partial).is_empty());
    }

    #[test]
    fn a_step_finds_the_range_from_zero_when_retrieving_but_not_when_listing() {
        let exact = &plans(FIELD, Match::Exact)[0];
        let partial = &plans(FIELD, Match::Partial)[0];
        for (step, found, listed) in [("24", true, true), ("0-24", true, false), ("12-24", false, false)] {
            let stored = with(&[("step", step)]);
            assert_eq!(matches(exact, &stored), found, "{step}");
            assert_eq!(matches(partial, &stored), listed, "{step}");
        }
    }

    #[test]
    fn values_are_equal_in_all_their_spellings() {
        for (name, spelling) in [
            ("time", "1200"),
            ("time", "12:00"),
            ("time", "12:00:00"),
            ("levelist", "850.0"),
            ("param", "130.128"),
            ("param", "130"),
            ("date", "-1"),
            ("date", "2024-001"),
            ("step", "1d"),
            ("expver", "0001"),
            ("class", "OD"),
        ] {
            let mut request: Request = FIELD.parse().unwrap();
            request.set(name, [spelling]);
            for mode in [Match::Exact, Match::Partial] {
                let plans = schema().plans(&request, mode).unwrap();
                assert!(matches(&plans[0], FIELD), "{name}={spelling}");
            }
        }
    }

    #[test]
    fn a_listing_takes_any_value_of_missing_keys_under_all_matching_rules() {
        let plans = plans("class=od", Match::Partial);
        assert_eq!(plans.len(), 4);
        assert!(matches!(plans[1].dataset.wanted("date"), Some(Wanted::Any)));
        assert!(matches(&plans[1], FIELD));
        assert!(plans[1].dataset.candidates().is_none());
        assert_eq!(schema().plans(&Request::new(), Match::Partial).unwrap().len(), 4);
    }

    #[test]
    fn a_listing_looks_only_under_rules_that_could_hold_the_field() {
        let dataset: Key =
            "class=od,expver=0001,stream=enfo,date=20240101,time=1200,domain=g".parse().unwrap();
        let found: Vec<bool> =
            plans("class=od", Match::Partial).iter().map(|plan| plan.dataset.matches(&dataset)).collect();
        assert_eq!(found, [false, false, true, false]);
        assert_eq!(plans("class=od,number=1", Match::Partial).len(), 1);
        assert_eq!(plans("class=od,iteration=1", Match::Partial).len(), 1);
    }

    #[test]
    fn a_retrieval_passes_over_keys_its_rule_does_not_know() {
        let plans = plans(&format!("{FIELD},iteration=1,number=2"), Match::Exact);
        assert_eq!(plans.len(), 1);
        assert!(matches(&plans[0], FIELD));
    }

    #[test]
    fn wildcards_and_off_take_a_key_out_of_a_listing() {
        for word in ["all", "*", "any", "off"] {
            let plans = plans(&format!("class=od,stream=oper,step={word}"), Match::Partial);
            assert!(matches(&plans[1], FIELD), "{word}");
        }
        assert!(matches(&plans(&format!("{FIELD},domain=off"), Match::Exact)[0], FIELD));
    }

    #[test]
    fn values_that_no_rule_takes_find_nothing() {
        assert!(
            plans(
                &FIELD.replace("stream=oper", "stream=enfo/oper").replace("class=od", "class=rd"),
                Match::Exact
            )
            .len()
                == 1
        );
        let unknown =
            "class=od,stream=oper,type=fc,date=20240101,param=t,levtype=pl,expver=1,time=0,step=0,domain=g";
        assert_eq!(plans(&unknown.replace("oper", "oper/scda/xyz"), Match::Exact).len(), 2);
        let only = Schema::parse("[ class=od [ type [ step ]]]").unwrap();
        assert!(only.plans(&"class=rd,type=fc,step=1".parse().unwrap(), Match::Exact).unwrap().is_empty());
    }

    #[test]
    fn a_negated_rule_is_looked_under_for_all_other_values() {
        let plans = plans("class=od,type=an", Match::Partial);
        let last = plans.last().unwrap();
        let dataset =
            |stream: &str| Key::new().with("class", "od").with("stream", stream).with("year", "2024");
        assert!(last.dataset.matches(&dataset("wave")));
        assert!(!last.dataset.matches(&dataset("oper")));
        assert!(last.dataset.matches_value("stream", "wave"));
        assert!(!last.dataset.matches_value("stream", "enfo"));
    }

    #[test]
    fn a_date_kept_in_parts_is_asked_for_whole_or_in_parts() {
        let text = "class=od,stream=wave,date=20231231/to/20240101,type=an,param=t";
        assert_eq!(candidates(&plans(text, Match::Exact)[0])[0], "od:wave:2023 od:wave:2024");
        let plan = &plans("class=od,stream=wave,year=2024", Match::Partial)[0];
        assert_eq!(candidates(plan)[0], "od:wave:2024");
        let both = &plans("class=od,stream=wave,year=2024,date=20231231/20240101", Match::Partial)[0];
        assert_eq!(candidates(both)[0], "od:wave:2024");
    }

    #[test]
    fn a_retrieval_without_a_mandatory_key_says_which() {
        let error = schema()
            .plans(&"class=od,stream=oper,type=fc,param=t,time=0".parse().unwrap(), Match::Exact)
            .unwrap_err();
        let RequestError::Incomplete(mismatch) = &error else { panic!("{error}") };
        assert_eq!(mismatch.missing, ["expver", "date", "levtype", "step"]);
        assert_eq!(
            error.to_string(),
            "the request is incomplete: in the schema, the rule [class, expver, stream, date, time, domain? [type, levtype [step, levelist?, param]]] at line 3 also needs expver, date, levtype, step"
        );
    }

    #[test]
    fn an_incomplete_request_names_the_rule_with_all_of_its_keys() {
        let schema = Schema::parse("[ a [ b [ c, d ]]]\n[ a [ b [ c, d, e, f, g ]]]").unwrap();
        let error = schema.plans(&"a=1,b=1,e=1".parse().unwrap(), Match::Exact).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the request is incomplete: in the schema, the rule [a [b [c, d, e, f, g]]] at line 2 also needs c, d, f, g"
        );
    }

    #[test]
    fn invalid_names_and_values_are_named() {
        assert_eq!(message("claas=od", Match::Partial), "unknown key \"claas\"; did you mean \"class\"?");
        for (typed, meant) in [("stp", "step"), ("calss", "class")] {
            let expected = format!("unknown key \"{typed}\"; did you mean \"{meant}\"?");
            assert_eq!(message(&format!("{typed}=1"), Match::Partial), expected);
        }
        // Two letters of `type` and of `step` are the same, which is too little to go by.
        for nonsense in ["nosuchkey", "nope", "stxx"] {
            let expected = format!("unknown key \"{nonsense}\"");
            assert_eq!(message(&format!("{nonsense}=1"), Match::Partial), expected);
        }
        assert_eq!(
            message("date=2024-13-01", Match::Partial),
            "date=\"2024-13-01\": expected a date, such as 20240131, 2024-01-31, 2024-031 or -1"
        );
        assert_eq!(
            message("class=od,step=10/to/0/by/1", Match::Partial),
            "step=10/to/0/by/1: it ends before it begins; to go down, 'by' must be negative"
        );
        assert_eq!(message("step=0/to/9/by/0", Match::Partial), "step=0/to/9/by/0: 'by' must not be zero");
        assert_eq!(
            message("number=0/to/100000000", Match::Partial),
            "number comes to more than 1000000 values"
        );
    }

    #[test]
    fn other_names_that_mars_has_for_a_key_are_understood() {
        assert!(matches(&plans("level=850,parameter=t,stream=oper", Match::Partial)[0], FIELD));
    }

    #[test]
    fn a_filter_can_be_narrowed_to_the_values_of_an_index() {
        let plan = &plans(&FIELD.replace("step=24", "step=0/to/24/by/6"), Match::Exact)[0];
        let narrowed = plan.element.restricted(|name, value| name != "step" || value == "12").unwrap();
        let keys: Vec<String> = narrowed.candidates().unwrap().map(|key| key.to_string()).collect();
        assert_eq!(keys, ["step=12,levelist=850,param=130"]);
        assert!(plan.element.restricted(|name, _| name != "param").is_none());
    }

    #[test]
    fn candidates_match_their_filter_and_are_counted() {
        let plan = &plans(FIELD, Match::Exact)[0];
        let candidates: Vec<Key> = plan.dataset.candidates().unwrap().collect();
        candidates.iter().for_each(|key| assert!(plan.dataset.matches(key), "{key}"));
        assert_eq!(Some(candidates.len() as u64), plan.dataset.candidate_count());
    }
}
