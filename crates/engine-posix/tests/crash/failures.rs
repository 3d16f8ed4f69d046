//! A device with an error in any one call, and one that is full from any call on: no wrong answer, no loss of what was flushed, and later
//! handles work.

use isotach_engine_posix::simulation::{Fault, SimulatedDisk};
use isotach_object::{Array, Container, ContainerOptions, Error, ObjectClass, ObjectId, ObjectType, Result};

use crate::{
    check::open_on,
    place::{label, values},
    workload::POOL,
};

/// Rounds of writing.
const ROUNDS: u64 = 24;

fn array(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 1000 + number)
}

fn bytes(number: u64) -> Vec<u8> {
    vec![number as u8 + 1; 700]
}

/// Creates a container and writes rounds of a field and its entry. A failure opens a new handle. Returns the rounds that were flushed.
fn work(disk: &SimulatedDisk) -> Vec<u64> {
    let mut flushed = Vec::new();
    let open = || -> Result<_> {
        let uri = POOL.parse()?;
        let made = |outcome: Result<()>| match outcome {
            Err(Error::AlreadyExists { .. }) => Ok(()),
            outcome => outcome,
        };
        made(disk.engine().create_pool(&uri))?;
        let pool = disk.engine().open_pool(&uri)?;
        made(pool.create_container(&label(), &ContainerOptions::default()))?;
        pool.open_container(&label())
    };
    let round = |container: &dyn Container, number: u64| -> Result<()> {
        Array::new(container, array(number))?.write(0, &bytes(number))?;
        let values = values(container);
        values.put(&number.to_le_bytes(), b"there")?;
        values.get(b"what is not there")?;
        container.flush()
    };
    let mut handle = None;
    for number in 0..ROUNDS {
        let container = match handle.take().map_or_else(open, Ok) {
            Ok(container) => container,
            Err(error) => {
                assert!(is_fault(&error), "opening for round {number}: {error}");
                continue;
            }
        };
        match round(&*container, number) {
            Ok(()) => {
                flushed.push(number);
                handle = Some(container);
            }
            Err(error) => assert!(is_fault(&error), "round {number}: {error}"),
        }
    }
    flushed
}

/// Whether an error reports the fault of the device.
fn is_fault(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::NoSpace { .. } | Error::Poisoned { .. })
}

/// Checks that what was flushed exists.
fn check(disk: &SimulatedDisk, flushed: &[u64], case: &str) {
    if flushed.is_empty() {
        return;
    }
    let container = open_on(disk);
    for number in flushed {
        let found = values(&*container).get(&number.to_le_bytes()).unwrap();
        assert_eq!(found.as_deref(), Some(&b"there"[..]), "{case}: entry {number}");
        let found = Array::new(&*container, array(*number)).unwrap().read(0, 1000).unwrap();
        assert_eq!(found, bytes(*number), "{case}: array {number}");
    }
}

/// Runs the work with a fault at each call in turn.
fn at_every_call(fault: fn(u64) -> Fault) {
    let whole = SimulatedDisk::new();
    assert_eq!(work(&whole).len() as u64, ROUNDS);
    for call in 0..whole.calls() {
        let disk = SimulatedDisk::new();
        disk.set_fault(Some(fault(call)));
        let flushed = work(&disk);
        let case = format!("{:?}", fault(call));
        disk.set_fault(None);
        check(&disk, &flushed, &case);
        let again = work(&disk);
        assert_eq!(again.len() as u64, ROUNDS, "{case}: what failed works without the fault");
        check(&disk, &again, &case);
    }
    println!("{} calls, each failed in turn", whole.calls());
}

#[test]
fn an_error_of_any_call_loses_nothing_flushed_and_can_be_retried() {
    at_every_call(Fault::Broken);
}

#[test]
fn a_full_disk_loses_nothing_flushed_and_can_be_written_after_freeing_space() {
    at_every_call(Fault::Full);
}
