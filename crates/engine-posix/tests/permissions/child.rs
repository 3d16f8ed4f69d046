//! The actions of a child process for another user: one line per argument, and one line with the outcome.

use std::{env, path::Path, sync::Arc};

use isotach_engine_posix::Posix;
use isotach_object::{
    Acl, Array, Container, ContainerOptions, Engine, Error, KeyValue, NewRights, ObjectClass, ObjectId,
    ObjectType, Pool, Result, RightsChange, Update, Verify,
};

use crate::{label, uri};

pub(crate) const FOLDER: &str = "ISOTACH_PERMISSIONS_FOLDER";
pub(crate) const WHAT: &str = "ISOTACH_PERMISSIONS_WHAT";
/// The prefix of the outcome.
pub(crate) const OUTCOME: &str = "outcome: ";
/// The length of an array: too long for the log.
pub(crate) const LENGTH: usize = 200_000;

#[test]
fn what_the_parent_asks_for() {
    let (Some(folder), Ok(what)) = (env::var_os(FOLDER), env::var(WHAT)) else { return };
    // The strictest umask: nothing that others use may depend on it.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let what: Vec<&str> = what.split('\n').collect();
    match perform(Path::new(&folder), &what) {
        Ok(()) => println!("{OUTCOME}ok"),
        Err(error) => println!("{OUTCOME}{}: {error}", error.code()),
    }
}

pub(crate) fn index() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1)
}

fn field(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 100 + number)
}

fn perform(folder: &Path, what: &[&str]) -> Result<()> {
    let pool = Posix.open_pool(&uri(folder))?;
    let open = || pool.open_container(&label());
    let create = |rights| pool.create_container(&label(), &ContainerOptions::with_rights(rights));
    let change = |change| pool.access_control()?.set_rights(&label(), &change).map(drop);
    match what {
        ["create"] => create(NewRights::default()),
        ["create", acl] => create(NewRights::Asked(acl_change(acl.parse()?))),
        ["inherit", from] => create(NewRights::Inherited(pool.access_control()?.rights(&from.parse()?)?)),
        ["read"] => read(&*open()?),
        ["write"] => write(&*open()?, 0),
        ["delete"] => pool.destroy_container(&label()),
        ["administer"] => change(acl_change(pool.access_control()?.rights(&label())?.acl)),
        ["set-acl", acl] => change(acl_change(acl.parse()?)),
        ["set-owner", owner] => {
            change(RightsChange { owner: Some((*owner).to_owned()), ..RightsChange::default() })
        }
        ["verify"] => {
            let how = Verify { data: true, threads: 1 };
            let verified = pool.maintenance().unwrap().verify(&label(), how, &|_, _| ())?;
            assert_eq!(verified.findings, []);
            Ok(())
        }
        ["fields", from, to] => write_fields(&pool, from.parse().unwrap()..to.parse().unwrap()),
        ["follow", count] => follow(&pool, count.parse().unwrap()),
        _ => panic!("{what:?}"),
    }
}

fn acl_change(acl: Acl) -> RightsChange {
    RightsChange { acl: Some(acl), ..RightsChange::default() }
}

fn read(container: &dyn Container) -> Result<()> {
    match KeyValue::new(container, index())?.get(b"k")? {
        Some(_) => check_field(container, 0),
        None => Err(Error::not_found("the entry")),
    }
}

fn bytes(number: u64) -> Vec<u8> {
    (0..LENGTH).map(|at| (at as u64).wrapping_mul(number + 7) as u8).collect()
}

fn check_field(container: &dyn Container, number: u64) -> Result<()> {
    let read = Array::new(container, field(number))?.read(0, LENGTH)?;
    assert!(read == bytes(number), "field {number} has other bytes");
    Ok(())
}

/// Bytes first, and the entry that names them after, in separate frames.
fn write(container: &dyn Container, number: u64) -> Result<()> {
    Array::new(container, field(number))?.write(0, &bytes(number))?;
    let key = if number == 0 { b"k".to_vec() } else { number.to_string().into_bytes() };
    KeyValue::new(container, index())?.put(&key, b"there")?;
    container.flush()
}

/// Writes fields and reads all of them after each, with a new handle now and then.
fn write_fields(pool: &Arc<dyn Pool>, numbers: std::ops::Range<u64>) -> Result<()> {
    let mut container = pool.open_container(&label())?;
    for number in numbers {
        write(&*container, number)?;
        check_all(&*container)?;
        if number.is_multiple_of(5) {
            container = pool.open_container(&label())?;
        }
    }
    Ok(())
}

/// Reads until there are this many fields, with the same handle and with new ones.
fn follow(pool: &Arc<dyn Pool>, count: usize) -> Result<()> {
    let kept = pool.open_container(&label())?;
    let put = Update::Put { cell: isotach_object::Cell::kv(index(), b"x"), value: b"x" };
    loop {
        let there = check_all(&*kept)?;
        check_all(&*pool.open_container(&label())?)?;
        let refused = kept.update(&[put]);
        assert_eq!(refused.unwrap_err().code(), "permission-denied");
        if there >= count {
            return Ok(());
        }
    }
}

fn check_all(container: &dyn Container) -> Result<usize> {
    let mut numbers = Vec::new();
    KeyValue::new(container, index())?.for_each(|key, _| {
        numbers.extend(std::str::from_utf8(key).unwrap().parse::<u64>().ok());
        Ok::<(), Error>(())
    })?;
    numbers.iter().try_for_each(|number| check_field(container, *number))?;
    Ok(numbers.len())
}
