//! Prepared transactions: invisible under a name until any process commits or aborts them, even after their own process has died.

use std::sync::Arc;

use super::{
    bytes::{number_of, numbered},
    process::{Participant, Task},
    trial::{Trial, array, array_id, cell, kv, kv_id, label, put, refused, wait_for, whole_array},
};
use isotach_object::{Cell, Container, Epoch, Label, Precondition, Result, Transaction, Update};

/// Stages that several commit at the same time.
const RACES: u64 = 100;
/// How many they are.
const RACERS: u64 = 3;
/// Bytes of an array that is prepared.
const LARGE: usize = 3 << 20;

/// Prepares updates under a name.
fn prepare(container: &Arc<dyn Container>, name: &str, updates: &[Update<'_>]) -> Result<()> {
    let mut staging = container.prepared_transactions().unwrap().begin_prepared()?;
    staging.update(updates)?;
    staging.prepare(&label(name), &[]).map(drop)
}

fn names(container: &Arc<dyn Container>, prefix: &str) -> Vec<String> {
    let names = container.prepared_transactions().unwrap().list_prepared(prefix).unwrap();
    names.iter().map(Label::to_string).collect()
}

/// Commits what is prepared under these names, and a transaction behind it.
fn commit(container: &Arc<dyn Container>, names: &[&str], then: &Transaction<'_>) -> Result<Epoch> {
    let names: Vec<_> = names.iter().map(|name| label(name)).collect();
    container.prepared_transactions()?.commit_prepared(&names, then)
}

fn abort(container: &Arc<dyn Container>, name: &str) -> Result<()> {
    container.prepared_transactions()?.abort_prepared(&label(name))
}

pub fn prepared_updates_are_invisible_until_committed_and_then_count_in_order(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    let bytes = Cell::array(array_id(1));
    let write = |data| Update::Write { cell: bytes, offset: 0, data };
    let all = [cell(b"first"), cell(b"both"), cell(b"last")];
    prepare(&place.container, "b", &[put(b"first", b"b"), put(b"both", b"b"), write(b"xyz")]).unwrap();
    prepare(&place.another(), "a", &[put(b"both", b"a"), put(b"last", b"a"), write(b"ab")]).unwrap();
    prepare(&place.container, "other", &[put(b"both", b"other")]).unwrap();
    for container in [&place.container, &place.another(), &trial.reopened()] {
        assert_eq!(names(container, ""), ["a", "b", "other"]);
        assert_eq!(names(container, "o"), ["other"]);
        assert_eq!(container.get_many(&all).unwrap(), [None, None, None]);
        assert_eq!(container.size_many(&[bytes]).unwrap(), [None]);
        assert!(super::trial::all_objects(container, 10).is_empty());
    }
    let transaction =
        Transaction::new().require(Precondition::Absent(cell(b"both"))).update(put(b"last", b"own"));
    let epoch = commit(&place.another(), &["b", "a"], &transaction).unwrap();
    for container in [&place.container, &place.another(), &trial.reopened()] {
        assert!(container.epoch().unwrap() >= epoch);
        let found: Vec<_> = container.get_many(&all).unwrap().into_iter().flatten().collect();
        assert_eq!(found, [b"b".to_vec(), b"a".to_vec(), b"own".to_vec()]);
        assert_eq!(array(container, 1).read(0, 9).unwrap(), b"abz");
        assert_eq!(names(container, ""), ["other"]);
    }
}

pub fn a_prepared_name_is_unique_until_it_is_committed_or_aborted(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    let container = &place.container;
    prepare(container, "name", &[put(b"k", b"1")]).unwrap();
    refused(prepare(&place.another(), "name", &[put(b"k", b"wrong")]), "already-exists");
    commit(container, &["name"], &Transaction::new()).unwrap();
    prepare(&place.another(), "name", &[put(b"k", b"2")]).unwrap();
    abort(&place.another(), "name").unwrap();
    assert_eq!(place.kv(1).get(b"k").unwrap().unwrap(), b"1");
    prepare(container, "name", &[]).unwrap();
    let epoch = container.epoch().unwrap();
    assert!(commit(container, &["name"], &Transaction::new()).unwrap() > epoch);
    assert_eq!(place.kv(1).get(b"k").unwrap().unwrap(), b"1");
}

pub fn an_unknown_prepared_name_cannot_be_committed_or_aborted(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    let container = &place.container;
    prepare(container, "there", &[put(b"k", b"1")]).unwrap();
    let more = Transaction::new().update(put(b"more", b"x"));
    refused(commit(container, &["there", "missing"], &more), "not-found");
    refused(commit(container, &["there", "there"], &more), "invalid-input");
    refused(abort(container, "missing"), "not-found");
    let wrong = Transaction::new().update(put(b"", b"x"));
    refused(commit(container, &["there"], &wrong), "invalid-input");
    assert_eq!(container.get_many(&[cell(b"k"), cell(b"more")]).unwrap(), [None, None]);
    commit(container, &["there"], &more).unwrap();
    refused(commit(container, &["there"], &more), "not-found");
    commit(container, &[], &more).unwrap();
}

pub fn a_failed_precondition_prepares_and_commits_nothing(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    let container = &place.container;
    kv(&place.another(), 1).put_if_absent(b"there", b"1").unwrap();
    let mut staging = container.prepared_transactions().unwrap().begin_prepared().unwrap();
    staging.update(&[put(b"k", &numbered(1, 100_000))]).unwrap();
    let conditions = [Precondition::Present(cell(b"there")), Precondition::Equals(cell(b"there"), b"2")];
    let error = staging.prepare(&label("name"), &conditions).unwrap_err();
    assert!(error.code() == "conflict" && error.to_string().contains("there"), "{error}");
    assert!(names(container, "").is_empty());
    let mut staging = container.prepared_transactions().unwrap().begin_prepared().unwrap();
    staging.update(&[put(b"k", b"prepared")]).unwrap();
    staging.prepare(&label("name"), &conditions[..1]).unwrap();
    let transaction = Transaction::new().require(conditions[1]);
    refused(commit(container, &["name"], &transaction), "conflict");
    assert_eq!(names(container, ""), ["name"]);
    assert_eq!(place.kv(1).get(b"k").unwrap(), None);
    commit(&place.another(), &["name"], &Transaction::new()).unwrap();
    assert_eq!(place.kv(1).get(b"k").unwrap().unwrap(), b"prepared");
}

pub fn a_handle_on_the_past_lists_prepared_transactions_and_commits_none(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    if !trial.is_for(place.container.facets().snapshots.is_some(), "the engine has no snapshots") {
        return;
    }
    prepare(&place.container, "name", &[put(b"k", b"1")]).unwrap();
    place.container.snapshots().unwrap().create(&label("past")).unwrap();
    commit(&place.container, &["name"], &Transaction::new()).unwrap();
    let past = place.container.snapshots().unwrap().open(&label("past")).unwrap();
    assert_eq!(names(&past, ""), ["name"]);
    assert_eq!(kv(&past, 1).get(b"k").unwrap(), None);
    refused(commit(&past, &["name"], &Transaction::new()), "permission-denied");
    refused(abort(&past, "name"), "permission-denied");
    refused(prepare(&past, "more", &[put(b"k", b"1")]), "permission-denied");
}

pub fn prepared_transactions_outlive_their_process_and_others_commit_them(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    trial.together(&[0, 1, 2].map(|who| Task::dying("prepare_and_die", &[who])));
    let container = trial.reopened();
    assert_eq!(names(&container, ""), ["part-0", "part-1", "part-2"]);
    commit(&container, &["part-2", "part-0", "part-1"], &Transaction::new()).unwrap();
    container.flush().unwrap();
    for container in [&place.container, &trial.reopened()] {
        for who in 0..3 {
            let value = kv(container, 1).get(&[who as u8]).unwrap().unwrap();
            assert_eq!(number_of(&value, 5000), who);
            assert_eq!(number_of(&whole_array(container, who), LARGE), who);
        }
        assert!(names(container, "").is_empty());
    }
}

pub(super) fn prepare_and_die(me: &Participant) -> Vec<u64> {
    let who = me.args[0];
    let mut staging = me.container.prepared_transactions().unwrap().begin_prepared().unwrap();
    staging.update(&[put(&[who as u8], &numbered(who, 5000))]).unwrap();
    let cell = Cell::array(array_id(who));
    let large = numbered(who, LARGE);
    staging.update(&[Update::Write { cell, offset: 0, data: &large }]).unwrap();
    staging.prepare(&label(&format!("part-{who}")), &[]).unwrap();
    me.container.flush().unwrap();
    Vec::new()
}

pub fn of_racing_commits_and_aborts_of_a_prepared_transaction_one_succeeds(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_prepared_transactions() else { return };
    for race in 0..RACES {
        prepare(&place.container, &format!("race-{race}"), &[put(&race.to_le_bytes(), b"x")]).unwrap();
    }
    place.flush();
    let wins = trial.race(&["take_prepared", "take_prepared", "abort_races"]);
    for race in 0..RACES {
        let winners: Vec<usize> = (0..RACERS as usize).filter(|who| wins[*who].contains(&race)).collect();
        assert_eq!(winners.len(), 1, "race {race} was won by {winners:?}");
        let value = place.kv(1).get(&race.to_le_bytes()).unwrap();
        assert_eq!(value.is_some(), winners[0] < 2, "race {race} was won by {winners:?}");
        let noted = place.kv(2).get(&race.to_le_bytes()).unwrap();
        let expected = (winners[0] < 2).then(|| (winners[0] as u64).to_le_bytes().to_vec());
        assert_eq!(noted, expected, "what was committed with it");
    }
}

/// The races that `take` does not lose. All begin each race together.
fn won(me: &Participant, mut take: impl FnMut(u64, &str) -> Result<()>) -> Vec<u64> {
    let starts = kv(&me.container, 3);
    let mut won = Vec::new();
    for race in 0..RACES {
        starts.put(&[me.index as u8, race as u8], b"here").unwrap();
        me.container.flush().unwrap();
        for other in 0..RACERS {
            wait_for("the start", || starts.get(&[other as u8, race as u8]).unwrap());
        }
        match take(race, &format!("race-{race}")) {
            Ok(()) => won.push(race),
            Err(error) => assert!(["not-found", "conflict"].contains(&error.code()), "{error}"),
        }
    }
    won
}

pub(super) fn take_prepared(me: &Participant) -> Vec<u64> {
    let own = me.index.to_le_bytes();
    won(me, |race, name| {
        let key = race.to_le_bytes();
        let note = Update::Put { cell: Cell::kv(kv_id(2), &key), value: &own };
        commit(&me.container, &[name], &Transaction::new().update(note)).map(drop)
    })
}

pub(super) fn abort_races(me: &Participant) -> Vec<u64> {
    won(me, |_, name| abort(&me.container, name))
}
