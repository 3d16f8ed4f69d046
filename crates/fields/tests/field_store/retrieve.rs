//! The meaning of requests.

use std::ops::Bound;

use isotach_fields::{Error, Location};

use crate::layouts::{Layout, archive, bytes_of, everywhere, field, request, request_like, with};

#[test]
fn an_absent_field_is_reported_as_missing_and_is_no_error() {
    for (_layout, store) in everywhere(Layout::store) {
        assert!(store.retrieve_one(&field("0", "130")).unwrap().is_none());
        let fields = [("0", "130", b"0t"), ("6", "130", b"6t"), ("0", "131", b"0u")];
        archive(&store, &fields.map(|(step, param, bytes)| (field(step, param), &bytes[..])));
        let request = request_like(&field("0", "130"), "step=0/6,param=t/u/v");
        let mut retrieval = store.retrieve(&request).unwrap();
        let found: Vec<_> = retrieval.by_ref().map(|field| field.unwrap().bytes.into_vec()).collect();
        assert_eq!(found, [b"0t", b"0u", b"6t"]);
        let missing = retrieval.missing().unwrap();
        assert_eq!(missing.count, 3);
        let named = missing.keys.iter().map(|key| [key.get("step").unwrap(), key.get("param").unwrap()]);
        assert_eq!(named.collect::<Vec<_>>(), [["0", "132"], ["6", "131"], ["6", "132"]]);
    }
}

#[test]
fn fields_come_in_the_requests_order_the_last_key_of_the_schema_fastest() {
    let store = Layout::memory().store();
    for (date, step, param) in
        [("20240101", "0", "t"), ("20240101", "6", "t"), ("20240102", "0", "u"), ("20240102", "0", "t")]
    {
        let key = with(&field(step, param), &format!("date={date}"));
        store.archive(&key, format!("{date} {step} {param}").as_bytes()).unwrap();
    }
    store.flush().unwrap();
    let request = request_like(&field("0", "130"), "param=u/t,step=6/0,date=20240102/20240101");
    let found: Vec<String> =
        bytes_of(&store, &request).into_iter().map(|b| String::from_utf8(b).unwrap()).collect();
    assert_eq!(found, ["20240102 0 u", "20240102 0 t", "20240101 6 t", "20240101 0 t"]);
}

#[test]
fn values_are_stored_as_what_they_mean_and_found_in_any_spelling() {
    for (_layout, store) in everywhere(Layout::store) {
        let odd = with(&field("90m", "t"), "date=2024-01-01,time=12,expver=1,levelist=500.0");
        archive(&store, &[(odd.clone(), b"field")]);
        for spelling in [
            "date=-1,time=1200,param=130,step=1h30m",
            "date=20240101,time=12:00,param=130.128,step=90m,expver=0001,levelist=500",
        ] {
            assert_eq!(bytes_of(&store, &request_like(&odd, spelling)), [b"field"], "{spelling}");
        }
        let key = store.inspect(&isotach_mars::Request::from(&odd)).unwrap().next().unwrap().unwrap().key;
        let expected = "class=od,expver=0001,stream=oper,date=20240101,time=1200,type=fc,levtype=pl,step=1h30m,levelist=500,param=130";
        assert_eq!(key.to_string(), expected);
    }
}

#[test]
fn a_step_finds_the_range_that_ends_there() {
    let store = Layout::memory().store();
    archive(&store, &[(field("0-24", "tp"), b"range"), (field("6", "tp"), b"six")]);
    let mut retrieval = store.retrieve(&request_like(&field("0", "tp"), "step=6/24")).unwrap();
    let found: Vec<_> = retrieval.by_ref().map(|field| field.unwrap().bytes.into_vec()).collect();
    assert_eq!(found, [&b"six"[..], b"range"]);
    assert_eq!(retrieval.missing().unwrap().count, 0);
    assert_eq!(store.retrieve_one(&field("24", "tp")).unwrap().unwrap(), b"range");
}

#[test]
fn an_optional_key_left_out_means_absent_or_its_default() {
    for (_layout, store) in everywhere(Layout::store) {
        let absent = field("0", "130");
        let [default, other] = ["domain=g", "domain=m"].map(|domain| with(&absent, domain));
        let fields = [(&absent, &b"absent"[..]), (&default, b"default"), (&other, b"other")];
        archive(&store, &fields.map(|(key, bytes)| (key.clone(), bytes)));
        assert_eq!(bytes_of(&store, &isotach_mars::Request::from(&absent)), [&b"absent"[..], b"default"]);
        assert_eq!(bytes_of(&store, &isotach_mars::Request::from(&default)), [b"default"]);
        assert_eq!(crate::layouts::listed(&store, "class=od").len(), 3);
        store.wipe(&request("class=od,domain=g"), true).unwrap();
        assert_eq!(store.retrieve_one(&absent).unwrap().unwrap(), b"absent");
        assert_eq!(store.retrieve_one(&other).unwrap().unwrap(), b"other");
        assert!(store.retrieve_one(&default).unwrap().is_none());
    }
}

#[test]
fn a_field_stored_with_the_default_is_found_without_the_key() {
    let store = Layout::memory().store();
    archive(&store, &[(with(&field("0", "130"), "domain=g"), b"default")]);
    assert_eq!(store.retrieve_one(&field("0", "130")).unwrap().unwrap(), b"default");
}

#[test]
fn an_incomplete_request_says_which_key_is_missing_and_an_unknown_key_is_an_error() {
    let store = Layout::memory().store();
    let mut incomplete = request_like(&field("0", "130"), "step=0");
    incomplete.remove("levelist");
    incomplete.remove("date");
    let error = store.retrieve(&incomplete).unwrap_err();
    assert!(error.is_usage() && error.code() == "request", "{error}");
    assert!(error.to_string().contains("date"), "{error}");
    let error = store.retrieve(&request_like(&field("0", "130"), "colour=red")).unwrap_err();
    assert!(error.to_string().contains("unknown key \"colour\""), "{error}");
    for wrong in ["step=24/to/0", "date=2024-13-01"] {
        assert!(store.retrieve(&request_like(&field("0", "130"), wrong)).unwrap_err().is_usage(), "{wrong}");
        assert!(store.list(&request(wrong), Default::default()).unwrap_err().is_usage(), "{wrong}");
    }
}

#[test]
fn a_key_that_does_not_fit_is_refused_before_anything_is_stored() {
    for (_layout, store) in everywhere(Layout::store) {
        for wrong in ["date=x", "colour=red", "date=20241301"] {
            let error = store.archive(&with(&field("0", "130"), wrong), b"never").unwrap_err();
            assert!(error.is_usage() && error.code() == "key", "{error}");
        }
        let error = store.archive(&"class=od,expver=1".parse().unwrap(), b"never").unwrap_err().to_string();
        assert!(error.contains("stream, date, time"), "{error}");
        assert!(!store.is_dirty());
        assert!(store.status(&request("")).unwrap().is_empty(), "not even a dataset was made");
    }
}

#[test]
fn the_callers_buffer_and_lent_bytes_hold_the_field() {
    for (_layout, store) in everywhere(Layout::store) {
        archive(&store, &[(field("0", "130"), b"field")]);
        let mut buffer = [0_u8; 8];
        assert_eq!(store.retrieve_into(&field("0", "t"), &mut buffer).unwrap(), Some(5));
        assert_eq!(&buffer[..5], b"field");
        assert_eq!(store.retrieve_into(&field("6", "t"), &mut buffer).unwrap(), None);
        let error = store.retrieve_into(&field("0", "t"), &mut buffer[..4]).unwrap_err();
        assert_eq!(error.code(), "invalid-input");
        assert_eq!(&*store.retrieve_shared(&field("0", "t")).unwrap().unwrap(), b"field");
        assert!(store.retrieve_shared(&field("6", "t")).unwrap().is_none());
    }
}

#[test]
fn a_printed_location_is_enough_to_read_the_bytes() {
    for (layout, store) in everywhere(Layout::store) {
        archive(&store, &[(field("0", "130"), b"field")]);
        let found = store.locate(&field("0", "130")).unwrap().unwrap().location;
        assert_eq!(found.checksum, isotach_fields::crc32c(b"field"));
        let printed = found.to_string();
        let parsed = Location::parse(&printed, found.offset, found.length, found.checksum).unwrap();
        assert_eq!(layout.store().read(&parsed).unwrap(), b"field", "{printed}");
        let error = store.read(&Location { length: 9, ..parsed }).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}

#[test]
fn a_part_of_a_field_and_the_callers_buffer_are_read_by_location() {
    for (layout, store) in everywhere(Layout::store) {
        let long: Vec<u8> = (0..150_000_u32).map(|number| (number % 251) as u8).collect();
        archive(&store, &[(field("0", "130"), &long)]);
        let path = layout.folder.path().join("adopted");
        std::fs::write(&path, [b"pad", &long[..]].concat()).unwrap();
        store.adopt(&field("6", "130"), &path, 3, long.len() as u64, None).unwrap();
        store.flush().unwrap();
        for step in ["0", "6"] {
            let location = store.locate(&field(step, "130")).unwrap().unwrap().location;
            for part in [0..0, 0..7, 65_530..65_545, 149_990..150_000, 0..150_000] {
                let expected = &long[part.start as usize..part.end as usize];
                assert_eq!(store.read_part(&location, part.clone()).unwrap(), expected, "{step} {part:?}");
            }
            assert_eq!(store.read_part(&location, 149_990..).unwrap(), long[149_990..]);
            let error = store.read_part(&location, 149_999..150_001).unwrap_err().to_string();
            assert!(error.contains("bytes 149999 to 150001") && error.contains("150000 bytes"), "{error}");
            let turned = (Bound::Included(5), Bound::Excluded(4));
            let error = store.read_part(&location, turned).unwrap_err().to_string();
            assert!(error.contains(&format!("bytes 5 to 4 (exclusive) of location {location}")), "{error}");
            assert!(error.contains("a start that is not past the end"), "{error}");
            let past = Location { offset: u64::MAX, ..location.clone() };
            for refused in [store.read(&past), store.read_part(&past, 1..2)] {
                let error = refused.unwrap_err();
                assert_eq!(error.code(), "invalid-input");
                assert!(error.to_string().contains(&format!("location {location}")), "{error}");
            }
            let mut buffer = vec![0; 150_001];
            assert_eq!(store.read_into(&location, &mut buffer).unwrap(), 150_000);
            assert_eq!(buffer[..150_000], long);
            assert_eq!(store.read_into(&location, &mut buffer[1..7]).unwrap_err().code(), "invalid-input");
        }
    }
}

#[test]
fn values_of_any_length_and_any_characters_are_stored_and_found() {
    for (layout, store) in everywhere(Layout::store) {
        let long = "x".repeat(300);
        let odd = with(&field("0", "130"), &format!("class='a b:c/d%',type='{long}',number='1:2'"));
        archive(&store, &[(odd.clone(), b"odd")]);
        assert_eq!(store.retrieve_one(&odd).unwrap().unwrap(), b"odd");
        assert_eq!(crate::layouts::listed(&layout.store(), "").len(), 1);
    }
}
