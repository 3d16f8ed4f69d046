//! Files that several ranks have open together: opened by all, and committed by the first for all.
//!
//! What must stay true: all ranks read one version. It changes only with a commit of all, which is one transaction of the first rank after
//! an [exchange](crate::exchange); so a rank that dies before it leaves the version that was there.

use std::sync::Arc;

use isotach_engine_kit::bytes::{Put as _, Reader};
use isotach_object::Epoch;

use crate::{
    Access, Creation, Error, File, Header, Result, Site,
    layout::array,
    open_files::{Key, key_of_rank, open_files, register},
    ranks::{Call, Ranks, Team},
    session::Session,
    snapshots::Past,
    store::Store,
};

/// What the first rank tells the others of the file that it has opened.
struct Opened {
    key: Key,
    is_reset: bool,
    /// Whether these ranks have it open already.
    is_shared: bool,
    version: Epoch,
}

impl Opened {
    fn of(file: &Arc<File>) -> Result<Self> {
        let key = key_of_rank(file, 0).ok_or_else(|| Error::not_found(file.name()))?;
        let session = file.session();
        Ok(Self { key, is_reset: session.is_reset, is_shared: file.is_shared(), version: session.version })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.is_reset.into(), self.is_shared.into()];
        bytes.put_u64(self.version.0);
        bytes.put_text(&self.key.pool);
        bytes.put_text(&self.key.label.to_string());
        bytes.put_text(&self.key.past.as_ref().map_or_else(String::new, ToString::to_string));
        bytes
    }

    fn decode(bytes: &[u8], rank: usize) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (is_reset, is_shared) = (reader.u8()? != 0, reader.u8()? != 0);
        let version = Epoch(reader.u64()?);
        let (pool, label, past) = (reader.text()?, reader.text()?, reader.text()?);
        let key = Key {
            pool: pool.to_owned(),
            label: label.parse().ok()?,
            past: if past.is_empty() { None } else { Some(Past::parse(past)?) },
            rank: Some(rank),
        };
        Some(Self { key, is_reset, is_shared, version })
    }
}

impl Site {
    /// Creates a file that several ranks have open together. All of them call this with the same arguments.
    ///
    /// # Errors
    /// As [`Site::create`]; `OtherRank` if another rank has failed; `InvalidInput` if the ranks disagree.
    pub fn create_together(
        &self,
        ranks: Box<dyn Ranks>,
        name: &str,
        creation: Creation,
        root: &Header,
        properties: &[u8],
    ) -> Result<Arc<File>> {
        let create = || self.create(name, creation, root, properties);
        let join = |opened: Opened| {
            if !opened.is_reset {
                return self.open_key(&mut open_files(), opened.key, name, Access::ReadWrite);
            }
            let container = self.pool(&opened.key)?.open_container(&opened.key.label)?;
            let file = File::truncated(name, container, root, properties)?;
            Ok(register(&mut open_files(), opened.key, file))
        };
        together(ranks, &format!("create {name}"), create, join)
    }

    /// Opens a file for several ranks together. All of them call this with the same arguments.
    ///
    /// # Errors
    /// As [`Site::open`]; `OtherRank` if another rank has failed; `InvalidInput` if the ranks disagree, or for a file that one of them has
    /// open alone.
    pub fn open_together(&self, ranks: Box<dyn Ranks>, name: &str, access: Access) -> Result<Arc<File>> {
        if ranks.size() == 1 {
            return self.open(name, access);
        }
        let open = || self.open_as(name, access, Some(0));
        let join = |opened: Opened| self.open_key(&mut open_files(), opened.key, name, access);
        let purpose = match access {
            Access::ReadOnly => "reading",
            Access::ReadWrite => "writing",
        };
        together(ranks, &format!("open {name} for {purpose}"), open, join)
    }

    /// Deletes a file. All ranks call this, and the first one does it.
    ///
    /// # Errors
    /// As [`Site::delete`]; `OtherRank`.
    pub fn delete_together(&self, ranks: Box<dyn Ranks>, name: &str) -> Result<()> {
        let delete = || self.delete(name).map(|()| Vec::new());
        Team::new(ranks).told_by_first(Call::Delete, delete).map(drop)
    }
}

/// Opens a file on all ranks, after the first one has. `what` must be the same on all.
fn together(
    ranks: Box<dyn Ranks>,
    what: &str,
    first: impl FnOnce() -> Result<Arc<File>>,
    join: impl FnOnce(Opened) -> Result<Arc<File>>,
) -> Result<Arc<File>> {
    if ranks.size() == 1 {
        return first();
    }
    let team = Team::new(ranks);
    let asked = team.gather::<Error>(Call::Open, Ok(what.as_bytes().to_vec()))?;
    if let Some((rank, other)) = asked.iter().enumerate().find(|(_, other)| Some(*other) != asked.first()) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let first = asked.first().map(|first| text(first)).unwrap_or_default();
        let differ = format!("rank 0 is to {first}, and rank {rank} is to {}", text(other));
        return Err(Error::invalid(differ, "the same file on all ranks"));
    }
    let mut mine = None;
    let opened = team.told_by_first(Call::Found, || {
        let file = first()?;
        let opened = Opened::of(&file)?.encode();
        mine = Some(file);
        Ok(opened)
    })?;
    let damaged = || Error::corrupt("a message that cannot be read", "what rank 0 has sent");
    let opened = Opened::decode(&opened, team.rank()).ok_or_else(damaged)?;
    let (is_shared, version) = (opened.is_shared, opened.version);
    let joined = match mine {
        Some(file) => Ok(file),
        None => join(opened),
    };
    let joined = joined.and_then(|file| {
        if file.is_shared() == is_shared {
            return Ok(file);
        }
        let what = format!("file {}, which only some of the ranks have open", file.name());
        Err(Error::invalid(what, "a file that all of them have open, or none"))
    });
    let file = team.agree(Call::Joined, joined)?;
    file.join(team, version);
    Ok(file)
}

impl File {
    /// Commits what all ranks have changed, as one version.
    pub(crate) fn commit_together(&self, team: &Team) -> Result<u64> {
        let _alone = self.alone();
        let mut session = self.session();
        if !self.is_writable() {
            return Ok(session.version.0);
        }
        let ready = match self.failure() {
            Some(cause) => Err(Error::WriteFailed { what: self.name().to_owned(), cause }),
            None => self.store.check_process(),
        };
        // Before chunks are put together: datasets that differ have other chunks.
        self.check_changes(&session, team, ready)?;
        let removed = self.remove_unlinked_together(&mut session, team);
        self.exchange_in(&mut session, removed)?;
        team.agree(Call::Flushed, self.store.flush_arrays())?;
        if team.is_first() {
            let outcome = session.commit(&self.store);
            let message = Committed::of(&session, outcome.as_ref().err()).encode();
            let told = team.told_by_first(Call::Commit, || Ok(message));
            if let Some(bytes) = session.counted.take() {
                self.set_stub_length(bytes);
            }
            outcome.and(told)?;
        } else {
            // Until the first rank has told, what was stored may count.
            let was_uncertain = std::mem::replace(&mut session.is_uncertain, true);
            let told = team.told_by_first(Call::Commit, || Ok(Vec::new()))?;
            session.is_uncertain = was_uncertain;
            session.follow(&self.store, Committed::decode(&told))?;
        }
        Ok(session.version.0)
    }
}

/// The outcome of the first rank's commit.
struct Committed {
    version: Epoch,
    is_uncertain: bool,
    /// Why it failed, if it did.
    failure: Option<String>,
}

impl Committed {
    fn of(session: &Session, failure: Option<&Error>) -> Self {
        Self {
            version: session.version,
            is_uncertain: session.is_uncertain,
            failure: failure.map(ToString::to_string),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.is_uncertain.into(), self.failure.is_some().into()];
        bytes.put_u64(self.version.0);
        bytes.put_text(self.failure.as_deref().unwrap_or_default());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (is_uncertain, has_failed) = (reader.u8()? != 0, reader.u8()? != 0);
        let (version, failure) = (Epoch(reader.u64()?), reader.text()?.to_owned());
        Some(Self { version, is_uncertain, failure: has_failed.then_some(failure) })
    }
}

impl Session {
    /// Goes along with a commit of the first rank.
    fn follow(&mut self, store: &Store, committed: Option<Committed>) -> Result<()> {
        let Some(Committed { version, is_uncertain, failure }) = committed else {
            self.is_uncertain = true;
            return Err(Error::corrupt("a message that cannot be read", "what rank 0 has sent"));
        };
        self.is_uncertain = is_uncertain;
        if let Some(what) = failure {
            self.rebase(version);
            // As the first rank has, if it has gone to a newer version. Its error tells of it.
            drop(self.forget_gone()?);
            return Err(Error::OtherRank { rank: 0, what });
        }
        // The first rank has its own pages of blobs, which attributes name.
        let pages = self.blobs.take_own();
        self.unused.extend(pages.into_iter().map(array));
        self.end_changes(store);
        self.rebase(version);
        Ok(())
    }
}
