//! Snapshots: named past states that never change.
//!
//! An engine without [`isotach_object::Capabilities::snapshots`] must refuse; that is a case of `refusal`.

use std::{ops::Range, sync::Arc};

use super::{
    bytes::{noise, number, numbered},
    process::Participant,
    trial::{
        OwnContainer, Trial, all_keys, all_objects, array, array_id, general, general_id, kv, kv_id, label,
        read, refused, wait_for,
    },
};
use isotach_object::{
    Anchor, Array, Cell, Container, Epoch, ObjectClass, ObjectId, ObjectType, Precondition, Result, Snapshot,
    Transaction, Update, extents_of,
};

/// Values that each writer puts while snapshots are made, and snapshots that each of the others makes.
const VALUES: u64 = 1500;
const SNAPSHOTS: u64 = 12;
/// The shortest of these values; some go to a data file.
const SMALL: usize = 100;
const LARGE: usize = 40_000;

/// What is read, and where it was written.
type Bytes = (Vec<u8>, Vec<Range<u64>>);
/// Everything that the objects of these cases hold.
type Content = (Vec<ObjectId>, Vec<Option<Vec<u8>>>, Vec<Bytes>, Vec<Vec<u8>>, Vec<Option<u64>>);

fn cells() -> Vec<Cell<'static>> {
    let keys: [&[u8]; 4] = [b"a", b"b", b"large", b"later"];
    let general = keys.map(|key| Cell::general(general_id(1), key, b"value"));
    keys.map(|key| Cell::kv(kv_id(1), key)).into_iter().chain(general).collect()
}

fn content(container: &Arc<dyn Container>) -> Content {
    let records = Cell::general(general_id(1), b"a", b"records");
    let mut bytes = Vec::new();
    for cell in [Cell::array(array_id(1)), Cell::array(array_id(2)), records] {
        let extents = extents_of(&**container, cell, 0, u64::MAX).unwrap();
        bytes.push((read(&**container, cell, 0, 90_000), extents));
    }
    let sized: Vec<_> = cells().into_iter().chain([Cell::array(array_id(1)), records]).collect();
    (
        all_objects(container, 2),
        container.get_many(&cells()).unwrap(),
        bytes,
        all_keys(|at| kv(container, 1).list(at, 2, false).unwrap(), 2),
        container.size_many(&sized).unwrap(),
    )
}

fn fill(place: &OwnContainer) {
    place.kv(1).put(b"a", b"old").unwrap();
    place.kv(1).put(b"large", &noise(1, LARGE)).unwrap();
    place.array(1).write(0, &noise(2, 80_000)).unwrap();
    place.array(2).write(10, b"old").unwrap();
    general(&place.container, 1, b"a", b"value").put(b"old").unwrap();
    let records = Cell::general(general_id(1), b"a", b"records");
    place.update(Update::Write { cell: records, offset: 3, data: b"records" });
}

/// One change of every kind, to everything that [`fill`] wrote.
fn change_all(place: &OwnContainer) {
    place.kv(1).put(b"a", b"new").unwrap();
    place.kv(1).put(b"later", b"new").unwrap();
    place.kv(1).remove(b"large").unwrap();
    place.array(1).write(70_000, &noise(3, 20_000)).unwrap();
    place.array(1).punch(5, 66_000).unwrap();
    place.array(1).set_size(75_000).unwrap();
    let records = Cell::general(general_id(1), b"a", b"records");
    let updates = [
        Update::Destroy { object: array_id(2) },
        Update::SetSize { cell: records, size: 5 },
        Update::RemoveDkey { object: general_id(1), dkey: b"a" },
        Update::Put { cell: Cell::general(general_id(1), b"b", b"value"), value: b"new" },
    ];
    place.container.update(&updates).unwrap();
    place.array(3).write(0, b"later").unwrap();
    place.flush();
}

fn create(container: &Arc<dyn Container>, name: &str) -> Result<Epoch> {
    container.snapshots().unwrap().create(&label(name))
}

fn open(container: &Arc<dyn Container>, name: &str) -> Result<Arc<dyn Container>> {
    container.snapshots().unwrap().open(&label(name))
}

fn destroy(container: &Arc<dyn Container>, name: &str) -> Result<()> {
    container.snapshots().unwrap().destroy(&label(name))
}

fn list(container: &Arc<dyn Container>) -> Vec<Snapshot> {
    container.snapshots().unwrap().list().unwrap()
}

pub fn a_snapshot_does_not_change_while_the_container_goes_on(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_snapshots() else { return };
    fill(place);
    let before = content(&place.container);
    create(&place.container, "before").unwrap();
    let kept = open(&place.container, "before").unwrap();
    assert_eq!(content(&kept), before);
    change_all(place);
    assert_eq!(content(&kept), before, "of a handle that was open");
    assert_eq!(content(&open(&place.container, "before").unwrap()), before);
    create(&place.container, "between").unwrap();
    let between = content(&place.container);
    assert_ne!(between, before);
    let all = [kv_id(1), array_id(1), general_id(1)].map(|object| Update::Destroy { object });
    place.container.update(&all).unwrap();
    place.flush();
    for container in [place.another(), trial.reopened()] {
        assert_eq!(content(&open(&container, "before").unwrap()), before);
        assert_eq!(content(&open(&container, "between").unwrap()), between);
        let present = all_objects(&container, 9);
        assert_eq!(present, [array_id(3)], "the present goes on, and lists no more than there is");
    }
    assert_eq!(content(&kept), before, "of a handle that was open all the while");
}

pub fn a_snapshot_holds_unflushed_updates_of_its_handle(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_snapshots() else { return };
    place.kv(1).put(b"a", b"held back").unwrap();
    place.array(1).write(0, b"held back").unwrap();
    create(&place.container, "now").unwrap();
    place.kv(1).put(b"a", b"after").unwrap();
    let past = open(&place.another(), "now").unwrap();
    assert_eq!(kv(&past, 1).get(b"a").unwrap().unwrap(), b"held back");
    assert_eq!(array(&past, 1).read(0, 99).unwrap(), b"held back");
}

pub fn snapshots_are_listed_from_the_oldest_and_by_every_handle(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_snapshots() else { return };
    let looking = place.another();
    assert!(list(&looking).is_empty());
    let mut made = Vec::new();
    let longest = "x".repeat(127);
    for name in ["z", "A", "a.b", "0", "m:1-2_3", &longest] {
        place.kv(1).put(name.as_bytes(), b"x").unwrap();
        made.push((label(name), create(&place.container, name).unwrap()));
    }
    assert!(made.is_sorted_by_key(|(_, epoch)| *epoch));
    place.flush();
    for container in [&place.container, &looking, &place.another(), &trial.reopened()] {
        let listed = list(container).into_iter().map(|kept| (kept.name, kept.epoch));
        assert_eq!(listed.collect::<Vec<_>>(), made);
    }
    for (at, (name, _)) in made.iter().enumerate() {
        let past = open(&looking, name.as_str()).unwrap();
        assert_eq!(all_keys(|from| kv(&past, 1).list(from, 9, false).unwrap(), 9).len(), at + 1, "{name}");
        let then = made[..=at].iter().map(|(name, _)| name.clone());
        assert!(list(&past).into_iter().map(|kept| kept.name).eq(then), "the past has the snapshots of then");
    }
}

pub fn a_snapshot_name_is_unique_until_its_snapshot_is_destroyed(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_snapshots() else { return };
    let (container, name) = (&place.container, "step-6");
    refused(open(container, name), "not-found");
    refused(destroy(container, name), "not-found");
    place.kv(1).put(b"a", b"first").unwrap();
    let first = create(container, name).unwrap();
    refused(create(container, name), "already-exists");
    refused(create(&place.another(), name), "already-exists");
    place.kv(1).put(b"a", b"second").unwrap();
    let kept = open(&place.another(), name).unwrap();
    destroy(&place.another(), name).unwrap();
    refused(open(container, name), "not-found");
    refused(destroy(container, name), "not-found");
    assert!(list(container).is_empty());
    assert_eq!(kv(&kept, 1).get(b"a").unwrap().unwrap(), b"first", "an open handle still reads");
    assert!(create(container, name).unwrap() > first);
    assert_eq!(kv(&open(container, name).unwrap(), 1).get(b"a").unwrap().unwrap(), b"second");
}

pub fn a_handle_on_a_snapshot_refuses_every_write(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_snapshots() else { return };
    fill(place);
    create(&place.container, "before").unwrap();
    let past = open(&place.container, "before").unwrap();
    let before = content(&past);
    let (entry, large) = (Cell::kv(kv_id(1), b"a"), noise(9, 200_000));
    for update in [
        Update::Put { cell: entry, value: b"new" },
        Update::Put { cell: entry, value: &large },
        Update::Remove { cell: entry },
        Update::Write { cell: Cell::array(array_id(1)), offset: 0, data: &large },
        Update::SetSize { cell: Cell::array(array_id(1)), size: 1 },
        Update::Punch { cell: Cell::array(array_id(1)), offset: 0, length: 9 },
        Update::RemoveDkey { object: general_id(1), dkey: b"a" },
        Update::Destroy { object: kv_id(1) },
    ] {
        refused(past.update(&[update]), "permission-denied");
        refused(past.commit(&Transaction::new().update(update)), "permission-denied");
        let present = Transaction::new().require(Precondition::Present(entry)).update(update);
        refused(past.commit(&present), "permission-denied");
        if !trial.capabilities().transactions {
            continue;
        }
        let staged = past.staged_transactions().unwrap().stage().and_then(|mut staging| {
            staging.update(&[update])?;
            staging.commit(&[])
        });
        refused(staged, "permission-denied");
    }
    refused(past.allocate_ids(1), "permission-denied");
    refused(create(&past, "another"), "permission-denied");
    refused(destroy(&past, "before"), "permission-denied");
    past.flush().unwrap();
    assert_eq!(content(&past), before);
    assert_eq!(content(&place.another()), before);
    assert_eq!(list(&place.container).len(), 1);
}

pub fn a_retained_epoch_is_opened_and_another_is_refused_by_name(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_snapshots() else { return };
    fill(place);
    let snapshot = create(&place.container, "before").unwrap();
    let before = content(&place.container);
    change_all(place);
    let (now, present) = (place.container.epoch().unwrap(), content(&place.container));
    let at_now = place.container.snapshots().unwrap().open_at(now).unwrap();
    place.kv(1).put(b"a", b"newest").unwrap();
    place.flush();
    assert_eq!(content(&at_now), present);
    assert_eq!((at_now.epoch().unwrap(), at_now.label()), (now, place.container.label()));
    let past = place.another().snapshots().unwrap().open_at(snapshot).unwrap();
    assert_eq!((content(&past), past.epoch().unwrap()), (before, snapshot));
    refused(past.update(&[Update::Destroy { object: kv_id(1) }]), "permission-denied");
    refused(place.container.snapshots().unwrap().open_at(Epoch(u64::MAX)), "not-found");
    let before = place.container.epoch().unwrap();
    let message = place.container.snapshots().unwrap().open_at(Epoch(u64::MAX)).unwrap_err().to_string();
    let newest = place.container.epoch().unwrap();
    // Where epochs are times they pass by themselves.
    let mut numbers = message.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    let told = numbers.any(|number| (before..=newest).contains(&Epoch(number)));
    assert!(told, "{message} does not say that {newest} is the newest");
}

pub fn objects_of_the_engine_are_refused(trial: &Trial<'_>) {
    let container = &trial.container;
    if container.facets().snapshots.is_some() {
        create(container, "before").unwrap();
    }
    for number in [0, 1] {
        let object = ObjectId::new(ObjectType::System, ObjectClass::S1, 0, number);
        for cell in [Cell::kv(object, b"before"), Cell::array(object), Cell::general(object, b"before", b"a")]
        {
            refused(container.get_many(&[cell]), "invalid-input");
            refused(container.size_many(&[cell]), "invalid-input");
            refused(container.update(&[Update::Put { cell, value: b"x" }]), "invalid-input");
            refused(container.commit(&Transaction::new().update(Update::Remove { cell })), "invalid-input");
            let absent = Transaction::new().require(Precondition::Absent(cell));
            refused(container.commit(&absent), "invalid-input");
        }
        refused(container.update(&[Update::Destroy { object }]), "invalid-input");
        refused(container.list_entries(object, &Anchor::start(), 9, true), "invalid-input");
        refused(container.list_dkeys(object, &Anchor::start(), 9), "invalid-input");
        refused(container.list_akeys(object, b"before", &Anchor::start(), 9), "invalid-input");
        refused(Array::new(&**container, object), "invalid-input");
    }
    assert!(all_objects(container, 9).is_empty());
}

pub fn a_snapshot_during_writes_is_a_prefix(trial: &Trial<'_>) {
    let Some(_) = trial.place_with_snapshots() else { return };
    trial.race(&["put_numbered", "put_numbered", "make_snapshots", "make_snapshots"]);
    let container = trial.reopened();
    let snapshots = list(&container);
    assert_eq!(snapshots.len() as u64, 2 * SNAPSHOTS);
    let mut before = [0; 2];
    for snapshot in snapshots {
        let now = prefixes(&open(&container, snapshot.name.as_str()).unwrap());
        assert!(before[0] <= now[0] && before[1] <= now[1], "{now:?} of {snapshot:?} after {before:?}");
        before = now;
    }
    assert_eq!(prefixes(&container), [VALUES; 2]);
}

/// Puts values one after the other, with the same number in an array, in one transaction where there are such.
pub(super) fn put_numbered(me: &Participant) -> Vec<u64> {
    for at in 0..VALUES {
        let key = [me.index.to_le_bytes(), at.to_le_bytes()].concat();
        let value = numbered(at, if at % 50 == 0 { LARGE } else { SMALL });
        let cell = Cell::kv(kv_id(1), &key);
        if at % 2 == 0 {
            me.container.update(&[Update::Put { cell, value: &value }]).unwrap();
        } else {
            let absent = Transaction::new().require(Precondition::Absent(cell));
            me.container.commit(&absent.update(Update::Put { cell, value: &value })).unwrap();
        }
        if at % 100 == 0 {
            me.container.flush().unwrap();
        }
    }
    me.container.flush().unwrap();
    Vec::new()
}

/// Creates snapshots, each after new writes, and reads each twice.
pub(super) fn make_snapshots(me: &Participant) -> Vec<u64> {
    let mut seen = Vec::new();
    for at in 0..SNAPSHOTS {
        let name = format!("{}-{at}", me.index);
        create(&me.container, &name).unwrap();
        seen.push((prefixes(&open(&me.container, &name).unwrap()), name));
        let before = me.container.epoch().unwrap();
        wait_for("the writers to go on", || {
            let last = |who: u64| [who.to_le_bytes(), (VALUES - 1).to_le_bytes()].concat();
            let is_done = |who| kv(&me.container, 1).size(&last(who)).unwrap().is_some();
            (me.container.epoch().unwrap() > before || is_done(0) && is_done(1)).then_some(())
        });
    }
    for (prefix, name) in seen {
        assert_eq!(prefixes(&open(&me.container, &name).unwrap()), prefix, "{name}");
    }
    Vec::new()
}

/// How many values of each writer are there; panics if they are not the first ones. Only for what no longer changes: a
/// listing of several pages may hold more of what came later.
fn prefixes(container: &Arc<dyn Container>) -> [u64; 2] {
    let mut counts = [0; 2];
    let mut keys = all_keys(|at| kv(container, 1).list(at, 1000, false).unwrap(), 1000);
    keys.sort_by_key(|key| (number(key), number(&key[8..])));
    for key in keys {
        let (who, at) = (number(&key) as usize, number(&key[8..]));
        assert_eq!(at, counts[who], "values of writer {who} are missing before this one");
        counts[who] += 1;
    }
    for (who, count) in (0_u64..).zip(counts) {
        let Some(last) = count.checked_sub(1) else { continue };
        let key = [who.to_le_bytes(), last.to_le_bytes()].concat();
        let value = kv(container, 1).get(&key).unwrap().unwrap();
        assert_eq!(value, numbered(last, if last % 50 == 0 { LARGE } else { SMALL }));
    }
    counts
}
