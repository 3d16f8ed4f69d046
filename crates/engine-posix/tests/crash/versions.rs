//! Numbered transactions of two handles, with a power failure at every moment: finished ones are committed, versions are complete and in
//! order, and later handles continue.

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_object::{
    Array, Cell, Container, Error, ObjectClass, ObjectId, ObjectType, Outcome, Update, Versions,
};

use crate::{
    place::{TestPool, index, values},
    workload::POOL,
};

/// Version numbers. One is aborted.
const NUMBERS: u64 = 4;
const ABORTED: u64 = 3;
const PARTICIPANTS: u32 = 2;
/// The order in which the parts finish: all numbers and participants.
const ORDER: [(u64, u32); 6] = [(2, 0), (1, 1), (4, 1), (2, 1), (1, 0), (4, 0)];
/// Bytes of each part in an array: more than a segment.
const PART: u64 = 5000;

fn books() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 70)
}

fn array() -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 71)
}

fn versions(container: &dyn Container) -> Versions<'_> {
    Versions::new(container, books()).unwrap()
}

fn write(container: &dyn Container, number: u64, participant: u32) -> Result<(), Error> {
    let mut part = versions(container).start(number, participant, PARTICIPANTS)?;
    let data = [number as u8; PART as usize];
    let (offset, key) = (u64::from(participant) * PART, [participant as u8]);
    part.update(&[Update::Write { cell: Cell::array(array()), offset, data: &data }])?;
    // Large enough to need segments.
    let value = [number as u8; 3000];
    part.update(&[Update::Put { cell: Cell::kv(index(), &key), value: &value }])?;
    part.finish()
}

/// The version that all contents agree on.
fn version(container: &dyn Container) -> u64 {
    let version = versions(container).version().unwrap();
    let expected = (version > 0).then_some(version as u8);
    for participant in 0..PARTICIPANTS {
        let found = values(container).get(&[participant as u8]).unwrap();
        assert_eq!(found, expected.map(|byte| vec![byte; 3000]), "version {version}");
    }
    let found = Array::new(container, array()).unwrap().read(0, usize::MAX).unwrap();
    let expected = expected.map_or(Vec::new(), |byte| vec![byte; 2 * PART as usize]);
    assert!(found == expected, "version {version}: {} bytes", found.len());
    version
}

/// What was promised: after this many changes the participant had finished, or the number was aborted.
type Promise = (usize, u64, Option<u32>);

fn record(uri: &str) -> (SimulatedDisk, Vec<Promise>) {
    let place = TestPool::new(uri);
    let handles = [place.open(), place.open()];
    let mut promises = vec![(place.disk.changes(), 0, None)];
    for (step, (number, participant)) in ORDER.into_iter().enumerate() {
        if step == 3 {
            versions(&*handles[0]).abort(ABORTED).unwrap();
            promises.push((place.disk.changes(), ABORTED, None));
        }
        if step == 4 {
            place.purge();
        }
        write(&*handles[participant as usize], number, participant).unwrap();
        promises.push((place.disk.changes(), number, Some(participant)));
    }
    assert_eq!(version(&*handles[0]), NUMBERS);
    (place.disk, promises)
}

fn check(whole: &SimulatedDisk, promises: &[Promise], changes: usize, loss: Loss) {
    let what = format!("power failed after {changes} changes, {loss:?}");
    let kept: Vec<_> = promises.iter().filter(|(at, ..)| *at <= changes).collect();
    if kept.is_empty() {
        return;
    }
    let place = TestPool::on(whole.after_crash(changes, loss), POOL);
    let verified = place.verify();
    assert!(verified.is_sound(), "{what}: {verified:?}");
    let container = place.open();
    let found = version(&*container);
    let is_kept = |number, by| kept.iter().any(|(_, kept, who)| (*kept, *who) == (number, by));
    let finished = |number: u64| (0..PARTICIPANTS).all(|participant| is_kept(number, Some(participant)));
    let aborted = |number: u64| is_kept(number, None);
    let settled =
        (1..=NUMBERS).take_while(|number| finished(*number) || aborted(*number)).last().unwrap_or(0);
    let promised = (1..=settled).rfind(|number| finished(*number)).unwrap_or(0);
    assert!(found >= promised, "{what}: version {found}, and {promised} was promised");
    // All participants come again, whether they have finished or not.
    versions(&*container).abort(ABORTED).unwrap();
    for (number, participant) in ORDER {
        match write(&*container, number, participant) {
            Ok(()) => {
                let again = is_kept(number, Some(participant));
                assert!(!again, "{what}: participant {participant} of {number} had finished");
            }
            // It has finished, or all have.
            Err(error) => {
                assert!(["already-exists", "invalid-input"].contains(&error.code()), "{what}: {error}");
            }
        }
        version(&*container);
    }
    assert_eq!(version(&*container), NUMBERS, "{what}");
    place.purge();
    let container = place.open();
    assert_eq!(version(&*container), NUMBERS, "{what}");
    let outcome = versions(&*container).wait(ABORTED, std::time::Duration::ZERO).unwrap();
    assert_eq!(outcome, Some(Outcome::Aborted), "{what}");
    assert!(container.prepared_transactions().unwrap().list_prepared("").unwrap().is_empty(), "{what}");
}

#[test]
fn finished_versions_are_committed_in_order_after_any_power_failure() {
    for query in ["", "&segment=2000"] {
        let (disk, promises) = record(&format!("posix:/pool?checkpoint=1024{query}"));
        let mut checked = 0;
        for changes in 0..=disk.changes() {
            for loss in
                [Loss::All, Loss::Nothing, Loss::LastTorn(changes as u64), Loss::Seeded(changes as u64)]
            {
                check(&disk, &promises, changes, loss);
                checked += 1;
            }
        }
        println!("{checked} crashes of {} changes", disk.changes());
    }
}
