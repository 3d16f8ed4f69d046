//! Jump indexes of fields, and parts of their bytes.
#![expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]

use std::{fs, ops::Range, os::unix::fs::FileExt, sync::Arc};

use isotach_fields::{Action, FieldStore, Inspected, Location};
use isotach_mars::Key;
use isotach_object::{Anchor, Container, KeyValue, ObjectId};

use crate::layouts::{
    Layout, archive, everywhere, field, request, verify, where_snapshots_are, where_transactions_are, with,
};

/// A store that makes an index of each message that begins with G: its bytes backwards.
fn indexing(layout: &Layout) -> FieldStore {
    let store = layout.store();
    store.index_messages_with(|message| {
        message.starts_with(b"G").then(|| message.iter().rev().copied().collect())
    });
    store
}

/// Fields with an index, replaced and not, and one without.
fn filled(layout: &Layout) -> FieldStore {
    let store = indexing(layout);
    archive(
        &store,
        &[(field("0", "t"), b"G-old"), (field("6", "t"), b"G-six"), (field("12", "t"), b"other")],
    );
    archive(&store, &[(field("0", "t"), b"G-new"), (with(&field("0", "t"), "type=an"), b"G-analysis")]);
    store
}

fn found(store: &FieldStore, key: &Key) -> Inspected {
    store.locate(key).unwrap().unwrap()
}

/// The index of a field.
fn index_of(store: &FieldStore, key: &Key) -> Option<Vec<u8>> {
    store.jump_indexes(&[found(store, key)]).unwrap().remove(0).unwrap()
}

/// The catalogue's container of the dataset, and the object with the indexes of its forecasts.
fn indexes(layout: &Layout, store: &FieldStore) -> (Arc<dyn Container>, ObjectId) {
    let dump = store.dump(&request("class=od,type=fc")).unwrap().found.remove(0);
    (layout.container(&dump.status.catalogue), dump.collocations[0].jump)
}

/// Key and value.
type Entry = (Vec<u8>, Vec<u8>);

/// How many indexes are stored, and the first of them.
fn stored((container, object): &(Arc<dyn Container>, ObjectId)) -> (usize, Option<Entry>) {
    let page = container.list_entries(*object, &Anchor::start(), 100, true).unwrap();
    let mut entries = page.iter().map(|(key, value)| (key.to_vec(), value.to_vec()));
    let first = entries.next();
    (usize::from(first.is_some()) + entries.count(), first)
}

#[test]
fn an_index_becomes_visible_with_its_field_and_is_that_of_the_newest() {
    for (layout, store) in everywhere(filled) {
        store.archive(&field("18", "t"), b"G-unflushed").unwrap();
        for store in [&store, &layout.store()] {
            assert_eq!(index_of(store, &field("0", "t")).as_deref(), Some(&b"wen-G"[..]));
            assert_eq!(index_of(store, &field("6", "t")).as_deref(), Some(&b"xis-G"[..]));
            assert_eq!(index_of(store, &field("12", "t")), None);
            let analysis = with(&field("0", "t"), "type=an");
            assert_eq!(index_of(store, &analysis).as_deref(), Some(&b"sisylana-G"[..]));
        }
        assert_eq!(stored(&indexes(&layout, &store)).0, 3);
        let keys = ["6", "12", "0"].map(|step| found(&store, &field(step, "t")));
        let all = store.jump_indexes(&keys).unwrap();
        let lengths: Vec<_> = all.into_iter().map(|index| index.unwrap().map(|index| index.len())).collect();
        assert_eq!(lengths, [Some(5), None, Some(5)], "in the order of the fields");
    }
}

#[test]
fn the_index_of_an_earlier_state_of_a_field_is_not_taken_for_its_own() {
    for (layout, store) in everywhere(indexing) {
        archive(&store, &[(field("0", "t"), b"G-old")]);
        let old = found(&store, &field("0", "t"));
        // A store that makes no indexes replaces the field.
        archive(&layout.store(), &[(field("0", "t"), b"G-new")]);
        assert_eq!(index_of(&store, &field("0", "t")), None);
        assert_eq!(store.jump_indexes(&[old]).unwrap()[0].as_ref().unwrap().as_deref(), Some(&b"dlo-G"[..]));
    }
}

#[test]
fn indexes_that_are_kept_later_are_those_of_all_handles() {
    for (layout, store) in everywhere(filled) {
        let file = layout.folder.path().join("adopted");
        fs::write(&file, b"padG-adopted").unwrap();
        store.adopt(&field("18", "t"), &file, 3, 9, None).unwrap();
        store.flush().unwrap();
        let steps = ["12", "18"].map(|step| (found(&store, &field(step, "t")), step.as_bytes().to_vec()));
        store.keep_jump_indexes(&steps).unwrap();
        store.keep_jump_indexes(&steps).unwrap();
        for store in [&store, &layout.store()] {
            assert_eq!(index_of(store, &field("12", "t")).as_deref(), Some(&b"12"[..]));
            assert_eq!(index_of(store, &field("18", "t")).as_deref(), Some(&b"18"[..]));
            assert_eq!(index_of(store, &field("6", "t")).as_deref(), Some(&b"xis-G"[..]));
        }
        // The same part of the same file, adopted again, has the same index.
        store.adopt(&field("18", "t"), &file, 3, 9, None).unwrap();
        store.flush().unwrap();
        assert_eq!(index_of(&store, &field("18", "t")).as_deref(), Some(&b"18"[..]));
        store.purge(&request(""), true).unwrap();
        assert_eq!(index_of(&store, &field("18", "t")).as_deref(), Some(&b"18"[..]));
    }
}

#[test]
fn a_purge_removes_the_indexes_of_replaced_fields() {
    for (layout, store) in everywhere(filled) {
        let all = indexes(&layout, &store);
        assert_eq!(stored(&all).0, 3);
        store.purge(&request(""), false).unwrap();
        assert_eq!(stored(&all).0, 3);
        store.purge(&request(""), true).unwrap();
        let all = indexes(&layout, &store);
        assert_eq!(stored(&all).0, 2);
        assert_eq!(index_of(&store, &field("0", "t")).as_deref(), Some(&b"wen-G"[..]));
        assert_eq!(index_of(&store, &field("6", "t")).as_deref(), Some(&b"xis-G"[..]));
    }
}

#[test]
fn a_wipe_of_a_collocation_removes_its_indexes_and_no_others() {
    for (layout, store) in everywhere(filled) {
        let all = indexes(&layout, &store);
        store.wipe(&request("class=od,type=fc"), true).unwrap();
        assert_eq!(stored(&all).0, 0);
        let analysis = with(&field("0", "t"), "type=an");
        assert_eq!(index_of(&store, &analysis).as_deref(), Some(&b"sisylana-G"[..]));
        archive(&store, &[(field("0", "t"), b"G-again")]);
        assert_eq!(index_of(&store, &field("0", "t")).as_deref(), Some(&b"niaga-G"[..]));
    }
}

#[test]
fn a_transaction_brings_its_indexes_and_a_dropped_one_none() {
    for (layout, store) in where_transactions_are(indexing) {
        archive(&store, &[(field("0", "t"), b"G-zero")]);
        let step = store.transaction();
        step.archive(&field("6", "t"), b"G-six").unwrap();
        step.commit().unwrap();
        let dropped = store.transaction();
        dropped.archive(&field("12", "t"), b"G-twelve").unwrap();
        drop(dropped);
        assert_eq!(index_of(&store, &field("6", "t")).as_deref(), Some(&b"xis-G"[..]));
        assert_eq!(stored(&indexes(&layout, &store)).0, 2);
    }
}

#[test]
fn a_snapshot_shows_its_indexes_and_takes_no_others() {
    for (_layout, store) in where_snapshots_are(filled) {
        store.snapshot(&request(""), "before").unwrap();
        archive(&store, &[(field("0", "t"), b"G-later")]);
        store.purge(&request(""), true).unwrap();
        let past = store.at("before").unwrap();
        assert_eq!(index_of(&past, &field("0", "t")).as_deref(), Some(&b"wen-G"[..]));
        let twelve = found(&past, &field("12", "t"));
        let error = past.keep_jump_indexes(&[(twelve, b"index".to_vec())]).unwrap_err();
        assert_eq!(error.code(), "read-only");
    }
}

#[test]
fn a_dataset_that_is_locked_for_archiving_takes_no_indexes_and_others_do() {
    for (layout, store) in everywhere(filled) {
        let twelve = [(found(&store, &field("12", "t")), b"index".to_vec())];
        store.control(&request("class=od"), true, &[Action::Archive]).unwrap();
        let elsewhere = with(&field("0", "t"), "class=rd");
        archive(&layout.store(), &[(elsewhere.clone(), b"G-elsewhere")]);
        let both = [twelve[0].clone(), (found(&store, &elsewhere), b"index".to_vec())];
        let kept = store.keep_jump_indexes(&both).unwrap();
        assert_eq!((kept.stored, kept.failures.len(), kept.failures[0].code()), (1, 1, "locked"));
        assert_eq!(index_of(&store, &elsewhere).as_deref(), Some(&b"index"[..]));
        assert_eq!(index_of(&store, &field("12", "t")), None);
        let made = store.make_jump_indexes(&[&twelve[0].0], |field| panic!("{} is read", field.key)).unwrap();
        assert_eq!((made.stored, made.failures[0].code()), (0, "locked"));
        store.control(&request("class=od"), false, &[Action::Archive]).unwrap();
        store.keep_jump_indexes(&twelve).unwrap();
        assert_eq!(index_of(&store, &field("12", "t")).as_deref(), Some(&b"index"[..]));
        store.wipe(&request("class=od"), true).unwrap();
        store.keep_jump_indexes(&twelve).unwrap();
        assert!(store.jump_indexes(&[twelve[0].0.clone()]).unwrap()[0].as_ref().unwrap().is_none());
    }
}

#[test]
fn a_damaged_index_is_an_error_that_names_the_field_until_it_is_made_anew() {
    for (layout, store) in everywhere(indexing) {
        archive(&store, &[(field("0", "t"), b"G-zero"), (field("6", "t"), b"G-six")]);
        let zero = found(&store, &field("0", "t"));
        let (container, object) = indexes(&layout, &store);
        let (_, first) = stored(&(Arc::clone(&container), object));
        let (key, mut value) = first.unwrap();
        let last = value.len() - 1;
        value[last] ^= 1;
        KeyValue::new(&*container, object).unwrap().put(&key, &value).unwrap();
        container.flush().unwrap();

        let both = ["0", "6"].map(|step| found(&store, &field(step, "t")));
        let outcomes = store.jump_indexes(&both).unwrap();
        let errors: Vec<String> =
            outcomes.iter().filter_map(|index| Some(index.as_ref().err()?.to_string())).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(
            errors[0].starts_with("field class=od,") && errors[0].contains("its jump index"),
            "{errors:?}"
        );
        let report = verify(&store, false);
        assert!(!report.is_sound());
        assert!(report.parts.iter().flat_map(|part| &part.damage).all(|damage| damage.what.contains("jump")));

        store.keep_jump_indexes(&both.map(|field| (field, b"anew".to_vec()))).unwrap();
        assert!(verify(&store, false).is_sound());
        assert_eq!(store.jump_indexes(&[zero]).unwrap()[0].as_ref().unwrap().as_deref(), Some(&b"anew"[..]));
    }
}

#[test]
fn a_copy_and_a_move_make_the_indexes_of_their_target() {
    for (layout, store) in everywhere(filled) {
        let target = layout.target();
        target.index_messages_with(|message| Some(message.to_vec()));
        store.copy_to(&target, &request("class=od,type=fc")).unwrap();
        assert_eq!(index_of(&target, &field("0", "t")).as_deref(), Some(&b"G-new"[..]));
        target.wipe(&request("class=od"), true).unwrap();
        store.move_to(&target, &request("class=od")).unwrap();
        assert_eq!(index_of(&target, &field("6", "t")).as_deref(), Some(&b"G-six"[..]));
    }
}

#[test]
fn a_field_from_below_an_overlay_has_the_index_of_its_stored_bytes() {
    for (layout, store) in everywhere(filled) {
        store.relabel_with(|_, _| Err("nothing is relabelled".into()));
        let file = layout.folder.path().join("adopted");
        fs::write(&file, b"padG-adopted").unwrap();
        store.adopt(&field("18", "t"), &file, 3, 9, None).unwrap();
        store.flush().unwrap();
        let below = "class=od,expver=1,stream=oper,date=20240101,time=0".parse().unwrap();
        let above: Key = "class=rd,expver=2,stream=oper,date=20240101,time=0".parse().unwrap();
        store.overlay(&below, &above, &["class", "expver"], false).unwrap();
        let shown = |step| with(&field(step, "t"), "class=rd,expver=2");
        assert_eq!(index_of(&store, &shown("6")).as_deref(), Some(&b"xis-G"[..]));
        let parts = store.read_parts(&[(&found(&store, &shown("6")), &[2..5])]).remove(0).unwrap();
        assert_eq!(parts, [b"six"]);
        let kept = ["12", "18"].map(|step| (found(&store, &shown(step)), b"index".to_vec()));
        store.keep_jump_indexes(&kept).unwrap();
        for step in ["12", "18"] {
            assert_eq!(index_of(&store, &shown(step)).as_deref(), Some(&b"index"[..]));
        }
        assert_eq!(index_of(&store, &field("12", "t")).as_deref(), Some(&b"index"[..]));
    }
}

#[test]
fn parts_of_many_fields_are_read_in_the_order_asked_for() {
    for (layout, store) in everywhere(filled) {
        let file = layout.folder.path().join("adopted");
        fs::write(&file, b"padG-adopted").unwrap();
        store.adopt(&field("18", "t"), &file, 3, 9, None).unwrap();
        let large: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        store.archive(&field("24", "t"), &large).unwrap();
        store.archive(&with(&field("0", "t"), "class=rd"), b"G-other dataset").unwrap();
        store.flush().unwrap();
        let keys = [
            field("24", "t"),
            field("18", "t"),
            with(&field("0", "t"), "class=rd"),
            field("0", "t"),
            field("6", "t"),
        ];
        let fields = keys.map(|key| found(&store, &key));
        let ranges =
            [vec![65_530..65_540, 299_990..300_000, 0..3], vec![2..9], vec![2..7, 0..0], vec![0..5], vec![]];
        let wanted: Vec<_> = fields.iter().zip(&ranges).map(|(field, ranges)| (field, &ranges[..])).collect();
        let parts = store.read_parts(&wanted);
        let parts: Vec<Vec<Vec<u8>>> = parts.into_iter().map(Result::unwrap).collect();
        assert_eq!(parts[0], [&large[65_530..65_540], &large[299_990..], &large[..3]]);
        assert_eq!(parts[1], [b"adopted"]);
        assert_eq!(parts[2], [&b"other"[..], b""]);
        assert_eq!(parts[3], [b"G-new"]);
        assert!(parts[4].is_empty());
    }
}

#[test]
fn a_field_whose_parts_cannot_be_read_does_not_affect_the_others() {
    for (layout, store) in everywhere(filled) {
        let file = layout.folder.path().join("adopted");
        fs::write(&file, b"padG-adopted").unwrap();
        store.adopt(&field("18", "t"), &file, 3, 9, None).unwrap();
        store.flush().unwrap();
        fs::OpenOptions::new().write(true).open(&file).unwrap().write_all_at(b"X", 11).unwrap();
        let [zero, six, twelve, adopted] =
            ["0", "6", "12", "18"].map(|step| found(&store, &field(step, "t")));
        // The bytes of step 6 are destroyed below the field layer.
        let status = store.status(&request("class=od")).unwrap().remove(0);
        let container = layout.container(&status.store);
        let object = six.location.object().unwrap();
        container.update(&[isotach_object::Update::Destroy { object }]).unwrap();
        container.flush().unwrap();

        let wanted: [(&Inspected, &[_]); 4] =
            [(&zero, &[0..5]), (&six, &[0..2]), (&twelve, &[3..6]), (&adopted, &[0..1])];
        let parts = store.read_parts(&wanted);
        assert_eq!(parts[0].as_ref().unwrap()[0], b"G-new");
        let past = Inspected {
            location: Location { offset: u64::MAX, ..zero.location.clone() },
            key: zero.key.clone(),
        };
        let turned = Range { start: 5, end: 4 };
        for refused in store.read_parts(&[(&past, &[1..2]), (&zero, &[turned])]) {
            assert_eq!(refused.unwrap_err().code(), "invalid-input");
        }
        for (failed, what) in
            [(&parts[1], "0 bytes are there"), (&parts[2], "asked for"), (&parts[3], "checksum")]
        {
            let error = failed.as_ref().unwrap_err();
            assert!(error.code() == "corrupt" && error.to_string().contains(what), "{error}");
            assert!(error.to_string().starts_with("field class=od,"), "{error}");
        }
    }
}
