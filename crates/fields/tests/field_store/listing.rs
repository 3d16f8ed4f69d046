//! Listing, axes, status, stats and dump.

use std::sync::Arc;

use isotach_fields::{Config, Counts, FieldStore, ListOptions};
use isotach_mars::{Key, Request};
use isotach_object::{Registry, memory::Memory};

use crate::layouts::{Layout, archive, everywhere, field, listed, request, with};

fn filled(layout: &Layout) -> FieldStore {
    let store = layout.store();
    for step in ["0", "6", "12"] {
        for param in ["t", "u"] {
            store.archive(&field(step, param), b"four").unwrap();
        }
    }
    let mut surface = with(&field("0", "2t"), "levtype=sfc");
    surface.set("levelist", "");
    store.archive(&surface, b"sfc").unwrap();
    store.archive(&with(&field("0", "t"), "class=rd"), b"rd").unwrap();
    store.flush().unwrap();
    store
}

#[test]
fn a_key_left_out_of_a_listing_is_a_wildcard() {
    for (_layout, store) in everywhere(filled) {
        let count = |text: &str| listed(&store, text).len();
        let counts = ["", "class=od", "class=od,param=t", "step=0", "class=ei", "levelist=500"];
        assert_eq!(counts.map(count), [8, 7, 3, 4, 0, 7]);
        assert_eq!(count("levtype=pl,step=0/6,param=u"), 2);
        assert_eq!(count("step=0/to/12/by/6,class=od,levtype=pl"), 6);
        assert_eq!(count("param=130"), count("param=t"));
    }
}

#[test]
fn a_listing_of_few_fields_is_the_part_of_the_whole_listing_that_matches() {
    let registry = Registry::new().with(Arc::new(Memory::new()));
    let schema = "[ class [ type [ step: Step, number?, name? ]]]";
    let store =
        FieldStore::create(&Config::single(&"memory:few".parse().unwrap()).with_schema(schema), &registry)
            .unwrap();
    for step in 0..20 {
        for number in ["", "1", "2", "3", "10"] {
            for name in ["", "plain", "a:b", "c/d", "e%3a", "f%"] {
                let key = Key::new().with("class", "od").with("type", "fc").with("step", &step.to_string());
                store.archive(&key.with("number", number).with("name", name), b"field").unwrap();
            }
        }
    }
    store.flush().unwrap();
    let all = |request: &Request| -> Vec<Key> {
        store.list(request, ListOptions::default()).unwrap().map(|field| field.unwrap().key()).collect()
    };
    let whole = all(&request("class=od"));
    assert_eq!(whole.len(), 20 * 5 * 6);
    let some =
        [("step", "7"), ("number", "10"), ("name", "a:b"), ("name", "c/d"), ("name", "e%3a"), ("name", "f%")];
    for (first, second) in some.iter().flat_map(|first| some.iter().map(move |second| (first, second))) {
        let wanted = Key::new().with(first.0, first.1).with(second.0, second.1);
        let matches = |key: &&Key| wanted.iter().all(|(name, value)| key.get(name) == Some(value));
        let mut expected: Vec<String> = whole.iter().filter(matches).map(ToString::to_string).collect();
        let mut found: Vec<String> = all(&Request::from(&wanted)).iter().map(ToString::to_string).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{wanted}");
        assert!(!found.is_empty(), "{wanted}");
    }
}

#[test]
fn a_listed_field_has_its_keys_and_location() {
    let layout = Layout::posix();
    let store = filled(&layout);
    let mut listing = store.list(&request("levtype=sfc"), ListOptions::default()).unwrap();
    let field = listing.next().unwrap().unwrap();
    assert!(listing.next().is_none());
    let dataset = "class=od,expver=0001,stream=oper,date=20240101,time=0000";
    assert_eq!(field.dataset().to_string(), dataset);
    assert_eq!(field.collocation().to_string(), "type=fc,levtype=sfc");
    assert_eq!(field.element().to_string(), "step=0,param=167");
    assert_eq!(field.location().length, 3);
    assert!(field.location().to_string().contains("/od:0001:oper:20240101:0000:-"), "{}", field.location());
    assert!(field.location().archived_us > 1_700_000_000_000_000);
}

#[test]
fn axes_are_the_values_that_are_there_in_order() {
    for (_layout, store) in everywhere(filled) {
        let axes = store.axes(&request("class=od,levtype=pl,param=t")).unwrap().found;
        let text: Vec<String> =
            axes.iter().map(|axis| format!("{}={}", axis.name, axis.values.join("/"))).collect();
        let expected = "class=od expver=0001 stream=oper date=20240101 time=0000 type=fc levtype=pl step=0/6/12 levelist=500 param=130";
        assert_eq!(text.join(" "), expected);
        assert!(store.axes(&request("class=ei")).unwrap().found.is_empty());
    }
}

#[test]
fn stats_count_visible_and_replaced_fields() {
    for (_layout, store) in everywhere(filled) {
        archive(&store, &[(field("0", "t"), b"longer")]);
        let stats = store.stats(&request("class=od")).unwrap().found;
        assert_eq!(stats.len(), 1);
        let counts = stats[0].counts;
        assert_eq!((counts.fields, counts.bytes), (7, 5 * 4 + 3 + 6));
        assert_eq!((counts.replaced_fields, counts.replaced_bytes), (1, 4));
        assert_eq!((stats[0].collocations, counts.adopted_fields), (2, 0));
        assert!(stats[0].container_bytes > 0);
    }
}

#[test]
fn stats_are_what_a_listing_with_replaced_fields_adds_up_to() {
    for (_layout, store) in everywhere(filled) {
        archive(&store, &[(field("0", "t"), b"longer"), (field("6", "t"), b"longer still")]);
        archive(&store, &[(field("0", "t"), b""), (field("18", "z"), b"new")]);
        store.wipe(&request("class=od,levtype=sfc"), true).unwrap();
        for text in ["", "class=od", "levtype=pl", "step=0", "step=0/6/18,param=t", "param=z", "step=48"] {
            let mut counts = Counts::default();
            for listed in store.list(&request(text), ListOptions { duplicates: true }).unwrap() {
                let listed = listed.unwrap();
                let length = listed.location().length;
                let (fields, bytes) = match listed.is_replaced() {
                    true => (&mut counts.replaced_fields, &mut counts.replaced_bytes),
                    false => (&mut counts.fields, &mut counts.bytes),
                };
                *fields += 1;
                *bytes += length;
            }
            let stats = store.stats(&request(text)).unwrap().found;
            let sum = stats.iter().fold(Counts::default(), |sum, dataset| sum.plus(dataset.counts));
            assert_eq!(sum, counts, "{text:?}");
        }
    }
}

#[test]
fn status_and_dump_tell_where_a_dataset_is_and_what_is_in_it() {
    for (layout, store) in everywhere(filled) {
        let status = store.status(&request("class=od")).unwrap();
        assert_eq!(status.len(), 1);
        assert_eq!(status[0].catalogue.pool, layout.config.spaces[0].catalogue);
        assert_eq!(status[0].store.pool, layout.config.spaces[0].store);
        assert!(status[0].locks.is_empty());
        let dump = store.dump(&request("class=od,levtype=pl")).unwrap().found;
        assert_eq!(dump[0].schema, crate::layouts::SCHEMA);
        let text = dump[0].to_string();
        for part in
            ["dataset class=od", "collocation type=fc,levtype=pl", "step=0/12/6", "rule      [ class, expver"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn a_listing_of_many_pages_holds_every_field_once() {
    let layout = Layout::posix();
    let store = layout.store();
    for step in 0..3000 {
        for param in ["t", "u", "v"] {
            store.archive(&field(&step.to_string(), param), b"x").unwrap();
        }
    }
    store.flush().unwrap();
    assert_eq!(listed(&store, "class=od").len(), 9000);
    assert_eq!(listed(&store, "param=u").len(), 3000);
    let all = store.list(&request("class=od"), ListOptions { duplicates: true }).unwrap();
    assert_eq!(all.filter(|listed| !listed.as_ref().unwrap().is_replaced()).count(), 9000);
}
