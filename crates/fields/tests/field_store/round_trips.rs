//! The number of calls to an engine, each of which may need a server: one for a batch, and never one for each field.

use std::collections::BTreeMap;

use isotach_fields::{FieldStore, ListOptions};
use isotach_mars::{Key, Request};
use isotach_object::memory::Memory;

use crate::{
    faulty::ScriptedStore,
    layouts::{archive, bytes_of, field, request, request_like, with},
};

const STEPS: usize = 40;
const PARAMS: usize = 50;
const FIELDS: usize = STEPS * PARAMS;
/// The keys of an element.
const AXES: u64 = 4;
/// More calls than any operation makes except for its fields.
const FEW: u64 = 20;

/// A store, and the counts of the calls to its engine.
struct Counted(ScriptedStore);

impl Counted {
    fn new() -> Self {
        Self(ScriptedStore::single(&Memory::new(), "memory:all"))
    }

    /// A store with many fields in one collocation.
    fn filled() -> Self {
        let counted = Self::new();
        archive(&counted.0, &fields());
        counted
    }

    /// The calls that `act` makes, by method.
    fn calls(&self, act: impl FnOnce(&FieldStore)) -> BTreeMap<&'static str, u64> {
        self.0.script.take_calls();
        act(&self.0);
        self.0.script.take_calls()
    }
}

fn fields() -> Vec<(Key, &'static [u8])> {
    let of_step = |step: usize| {
        (0..PARAMS).map(move |param| (field(&step.to_string(), &(130 + param).to_string()), &b"bytes"[..]))
    };
    (0..STEPS).flat_map(of_step).collect()
}

fn all() -> Request {
    let params: Vec<String> = (0..PARAMS).map(|param| (130 + param).to_string()).collect();
    let changes = format!("step=0/to/{}/by/1,param={}", STEPS - 1, params.join("/"));
    request_like(&field("0", "130"), &changes)
}

#[test]
fn archiving_makes_one_call_for_each_field() {
    let counted = Counted::new();
    archive(&counted.0, &[(field("0", "t"), b"the dataset is made")]);
    let mut calls = counted.calls(|store| archive(store, &fields()));
    let updates = calls.remove("update").unwrap();
    assert!(updates < FIELDS as u64 + FEW, "{updates}");
    assert!(calls.values().sum::<u64>() < FEW, "{calls:?}");
}

#[test]
fn many_fields_are_listed_and_found_with_few_calls() {
    let counted = Counted::filled();
    for duplicates in [false, true] {
        let list = |store: &FieldStore| {
            assert_eq!(store.list(&request(""), ListOptions { duplicates }).unwrap().count(), FIELDS);
        };
        let calls = counted.calls(list);
        assert!(calls.values().sum::<u64>() < FEW, "{calls:?}");
    }
    let calls = counted.calls(|store| assert_eq!(store.inspect(&all()).unwrap().count(), FIELDS));
    assert!(calls.values().sum::<u64>() < FEW, "{calls:?}");
}

#[test]
fn a_listing_of_few_fields_of_many_reads_no_page_of_the_index() {
    let counted = Counted::filled();
    let list = |text: &str, found: usize| {
        let options = ListOptions::default();
        counted.calls(|store| assert_eq!(store.list(&request(text), options).unwrap().count(), found))
    };
    // The axes and the collocations are read before.
    list("", FIELDS);
    for (text, found) in [("step=7,param=140/141", 2), ("step=7/8", 2 * PARAMS), ("param=140", STEPS)] {
        let calls = list(text, found);
        assert_eq!((calls.get("list_entries"), calls.get("get_many")), (None, Some(&1)), "{text}: {calls:?}");
    }
    assert_eq!(list("step=0/to/20/by/1", 21 * PARAMS).get("list_entries"), Some(&1));
}

#[test]
fn the_first_request_for_a_field_looks_its_values_up_and_reads_no_axis() {
    let first = |act: &dyn Fn(&FieldStore)| pages(&Counted::filled(), act);
    let list = |text: &str, found: usize| {
        let text = text.to_owned();
        first(&move |store| {
            assert_eq!(store.list(&request(&text), ListOptions::default()).unwrap().count(), found);
        })
    };
    let inspected = first(&|store| {
        assert_eq!(store.inspect(&request_like(&field("7", "140"), "")).unwrap().count(), 1);
    });
    let listed = list("step=7,param=140", 1);
    assert_eq!(listed, inspected + 2, "the axes of the two keys that the request does not name");
    assert_eq!(list("", FIELDS), inspected + AXES + 1, "all axes and the index");
}

#[test]
fn a_listing_of_all_fields_reads_the_index_however_few_they_are() {
    let counted = Counted::new();
    archive(&counted.0, &[(field("0", "t"), b"one"), (field("6", "t"), b"two")]);
    let list = |store: &FieldStore| {
        assert_eq!(store.list(&request(""), ListOptions::default()).unwrap().count(), 2);
    };
    // The axes and the collocations are read before.
    list(&counted.0);
    assert_eq!(pages(&counted, list), 1);
}

#[test]
fn later_requests_of_an_epoch_keep_the_axes() {
    let counted = Counted::filled();
    let read = |step: &str| {
        let wanted = request_like(&field(step, "140"), "");
        let calls = counted.calls(|store| assert_eq!(store.inspect(&wanted).unwrap().count(), 1));
        calls.get("list_entries").copied().unwrap_or_default()
    };
    read("7");
    assert_eq!((read("8"), read("9")), (AXES, 0));
}

/// The pages that an act lists.
fn pages(counted: &Counted, act: impl FnOnce(&FieldStore)) -> u64 {
    counted.calls(act).get("list_entries").copied().unwrap_or_default()
}

#[test]
fn a_purge_reads_only_the_indexes_of_which_fields_were_deleted() {
    let counted = Counted::filled();
    archive(&counted.0, &[(with(&field("0", "t"), "type=an"), &b"bytes"[..])]);
    let purge = |store: &FieldStore| drop(store.purge(&request(""), true).unwrap());
    // The collocations are read before.
    purge(&counted.0);
    let without = pages(&counted, purge);
    counted.0.delete(&request_like(&field("0", "130"), ""), true).unwrap();
    purge(&counted.0);
    purge(&counted.0);
    assert_eq!(pages(&counted, purge), without + 1, "the index of the collocation with the mark");
}

#[test]
fn axes_after_a_deletion_do_not_need_the_whole_index() {
    let counted = Counted::new();
    // Several pages of the index, in which all fields of a step follow each other.
    let fields = (0..300).flat_map(|step: usize| {
        (0..40).map(move |param: usize| (field(&step.to_string(), &(130 + param).to_string()), &b"bytes"[..]))
    });
    archive(&counted.0, &fields.collect::<Vec<_>>());
    let delete = |store: &FieldStore, changes: &str| {
        store.delete(&request_like(&field("7", "140"), changes), true).unwrap();
    };
    let steps = |store: &FieldStore| {
        let axes = store.axes(&request("")).unwrap().found;
        axes.into_iter().find(|axis| axis.name == "step").unwrap().values.len()
    };
    delete(&counted.0, "");
    // The declared values are read before.
    assert_eq!(steps(&counted.0), 300);
    assert_eq!(pages(&counted, |store| assert_eq!(steps(store), 300)), 1);
    delete(&counted.0, "param=all");
    assert_eq!(steps(&counted.0), 299);
}

#[test]
fn stats_and_a_dry_purge_look_no_field_up() {
    let counted = Counted::new();
    // Several pages, and each field twice.
    let steps = 0..300;
    let of_step = |step: u32| {
        (0..30).map(move |param| (field(&step.to_string(), &(130 + param).to_string()), &b"bytes"[..]))
    };
    let fields: Vec<_> = steps.flat_map(of_step).collect();
    archive(&counted.0, &fields);
    archive(&counted.0, &fields[..4000]);
    let stats = counted.calls(|store| {
        let counts = store.stats(&request("")).unwrap().found[0].counts;
        assert_eq!((counts.fields, counts.replaced_fields, counts.replaced_bytes), (9000, 4000, 20_000));
    });
    let purge = counted.calls(|store| {
        let told = &store.purge(&request(""), false).unwrap().found[0];
        assert_eq!((told.replaced_fields, told.replaced_bytes), (4000, 20_000));
    });
    // The mark of the last transaction, before and after.
    assert!(stats.get("get_many").is_none_or(|count| *count <= 2), "{stats:?}");
    assert_eq!(purge.get("get_many"), None, "{purge:?}");
}

#[test]
fn fields_are_read_in_batches_or_as_pending_reads() {
    let counted = Counted::filled();
    for (is_far, name, reads) in [(false, "read_many", FIELDS.div_ceil(32)), (true, "begin_read", FIELDS)] {
        counted.0.script.set_far(is_far);
        let mut calls = counted.calls(|store| assert_eq!(bytes_of(store, &all()).len(), FIELDS));
        assert_eq!(calls.remove(name).unwrap() as usize, reads, "far: {is_far}");
        assert!(calls.values().sum::<u64>() < FEW, "{calls:?}");
    }
}

#[test]
fn pending_reads_begin_before_the_first_field_up_to_the_depth_of_the_engine() {
    let counted = Counted::filled();
    counted.0.script.set_far(true);
    let mut calls = counted.calls(|store| {
        let mut fields = store.retrieve(&all()).unwrap();
        fields.by_ref().take(3).for_each(|field| drop(field.unwrap()));
    });
    // Those that were handed out, and those behind the last of them.
    assert_eq!(calls.remove("begin_read"), Some(3 + 15));
}

#[test]
fn no_more_than_64_mib_are_under_way_but_for_one_field_that_has_more() {
    let counted = Counted::new();
    let large = vec![7; 30 << 20];
    let fields: Vec<(Key, &[u8])> =
        (0..4).map(|step| (field(&step.to_string(), "t"), large.as_slice())).collect();
    archive(&counted.0, &fields);
    let larger = vec![7; 65 << 20];
    archive(&counted.0, &[(field("9", "t"), larger.as_slice())]);
    counted.0.script.set_far(true);
    for (steps, begun) in [("0/1/2/3", 2), ("9/0/1", 1), ("0/9", 1)] {
        let some = request_like(&field("0", "t"), &format!("step={steps}"));
        let mut calls = counted.calls(|store| drop(store.retrieve(&some).unwrap().next().unwrap().unwrap()));
        assert_eq!(calls.remove("begin_read"), Some(begun), "{steps}");
    }
}

#[test]
fn a_field_of_a_dataset_that_is_open_is_read_with_three_calls() {
    let counted = Counted::filled();
    let read = |store: &FieldStore| assert!(store.retrieve_one(&field("0", "130")).unwrap().is_some());
    counted.calls(read);
    let calls = counted.calls(read);
    assert_eq!(calls.into_iter().collect::<Vec<_>>(), [("epoch", 1), ("get_many", 1), ("read_many", 1)]);
}
