//! What must hold for any text and any key. A failing case is shrunk and printed with its seed.

#[cfg(test)]
mod tests {
    use isotach_mars::{Clock, Key, KeyType, Match, Request, Schema, Splitter};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Text made of the characters that mean something somewhere, words of the languages and anything else.
    fn hostile() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            select(vec![
                "=", ",", "/", ":", ";", "[", "]", "?", "-", "!", "#", "\"", "'", "\\", "\n", " ", "%",
                "%3A", "*", ".", "+",
            ])
            .prop_map(str::to_owned),
            select(vec![
                "to",
                "by",
                "all",
                "off",
                "step",
                "date",
                "class",
                "Step",
                "Date",
                "retrieve",
                "0",
                "1",
                "24",
                "999999999999"
            ])
            .prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
            "[a-z0-9]{1,4}",
        ];
        vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn name() -> impl Strategy<Value = String> {
        "[a-z][a-z0-9_]{0,6}"
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![3 => "[a-zA-Z0-9.+-]{1,8}", 1 => hostile()]
    }

    fn pairs() -> impl Strategy<Value = Vec<(String, String)>> {
        vec((name(), value()), 0..8)
    }

    fn kind() -> impl Strategy<Value = KeyType> {
        select(KeyType::all().collect::<Vec<_>>())
    }

    /// A value that often is of its type.
    fn typed(kind: KeyType) -> BoxedStrategy<String> {
        match kind {
            KeyType::Date | KeyType::Year | KeyType::YearMonth | KeyType::Month | KeyType::MonthOfDate => {
                prop_oneof![
                    "(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9])",
                    "-[0-9]{1,3}",
                    "20[0-9]{2}-[0-9]{1,3}",
                    "[0-9]{1,6}"
                ]
                .boxed()
            }
            KeyType::ClimateDaily | KeyType::ClimateMonthly => {
                prop_oneof!["(jan|Feb|dec)(-[0-9]{1,2})?", "[0-9]{1,4}", "20[0-9]{2}-[0-9]{2}-[0-9]{2}"]
                    .boxed()
            }
            KeyType::Time => "([01]?[0-9](:[0-5][0-9]){0,2}|[0-9]{3,4}|[0-9]{1,2}[hm])".boxed(),
            KeyType::Step => "[0-9]{1,3}([hmsd]|\\.[0-9]{1,3})?(-[0-9]{1,4}[hm]?)?".boxed(),
            KeyType::Double => "-?[0-9]{1,6}(\\.[0-9]{1,6})?(e-?[0-9]{1,2})?".boxed(),
            KeyType::Integer => "[+-]?[0-9]{1,6}".boxed(),
            KeyType::Param | KeyType::ParamId => "([0-9]{1,6}(\\.[0-9]{1,3})?|t|U|2t|msl)".boxed(),
            _ => value().boxed(),
        }
    }

    fn clock() -> Clock {
        Clock::fixed(2024, 3, 1).unwrap()
    }

    /// A schema whose one element key has this type.
    fn schema_of(kind: KeyType) -> Schema {
        let text = format!("k: {kind}; [ a [ b? [ k?, date?, year?, month? ]]]");
        Schema::parse(&text).unwrap().with_clock(clock())
    }

    fn predicate() -> impl Strategy<Value = String> {
        let values = vec("[a-z0-9.-]{1,4}", 1..4).prop_map(|values| values.join("/"));
        let condition = prop_oneof![
            Just(String::new()),
            values.clone().prop_map(|values| format!("={values}")),
            values.prop_map(|values| format!("=!{values}")),
            "\\?[a-z0-9]{0,3}",
            "-[a-z0-9]{0,3}",
        ];
        (proptest::option::of(kind()), condition).prop_map(|(kind, condition)| {
            kind.map_or_else(String::new, |kind| format!(": {kind}")) + &condition
        })
    }

    /// The text of a schema with the given names spread over its levels.
    fn schema_text() -> impl Strategy<Value = String> {
        let names = ["class", "stream", "date", "type", "levtype", "step", "levelist", "param"];
        let predicates = move |count: usize| {
            (proptest::sample::subsequence(names.to_vec(), 1..=count), vec(predicate(), count)).prop_map(
                |(names, predicates)| {
                    let keys: Vec<String> = names
                        .iter()
                        .zip(predicates)
                        .map(|(name, predicate)| format!("{name}{predicate}"))
                        .collect();
                    keys.join(", ")
                },
            )
        };
        let index = (predicates(3), vec(predicates(4), 1..3)).prop_map(|(keys, elements)| {
            let elements: Vec<String> = elements.iter().map(|keys| format!("[ {keys} ]")).collect();
            format!("[ {keys} {} ]", elements.join("\n"))
        });
        let dataset = (predicates(4), vec(index, 1..3))
            .prop_map(|(keys, rules)| format!("[ {keys} {} ]", rules.join(" # and\n")));
        let types = vec((select(names.to_vec()), kind()), 0..5).prop_map(|mut types| {
            types.sort_by_key(|(name, _)| *name);
            types.dedup_by_key(|(name, _)| *name);
            types.iter().map(|(name, kind)| format!("{name}: {kind};\n")).collect::<String>()
        });
        (types, vec(dataset, 1..4)).prop_map(|(types, rules)| types + &rules.join("\n"))
    }

    fn field() -> impl Strategy<Value = Vec<(String, String)>> {
        let one = |name: &'static str, kind: KeyType| {
            (Just(name.to_owned()), prop_oneof![typed(kind), "[a-z0-9]{1,3}"])
        };
        let all = (
            one("class", KeyType::Default),
            one("stream", KeyType::First3),
            one("date", KeyType::Date),
            one("type", KeyType::Default),
            one("levtype", KeyType::Default),
            one("step", KeyType::Step),
            one("levelist", KeyType::Double),
            one("param", KeyType::Param),
        )
            .prop_map(|(a, b, c, d, e, f, g, h)| vec![a, b, c, d, e, f, g, h]);
        all.prop_flat_map(|all| proptest::sample::subsequence(all.clone(), 3..=all.len()))
    }

    proptest! {
        #[test]
        fn parsers_never_panic_and_their_results_print_and_parse_alike(text in hostile()) {
            if let Ok(key) = text.parse::<Key>() {
                prop_assert_eq!(key.to_string().parse::<Key>(), Ok(key));
            }
            if let Ok(request) = text.parse::<Request>() {
                prop_assert_eq!(request.to_string().parse::<Request>(), Ok(request));
            }
            if let Ok(schema) = Schema::parse(&text) {
                prop_assert_eq!(Schema::parse(&schema.to_string()), Ok(schema));
            }
            let _ = Request::parse_many(&text);
        }

        #[test]
        fn a_key_comes_back_from_its_text(pairs in pairs()) {
            let key: Key = pairs.into_iter().collect();
            prop_assert_eq!(key.to_string().parse::<Key>(), Ok(key));
        }

        #[test]
        fn a_level_key_comes_back_from_its_joined_values(pairs in pairs()) {
            let key: Key = pairs.into_iter().collect();
            let names: Vec<&str> = key.slots().map(|(name, _)| name).collect();
            let back = Key::from_joined(names, &key.values_joined());
            prop_assert_eq!(back, Some(key));
        }

        #[test]
        fn a_request_comes_back_from_its_text(pairs in vec((name(), vec(value(), 1..4)), 0..6)) {
            let request = Request::from_map(pairs);
            prop_assert_eq!(request.to_string().parse::<Request>(), Ok(request));
        }

        #[test]
        fn a_schema_comes_back_from_its_text(text in schema_text()) {
            let schema = Schema::parse(&text);
            prop_assume!(schema.is_ok());
            let schema = schema.unwrap();
            let back = Schema::parse(&schema.to_string()).unwrap();
            prop_assert_eq!(back.digest(), schema.digest());
            prop_assert_eq!(back, schema);
        }

        #[test]
        fn the_canonical_form_is_its_own_canonical_form((kind, value) in kind().prop_flat_map(|kind| (Just(kind), typed(kind)))) {
            let schema = schema_of(kind);
            let key = Key::new().with("a", "1").with("k", &value);
            if let Ok(split) = schema.split(&key) {
                // A date kept in part is asked for by the name of the part.
                let kept = kind.kept_as().unwrap_or("k");
                let canonical = split.element.get(kept).unwrap_or("");
                let again = schema.split(&Key::new().with("a", "1").with("k", canonical)).unwrap();
                prop_assert_eq!(again.element.get(kept).unwrap_or(""), canonical);
            }
        }

        #[test]
        fn any_list_of_values_is_planned_or_refused((kind, values) in kind().prop_flat_map(|kind| (Just(kind), vec(prop_oneof![typed(kind), hostile(), Just("to".to_owned()), Just("by".to_owned())], 1..6)))) {
            // A range of numbers may be long before it is too long; one that is planned has what it names.
            let request = Request::from_map([("k", values)]);
            for mode in [Match::Exact, Match::Partial] {
                let _ = schema_of(kind).plans(&request, mode);
            }
        }

        #[test]
        fn keys_that_are_split_in_turn_are_split_as_each_alone(text in schema_text(), pairs in field(), changes in vec((0..64_usize, prop_oneof![value(), "[0-9]{1,2}", "-[0-9]", Just(String::new())]), 1..12)) {
            let schema = Schema::parse(&text);
            prop_assume!(schema.is_ok());
            let schema = schema.unwrap();
            let mut key: Key = pairs.iter().cloned().collect();
            let mut splitter = Splitter::default();
            for (day, (at, value)) in (1..).zip(changes) {
                let today = schema.clone().with_clock(Clock::fixed(2024, 3, day).unwrap());
                let previous = splitter.last().clone();
                let in_turn = splitter.split(&today, &key).cloned();
                prop_assert_eq!(&in_turn, &today.split(&key), "{}", key);
                let mut names: Vec<String> = pairs.iter().map(|(name, _)| name.clone()).collect();
                if let Ok(split) = &in_turn {
                    if splitter.repeats_collocation() {
                        prop_assert_eq!(&split.dataset, &previous.dataset);
                        prop_assert_eq!(&split.collocation, &previous.collocation);
                    }
                    // Mostly the element changes.
                    names.extend(split.element.iter().map(|(name, _)| name.to_owned()).cycle().take(8));
                }
                key.set(&names[at % names.len()], &value);
            }
        }

        #[test]
        fn a_field_that_is_accepted_is_found_by_its_own_key(text in schema_text(), pairs in field()) {
            let schema = Schema::parse(&text);
            prop_assume!(schema.is_ok());
            let schema = schema.unwrap().with_clock(clock());
            let key: Key = pairs.into_iter().collect();
            if let Ok(split) = schema.split(&key) {
                for mode in [Match::Exact, Match::Partial] {
                    let plans = schema.plans(&Request::from(&key), mode).unwrap();
                    let plan = plans.iter().find(|plan| plan.rule == split.rule);
                    prop_assert!(plan.is_some(), "{:?} {} as {:?}", mode, key, split);
                    let plan = plan.unwrap();
                    for (level, stored) in plan.levels().into_iter().zip([&split.dataset, &split.collocation, &split.element]) {
                        prop_assert!(level.matches(stored), "{:?} {} as {:?}: {:?}", mode, key, split, level);
                        if mode == Match::Exact {
                            let candidates = level.candidates().unwrap();
                            let joined: Vec<String> = candidates.clone().joined().collect();
                            prop_assert!(joined.contains(&stored.values_joined()));
                            let keys: Vec<String> = candidates.map(|candidate| candidate.values_joined()).collect();
                            prop_assert_eq!(joined, keys);
                        }
                    }
                }
                let mut wanted = schema.wanted_fields(&Request::from(&key)).unwrap();
                wanted.mark(split.rule, [&split.dataset, &split.collocation, &split.element]);
                prop_assert_eq!(wanted.missing_count(), 0);
            }
        }
    }

    #[test]
    fn long_texts_are_read_in_time_that_grows_with_their_length() {
        let many = |piece: &str| piece.repeat(200_000);
        assert!(many("a").parse::<Key>().is_err());
        assert!(Request::parse_many(&many("class=od\n")).unwrap().len() == 200_000);
        assert!(format!("step={}0", many("1/")).parse::<Request>().is_ok());
        assert!(Schema::parse(&many("[ ")).is_err());
        assert_eq!(Schema::parse(&many("[ a [ b [ c ]]]\n")).unwrap().rules().count(), 200_000);
    }
}
