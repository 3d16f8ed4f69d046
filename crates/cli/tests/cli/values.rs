//! `isotach values` and `isotach index`: points of messages, and the indexes by which they are read.

use isotach_grib::Eccodes;
use serde_json::Value;

use crate::support::{Store, archived_messages};

/// The request for all steps of the messages.
fn request(store: &Store) -> String {
    let listed = store.ok(["list", "--json"]);
    let key = &serde_json::from_str::<Value>(listed.text().lines().next().unwrap()).unwrap()["key"];
    let pairs = key.as_object().unwrap().iter().filter(|(name, _)| *name != "step");
    let pairs: Vec<String> =
        pairs.map(|(name, value)| format!("{name}={}", value.as_str().unwrap())).collect();
    format!("{},step=all", pairs.join(","))
}

/// All values of each message.
fn whole(messages: &[Vec<u8>]) -> Vec<Vec<f64>> {
    let eccodes = Eccodes::load().unwrap();
    messages.iter().map(|message| eccodes.values(message).unwrap()).collect()
}

#[test]
fn a_line_for_each_field_has_its_key_and_the_values_of_the_points() {
    let Some((messages, store)) = archived_messages(3) else { return };
    let (request, whole) = (request(&store), whole(&messages));
    let said = store.ok(["values", &request, "--points", "7,0-2"]);
    let mut found: Vec<Vec<f64>> = Vec::new();
    for line in said.text().lines() {
        let (key, values) = line.split_once('\t').unwrap();
        assert!(key.starts_with("class="), "{line}");
        found.push(values.split('\t').map(|value| value.parse().unwrap()).collect());
    }
    let expected: Vec<_> = whole.iter().map(|all| vec![all[7], all[0], all[1]]).collect();
    assert_eq!(found, expected);
    let near = store.ok(["values", &request, "--near", "51.4,-1.0", "--near=-90,0", "--json"]);
    for (line, whole) in near.text().lines().zip(&whole) {
        let object: Value = serde_json::from_str(line).unwrap();
        for (value, point) in
            object["values"].as_array().unwrap().iter().zip(object["points"].as_array().unwrap())
        {
            assert_eq!(value.as_f64().unwrap(), whole[point["index"].as_u64().unwrap() as usize]);
        }
        assert_eq!(object["grid"].as_str().unwrap().len(), 32);
    }
    assert_eq!(near.lines(), 3);
}

#[test]
fn points_that_are_none_and_grids_that_differ_are_refused() {
    let Some((messages, store)) = archived_messages(1) else { return };
    let request = request(&store);
    let run = |flags: &[&str]| store.run([&["values", &request], flags].concat());
    let refused = |flags: &[&str], text: &str| {
        let said = format!("{:?}", run(flags).exits(2));
        assert!(said.contains(text), "{said}");
    };
    refused(&[], "--points");
    refused(&["--points", "x"], "expected places and ranges");
    refused(&["--box", "1,2,3"], "north, west, south, east");
    refused(&["--points", "0", "--grid", "0"], "32 hexadecimal digits");
    run(&["--near", "91,0"]).fails_with(2, &["a latitude from -90 to 90"]);
    let beyond = whole(&messages)[0].len().to_string();
    run(&["--points", &beyond]).fails_with(2, &[&beyond, "points of its grid"]);
    run(&["--points", "0", "--grid", &"0".repeat(32)]).fails_with(1, &["has the grid", "--any-grid"]);
}

#[test]
fn an_index_is_made_for_fields_that_lack_one_and_others_are_reported() {
    let Some((_, store)) = archived_messages(3) else { return };
    assert!(format!("{:?}", store.run(["index"]).exits(2)).contains("--jump"));
    let report = store.ok(["index", "--jump", "--json"]).json();
    assert_eq!((&report["fields"], &report["had"], &report["indexed"]), (&3.into(), &3.into(), &0.into()));
    store.write_raw(77, b"no message");
    let said = store.run(["index", "--jump"]).exits(1);
    assert!(format!("{said:?}").contains("step=77"), "{said:?}");
    let report = store.run(["index", "--jump", "--json", "step=77"]).exits(1).json();
    assert_eq!((&report["fields"], &report["failures"]), (&1.into(), &1.into()));
}
