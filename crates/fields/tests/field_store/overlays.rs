//! Overlays: a dataset that shows the fields of another one under its own key.

use std::{
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicBool, Ordering},
};

use isotach_fields::{Action, Error, FieldStore, ListOptions};
use isotach_mars::Key;

use crate::layouts::{
    Layout, archive, bytes_of, everywhere, field, listed, named, request, request_like, verify,
    where_snapshots_are, with,
};

/// The dataset of `field`, and one that shows it.
const BELOW: &str = "class=od,expver=1,stream=oper,date=20240101,time=0";
const SHOWN: &str = "class=rd,expver=2,stream=oper,date=20240101,time=0";

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn shown(step: &str) -> Key {
    with(&field(step, "t"), "class=rd,expver=2")
}

/// A store that relabels a message by appending the key to its bytes.
fn opened(layout: &Layout) -> FieldStore {
    let store = layout.store();
    store.relabel_with(|message, keys| Ok([message, b" as ", keys.to_string().as_bytes()].concat()));
    store
}

/// Two fields, shown under another key.
fn overlaid(layout: &Layout) -> FieldStore {
    let store = opened(layout);
    archive(&store, &[(field("0", "t"), b"zero"), (field("6", "t"), b"six")]);
    lay(&store);
    store
}

fn lay(store: &FieldStore) {
    store.overlay(&key(BELOW), &key(SHOWN), &["class", "expver"], false).unwrap();
}

const AS: &str = " as class=rd,expver=0002";

fn relabelled(bytes: &str) -> Vec<u8> {
    format!("{bytes}{AS}").into_bytes()
}

/// The bytes of the fields of a request for steps.
fn read(store: &FieldStore, steps: &str) -> Vec<String> {
    let found = bytes_of(store, &request_like(&shown("0"), &format!("step={steps}")));
    found.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

#[test]
fn an_overlay_shows_the_fields_below_it_under_its_own_key() {
    for (layout, store) in everywhere(overlaid) {
        for store in [&store, &opened(&layout)] {
            assert_eq!(listed(store, "class=rd").len(), 2);
            let all = listed(store, "");
            assert_eq!(all.len(), 4);
            assert!(all[3].starts_with("class=rd,expver=0002,stream=oper"), "{}", all[3]);
            assert_eq!(read(store, "0/6"), [format!("zero{AS}"), format!("six{AS}")]);
            assert_eq!(store.retrieve_one(&shown("6")).unwrap().unwrap(), relabelled("six"));
            assert_eq!(&*store.retrieve_shared(&shown("6")).unwrap().unwrap(), relabelled("six"));
            let mut buffer = vec![0; 100];
            let length = store.retrieve_into(&shown("6"), &mut buffer).unwrap().unwrap();
            assert_eq!(buffer[..length], relabelled("six"));
            let location = store.locate(&shown("6")).unwrap().unwrap().location;
            assert_eq!(store.read(&location).unwrap(), relabelled("six"));
            assert_eq!(store.read_part(&location, 1..).unwrap(), relabelled("six")[1..]);
            assert_eq!(store.retrieve_one(&field("6", "t")).unwrap().unwrap(), b"six");
            let axes = store.axes(&request("class=rd")).unwrap();
            assert!(axes.unusable.is_empty());
            assert_eq!(axes.found.iter().find(|axis| axis.name == "step").unwrap().values, ["0", "6"]);
            assert_eq!(axes.found.iter().find(|axis| axis.name == "expver").unwrap().values, ["0002"]);
        }
    }
}

#[test]
fn a_field_from_below_is_refused_where_nothing_can_give_it_its_key() {
    let layout = Layout::memory();
    overlaid(&layout);
    let store = layout.store();
    let error = store.retrieve_one(&shown("0")).unwrap_err();
    assert_eq!(error.code(), "not-relabelled");
    assert!(error.to_string().contains("step=0"), "{error}");
    let mut retrieval = store.retrieve(&request_like(&shown("0"), "step=0/6")).unwrap();
    assert!(retrieval.by_ref().all(|field| field.is_err()));
    let location = store.locate(&shown("0")).unwrap().unwrap().location;
    assert_eq!(layout.target().index(&shown("0"), &location).unwrap_err().code(), "invalid-input");
}

#[test]
fn an_overlay_shows_what_is_archived_below_it_later() {
    for (layout, store) in everywhere(overlaid) {
        let reader = opened(&layout);
        assert_eq!(read(&reader, "0"), [format!("zero{AS}")]);
        archive(&store, &[(field("0", "t"), b"new"), (field("12", "t"), b"twelve")]);
        archive(&store, &[(with(&field("0", "t"), "type=an"), b"analysis")]);
        assert_eq!(read(&reader, "0/12"), [format!("new{AS}"), format!("twelve{AS}")]);
        assert_eq!(listed(&reader, "class=rd,type=an").len(), 1);
    }
}

#[test]
fn a_datasets_own_fields_come_before_those_below_it() {
    for (_layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("0"), b"own")]);
        archive(&store, &[(field("0", "t"), b"newer below")]);
        assert_eq!(read(&store, "0/6"), ["own".to_owned(), format!("six{AS}")]);
        assert_eq!(store.retrieve_one(&shown("0")).unwrap().unwrap(), b"own");
        assert_eq!(listed(&store, "class=rd").len(), 2);
        let all = store.list(&request("class=rd"), ListOptions { duplicates: true }).unwrap();
        let all = all.map(Result::unwrap).map(|listed| (listed.is_replaced(), listed.location().length));
        let mut replaced: Vec<_> = all.collect();
        replaced.sort_unstable();
        assert_eq!(replaced, [(false, 3), (false, 3), (true, 4), (true, 11)]);
    }
}

#[test]
fn missing_fields_of_an_overlay_are_reported() {
    let layout = Layout::memory();
    let store = overlaid(&layout);
    let mut inspection = store.inspect(&request_like(&shown("0"), "step=0/6/12")).unwrap();
    assert_eq!(inspection.by_ref().map(Result::unwrap).count(), 2);
    let missing = inspection.missing().unwrap();
    assert_eq!((missing.count, missing.keys[0].get("step")), (1, Some("12")));
}

#[test]
fn an_overlay_that_is_removed_shows_its_own_fields_alone_and_can_be_laid_again() {
    for (_layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("0"), b"own")]);
        store.remove_overlay(&key(BELOW), &key(SHOWN)).unwrap();
        assert_eq!(read(&store, "0/6"), ["own"]);
        assert_eq!(store.remove_overlay(&key(BELOW), &key(SHOWN)).unwrap_err().code(), "not-found");
        store.overlay(&key(BELOW), &key(SHOWN), &["class", "expver"], true).unwrap();
        assert_eq!(read(&store, "0/6"), ["own".to_owned(), format!("six{AS}")]);
    }
}

#[test]
fn an_overlay_is_refused_where_the_keys_do_not_go_together() {
    let layout = Layout::memory();
    let store = opened(&layout);
    archive(&store, &[(field("0", "t"), b"zero"), (shown("0"), b"own")]);
    let other = "class=rd,expver=3,stream=oper";
    let (other_date, domain, step) = (
        format!("{other},date=20240102,time=0"),
        format!("{other},date=20240101,time=0,domain=m"),
        format!("{other},date=20240101,time=0,step=0"),
    );
    let both = &["class", "expver"][..];
    for (below, shown, variable, force, code) in [
        (BELOW, SHOWN, both, false, "already-exists"),
        (BELOW, SHOWN, &both[..1], true, "invalid-input"),
        (BELOW, BELOW, both, true, "invalid-input"),
        (BELOW, &other_date, both, false, "invalid-input"),
        (BELOW, &domain, both, false, "invalid-input"),
        (BELOW, "class=rd,expver=3", both, false, "invalid-input"),
        (BELOW, &step, both, false, "invalid-input"),
        ("class=od,expver=9,stream=oper,date=20240101,time=0", SHOWN, both, true, "not-found"),
        ("class=od,expver=1", SHOWN, both, true, "not-found"),
    ] {
        let error = store.overlay(&key(below), &key(shown), variable, force).unwrap_err();
        assert_eq!(error.code(), code, "{below} {shown}: {error}");
    }
    assert_eq!(listed(&store, "").len(), 2);
    assert!(store.status(&request("")).unwrap().iter().all(|dataset| dataset.below.is_empty()));
}

#[test]
fn an_overlay_of_an_overlay_shows_what_lies_below_both_and_none_shows_itself() {
    for (_layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("6"), b"between")]);
        let top = "class=rd,expver=3,stream=oper,date=20240101,time=0";
        store.overlay(&key(SHOWN), &key(top), &["expver"], false).unwrap();
        let found = bytes_of(&store, &request_like(&shown("0"), "expver=3,step=0/6"));
        let texts: Vec<String> = found.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        assert_eq!(texts.len(), 2);
        assert!(texts.contains(&"zero as class=rd,expver=0003".to_owned()), "{texts:?}");
        assert!(texts.contains(&"between as expver=0003".to_owned()), "{texts:?}");
        let error = store.overlay(&key(top), &key(BELOW), &["class", "expver"], true).unwrap_err();
        assert_eq!(error.code(), "invalid-input");
    }
}

#[test]
fn a_missing_dataset_below_an_overlay_is_reported_if_a_field_is_missing() {
    for (_layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("0"), b"own")]);
        store.wipe(&request("class=od"), true).unwrap();
        let found: Vec<_> = store.list(&request("class=rd"), ListOptions::default()).unwrap().collect();
        assert!(matches!(&found[..], [Ok(_), Err(Error::NothingBelow { .. })]), "{found:?}");
        assert_eq!(store.axes(&request("class=rd")).unwrap().unusable.len(), 1);
        assert_eq!(read(&store, "0"), ["own"]);
        let fields: Vec<_> = store.retrieve(&request_like(&shown("0"), "step=0/6")).unwrap().collect();
        assert!(matches!(&fields[..], [Ok(_), Err(Error::NothingBelow { .. })]), "{fields:?}");
        archive(&store, &[(field("6", "t"), b"made again")]);
        assert_eq!(read(&store, "0/6"), ["own".to_owned(), format!("made again{AS}")]);
        store.wipe(&request("class=od"), true).unwrap();
        store.remove_overlay(&key(BELOW), &key(SHOWN)).unwrap();
        assert_eq!(read(&store, "0/6"), ["own"]);
    }
}

#[test]
fn what_removes_means_the_overlay_itself_and_never_what_lies_below() {
    for (_layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("0"), b"own")]);
        archive(&store, &[(shown("0"), b"own, again")]);
        let stats = store.stats(&request("class=rd")).unwrap().found;
        assert_eq!((stats[0].counts.fields, stats[0].counts.replaced_fields), (1, 1));
        store.purge(&request("class=rd"), true).unwrap();
        store.wipe(&request("class=rd,type=fc,levtype=pl"), true).unwrap();
        assert_eq!(read(&store, "0/6"), [format!("zero{AS}"), format!("six{AS}")]);
        store.wipe(&request("class=rd"), true).unwrap();
        assert!(listed(&store, "class=rd").is_empty() && read(&store, "0/6").is_empty());
        assert_eq!(store.retrieve_one(&field("6", "t")).unwrap().unwrap(), b"six");
        archive(&store, &[(shown("12"), b"a dataset without an overlay")]);
        assert_eq!(listed(&store, "class=rd").len(), 1);
    }
}

#[test]
fn locks_of_the_overlay_and_of_what_lies_below_both_count() {
    for (_layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("12"), b"own")]);
        for (locked, fields) in [("class=rd", 0), ("class=od", 1)] {
            let lock = |on| store.control(&request(locked), on, &[Action::List, Action::Retrieve]).unwrap();
            lock(true);
            assert_eq!(listed(&store, "class=rd").len(), fields, "{locked}");
            let found: Vec<_> = store.retrieve(&request_like(&shown("0"), "step=0/12")).unwrap().collect();
            assert_eq!(found.iter().filter(|field| field.is_ok()).count(), fields);
            assert!(found.iter().any(|field| matches!(field, Err(Error::Locked { .. }))), "{found:?}");
            lock(false);
        }
        store.control(&request("class=rd"), true, &[Action::Archive]).unwrap();
        assert_eq!(store.remove_overlay(&key(BELOW), &key(SHOWN)).unwrap_err().code(), "locked");
        assert_eq!(read(&store, "0/12"), ["own".to_owned(), format!("zero{AS}")]);
    }
}

#[test]
fn a_snapshot_of_an_overlay_has_what_lies_below() {
    for (_layout, store) in where_snapshots_are(overlaid) {
        archive(&store, &[(shown("0"), b"own")]);
        let made = store.snapshot(&request("class=rd"), "before").unwrap();
        assert_eq!(made.datasets.len(), 2);
        archive(&store, &[(shown("0"), b"own, later"), (field("6", "t"), b"six, later")]);
        let before = || store.at("before").unwrap();
        assert_eq!(read(&before(), "0/6"), ["own".to_owned(), format!("six{AS}")]);
        store.remove_overlay(&key(BELOW), &key(SHOWN)).unwrap();
        store.wipe(&request("class=od"), true).unwrap();
        store.wipe(&request("class=rd"), true).unwrap();
        assert_eq!(read(&before(), "0/6"), ["own".to_owned(), format!("six{AS}")]);
        assert_eq!(listed(&before(), "class=rd").len(), 2);
        let error = before().overlay(&key(BELOW), &key(SHOWN), &["class"], true).unwrap_err();
        assert_eq!(error.code(), "read-only");
    }
}

#[test]
fn a_copy_of_an_overlay_is_a_dataset_of_its_own_and_a_move_is_refused() {
    for (layout, store) in everywhere(overlaid) {
        archive(&store, &[(shown("12"), b"own")]);
        let target = layout.target();
        let error = store.move_to(&target, &request("class=rd")).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("a copy"), "{error}");
        assert!(listed(&target, "").is_empty());
        store.copy_to(&target, &request("class=rd")).unwrap();
        assert_eq!(read(&target, "0/6/12"), [format!("zero{AS}"), format!("six{AS}"), "own".to_owned()]);
        assert_eq!(listed(&target, "class=od").len(), 0);
        assert_eq!(read(&store, "0/12"), ["own".to_owned(), format!("zero{AS}")]);
        store.wipe(&request("class=od"), true).unwrap();
        assert_eq!(store.copy_to(&target, &request("class=rd")).unwrap_err().code(), "nothing-below");
    }
}

#[test]
fn verify_reports_an_overlay_of_a_missing_dataset_and_no_other_overlay() {
    for (_layout, store) in everywhere(overlaid) {
        let damage = || {
            let parts = verify(&store, true).parts.into_iter();
            parts.flat_map(|part| part.damage).map(|damage| damage.what).collect::<Vec<_>>()
        };
        assert_eq!(damage(), [""; 0]);
        store.wipe(&request("class=od"), true).unwrap();
        assert!(matches!(&damage()[..], [what] if what.contains("is an overlay of class=od,expver=0001")));
        store.remove_overlay(&key(BELOW), &key(SHOWN)).unwrap();
        assert_eq!(damage(), [""; 0]);
    }
}

/// Runs `work` repeatedly in a thread while `look` runs so many times.
fn beside(work: impl Fn(u64) + Sync, looks: u32, look: impl Fn()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut round = 0;
            while !over.load(Ordering::Relaxed) {
                work(round);
                round += 1;
            }
        });
        let looked = std::panic::catch_unwind(AssertUnwindSafe(|| (0..looks).for_each(|_| look())));
        over.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        looked.unwrap();
    });
}

#[test]
fn each_field_of_an_overlay_is_shown_once_whatever_is_archived_meanwhile() {
    for layout in named([Layout::memory(), Layout::posix(), Layout::apart()]) {
        let store = opened(&layout);
        let steps: Vec<String> = (0..40).map(|step| step.to_string()).collect();
        let below: Vec<_> = steps.iter().map(|step| (field(step, "t"), &b"below"[..])).collect();
        archive(&store, &below);
        lay(&store);
        let writer = opened(&layout);
        let work = |round: u64| {
            let step = &steps[usize::try_from(round).unwrap() % steps.len()];
            archive(&writer, &[(shown(step), b"own"), (field(step, "t"), b"below, newer")]);
        };
        let reader = opened(&layout);
        beside(work, 50, || {
            let mut keys = listed(&reader, "class=rd");
            let count = keys.len();
            keys.dedup();
            assert_eq!((count, keys.len()), (40, 40));
            assert_eq!(read(&reader, "0/to/39/by/1").len(), 40);
        });
    }
}

#[test]
fn of_a_transaction_below_an_overlay_all_is_shown_or_nothing() {
    for layout in named([Layout::memory(), Layout::posix()]) {
        let store = overlaid(&layout);
        let writer = layout.store();
        let work = |round: u64| {
            let transaction = writer.transaction();
            for step in ["0", "6"] {
                transaction.archive(&field(step, "t"), format!("round {round}").as_bytes()).unwrap();
            }
            transaction.commit().unwrap();
        };
        work(0);
        beside(work, 200, || {
            let found = read(&store, "0/6");
            assert_eq!((found.len(), &found[0]), (2, &found[1]));
        });
    }
}
