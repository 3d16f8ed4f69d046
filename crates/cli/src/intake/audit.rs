//! What a command that takes in messages should tell of them: which replaced another of the same command, and which lack
//! the labels of MARS.
//!
//! What must stay true: a digest is kept for each field, a few dozen bytes, however long its key.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
};

use isotach_fields::crc32c;
use isotach_grib::Eccodes;
use isotach_mars::{Key, Schema, SplitKey};

use crate::output::count;

/// What names whose a field is. A field without them can be filed, but few would look for it so.
const LABELS: [&str; 3] = ["class", "expver", "stream"];

/// What was noticed.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// The fields so far, by a digest of the key.
    fields: HashMap<u128, Seen>,
    /// Fields that came again.
    pub(crate) again: u64,
    /// How many of them had other bytes.
    other_bytes: u64,
    /// Whether what ecCodes says of two messages was not enough to tell them apart.
    by_eccodes: bool,
    /// Fields that are in the store already, where that was looked at.
    there: u64,
    /// The first field that would be replaced, or was.
    first: Option<Key>,
    /// Fields without all of [`LABELS`].
    pub(crate) unlabelled: u64,
    missing_labels: Vec<&'static str>,
}

/// A field that was noted.
#[derive(Debug, Clone, Copy)]
struct Seen {
    checksum: u32,
    own: Option<OwnKey>,
}

/// A digest of the key that a message carries, before anything that was typed changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnKey(u64);

impl OwnKey {
    pub(crate) fn of(key: &Key) -> Self {
        let mut hasher = DefaultHasher::new();
        key.to_string().hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Noticed {
    /// Notes a field. `own` is of the message's own key, if it is a message.
    pub(crate) fn field(&mut self, schema: &Schema, key: &Key, bytes: &[u8], own: Option<OwnKey>) {
        // What does not fit the schema is refused by the store.
        let Ok(split) = schema.split(key) else { return };
        self.labels(schema, &split);
        let seen = Seen { checksum: crc32c(bytes), own };
        match self.fields.entry(digest(&split)) {
            Entry::Vacant(entry) => {
                entry.insert(seen);
            }
            Entry::Occupied(mut entry) => {
                let before = entry.insert(seen);
                let differs = before.checksum != seen.checksum;
                self.again += 1;
                self.other_bytes += u64::from(differs);
                self.by_eccodes |= differs && own.is_some() && own == before.own;
                self.first.get_or_insert_with(|| whole(&split));
            }
        }
    }

    /// Whether a field with this key was noted.
    pub(crate) fn has(&self, schema: &Schema, key: &Key) -> bool {
        schema.split(key).is_ok_and(|split| self.fields.contains_key(&digest(&split)))
    }

    /// Notes that a field is in the store already.
    pub(crate) fn is_there(&mut self, schema: &Schema, key: &Key) {
        self.there += 1;
        let named = || schema.split(key).map_or_else(|_| key.clone(), |split| whole(&split));
        self.first.get_or_insert_with(named);
    }

    /// Notes which labels a field lacks, where the schema has a place for them.
    fn labels(&mut self, schema: &Schema, split: &SplitKey) {
        let lacks = |name: &&str| split.dataset.get(name).is_none_or(str::is_empty);
        let missing: Vec<&'static str> = LABELS.into_iter().filter(lacks).collect();
        let names_them =
            |name: &&str| schema.rules().any(|rule| rule.dataset.names().any(|known| known == *name));
        if missing.is_empty() || !missing.iter().all(names_them) {
            return;
        }
        self.unlabelled += 1;
        self.missing_labels.extend(
            missing.iter().filter(|name| !self.missing_labels.contains(name)).copied().collect::<Vec<_>>(),
        );
    }

    /// Why nothing may be taken in, where nothing may be replaced.
    pub(crate) fn refusal(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let mut reasons = Vec::new();
        if self.there > 0 {
            reasons.push(format!("{} in the store already", is_are(self.there)));
        }
        if self.again > 0 {
            reasons.push(format!("{} the key of another message", has_have(self.again)));
        }
        let age = self.age().map(|age| format!("; {age}")).unwrap_or_default();
        Some(format!(
            "--no-replace: of the fields, {}: the first is {first}; nothing was taken in{age}",
            reasons.join(" and ")
        ))
    }

    /// The lines to tell after all was taken in.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(first) = self.first.as_ref().filter(|_| self.again > 0) {
            let bytes = match self.other_bytes {
                0 => ", each with the same bytes",
                _ => "",
            };
            let age = self.age().map(|age| format!("; {age}")).unwrap_or_default();
            lines.push(format!(
                "{} replaced {} of this command under the same key{bytes}: the first is {first}; --no-replace refuses \
                 that{age}",
                count(self.again, "field"),
                if self.again == 1 { "another" } else { "others" },
            ));
        }
        if self.unlabelled > 0 {
            let names: Vec<&str> =
                LABELS.into_iter().filter(|name| self.missing_labels.contains(name)).collect();
            let example: Vec<String> = names.iter().map(|name| format!("{name}=...")).collect();
            lines.push(format!(
                "{} without {}, filed under a rule of the schema for such: --key {} gives what is missing",
                count(self.unlabelled, "field"),
                names.join(", "),
                example.join(","),
            ));
        }
        lines
    }

    /// What ecCodes has to do with messages that differ under one key.
    fn age(&self) -> Option<String> {
        let eccodes = Eccodes::load().ok().filter(|_| self.by_eccodes)?;
        Some(age_of(&eccodes.version(), eccodes.newer().as_deref()))
    }
}

/// Says that this release of ecCodes cannot tell messages apart, and what can.
fn age_of(version: &str, newer: Option<&str>) -> String {
    let what = format!("the messages differ, and ecCodes {version} gives no key that tells them apart");
    match newer {
        Some(newer) => format!("{what}: a newer one may ({newer} is known), or --key for each file"),
        None => format!("{what}: --key for each file does"),
    }
}

fn is_are(number: u64) -> String {
    format!("{number} {}", if number == 1 { "is" } else { "are" })
}

fn has_have(number: u64) -> String {
    format!("{number} {}", if number == 1 { "has" } else { "have" })
}

/// The whole key in canonical form, in the order of the schema.
fn whole(split: &SplitKey) -> Key {
    let mut whole = split.dataset.clone();
    [&split.collocation, &split.element].into_iter().for_each(|level| whole.extend_from(level));
    whole
}

/// A digest of a key in canonical form. With 128 bits no two keys of a command ever have the same.
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

    fn noticed(fields: &[(&str, &[u8])]) -> Noticed {
        let mut noticed = Noticed::default();
        let schema = Schema::standard();
        for (key, bytes) in fields {
            noticed.field(&schema, &key.parse().unwrap(), bytes, None);
        }
        noticed
    }

    const KEY: &str =
        "class=od,expver=1,stream=oper,date=20240101,time=0,type=fc,levtype=sfc,step=0,param=167";

    /// [`KEY`] in canonical form.
    const SHOWN: &str =
        "class=od,expver=0001,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,step=0,param=167";

    #[test]
    fn the_release_of_eccodes_is_named_with_a_newer_one_where_that_is_known() {
        let told = age_of("2.28.0", Some("2.50.0"));
        assert!(told.contains("ecCodes 2.28.0 gives no key") && told.contains("2.50.0 is known"), "{told}");
        assert!(
            age_of("2.50.0", None)
                .ends_with("ecCodes 2.50.0 gives no key that tells them apart: --key for each file does")
        );
    }

    #[test]
    fn a_field_that_came_again_is_counted_however_its_key_is_spelled() {
        let other = KEY.replace("expver=1", "expver=0001").replace("param=167", "param=2t");
        let noticed = noticed(&[(KEY, b"a"), (&other, b"b"), (&KEY.replace("step=0", "step=6"), b"a")]);
        assert_eq!(
            noticed.lines(),
            [format!(
                "1 field replaced another of this command under the same key: the first is {SHOWN}; --no-replace refuses \
                 that"
            )]
        );
        assert_eq!(
            noticed.refusal().unwrap(),
            format!(
                "--no-replace: of the fields, 1 has the key of another message: the first is {SHOWN}; nothing was taken in"
            )
        );
    }

    #[test]
    fn the_same_message_twice_is_told_as_such() {
        let lines = noticed(&[(KEY, b"a"), (KEY, b"a"), (KEY, b"a")]).lines();
        assert!(lines[0].starts_with("2 fields replaced others"), "{lines:?}");
        assert!(lines[0].contains(", each with the same bytes: "), "{lines:?}");
        assert!(noticed(&[(KEY, b"a")]).lines().is_empty());
    }

    #[test]
    fn eccodes_is_named_only_where_the_messages_own_keys_are_alike() {
        let schema = Schema::standard();
        let (key, other): (Key, Key) = (KEY.parse().unwrap(), "step=6".parse().unwrap());
        for (second, expected) in [(&key, true), (&other, false)] {
            let mut noticed = Noticed::default();
            noticed.field(&schema, &key, b"one", Some(OwnKey::of(&key)));
            noticed.field(&schema, &key, b"other", Some(OwnKey::of(second)));
            assert_eq!((noticed.again, noticed.by_eccodes), (1, expected), "{second}");
        }
    }

    #[test]
    fn fields_without_labels_are_counted_with_what_to_give() {
        let bare = "date=20240101,time=0,levtype=sfc,step=3,param=tp";
        let lines = noticed(&[(bare, b"a"), (KEY, b"a")]).lines();
        assert_eq!(
            lines,
            ["1 field without class, expver, stream, filed under a rule of the schema for such: --key \
              class=...,expver=...,stream=... gives what is missing"]
        );
        let own = Schema::parse("[ date [ type? [ step, param ]]]").unwrap();
        let mut noticed = Noticed::default();
        noticed.field(&own, &"date=20240101,step=0,param=t".parse().unwrap(), b"", None);
        assert_eq!(noticed.unlabelled, 0, "a schema without labels asks for none");
    }
}
