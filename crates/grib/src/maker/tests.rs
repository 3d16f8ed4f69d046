//! Generated messages, read through their keys and values.

use super::*;
use crate::SliceScanner;
use crate::needs_eccodes::eccodes;

const NAME: FieldName = FieldName { member: 3, step: 18, level: 500, param: 130 };

fn key(message: &[u8]) -> Vec<(String, String)> {
    crate::message_key(message).unwrap()
}

fn value(pairs: &[(String, String)], key: &str) -> Option<String> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
}

#[test]
fn a_message_has_the_requested_keys() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan {
        class: "rd".to_owned(),
        expver: "abcd".to_owned(),
        date: 20_231_201,
        time: 1200,
        message_size: 5000,
        ..ForecastPlan::default()
    };
    let message = MessageMaker::new(eccodes, plan).unwrap().message(NAME).unwrap();
    let pairs = key(&message);
    for (name, expected) in [
        ("class", "rd"),
        ("expver", "abcd"),
        ("stream", "enfo"),
        ("type", "pf"),
        ("date", "20231201"),
        ("time", "1200"),
        ("levtype", "pl"),
        ("levelist", "500"),
        ("step", "18"),
        ("number", "3"),
        ("param", "130"),
    ] {
        assert_eq!(value(&pairs, name).as_deref(), Some(expected), "{name} in {pairs:?}");
    }
}

#[test]
fn messages_come_near_the_size_asked_for_and_are_whole() {
    let Some(eccodes) = eccodes() else { return };
    for size in [4 << 10, 100_000, 1 << 20] {
        let plan = ForecastPlan { message_size: size, ..ForecastPlan::default() };
        let message = MessageMaker::new(eccodes, plan).unwrap().message(NAME).unwrap();
        assert!(message.len() <= size && message.len() * 100 >= size * 99, "{size}: {}", message.len());
        assert_eq!(SliceScanner::new(&message).next().unwrap().unwrap().bytes.len(), message.len());
    }
}

#[test]
fn the_same_plan_generates_the_same_bytes_in_any_order() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan { message_size: 5000, ..ForecastPlan::default() };
    let mut one = MessageMaker::new(eccodes, plan.clone()).unwrap();
    let mut other = MessageMaker::new(eccodes, plan).unwrap();
    for member in 0..3 {
        other.message(FieldName { member, step: 240, ..NAME }).unwrap();
    }
    assert_eq!(one.message(NAME).unwrap(), other.message(NAME).unwrap());
}

#[test]
fn a_relabelled_message_has_its_own_key_and_an_older_ones_values() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan { message_size: 5000, ..ForecastPlan::default() };
    let mut maker = MessageMaker::new(eccodes, plan).unwrap();
    let first = maker.relabelled(NAME).unwrap();
    let second = maker.relabelled(FieldName { member: 4, step: 300, ..NAME }).unwrap();
    let pairs = key(&second);
    assert_eq!(
        (value(&pairs, "number"), value(&pairs, "step")),
        (Some("4".to_owned()), Some("300".to_owned()))
    );
    assert_eq!(eccodes.grid(&first).unwrap().values, eccodes.grid(&second).unwrap().values);
}

#[test]
fn a_forecast_that_is_no_ensemble_has_no_number() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan {
        stream: "oper".to_owned(),
        kind: "fc".to_owned(),
        members: None,
        message_size: 5000,
        ..ForecastPlan::default()
    };
    let pairs = key(&MessageMaker::new(eccodes, plan).unwrap().message(NAME).unwrap());
    assert_eq!(value(&pairs, "number"), None, "{pairs:?}");
    assert_eq!(value(&pairs, "stream").as_deref(), Some("oper"));
}

#[test]
fn more_levels_than_open_messages_are_generated() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan { message_size: 5000, ..ForecastPlan::default() };
    let mut maker = MessageMaker::new(eccodes, plan).unwrap();
    for level in 1..40 {
        let message = maker.relabelled(FieldName { level, ..NAME }).unwrap();
        assert_eq!(value(&key(&message), "levelist"), Some(level.to_string()));
    }
    assert!(maker.opened.len() <= OPENED_MAX);
}

#[test]
fn impossible_messages_are_refused_with_the_request() {
    let Some(eccodes) = eccodes() else { return };
    let plan = || ForecastPlan { message_size: 5000, ..ForecastPlan::default() };
    let refused = |plan| MessageMaker::new(eccodes, plan).unwrap_err().to_string();
    assert!(refused(ForecastPlan { date: 20_241_301, ..plan() }).contains("date 20241301, expected year"));
    assert!(refused(ForecastPlan { time: 2460, ..plan() }).contains("time 2460, expected hours"));
    assert!(
        refused(ForecastPlan { class: "nonesuch".to_owned(), ..plan() }).contains("set class to nonesuch")
    );
    assert!(refused(ForecastPlan { message_size: 50, ..plan() }).contains("a message of 50 bytes, expected"));
    let mut maker = MessageMaker::new(eccodes, plan()).unwrap();
    let error = maker.message(FieldName { param: 999_999_999, ..NAME }).unwrap_err().to_string();
    assert!(error.contains("paramId to 999999999"), "{error}");
}

#[test]
fn a_maker_can_move_to_another_thread() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan { message_size: 5000, ..ForecastPlan::default() };
    let mut maker = MessageMaker::new(eccodes, plan.clone()).unwrap();
    let here = maker.message(NAME).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let mut maker = MessageMaker::new(eccodes, plan.clone()).unwrap();
            std::thread::spawn(move || (0..20).map(|_| maker.message(NAME).unwrap()).collect::<Vec<_>>())
        })
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap().iter().all(|message| *message == here));
    }
}
