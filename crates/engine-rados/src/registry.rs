//! The containers of a pool: entries of one object, so that of several processes that create or remove a container one succeeds.
//!
//! - `format`: marks a pool, and holds its format.
//! - `data`: the Ceph pool of the bytes of arrays.
//! - `c.LABEL`: the number of the container's namespace. The container exists while this entry does.
//! - `n.NAME`: an object beside this one, with a note on what a repair took out of a container. It stays until the pool is removed,
//!   even after its container.
//! - `d.NUMBER`: a namespace that belongs to no container, because one is being created or removed, and the time of the last
//!   heartbeat. The process that does so removes the entry at the end. If it dies, another process removes the namespace.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use isotach_engine_kit::{checksum::crc32c, context::Context, random};
use isotach_object::{Error, Label, Result};

use crate::{
    failure::failed,
    ffi::{Compare, Errno, IfFound, Io, ReadOp, WriteOp},
    options::{Options, SCHEME},
};

/// The object of the registry.
const POOL: &str = "pool";
const FORMAT_KEY: &[u8] = b"format";
const FORMAT: &[u8] = b"isotach pool 1";
/// The value while the pool is being removed. No process can create a container then.
const LEAVING: &[u8] = b"isotach pool 1, leaving";
/// The pool of Ceph's that has the bytes of arrays.
const DATA_KEY: &[u8] = b"data";
const CONTAINERS: &str = "c.";
const DYING: &str = "d.";
const NOTES: &str = "n.";
/// What has been dying for this long belongs to a process that died.
const ABANDONED: Duration = Duration::from_secs(600);
const PER_PAGE: u64 = 1000;

/// The registry of a pool.
#[derive(Debug)]
pub(crate) struct Registry {
    io: Arc<Io>,
    data: String,
    name: String,
}

impl Registry {
    pub(crate) fn new(io: Arc<Io>, options: &Options) -> Self {
        let name = match options.name.as_str() {
            "" => options.pool.clone(),
            name => format!("{}/{name}", options.pool),
        };
        Self { io, data: options.data.clone(), name }
    }

    fn what(&self, doing: &str) -> String {
        format!("{doing} pool {SCHEME}://{}", self.name)
    }

    /// Makes the pool.
    pub(crate) fn create(&self) -> Result<()> {
        let what = || self.what("make");
        let mut op = WriteOp::new().context(what)?;
        op.create().set_entries(&[(FORMAT_KEY, FORMAT), (DATA_KEY, self.data.as_bytes())]);
        match self.io.write(POOL, &op) {
            Ok(_) => Ok(()),
            Err(Errno::EXISTS) => {
                Err(Error::AlreadyExists { what: format!("pool {SCHEME}://{}", self.name) })
            }
            Err(errno) => Err(failed(errno, what())),
        }
    }

    /// Refuses what is no pool, or one of another format.
    pub(crate) fn check(&self) -> Result<()> {
        match self.get(FORMAT_KEY)?.as_deref() {
            Some(FORMAT) => self.check_data(),
            None | Some(LEAVING) => Err(self.no_pool()),
            Some(other) => {
                let what = format!("{} has the unknown format {}", self.name, other.escape_ascii());
                Err(Error::NewerFormat { what })
            }
        }
    }

    /// Refuses a data pool that is not the one of the pool.
    fn check_data(&self) -> Result<()> {
        let stored = self.get(DATA_KEY)?.unwrap_or_default();
        if stored == self.data.as_bytes() {
            return Ok(());
        }
        let (name, given) = (&self.name, &self.data);
        let expected = format!("data={}, with which the pool was created", stored.escape_ascii());
        Err(Error::invalid(format!("data pool {given:?} of pool {SCHEME}://{name}"), expected))
    }

    /// Begins to remove the pool: no container can be created any more. An interrupted removal can be repeated.
    pub(crate) fn leave(&self) -> Result<()> {
        if self.get(FORMAT_KEY)?.as_deref() == Some(LEAVING) {
            return self.check_data();
        }
        self.check()?;
        self.change(
            || self.what("remove"),
            |op| op.require_entry(FORMAT_KEY, Compare::Equal, FORMAT).set_entries(&[(FORMAT_KEY, LEAVING)]),
        )
    }

    /// Changes the registry of a pool in the state that the change requires. Any other is no pool.
    fn change(
        &self,
        what: impl Fn() -> String,
        put_together: impl FnOnce(&mut WriteOp) -> &mut WriteOp,
    ) -> Result<()> {
        self.io.write_if(POOL, what, put_together)?.map(drop).ok_or_else(|| self.no_pool())
    }

    fn no_pool(&self) -> Error {
        Error::not_found(format!("pool {SCHEME}://{}", self.name))
    }

    /// Removes the pool, which has no container any more.
    pub(crate) fn remove(&self) -> Result<()> {
        let what = || self.what("remove");
        self.change(what, |op| op.require_entry(FORMAT_KEY, Compare::Equal, LEAVING).remove())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let answer = self.io.read(POOL, ReadOp::new().entries(vec![key])).if_found();
        let answer = answer.context(|| self.what("read"))?;
        Ok(answer.and_then(|answer| answer.entries.into_vec().pop()).map(|(_, value)| value))
    }

    /// The number of a container's namespace.
    pub(crate) fn find(&self, label: &Label) -> Result<Option<String>> {
        let Some(stored) = self.get(&container_key(label))? else { return Ok(None) };
        let parts = str::from_utf8(&stored).ok().and_then(|text| text.split_once(' '));
        let is_whole = |(uid, sum): &(&str, &str)| sum_of(label, uid) == *sum;
        match parts.filter(is_whole) {
            Some((uid, _)) => Ok(Some(uid.to_owned())),
            None => {
                let place = format!("RADOS object {POOL} of pool {}, entry c.{label}", self.name);
                Err(Error::corrupt("the entry of a container that fails its checksum", place))
            }
        }
    }

    /// A number for a new namespace, and since when someone is at it, which is noted.
    pub(crate) fn begin(&self) -> Result<(String, Vec<u8>)> {
        let uid = format!("{:032x}", u128::from_le_bytes(random::bytes()?));
        let since = now();
        self.change(
            || self.what("change"),
            |op| {
                op.require_entry(FORMAT_KEY, Compare::Equal, FORMAT).set_entries(&[(dying_key(&uid), &since)])
            },
        )?;
        Ok((uid, since))
    }

    /// Says that someone is at a namespace that belongs to no container; whether it was as he knew it.
    pub(crate) fn touch(&self, uid: &str, since: &[u8]) -> Result<bool> {
        let (what, key) = (|| self.what("change"), dying_key(uid));
        let touched = self.io.write_if(POOL, what, |op| {
            op.require_entry(&key, Compare::Equal, since).set_entries(&[(&key, now())])
        })?;
        Ok(touched.is_some())
    }

    /// Says again that someone is at a namespace.
    pub(crate) fn beat(&self, uid: &str) -> Result<()> {
        match self.get(&dying_key(uid))? {
            Some(since) => self.touch(uid, &since).map(drop),
            // Another has removed what was left.
            None => Ok(()),
        }
    }

    /// Makes a namespace that was begun a container; false if there is one by that label, or if it took so long that another has
    /// taken the namespace for left over.
    pub(crate) fn enter(&self, label: &Label, uid: &str, since: &[u8]) -> Result<bool> {
        let what = || format!("make container {label}");
        let key = container_key(label);
        self.done(what, |op| {
            op.require_entry(FORMAT_KEY, Compare::Equal, FORMAT).require_entry(&key, Compare::Equal, b"");
            op.require_entry(&dying_key(uid), Compare::Equal, since);
            op.set_entries(&[(&key, entry(label, uid))]).remove_entries(&[dying_key(uid)])
        })
    }

    /// Takes a container out. Returns false if it does not exist or is another one.
    pub(crate) fn take_out(&self, label: &Label, uid: &str) -> Result<bool> {
        let what = || format!("remove container {label}");
        let key = container_key(label);
        self.done(what, |op| {
            op.require_entry(&key, Compare::Equal, &entry(label, uid));
            op.set_entries(&[(dying_key(uid), now())]).remove_entries(&[&key])
        })
    }

    /// Whether a change of the registry was carried out, in a pool that is still there.
    fn done(
        &self,
        what: impl Fn() -> String,
        put_together: impl FnOnce(&mut WriteOp) -> &mut WriteOp,
    ) -> Result<bool> {
        match self.io.write_if(POOL, what, put_together)? {
            Some(_) => Ok(true),
            None => self.check().map(|()| false),
        }
    }

    /// Forgets a namespace in which nothing is left.
    pub(crate) fn forget(&self, uid: &str) -> Result<()> {
        let what = || self.what("change");
        let mut op = WriteOp::new().context(what)?;
        op.remove_entries(&[dying_key(uid)]);
        self.io.write(POOL, &op).if_found().context(what).map(drop)
    }

    /// Stores a note for operators, and returns the name of its object.
    pub(crate) fn keep_note(&self, label: &Label, note: &str) -> Result<String> {
        let what = || format!("keep a note on container {label}");
        let name = format!("aside.{label}.{}.{:016x}", String::from_utf8_lossy(&now()), random::number()?);
        // The entry comes first: the removal of the pool removes the objects that entries name.
        self.change(what, |op| {
            op.require_entry(FORMAT_KEY, Compare::Equal, FORMAT).set_entries(&[(note_key(&name), b"")])
        })?;
        let mut op = WriteOp::new().context(what)?;
        op.create().write_full(note.as_bytes());
        self.io.write(&name, &op).context(what)?;
        Ok(name)
    }

    /// Removes all notes, with the pool.
    pub(crate) fn remove_notes(&self) -> Result<()> {
        let what = || self.what("remove the notes of");
        for (name, _) in self.entries(NOTES)? {
            let mut op = WriteOp::new().context(what)?;
            op.remove();
            self.io.write(&name, &op).if_found().context(what)?;
        }
        Ok(())
    }

    /// The labels of all containers, sorted.
    pub(crate) fn labels(&self) -> Result<Vec<Label>> {
        let found = self.entries(CONTAINERS)?;
        let mut labels: Vec<Label> = found.iter().filter_map(|(name, _)| name.parse().ok()).collect();
        labels.sort();
        Ok(labels)
    }

    /// Namespaces that belong to no container, with their last heartbeats: all, or only the abandoned ones.
    pub(crate) fn dying(&self, only_abandoned: bool) -> Result<Vec<(String, Vec<u8>)>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_abandoned = |stored: &[u8]| {
            let since =
                str::from_utf8(stored).ok().and_then(|text| text.parse().ok()).map(Duration::from_secs);
            since.is_none_or(|since| now.saturating_sub(since) > ABANDONED)
        };
        let found = self.entries(DYING)?.into_iter();
        Ok(found.filter(|(_, stored)| !only_abandoned || is_abandoned(stored)).collect())
    }

    /// The entries whose keys have this prefix, without it.
    fn entries(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let mut all = Vec::new();
        let mut after = prefix.as_bytes().to_vec();
        loop {
            let answer = self.io.read(POOL, ReadOp::new().page(&after, PER_PAGE, true)).if_found();
            let answer = answer.context(|| self.what("list"))?.ok_or_else(|| self.no_pool())?;
            let (more, entries) = (answer.more, answer.entries.into_vec());
            let Some((last, _)) = entries.last() else { return Ok(all) };
            after.clone_from(last);
            let is_last = !more || !last.starts_with(prefix.as_bytes());
            let strip = |(key, value): (Vec<u8>, Vec<u8>)| {
                let name = key.strip_prefix(prefix.as_bytes())?;
                Some((String::from_utf8_lossy(name).into_owned(), value))
            };
            all.extend(entries.into_iter().filter_map(strip));
            if is_last {
                return Ok(all);
            }
        }
    }
}

fn container_key(label: &Label) -> Vec<u8> {
    format!("{CONTAINERS}{label}").into_bytes()
}

fn note_key(name: &str) -> Vec<u8> {
    format!("{NOTES}{name}").into_bytes()
}

fn dying_key(uid: &str) -> Vec<u8> {
    format!("{DYING}{uid}").into_bytes()
}

fn sum_of(label: &Label, uid: &str) -> String {
    format!("{:08x}", crc32c(format!("{label} {uid}").as_bytes()))
}

fn entry(label: &Label, uid: &str) -> Vec<u8> {
    format!("{uid} {}", sum_of(label, uid)).into_bytes()
}

/// The time, in seconds of the Unix clock.
fn now() -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs().to_string().into_bytes()
}
