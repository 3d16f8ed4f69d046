//! Snapshots: versions of a file that have a name and stay readable.
//!
//! They are those of the container, so they have its rules for names. A file at a snapshot is opened under the file's name with `@` and that
//! of the snapshot behind it.

use std::{fmt, sync::Arc};

use isotach_object::{Container, Error as ObjectError, Label, Snapshots};

use crate::{Error, File, Result, Site, transactions::version_of};

/// How often the newest version is opened again because it was replaced meanwhile.
const TRIES: usize = 20;

/// A version with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: String,
    /// Its number, as [`File::version`] has it.
    pub version: u64,
    /// The number of the last transaction in it; 0 if there is none.
    pub transaction: u64,
}

/// A past state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Past {
    /// A snapshot.
    Snapshot(Label),
    /// The state when this transaction was the newest version.
    Version(u64),
}

impl fmt::Display for Past {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(name) => write!(out, "snapshot {name}"),
            Self::Version(number) => write!(out, "version {number}"),
        }
    }
}

impl Past {
    /// What its text says.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("snapshot", name) => Some(Self::Snapshot(name.parse().ok()?)),
            ("version", number) => Some(Self::Version(number.parse().ok()?)),
            _ => None,
        }
    }
}

impl Site {
    /// The same where files are opened at a snapshot of this name, for reading.
    ///
    /// # Errors
    /// `InvalidInput` for a name that no snapshot has.
    pub fn at_snapshot(mut self, name: &str) -> Result<Self> {
        let wrong = |error| Error::invalid(format!("snapshot {name:?}: {error}"), "the name of a snapshot");
        self.past = Some(Past::Snapshot(name.parse().map_err(wrong)?));
        Ok(self)
    }

    /// The same where files are opened at the version with this number, for reading: see [`File::start_transaction`]. There are the newest
    /// version and those that a snapshot shows.
    #[must_use]
    pub fn at_version(mut self, number: u64) -> Self {
        self.past = Some(Past::Version(number));
        self
    }
}

impl File {
    /// Commits what was changed, and names the newest version, which has what others have committed, too. Returns its number.
    ///
    /// # Errors
    /// `AlreadyExists`; `ReadOnly`; `InvalidInput` for a name with other characters than `A-Z a-z 0-9 . _ : -`, or with more than 127;
    /// `Unsupported` where the engine has no snapshots; those of [`File::commit`].
    pub fn create_snapshot(&self, name: &str) -> Result<u64> {
        self.check_writable()?;
        let name = self.snapshot_name(name)?;
        let snapshots = self.store.container.snapshots()?;
        self.commit()?;
        let epoch = snapshots.create(&name).map_err(|error| self.of_snapshot(error, &name))?;
        self.store.container.flush()?;
        Ok(epoch.0)
    }

    /// All snapshots, oldest first; none where the engine has none.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>> {
        let Some(snapshots) = self.store.container.facets().snapshots else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for named in snapshots.list()? {
            let Some((_, transaction)) = shown(snapshots, &named.name)? else { continue };
            found.push(Snapshot { name: named.name.to_string(), version: named.epoch.0, transaction });
        }
        Ok(found)
    }

    /// Removes a snapshot. Files that are open at it stay open.
    ///
    /// # Errors
    /// `NotFound`; `ReadOnly`; `InvalidInput`; `Unsupported` where the engine has no snapshots; `Object`.
    pub fn remove_snapshot(&self, name: &str) -> Result<()> {
        self.check_writable()?;
        let name = self.snapshot_name(name)?;
        self.store.container.snapshots()?.destroy(&name).map_err(|error| self.of_snapshot(error, &name))?;
        Ok(self.store.container.flush()?)
    }

    fn snapshot_name(&self, name: &str) -> Result<Label> {
        let wrong = |_| {
            let what = format!("snapshot {name:?} of file {}", self.name());
            Error::invalid(what, "1 to 127 of the characters A-Z a-z 0-9 . _ : - and no dot in front")
        };
        name.parse().map_err(wrong)
    }

    fn of_snapshot(&self, error: ObjectError, snapshot: &Label) -> Error {
        let what = || format!("snapshot {snapshot} of file {}", self.name());
        match error {
            ObjectError::AlreadyExists { .. } => Error::AlreadyExists { what: what() },
            ObjectError::NotFound { .. } => Error::not_found(what()),
            error => error.into(),
        }
    }
}

/// The name of a file, and that of a snapshot behind the last `@`, if there may be one.
pub(crate) fn parts(name: &str, is_uri: bool) -> Option<(String, Label)> {
    let (name, options) = if is_uri { name.split_once('?').unwrap_or((name, "")) } else { (name, "") };
    let (file, snapshot) = name.rsplit_once('@')?;
    let snapshot: Label = snapshot.parse().ok()?;
    let mark = if options.is_empty() { "" } else { "?" };
    (!file.is_empty() && !file.ends_with('/')).then(|| (format!("{file}{mark}{options}"), snapshot))
}

/// A handle on the container of a file as it was.
pub(crate) fn open(container: &dyn Container, past: &Past, file: &str) -> Result<Arc<dyn Container>> {
    let found = match past {
        Past::Snapshot(name) => container.snapshots()?.open(name).map_err(Error::from),
        Past::Version(number) => open_version(container, *number),
    };
    found.map_err(|error| match error {
        Error::NotFound { .. } | Error::Object(ObjectError::NotFound { .. }) => {
            Error::not_found(format!("{past} of file {file} (errno = 2)"))
        }
        error => error,
    })
}

/// A handle on the container when a transaction was the newest version: the present one, or that of a snapshot.
fn open_version(container: &dyn Container, number: u64) -> Result<Arc<dyn Container>> {
    let snapshots = container.snapshots()?;
    for _ in 0..TRIES {
        match snapshots.open_at(container.epoch()?) {
            Ok(newest) if version_of(&*newest)? == number => return Ok(newest),
            Ok(_) => break,
            // Another version came meanwhile.
            Err(ObjectError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A truncation begins again with the numbers: the last snapshot that shows one counts.
    for named in snapshots.list()?.iter().rev() {
        if let Some((container, version)) = shown(snapshots, &named.name)?
            && version == number
        {
            return Ok(container);
        }
    }
    Err(Error::not_found(format!("version {number}")))
}

/// The container at a snapshot, and the number of its version. `None` if another process has removed the snapshot.
fn shown(snapshots: &dyn Snapshots, name: &Label) -> Result<Option<(Arc<dyn Container>, u64)>> {
    match snapshots.open(name) {
        Ok(container) => {
            let version = version_of(&*container)?;
            Ok(Some((container, version)))
        }
        Err(ObjectError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_behind_the_last_at_sign_of_a_name() {
        let parts = |name, is_uri| parts(name, is_uri).map(|(file, snapshot)| (file, snapshot.to_string()));
        let both = |file: &str, snapshot: &str| Some((file.to_owned(), snapshot.to_owned()));
        assert_eq!(parts("/a/b.h5@monday", false), both("/a/b.h5", "monday"));
        assert_eq!(parts("b@c.h5@2024-01-02T03:04", false), both("b@c.h5", "2024-01-02T03:04"));
        assert_eq!(parts("posix:/p/a.h5@one?sync=no", true), both("posix:/p/a.h5?sync=no", "one"));
        assert_eq!(parts("rados://p/a.h5@one", true), both("rados://p/a.h5", "one"));
        for none in ["a.h5", "@one", "/a/@one", "a.h5@", "a.h5@.one", "user@host/a.h5", "a.h5@one two"] {
            assert_eq!(parts(none, false), None, "{none}");
        }
    }
}
