//! Transactions: preconditions at one place in the history, and updates that count together or not at all.

use super::trial::{OwnContainer, Trial, array_id, cell, general, general_id, kv, kv_id, put, refused};
use isotach_object::{Cell, Epoch, Precondition, Result, Transaction, Update};

fn commit_if(place: &OwnContainer, precondition: Precondition<'_>) -> Result<Epoch> {
    // Of one cell, so that engines without transactions of several take it too.
    let Cell { object, dkey, akey } = precondition.cell();
    let cell = Cell { object, dkey, akey };
    let update = match object.otype() {
        isotach_object::ObjectType::Array => Update::Write { cell, offset: 0, data: b"written" },
        _ => Update::Put { cell, value: b"written" },
    };
    place.container.commit(&Transaction::new().require(precondition).update(update))
}

pub fn updates_of_a_transaction_count_together_and_in_order(trial: &Trial<'_>) {
    trial.kv(1).put(b"gone", b"x").unwrap();
    let array = Cell::array(array_id(1));
    let transaction = Transaction::new()
        .update(put(b"a", b"1"))
        .update(put(b"a", b"2"))
        .update(Update::Remove { cell: cell(b"gone") })
        .update(put(b"b", b"3"))
        .update(Update::Write { cell: array, offset: 0, data: b"abcdef" })
        .update(Update::Write { cell: array, offset: 2, data: b"X" })
        .update(Update::Put { cell: Cell::general(general_id(1), b"d", b"a"), value: b"v" });
    let result = trial.container.commit(&transaction);
    let kv = trial.kv(1);
    if !trial.capabilities().transactions {
        refused(result, "unsupported");
        assert_eq!((kv.get(b"a").unwrap(), kv.get(b"gone").unwrap()), (None, Some(b"x".to_vec())));
        return;
    }
    result.unwrap();
    assert_eq!(kv.get(b"a").unwrap().unwrap(), b"2");
    assert_eq!((kv.get(b"gone").unwrap(), kv.get(b"b").unwrap().unwrap()), (None, b"3".to_vec()));
    assert_eq!(trial.array(1).read(0, 99).unwrap(), b"abXdef");
    assert_eq!(general(&trial.container, 1, b"d", b"a").get().unwrap().unwrap(), b"v");
}

pub fn a_transaction_that_fails_changes_nothing(trial: &Trial<'_>) {
    if !trial.has_transactions() {
        return;
    }
    trial.kv(1).put(b"there", b"x").unwrap();
    let transaction = Transaction::new()
        .require(Precondition::Present(cell(b"there")))
        .require(Precondition::Absent(cell(b"there")))
        .update(put(b"new", b"1"))
        .update(Update::Write { cell: Cell::array(array_id(1)), offset: 0, data: b"1" })
        .update(Update::Destroy { object: kv_id(1) });
    refused(trial.container.commit(&transaction), "conflict");
    trial.flush();
    for container in [&trial.container, &trial.another()] {
        let values = container.get_many(&[cell(b"there"), cell(b"new")]).unwrap();
        assert_eq!(values, [Some(b"x".to_vec()), None]);
        assert_eq!(container.size_many(&[Cell::array(array_id(1))]).unwrap(), [None]);
    }
}

pub fn a_conflict_names_the_object_and_the_key(trial: &Trial<'_>) {
    let error = commit_if(trial, Precondition::Present(cell(b"the-key"))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the-key") && text.contains(&kv_id(1).to_string()), "{text}");
}

pub fn absent_and_present_speak_of_every_kind_of_cell(trial: &Trial<'_>) {
    let cells = [cell(b"k"), Cell::array(array_id(1)), Cell::general(general_id(1), b"d", b"a")];
    for cell in cells {
        refused(commit_if(trial, Precondition::Present(cell)), "conflict");
        commit_if(trial, Precondition::Absent(cell)).unwrap();
        refused(commit_if(trial, Precondition::Absent(cell)), "conflict");
        commit_if(trial, Precondition::Present(cell)).unwrap();
        trial.update(Update::Destroy { object: cell.object });
        refused(commit_if(trial, Precondition::Present(cell)), "conflict");
        commit_if(trial, Precondition::Absent(cell)).unwrap();
    }
}

pub fn an_empty_array_and_empty_records_are_present(trial: &Trial<'_>) {
    trial.array(1).set_size(0).unwrap();
    refused(commit_if(trial, Precondition::Absent(Cell::array(array_id(1)))), "conflict");
    let records = Cell::general(general_id(1), b"d", b"a");
    trial.update(Update::Write { cell: records, offset: 0, data: b"" });
    refused(commit_if(trial, Precondition::Absent(records)), "conflict");
}

pub fn equals_compares_values_and_never_records(trial: &Trial<'_>) {
    let value = Cell::general(general_id(1), b"d", b"a");
    for cell in [cell(b"k"), value] {
        refused(commit_if(trial, Precondition::Equals(cell, b"")), "conflict");
        trial.update(Update::Put { cell, value: b"x" });
        refused(commit_if(trial, Precondition::Equals(cell, b"y")), "conflict");
        commit_if(trial, Precondition::Equals(cell, b"x")).unwrap();
        commit_if(trial, Precondition::Equals(cell, b"written")).unwrap();
    }
    let large = vec![7; 300_000];
    trial.kv(1).put(b"k", &large).unwrap();
    refused(commit_if(trial, Precondition::Equals(cell(b"k"), &large[1..])), "conflict");
    commit_if(trial, Precondition::Equals(cell(b"k"), &large)).unwrap();
    general(&trial.container, 1, b"d", b"a").write(0, b"r").unwrap();
    refused(commit_if(trial, Precondition::Equals(value, b"r")), "conflict");
    refused(commit_if(trial, Precondition::Equals(Cell::array(array_id(1)), b"r")), "invalid-input");
}

/// Whether the engine has read sets, which are a part of transactions; if not, it refuses them.
fn keeps_read_sets(trial: &Trial<'_>) -> bool {
    if !trial.capabilities().transactions {
        let seen = trial.container.epoch().unwrap();
        refused(commit_if(trial, Precondition::Unchanged(cell(b"k"), seen)), "unsupported");
        assert_eq!(trial.kv(1).get(b"k").unwrap(), None);
    }
    trial.capabilities().transactions
}

pub fn unchanged_holds_until_an_update_names_the_cell(trial: &Trial<'_>) {
    if !keeps_read_sets(trial) {
        return;
    }
    let other = trial.another();
    trial.kv(1).put(b"k", b"x").unwrap();
    trial.kv(1).put(b"other", b"x").unwrap();
    let seen = trial.container.epoch().unwrap();
    kv(&other, 1).put(b"other", b"y").unwrap();
    other.flush().unwrap();
    let epoch = commit_if(trial, Precondition::Unchanged(cell(b"k"), seen)).unwrap();
    refused(commit_if(trial, Precondition::Unchanged(cell(b"k"), seen)), "conflict");
    refused(commit_if(trial, Precondition::Unchanged(cell(b"other"), seen)), "conflict");
    commit_if(trial, Precondition::Unchanged(cell(b"k"), epoch)).unwrap();
    if !trial.is_for(trial.capabilities().history, "the engine does not know when a cell changed") {
        return;
    }
    let seen = trial.container.epoch().unwrap();
    kv(&other, 1).put(b"k", b"written").unwrap();
    other.flush().unwrap();
    // Of the same value.
    refused(commit_if(trial, Precondition::Unchanged(cell(b"k"), seen)), "conflict");
}

pub fn unchanged_notices_creation_and_removal(trial: &Trial<'_>) {
    if !keeps_read_sets(trial)
        || !trial.is_for(trial.capabilities().history, "the engine does not know when a cell changed")
    {
        return;
    }
    let (entry, value, array) =
        (cell(b"k"), Cell::general(general_id(1), b"d", b"a"), Cell::array(array_id(1)));
    let remove_dkey = Update::RemoveDkey { object: value.object, dkey: b"d" };
    let (write, destroy) =
        (Update::Write { cell: array, offset: 0, data: b"x" }, Update::Destroy { object: array.object });
    for (cell, come, go) in [
        (entry, put(b"k", b"x"), Update::Remove { cell: entry }),
        (value, Update::Put { cell: value, value: b"x" }, remove_dkey),
        (array, write, destroy),
    ] {
        let never = trial.container.epoch().unwrap();
        trial.container.update(&[come, go]).unwrap();
        trial.flush();
        refused(commit_if(trial, Precondition::Unchanged(cell, never)), "conflict");
        let seen = trial.container.epoch().unwrap();
        commit_if(trial, Precondition::Unchanged(cell, seen)).unwrap();
        let seen = trial.container.epoch().unwrap();
        trial.update(go);
        refused(commit_if(trial, Precondition::Unchanged(cell, seen)), "conflict");
    }
}

pub fn without_a_history_unchanged_compares_contents(trial: &Trial<'_>) {
    if !keeps_read_sets(trial)
        || !trial.is_for(!trial.capabilities().history, "the engine knows when a cell changed")
    {
        return;
    }
    let array = Cell::array(array_id(1));
    let write = |data| Update::Write { cell: array, offset: 0, data };
    trial.container.update(&[put(b"k", b"x"), write(b"xy")]).unwrap();
    let seen = trial.container.epoch().unwrap();
    let change = |updates: &[Update<'_>]| {
        trial.container.update(updates).unwrap();
        trial.flush();
    };
    let is_unchanged = || {
        let unchanged = [cell(b"k"), array].map(|cell| Precondition::Unchanged(cell, seen));
        let updates = vec![put(b"a", b"1")];
        trial.container.commit(&Transaction { preconditions: unchanged.to_vec(), updates })
    };
    change(&[put(b"k", b"other"), write(b"z")]);
    refused(is_unchanged(), "conflict");
    change(&[put(b"k", b"x")]);
    refused(is_unchanged(), "conflict");
    change(&[write(b"x")]);
    is_unchanged().unwrap();
    change(&[Update::Remove { cell: cell(b"k") }]);
    refused(is_unchanged(), "conflict");
}

pub fn unchanged_passes_for_earlier_updates_of_the_handle(trial: &Trial<'_>) {
    if !keeps_read_sets(trial) {
        return;
    }
    trial.kv(1).put(b"k", b"not flushed").unwrap();
    let seen = trial.container.epoch().unwrap();
    commit_if(trial, Precondition::Unchanged(cell(b"k"), seen)).unwrap();
}

pub fn preconditions_are_judged_before_the_updates(trial: &Trial<'_>) {
    if !trial.has_transactions() {
        return;
    }
    let swap = Transaction::new()
        .require(Precondition::Absent(cell(b"a")))
        .require(Precondition::Absent(cell(b"b")))
        .update(put(b"a", b"1"))
        .update(put(b"b", b"2"));
    trial.container.commit(&swap).unwrap();
    refused(trial.container.commit(&swap), "conflict");
}

pub fn a_transaction_without_updates_only_judges(trial: &Trial<'_>) {
    trial.kv(1).put(b"k", b"x").unwrap();
    trial.container.commit(&Transaction::new()).unwrap();
    let judge = |precondition| trial.container.commit(&Transaction::new().require(precondition));
    judge(Precondition::Present(cell(b"k"))).unwrap();
    refused(judge(Precondition::Absent(cell(b"k"))), "conflict");
    assert_eq!(trial.kv(1).get(b"k").unwrap().unwrap(), b"x");
}

pub fn epochs_grow_and_a_flush_reaches_its_epoch(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    let mut last = trial.container.epoch().unwrap();
    for step in 0..10_u8 {
        let committed = kv.put_if_absent(&[step], b"x").unwrap();
        assert!(committed > last, "{committed} after {last}");
        kv.put(b"k", &[step]).unwrap();
        trial.flush();
        let flushed = trial.container.epoch().unwrap();
        assert!(flushed > committed, "{flushed} after {committed}");
        last = trial.container.epoch().unwrap();
        assert!(last >= flushed, "{last} after {flushed}");
    }
}

pub fn a_commit_counts_for_every_handle_at_once(trial: &Trial<'_>) {
    let other = trial.another();
    for step in 0..20_u8 {
        // Updates before the commit count with it, without a flush.
        trial.kv(1).put(b"before", &[step]).unwrap();
        trial.array(1).write(u64::from(step), &[step]).unwrap();
        trial.kv(1).put_if_absent(&[step], b"x").unwrap();
        let values = other.get_many(&[cell(&[step]), cell(b"before")]).unwrap();
        assert_eq!(values, [Some(b"x".to_vec()), Some(vec![step])]);
        assert_eq!(other.size_many(&[Cell::array(array_id(1))]).unwrap(), [Some(u64::from(step) + 1)]);
        refused(kv(&other, 1).put_if_absent(&[step], b"y"), "conflict");
    }
}
