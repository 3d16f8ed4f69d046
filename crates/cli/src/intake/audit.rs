//! Counts the fields of a command that replace each other or a stored field, and those without the labels of MARS.
//!
//! What must stay true: memory is a digest of a few dozen bytes for each field, whatever the length of its key.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
};

use isotach_fields::crc32c;
use isotach_grib::Eccodes;
use isotach_mars::{Key, Schema, SplitKey};

use crate::output::count;

/// The keys that name the origin of a field. A field without them can be archived, but few users would search for it.
const LABELS: [&str; 3] = ["class", "expver", "stream"];

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// The fields of the command, by a digest of the key.
    fields: HashMap<u128, Seen>,
    /// The number of fields whose key was seen before.
    pub(crate) repeated: u64,
    /// The number of these whose bytes differ.
    differing: u64,
    /// Whether ecCodes returned the same key for two different messages.
    is_ambiguous: bool,
    /// The number of fields that are stored already, if the store was searched.
    stored: u64,
    /// The key of the first repeated or stored field.
    first: Option<Key>,
    /// The number of fields without all of [`LABELS`].
    pub(crate) unlabelled: u64,
    missing_labels: Vec<&'static str>,
}

/// A field of the command.
#[derive(Debug, Clone, Copy)]
struct Seen {
    checksum: u32,
    own: Option<OwnKey>,
}

/// A digest of the key in a message, before flags change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnKey(u64);

impl OwnKey {
    pub(crate) fn of(key: &Key) -> Self {
        let mut hasher = DefaultHasher::new();
        key.to_string().hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Audit {
    /// Adds a field. `own` is the message's own key, if the field is a message.
    pub(crate) fn add(&mut self, schema: &Schema, key: &Key, bytes: &[u8], own: Option<OwnKey>) {
        // The store refuses keys that do not fit the schema.
        let Ok(split) = schema.split(key) else { return };
        self.add_labels(schema, &split);
        let seen = Seen { checksum: crc32c(bytes), own };
        match self.fields.entry(digest(&split)) {
            Entry::Vacant(entry) => {
                entry.insert(seen);
            }
            Entry::Occupied(mut entry) => {
                let before = entry.insert(seen);
                let differs = before.checksum != seen.checksum;
                self.repeated += 1;
                self.differing += u64::from(differs);
                self.is_ambiguous |= differs && own.is_some() && own == before.own;
                self.first.get_or_insert_with(|| split.whole());
            }
        }
    }

    /// Whether a field with this key was added.
    pub(crate) fn contains(&self, schema: &Schema, key: &Key) -> bool {
        schema.split(key).is_ok_and(|split| self.fields.contains_key(&digest(&split)))
    }

    /// Counts a field that is stored already.
    pub(crate) fn add_stored(&mut self, schema: &Schema, key: &Key) {
        self.stored += 1;
        self.first
            .get_or_insert_with(|| schema.split(key).map_or_else(|_| key.clone(), |split| split.whole()));
    }

    /// Counts a field without all labels, if the schema has them.
    fn add_labels(&mut self, schema: &Schema, split: &SplitKey) {
        let is_absent = |name: &&str| split.dataset.get(name).is_none_or(str::is_empty);
        let missing: Vec<&'static str> = LABELS.into_iter().filter(is_absent).collect();
        let is_known =
            |name: &&str| schema.rules().any(|rule| rule.dataset.names().any(|known| known == *name));
        if missing.is_empty() || !missing.iter().all(is_known) {
            return;
        }
        self.unlabelled += 1;
        for name in missing {
            if !self.missing_labels.contains(&name) {
                self.missing_labels.push(name);
            }
        }
    }

    /// The reason to refuse all fields where none may be replaced.
    pub(crate) fn refusal(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let mut reasons = Vec::new();
        if self.stored > 0 {
            let verb = if self.stored == 1 { "is" } else { "are" };
            reasons.push(format!("{} {verb} in the store already", self.stored));
        }
        if self.repeated > 0 {
            let verb = if self.repeated == 1 { "has" } else { "have" };
            reasons.push(format!("{} {verb} the key of another message", self.repeated));
        }
        Some(format!(
            "--no-replace: of the fields, {}: the first is {first}; nothing was archived{}",
            reasons.join(" and "),
            self.ambiguity()
        ))
    }

    /// The lines to print after all fields are archived.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(first) = self.first.as_ref().filter(|_| self.repeated > 0) {
            lines.push(format!(
                "{} replaced {} of this command under the same key{}: the first is {first}; --no-replace refuses that{}",
                count(self.repeated, "field"),
                if self.repeated == 1 { "another" } else { "others" },
                if self.differing == 0 { ", each with the same bytes" } else { "" },
                self.ambiguity()
            ));
        }
        if self.unlabelled > 0 {
            let names: Vec<&str> =
                LABELS.into_iter().filter(|name| self.missing_labels.contains(name)).collect();
            let example: Vec<String> = names.iter().map(|name| format!("{name}=...")).collect();
            lines.push(format!(
                "{} without {}, archived under the schema's rule for such fields: set them with --key {}",
                count(self.unlabelled, "field"),
                names.join(", "),
                example.join(","),
            ));
        }
        lines
    }

    /// The part of a message that explains equal keys of different messages.
    fn ambiguity(&self) -> String {
        let Some(eccodes) = Eccodes::load().ok().filter(|_| self.is_ambiguous) else { return String::new() };
        ambiguity_of(&eccodes.version(), eccodes.newer().as_deref())
    }
}

/// Names the release of ecCodes that has the same key for different messages, and the remedies.
fn ambiguity_of(version: &str, newer: Option<&str>) -> String {
    let problem = format!("; the messages differ, and ecCodes {version} has no key that distinguishes them");
    match newer {
        Some(newer) => {
            format!("{problem}: a newer ecCodes may ({newer} is known), or set --key for each file")
        }
        None => format!("{problem}: set --key for each file"),
    }
}

/// A digest of a key in canonical form. With 128 bits, a collision within a command is out of the question.
fn digest(split: &SplitKey) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        for key in [&split.dataset, &split.collocation, &split.element] {
            key.slots().for_each(|slot| slot.hash(&mut hasher));
        }
        u128::from(hasher.finish())
    };
    (half(0) << 64) | half(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(fields: &[(&str, &[u8])]) -> Audit {
        let mut audit = Audit::default();
        for (key, bytes) in fields {
            audit.add(&Schema::standard(), &key.parse().unwrap(), bytes, None);
        }
        audit
    }

    const KEY: &str =
        "class=od,expver=1,stream=oper,date=20240101,time=0,type=fc,levtype=sfc,step=0,param=167";

    /// [`KEY`] in canonical form.
    const CANONICAL: &str =
        "class=od,expver=0001,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,step=0,param=167";

    #[test]
    fn an_ambiguity_names_the_release_of_eccodes_and_a_newer_one_if_known() {
        let line = ambiguity_of("2.28.0", Some("2.50.0"));
        assert!(line.contains("ecCodes 2.28.0 has no key") && line.contains("2.50.0 is known"), "{line}");
        let line = ambiguity_of("2.50.0", None);
        assert!(line.ends_with("has no key that distinguishes them: set --key for each file"), "{line}");
    }

    #[test]
    fn repeated_keys_are_counted_in_any_spelling_and_equal_bytes_are_named() {
        let other = KEY.replace("expver=1", "expver=0001").replace("param=167", "param=2t");
        let found = audit(&[(KEY, b"a"), (&other, b"b"), (&KEY.replace("step=0", "step=6"), b"a")]);
        let warning = "1 field replaced another of this command under the same key: the first is";
        assert_eq!(found.warnings(), [format!("{warning} {CANONICAL}; --no-replace refuses that")]);
        let refusal = "--no-replace: of the fields, 1 has the key of another message: the first is";
        assert_eq!(found.refusal().unwrap(), format!("{refusal} {CANONICAL}; nothing was archived"));

        let lines = audit(&[(KEY, b"a"), (KEY, b"a"), (KEY, b"a")]).warnings();
        assert!(lines[0].starts_with("2 fields replaced others"), "{lines:?}");
        assert!(lines[0].contains(", each with the same bytes: "), "{lines:?}");
        assert!(audit(&[(KEY, b"a")]).warnings().is_empty());
    }

    #[test]
    fn eccodes_is_named_only_if_the_messages_have_the_same_own_key() {
        let (key, other): (Key, Key) = (KEY.parse().unwrap(), "step=6".parse().unwrap());
        for (second, expected) in [(&key, true), (&other, false)] {
            let mut audit = Audit::default();
            audit.add(&Schema::standard(), &key, b"one", Some(OwnKey::of(&key)));
            audit.add(&Schema::standard(), &key, b"other", Some(OwnKey::of(second)));
            assert_eq!((audit.repeated, audit.is_ambiguous), (1, expected), "{second}");
        }
    }

    #[test]
    fn fields_without_labels_are_counted_if_the_schema_has_labels() {
        let bare = "date=20240101,time=0,levtype=sfc,step=3,param=tp";
        assert_eq!(
            audit(&[(bare, b"a"), (KEY, b"a")]).warnings(),
            [
                "1 field without class, expver, stream, archived under the schema's rule for such fields: set them with \
              --key class=...,expver=...,stream=..."
            ]
        );
        let schema = Schema::parse("[ date [ type? [ step, param ]]]").unwrap();
        let mut audit = Audit::default();
        audit.add(&schema, &"date=20240101,step=0,param=t".parse().unwrap(), b"", None);
        assert_eq!(audit.unlabelled, 0);
    }
}
