//! Rules of a schema, and datasets governed by their own schema.

use isotach_fields::{Config, FieldStore};

use crate::layouts::{Layout, archive, bytes_of, listed, request};

fn store_with(layout: &Layout, schema: &str) -> FieldStore {
    FieldStore::create(
        &Config::single(&"memory:rules".parse().unwrap()).with_schema(schema),
        &layout.registry,
    )
    .unwrap()
}

#[test]
fn the_first_rule_that_matches_writes_and_all_that_match_read() {
    let layout = Layout::memory();
    let schema = "[ class, stream=a, date [ type [ step ]]] [ class, stream=a/b [ type [ step ]]] [ class, stream [ type [ step ]]]";
    let store = store_with(&layout, schema);
    archive(&store, &[("class=od,stream=a,date=1,type=fc,step=0".parse().unwrap(), b"first")]);
    archive(&store, &[("class=od,stream=a,type=fc,step=0".parse().unwrap(), b"second")]);
    let rules: Vec<String> =
        store.status(&request("class=od")).unwrap().into_iter().map(|s| s.rule).collect();
    assert_eq!(rules, ["[ class, stream, date [ type [ step ]]]", "[ class, stream [ type [ step ]]]"]);

    // The second and third rule name the same dataset, and its field is found once.
    assert_eq!(bytes_of(&store, &request("class=od,stream=a,type=fc,step=0")), [b"second"]);
    assert_eq!(listed(&store, "stream=a").len(), 2);
    let both = bytes_of(&store, &request("class=od,date=1,stream=a,type=fc,step=0"));
    assert_eq!(
        both,
        [&b"first"[..], b"second"],
        "every rule that the request fits is read, in the rules' order"
    );
}

#[test]
fn elements_of_other_names_under_one_collocation_key_are_kept_apart() {
    let layout = Layout::memory();
    let store = store_with(&layout, "[ class [ type [ step, number ]] [ type [ step, levelist ]]]");
    let (member, level) = ("class=od,type=fc,step=0,number=1", "class=od,type=fc,step=0,levelist=1");
    archive(&store, &[(member.parse().unwrap(), b"member"), (level.parse().unwrap(), b"level")]);
    assert_eq!(bytes_of(&store, &request(member)), [b"member"]);
    assert_eq!(bytes_of(&store, &request(level)), [b"level"]);
    assert_eq!(listed(&store, "number=1"), [member]);
    assert_eq!(listed(&store, "").len(), 2);
}

#[test]
fn datasets_with_the_same_values_under_other_names_are_kept_apart() {
    let layout = Layout::memory();
    let store = store_with(&layout, "[ class, stream [ type [ step ]]] [ class, model [ type [ step ]]]");
    let (stream, model) = ("class=od,stream=x,type=fc,step=0", "class=od,model=x,type=fc,step=0");
    archive(&store, &[(stream.parse().unwrap(), b"stream"), (model.parse().unwrap(), b"model")]);
    assert_eq!(bytes_of(&store, &request(stream)), [b"stream"]);
    assert_eq!(bytes_of(&store, &request(model)), [b"model"]);
    let labels: Vec<String> =
        store.status(&request("class=od")).unwrap().iter().map(|s| s.store.label.to_string()).collect();
    assert_eq!(labels.len(), 2);
    assert_ne!(labels[0], labels[1]);
}

#[test]
fn a_dataset_is_governed_by_the_schema_it_was_made_with() {
    let layout = Layout::memory();
    let uri = "memory:rules".parse().unwrap();
    let old = store_with(&layout, "[ class [ type [ step ]]]");
    archive(&old, &[("class=od,type=fc,step=0".parse().unwrap(), b"old")]);

    let newer = Config::single(&uri).with_schema("[ class [ type, step [ param? ]]]");
    let store = FieldStore::open(&newer, &layout.registry).unwrap();
    archive(&store, &[("class=rd,type=fc,step=0".parse().unwrap(), b"new")]);
    archive(&store, &[("class=od,type=fc,step=6".parse().unwrap(), b"old too")]);
    let collocations = |text: &str| -> Vec<String> {
        store.dump(&request(text)).unwrap().found[0].collocations.iter().map(|c| c.key.to_string()).collect()
    };
    assert_eq!(collocations("class=od"), ["type=fc"]);
    assert_eq!(collocations("class=rd"), ["type=fc,step=0"]);
    assert_eq!(listed(&store, "step=0").len(), 2);
    let mut retrieval = store.retrieve(&request("class=od/rd,type=fc,step=0/6")).unwrap();
    assert_eq!(retrieval.by_ref().count(), 3);
    let missing = retrieval.missing().unwrap();
    assert_eq!(missing.keys.iter().map(ToString::to_string).collect::<Vec<_>>(), ["class=rd,type=fc,step=6"]);
    assert_eq!(store.retrieve_one(&"class=od,type=fc,step=6".parse().unwrap()).unwrap().unwrap(), b"old too");

    // What the dataset's own schema has no place for is refused.
    let error = store.archive(&"class=od,type=fc,step=6,param=t".parse().unwrap(), b"x").unwrap_err();
    assert!(error.is_usage(), "{error}");
}
