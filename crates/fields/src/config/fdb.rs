//! FDB's configuration file of a local FDB on POSIX file systems: schema, lanes, spaces, roots and switches. Only the
//! configuration is read, not FDB's data.
//!
//! What must stay true: a switch that forbids something is enforced or refused, never ignored. Keys about the layout of
//! FDB's own files and servers have no effect, and a note reports them.

mod paths;
mod roots;
mod written;

use std::path::Path;

use self::{
    paths::Paths,
    roots::{Lane, spaces_of},
    written::{LOCAL, Level, SELECT},
};
use super::{Space, yaml};
use crate::{Error, Forbidden, Result};

/// The content of FDB's file.
#[derive(Debug)]
pub(super) struct FdbFile {
    /// The text of a schema, or its path.
    pub(super) schema: Option<String>,
    pub(super) spaces: Vec<Space>,
    pub(super) notes: Vec<String>,
}

impl FdbFile {
    /// Parses a file at `path`.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        let level: Level = yaml::parse(text, path)?;
        let mut reading = Reading {
            text,
            path,
            paths: Paths::of(&level),
            spaces: Vec::new(),
            schemas: Vec::new(),
            notes: Vec::new(),
        };
        reading.level(&level, &Above { place: String::new(), lane: Lane::default(), schema: None })?;
        let schema = reading.schema()?;
        Ok(Self { schema, spaces: reading.spaces, notes: reading.notes })
    }
}

/// What a level of the file inherits from those above it.
struct Above<'f> {
    /// The prefix of its keys in messages: `fdbs[0].`.
    place: String,
    lane: Lane,
    schema: Option<&'f str>,
}

struct Reading<'f> {
    text: &'f str,
    path: &'f Path,
    paths: Paths,
    spaces: Vec<Space>,
    /// The schemas of the lanes that hold spaces.
    schemas: Vec<Option<String>>,
    notes: Vec<String>,
}

impl<'f> Reading<'f> {
    /// A mistake in a key: `file:line:column: key: ...`.
    fn wrong(&self, place: &str, word: &str, what: &str, expected: &str) -> Error {
        let at = yaml::place_of(self.text, self.path, word);
        let what = if what.is_empty() { String::new() } else { format!(" {what}") };
        Error::invalid(format!("{at}: {place}{word}{what}"), expected)
    }

    /// The same for a value that was refused.
    fn wrong_value(&self, place: &str, word: &str, error: Error) -> Error {
        match error {
            Error::Invalid { what, expected } => self.wrong(place, word, &what, &expected),
            other => other,
        }
    }

    /// The file as a whole, or one of its lanes.
    fn level(&mut self, level: &'f Level, above: &Above<'f>) -> Result<()> {
        let place = above.place.as_str();
        self.check_kind(level, place)?;
        self.check_rest(level, place)?;
        let mut lane = above.lane.clone();
        lane.forbidden.add(&self.forbidden(&level.switches(), place));
        let schema = level.schema.as_deref().or(above.schema);
        match (&level.fdbs, &level.spaces) {
            (Some(fdbs), None) if level.kind() == SELECT => self.lanes(fdbs, &lane, schema, place),
            (None, Some(spaces)) if level.kind() != SELECT => {
                let schema = schema.map(|text| self.schema_of(text)).transpose()?;
                self.schemas.push(schema);
                self.local(spaces, &lane, place)
            }
            (_, Some(_)) if level.kind() == SELECT => {
                Err(self.wrong(place, "spaces", "", "fdbs: type select has its spaces in them"))
            }
            (Some(_), _) => Err(self.wrong(place, "fdbs", "", "type: select, which alone has them")),
            (None, _) => {
                let key = if level.kind() == SELECT { "fdbs" } else { "spaces" };
                let at = self.path.display();
                Err(Error::invalid(
                    format!("{at}: {}", place.trim_end_matches('.')),
                    format!("the key `{key}`"),
                ))
            }
        }
    }

    /// The lanes of `type: select`: a dataset goes to the first lane that takes it, and to no other.
    fn lanes(&mut self, fdbs: &'f [Level], lane: &Lane, schema: Option<&'f str>, place: &str) -> Result<()> {
        let mut lane = lane.clone();
        for (at, level) in fdbs.iter().enumerate() {
            let place = format!("{place}fdbs[{at}].");
            let select = level.select.as_deref().unwrap_or_default();
            let own = lane.selecting(select, &level.excludes);
            let own = own.map_err(|error| self.wrong_value(&place, "select", error))?;
            let above = Above { place, lane: own, schema };
            self.level(level, &above)?;
            lane = lane.without(select, &level.excludes)?;
        }
        Ok(())
    }

    fn local(&mut self, spaces: &'f [written::SpaceAsWritten], lane: &Lane, place: &str) -> Result<()> {
        for (at, space) in spaces.iter().enumerate() {
            let place = format!("{place}spaces[{at}].");
            if let Some(key) = space.unknown_here() {
                return Err(self.wrong(&place, key, "", "roots, each with its path"));
            }
            let mut lane = lane.clone();
            lane.forbidden.add(&self.forbidden(&space.switches(), &place));
            let group = self.spaces.last().map_or(0, |last| last.group + 1);
            let made = spaces_of(self, space, &lane, &place, group)?;
            self.spaces.extend(made);
        }
        Ok(())
    }

    /// The prohibitions of switches, each with its key and place.
    fn forbidden(&self, switches: &written::Switches, place: &str) -> Forbidden {
        let mut forbidden = Forbidden::default();
        for (action, key) in switches.forbidden() {
            let of = place.trim_end_matches('.');
            let of = if of.is_empty() { String::new() } else { format!(" of {of}") };
            forbidden.forbid(action, &format!("`{key}: false`{of} in {}", self.path.display()));
        }
        forbidden
    }

    /// A schema's text, or its path resolved as FDB does.
    fn schema_of(&self, text: &str) -> Result<String> {
        let found = self.paths.schema(text)?;
        if !text.starts_with(['/', '~']) && found != text && !Path::new(&found).exists() {
            let expected = format!("{found}, for FDB takes a relative path from the working folder");
            return Err(self.wrong("", "schema", text, &expected));
        }
        Ok(found)
    }

    /// The one schema of all lanes.
    fn schema(&self) -> Result<Option<String>> {
        let first = self.schemas.first().cloned().flatten();
        if self.schemas.iter().any(|schema| *schema != first) {
            let expected = "one schema for all lanes; for several make a file for each";
            return Err(self.wrong("", "schema", "", expected));
        }
        Ok(first)
    }

    fn check_kind(&self, level: &Level, place: &str) -> Result<()> {
        let kind = level.kind();
        if ![LOCAL, SELECT, "catalogue"].contains(&kind) {
            let expected = match kind {
                "remote" => "local or select: there is no server to ask, name the pools themselves",
                "random" => "local or select: a dataset must be found again where it went",
                _ => "local or select",
            };
            return Err(self.wrong(place, "type", kind, expected));
        }
        let other =
            "for another engine write a file of Isotach's own with `pool: daos://...` or `pool: rados://...`";
        for (key, value, only) in [("engine", &level.engine, "toc"), ("store", &level.store, "file")] {
            if let Some(value) = value.as_deref().filter(|value| !value.is_empty() && *value != only) {
                return Err(self.wrong(place, key, value, &format!("{only}; {other}")));
            }
        }
        Ok(())
    }

    /// Refuses keys whose request is not available, and notes those without effect.
    fn check_rest(&mut self, level: &Level, place: &str) -> Result<()> {
        if let Some((key, expected)) = level.refused() {
            return Err(self.wrong(place, key, "", expected));
        }
        if let Some(mode) = level.permissions.as_deref().filter(|mode| !written::is_open(mode)) {
            let expected = "no such key: new files have the rights that the umask leaves, and `isotach init --acl` gives a list";
            return Err(self.wrong(place, "permissions", mode, expected));
        }
        for (key, why) in level.without_effect() {
            self.notes.push(format!("{}: {place}{key} has no effect: {why}", self.path.display()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
