//! Writing: which rule takes a key, what becomes of its values, and what is said of a key that does not fit.

#[cfg(test)]
mod tests {
    use isotach_mars::{Clock, Key, KeyError, Schema, Splitter};

    const FORECASTS: &str = "
        param: Param; step: Step; date: Date; time: Time; levelist: Double; expver: Expver; number: Integer;
        [ class, expver, stream=oper/scda, date, time, domain?g
            [ type=im/sim [ step?, channel ]]
            [ type, levtype [ step, levelist?, param ]]]
        [ class, expver, stream=enfo, date, time, domain
            [ type, levtype [ step, number?, levelist?, param ]]]";
    const SURFACE: &str =
        "class=od,expver=1,stream=oper,date=20240101,time=12,type=fc,levtype=sfc,step=24,param=2t";

    fn schema(text: &str) -> Schema {
        Schema::parse(text).unwrap().with_clock(Clock::fixed(2024, 1, 2).unwrap())
    }

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[track_caller]
    fn split(text: &str, of: &str) -> String {
        let split = schema(text).split(&key(of)).unwrap();
        format!("{} | {} | {}", split.dataset, split.collocation, split.element)
    }

    #[track_caller]
    fn message(text: &str, of: &str) -> String {
        schema(text).split(&key(of)).unwrap_err().to_string()
    }

    #[test]
    fn a_key_is_split_in_the_order_of_the_schema() {
        let canonical = "class=od,expver=0001,stream=oper,date=20240101,time=1200 | type=fc,levtype=sfc | step=24,param=167";
        assert_eq!(split(FORECASTS, SURFACE), canonical);
        let other =
            "param=167.128,step=1d,levtype=SFC,type=FC,time=12:00,date=-1,stream=OPER,expver=0001,class=OD";
        assert_eq!(split(FORECASTS, other), canonical);
    }

    #[test]
    fn an_optional_key_that_is_absent_is_kept_empty_never_as_its_default() {
        let split = schema(FORECASTS).split(&key(SURFACE)).unwrap();
        assert_eq!(split.dataset.get("domain"), None);
        assert_eq!(split.dataset.values_joined(), "od:0001:oper:20240101:1200:");
        assert_eq!(split.element.values_joined(), "24::167");
        assert_eq!(
            split.element.slots().map(|(name, _)| name).collect::<Vec<_>>(),
            ["step", "levelist", "param"]
        );
    }

    #[test]
    fn an_empty_value_is_an_absent_key() {
        let with_empty = format!("{SURFACE},levelist=,nosuch=''");
        assert_eq!(split(FORECASTS, &with_empty), split(FORECASTS, SURFACE));
    }

    #[test]
    fn the_first_rule_that_takes_the_key_wins_and_must_use_all_of_it() {
        let image = SURFACE.replace("type=fc", "type=im") + ",channel=3";
        assert_eq!(
            message(FORECASTS, &image),
            format!(
                "no rule of the schema fits the key {image}: the rule [class, expver, stream, date, time, domain? [type [step?, channel]]] at line 3 has no place for levtype, param"
            )
        );
    }

    #[test]
    fn a_key_without_a_rule_gets_the_mismatch_of_the_nearest() {
        let incomplete = SURFACE.replace(",date=20240101", "") + ",number=3";
        assert_eq!(
            message(FORECASTS, &incomplete),
            format!(
                "no rule of the schema fits the key {incomplete}: the rule [class, expver, stream, date, time, domain? [type, levtype [step, levelist?, param]]] at line 3 also needs date and has no place for number"
            )
        );
        let other = SURFACE.replace("oper", "waef");
        assert_eq!(
            message(FORECASTS, &other),
            format!(
                "no rule of the schema fits the key {other}: the rule [class, expver, stream, date, time, domain? [type, levtype [step, levelist?, param]]] at line 3 wants stream=oper/scda, not waef"
            )
        );
        assert_eq!(message("", "a=1"), "no rule of the schema fits the key a=1: it has no rules");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused_before_anything_is_kept() {
        assert_eq!(
            message(FORECASTS, &SURFACE.replace("20240101", "20240132")),
            "date=\"20240132\": expected a date, such as 20240131, 2024-01-31, 2024-031 or -1"
        );
        assert!(
            message(FORECASTS, &SURFACE.replace("param=2t", "param=t/u"))
                .starts_with("param=\"t/u\": expected a parameter's number")
        );
    }

    #[test]
    fn words_of_the_request_language_are_no_values() {
        for word in ["all", "ANY", "off", "*"] {
            let error = schema("[ a [ b [ c ]]]")
                .split(&Key::new().with("a", word).with("b", "1").with("c", "1"))
                .unwrap_err();
            assert!(matches!(error, KeyError::BadValue { .. }), "{error}");
        }
    }

    #[test]
    fn a_negated_list_takes_all_others_even_if_it_has_one_value() {
        let one = "[ class=!od [ type [ step ]]]";
        assert_eq!(split(one, "class=rd,type=fc,step=1"), "class=rd | type=fc | step=1");
        assert!(message(one, "class=OD,type=fc,step=1").contains("wants class=!od, not OD"));
        let two = "[ class=!od/rd [ type [ step ]]]";
        assert_eq!(split(two, "class=ea,type=fc,step=1"), "class=ea | type=fc | step=1");
        assert!(message(two, "class=rd,type=fc,step=1").contains("wants class=!od/rd, not rd"));
    }

    #[test]
    fn values_in_a_rule_are_of_their_keys_type() {
        let schema = "time: Time; [ class, time=0/12 [ type [ step ]]]";
        assert_eq!(
            split(schema, "class=od,time=12:00,type=fc,step=1"),
            "class=od,time=1200 | type=fc | step=1"
        );
        assert!(message(schema, "class=od,time=6,type=fc,step=1").contains("wants time=0000/1200, not 6"));
    }

    #[test]
    fn a_hidden_key_is_used_up_and_not_kept() {
        let hidden = "grid: Grid; [ class [ type, grid- [ step, levelist-850 ]]]";
        assert_eq!(
            split(hidden, "class=od,type=an,grid=1/1,step=0,levelist=500"),
            "class=od | type=an | step=0"
        );
        assert_eq!(split(hidden, "class=od,type=an,step=0"), "class=od | type=an | step=0");
        assert_eq!(split("[ a [ b [ c:Integer-07 ]]]", "a=1,b=2,c=9"), "a=1 | b=2 | c=7");
    }

    #[test]
    fn types_are_inherited_and_may_be_declared_anew_inside() {
        let schema = "x: Integer; [ a [ b, x [ c ]] [ x: Default; d, x [ c ]] [ e, x: First3 [ c ]]]";
        assert_eq!(split(schema, "a=1,b=1,x=007,c=1"), "a=1 | b=1,x=7 | c=1");
        assert_eq!(split(schema, "a=1,d=1,x=007,c=1"), "a=1 | d=1,x=007 | c=1");
        assert_eq!(split(schema, "a=1,e=1,x=ABCD,c=1"), "a=1 | e=1,x=abc | c=1");
    }

    const CLIMATE: &str = "date: Date; [ class, date: Year [ date: Month, type [ date: Date, step ]]]";

    #[test]
    fn a_date_may_be_kept_in_parts_on_several_levels() {
        let canonical = "class=d1,year=2024 | month=2,type=fc | date=20240229,step=0";
        assert_eq!(split(CLIMATE, "class=d1,date=2024-02-29,type=fc,step=0"), canonical);
        assert_eq!(split(CLIMATE, "class=d1,year=2024,month=02,date=20240229,type=fc,step=0"), canonical);
        assert_eq!(
            message(CLIMATE, "class=d1,year=2023,date=20240229,type=fc,step=0"),
            "year=\"2023\": expected the year of date, 2024"
        );
    }

    #[test]
    fn a_date_whose_day_would_be_lost_is_not_used_up() {
        let lost = "[ class, date: Year [ type [ step ]]]";
        assert!(message(lost, "class=d1,date=20240229,type=fc,step=0").ends_with("has no place for date"));
    }

    #[test]
    fn a_split_key_put_together_splits_again_into_itself() {
        let schema = schema(CLIMATE);
        let split = schema.split(&key("class=d1,date=2024-02-29,type=fc,step=0")).unwrap();
        assert_eq!(schema.split(&split.whole()).unwrap(), split);
    }

    #[test]
    fn a_splitter_splits_after_an_error_as_a_new_one() {
        let schema = schema(FORECASTS);
        let mut splitter = Splitter::default();
        for of in [SURFACE, "class=od", &SURFACE.replace("24", "0-24")] {
            assert_eq!(splitter.split(&schema, &key(of)).cloned(), schema.split(&key(of)));
        }
    }

    #[test]
    fn keys_of_any_length_are_taken() {
        let long = "x".repeat(100_000);
        let split = schema("[ a [ b [ c ]]]")
            .split(&Key::new().with("a", "1").with("b", "2").with("c", &long))
            .unwrap();
        assert_eq!(split.element.values_joined(), long);
    }
}
