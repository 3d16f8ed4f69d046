//! Where everything stands in the object model. `docs/field-layout.md` specifies it; this file is its code.
//!
//! - A catalogue pool has the container `root` with three key-value objects: 0.0 the datasets, 0.1 the controls, 0.2
//!   the settings. It is small, so checking a lock or finding a dataset never replays a dataset's history.
//! - A dataset has one container in the catalogue pool and one of the same label in the store pool (the same one when
//!   the pools are the same). In it: the dataset object 0.0, and for each collocation an index, a history and an axis
//!   for each key of its elements, named by the MD5 of their text. Racing writers so agree on the names without asking.
//! - A field's bytes are one array, whose id comes from a range that the container hands out once.
//!
//! What must stay true: archiving only puts, never reads, so that the same put twice is the same as once; within one
//! flush the collocation entry and the axis values come before the index entries that need them.

use isotach_mars::Key;
use isotach_object::{Label, ObjectClass, ObjectId, ObjectType};
use md5::{Digest, Md5};

use crate::{Error, Result};

/// The container of a catalogue pool that lists its datasets.
pub(crate) const ROOT: &str = "root";

/// The version of everything this layer writes. A store with a newer one is refused.
pub(crate) const VERSION: u32 = 1;

/// The root's object that maps a dataset's text to its record.
pub(crate) const DATASETS: ObjectId = named_kv(0, 0);

/// The root's object that holds the locks.
pub(crate) const CONTROLS: ObjectId = named_kv(0, 1);

/// The root's object that holds the version and the schema of the store.
pub(crate) const SETTINGS: ObjectId = named_kv(0, 2);

/// The object of a dataset's container that describes it and lists its collocations.
pub(crate) const DATASET: ObjectId = named_kv(0, 0);

/// Entries of [`DATASET`] that describe the dataset. A collocation's entry begins with [`COLLOCATION`], so that the two
/// kinds never meet.
pub(crate) const ENTRY_KEY: &[u8] = b"key";
/// The schema in force when the dataset was made.
pub(crate) const ENTRY_SCHEMA: &[u8] = b"schema";
/// The format version, the incarnation and the time of creation.
pub(crate) const ENTRY_VERSION: &[u8] = b"version";
/// The rule that made the dataset.
pub(crate) const ENTRY_RULE: &[u8] = b"rule";
/// There from the moment a wipe begins: the container is not to be used again.
pub(crate) const ENTRY_WIPED: &[u8] = b"wiped";
/// The first byte of a collocation's entry.
pub(crate) const COLLOCATION: u8 = b':';

/// How an empty text is written as a key of a key-value object, which cannot be empty. No escaped value is `:`.
const EMPTY: &str = ":";

/// The longest part of a dataset's text that goes into a label with a digest.
const LABEL_PREFIX: usize = 60;

const fn named_kv(hi: u32, lo: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, hi, lo)
}

/// The key-value object that this text names: 96 bits of its MD5.
pub(crate) fn kv_of(text: &str, purpose: &str) -> ObjectId {
    let mut digest = Md5::new();
    digest.update(text);
    if !purpose.is_empty() {
        digest.update([0]);
        digest.update(purpose);
    }
    let digest: [u8; 16] = digest.finalize().into();
    let (hi, lo) = (digest.first_chunk::<4>(), digest[4..].first_chunk::<8>());
    named_kv(hi.map_or(0, |b| u32::from_le_bytes(*b)), lo.map_or(0, |b| u64::from_le_bytes(*b)))
}

/// The array object of a field. A dataset that was wiped and made again hands out the same ids once more, but as another
/// incarnation: a location of the wiped one never names a field of the new one.
pub(crate) fn array_of(incarnation: u64, id: u64) -> ObjectId {
    // The low half tells apart four thousand million lives of one dataset.
    ObjectId::new(ObjectType::Array, ObjectClass::S1, incarnation as u32, id)
}

/// MD5 of a text, to compare schemas without carrying them.
pub(crate) fn digest_of(text: &str) -> [u8; 16] {
    Md5::digest(text).into()
}

/// The text of a level key with its names: the values as [`Key::values_joined`] writes them, a space, the names.
/// Two keys of other names never have the same text, whatever their values.
pub(crate) fn named_text(key: &Key) -> String {
    let mut text = String::with_capacity(96);
    push_named_text(&mut text, key);
    text
}

/// [`named_text`] into a buffer of the caller's.
pub(crate) fn push_named_text(out: &mut String, key: &Key) {
    key.values_joined_into(out);
    out.push(' ');
    push_names(out, key);
}

/// The names of a level key, joined by commas.
pub(crate) fn push_names(out: &mut String, key: &Key) {
    for (at, (name, _)) in key.slots().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(name);
    }
}

/// Reads [`named_text`] back.
pub(crate) fn parse_named_text(text: &str) -> Option<Key> {
    let (values, names) = text.rsplit_once(' ')?;
    Key::from_joined(split_names(names), values)
}

/// The text of a collocation: its key with its names, a space, and the names of its elements. A collocation whose
/// elements have other names is another one.
pub(crate) fn push_collocation_text(out: &mut String, collocation: &Key, element: &Key) {
    push_named_text(out, collocation);
    out.push(' ');
    push_names(out, element);
}

/// Reads a collocation's text back: its key and the names of its elements.
pub(crate) fn parse_collocation_text(text: &str) -> Option<(Key, Vec<Box<str>>)> {
    let (key, elements) = text.rsplit_once(' ')?;
    Some((parse_named_text(key)?, split_names(elements).map(Into::into).collect()))
}

fn split_names(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').filter(|name| !name.is_empty())
}

/// A joined text as the key of a key-value object.
pub(crate) fn kv_key(text: &str) -> &str {
    if text.is_empty() { EMPTY } else { text }
}

/// The joined text that stands in the index of elements with `names` many keys.
pub(crate) fn element_of_kv_key(key: &[u8], names: usize) -> Option<&str> {
    let text = std::str::from_utf8(key).ok()?;
    Some(if names <= 1 && text == EMPTY { "" } else { text })
}

/// The escaped value that an axis's entry stands for.
pub(crate) fn value_of_axis_key(key: &[u8]) -> Option<&str> {
    element_of_kv_key(key, 1)
}

/// The label of a dataset's container. `attempt` counts the labels that another dataset or a wiped container holds.
pub(crate) fn label_of(dataset: &Key, attempt: u32) -> Result<Label> {
    let joined = dataset.values_joined();
    let suffix = if attempt == 0 { String::new() } else { format!("-{}", attempt + 1) };
    if joined != ROOT
        && let Ok(label) = format!("{joined}{suffix}").parse::<Label>()
    {
        return Ok(label);
    }
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._:-".contains(c) { c } else { '_' };
    let prefix: String = joined.chars().take(LABEL_PREFIX).map(allowed).collect();
    let digest =
        digest_of(&named_text(dataset)).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let label = format!("{}-{digest}{suffix}", prefix.trim_start_matches('.'));
    label.parse().map_err(Error::Object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pairs: &[(&str, &str)]) -> Key {
        pairs.iter().copied().collect()
    }

    #[test]
    fn the_text_of_a_key_reads_back_whatever_its_values_hold() {
        let odd = key(&[("class", "o d"), ("expver", ""), ("quantile", "1:10/x%")]);
        let back = parse_named_text(&named_text(&odd)).unwrap();
        assert_eq!(back.slots().collect::<Vec<_>>(), odd.slots().collect::<Vec<_>>());
        assert!(parse_named_text(&named_text(&Key::new())).unwrap().is_empty());
    }

    #[test]
    fn keys_with_other_names_have_other_texts() {
        assert_ne!(named_text(&key(&[("a", "1"), ("b", "2")])), named_text(&key(&[("a", "1"), ("c", "2")])));
        let (mut first, mut second) = (String::new(), String::new());
        push_collocation_text(&mut first, &key(&[("type", "fc")]), &key(&[("step", "0")]));
        push_collocation_text(&mut second, &key(&[("type", "fc")]), &key(&[("number", "0")]));
        assert_ne!(kv_of(&first, ""), kv_of(&second, ""));
        let (back, names) = parse_collocation_text(&first).unwrap();
        assert_eq!((back.get("type"), &*names[0]), (Some("fc"), "step"));
    }

    #[test]
    fn an_empty_element_is_a_key_all_the_same() {
        assert_eq!(element_of_kv_key(kv_key("").as_bytes(), 1), Some(""));
        assert_eq!(element_of_kv_key(b":", 2), Some(":"));
        assert_eq!(element_of_kv_key(kv_key("6:130").as_bytes(), 2), Some("6:130"));
    }

    #[test]
    fn a_label_is_the_values_where_they_can_be_one_and_a_digest_where_not() {
        let plain = key(&[("class", "od"), ("expver", "0001"), ("domain", "")]);
        assert_eq!(label_of(&plain, 0).unwrap().as_str(), "od:0001:");
        assert_eq!(label_of(&plain, 1).unwrap().as_str(), "od:0001:-2");
        for odd in ["..", "o/d é", "root", &"x".repeat(300)] {
            let label = label_of(&key(&[("class", odd)]), 0).unwrap();
            assert_ne!(label.as_str(), ROOT);
            assert!(label.as_str().len() > 32, "{label}");
        }
    }
}
