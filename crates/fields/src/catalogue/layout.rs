//! The layout of catalogue and store in the object model. `docs/field-layout.md` specifies it; this file is its code.
//!
//! - A catalogue pool has the container `root` with four key-value objects: 0.0 the datasets, 0.1 the controls, 0.2 the
//!   settings, 0.3 the snapshots. The root is small, so checking a lock or finding a dataset never replays a dataset's
//!   history.
//! - A dataset has one container in the catalogue pool and one with the same label in the store pool (the same one if
//!   the pools are the same). It contains the dataset object 0.0, and for each collocation an index, a history, jump
//!   indexes and an axis for each key of its elements, named by the MD5 of their text. So racing writers agree on the
//!   names without communication.
//! - A field's bytes are one array. The container allocates each id range once.
//!
//! What must stay true: archiving only puts and never reads, so repeating a put changes nothing. Within a flush the
//! collocation entry and the axis values precede the index entries that need them.

use std::{
    hash::{BuildHasher, RandomState},
    process,
};

use isotach_mars::Key;
use isotach_object::{Label, ObjectClass, ObjectId, ObjectType};
use md5::{Digest, Md5};

use crate::{Error, Result, sync::now_us};

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

/// The root's object that holds the snapshots of the store.
pub(crate) const SNAPSHOTS: ObjectId = named_kv(0, 3);

/// The object of a dataset's container that describes it and lists its collocations.
pub(crate) const DATASET: ObjectId = named_kv(0, 0);

/// Entries of [`DATASET`] that describe the dataset. A collocation's entry begins with [`COLLOCATION`], so the two
/// kinds cannot collide.
pub(crate) const ENTRY_KEY: &[u8] = b"key";
/// The schema in force when the dataset was created.
pub(crate) const ENTRY_SCHEMA: &[u8] = b"schema";
/// The record with which the dataset was first listed.
pub(crate) const ENTRY_RECORD: &[u8] = b"record";
/// Set by a wipe before it removes the dataset, which is still listed then.
pub(crate) const ENTRY_WIPED: &[u8] = b"wiped";
/// Set by a sweep that considers the creation abandoned, before the dataset was listed.
pub(crate) const ENTRY_ABANDONED: &[u8] = b"abandoned";
/// Changed by each transaction.
pub(crate) const ENTRY_TRANSACTION: &[u8] = b"transaction";
/// Changed before a purge destroys arrays in another container.
pub(crate) const ENTRY_PURGE: &[u8] = b"purge";
/// Changed each time that others end wipes of collocations. Also in the store's container.
pub(crate) const ENTRY_FENCE: &[u8] = b"fence";
/// The first byte of a collocation's entry.
pub(crate) const COLLOCATION: u8 = b':';

/// The first byte of the mark of a collocation of which fields were deleted.
const DELETIONS: u8 = b'-';

/// The key for an empty text, because keys cannot be empty. No escaped value is `:`.
const EMPTY: &str = ":";

/// The most characters of a text in a numbered label: 17 characters less than a label may have.
const LABEL_VALUES: usize = 110;

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

/// The array object of a field. The container allocates the ids. The incarnation identifies the dataset of an array
/// that is found by itself.
pub(crate) fn array_of(incarnation: u64, id: u64) -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, incarnation as u32, id)
}

/// The text of a level key with its names: the values as [`Key::values_joined`] writes them, a space, the names. Two
/// keys with different names never have the same text.
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

/// The text of a collocation: its key with its names, a space, and the names of its elements. Collocations with
/// different element names are different.
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

/// The names of a level key, from their joined text.
pub(crate) fn split_names(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').filter(|name| !name.is_empty())
}

/// A joined text as the key of a key-value object.
pub(crate) fn kv_key(text: &str) -> &str {
    if text.is_empty() { EMPTY } else { text }
}

/// The key of the mark of a collocation of which fields were deleted, in [`DATASET`].
pub(crate) fn deletions_key(collocation: &str) -> Vec<u8> {
    [&[DELETIONS], collocation.as_bytes()].concat()
}

/// The joined text of an index key of elements with `names` keys.
pub(crate) fn element_of_kv_key(key: &[u8], names: usize) -> Option<&str> {
    let text = std::str::from_utf8(key).ok()?;
    Some(if names <= 1 && text == EMPTY { "" } else { text })
}

/// The escaped value of an axis key.
pub(crate) fn value_of_axis_key(key: &[u8]) -> Option<&str> {
    element_of_kv_key(key, 1)
}

/// A unique number for one incarnation of a dataset, drawn at random, so that stores that share a pool, or a store that
/// replaces another, need no coordination.
pub(crate) fn new_incarnation() -> u64 {
    // The hash keys come from the system. A forked process has its parent's keys, but another process id.
    RandomState::new().hash_one((process::id(), now_us()))
}

/// The label of the containers of one incarnation: the values of its key as far as a label can hold them, for users to
/// read, and the incarnation, which makes it unique.
pub(crate) fn label_of(dataset: &Key, incarnation: u64) -> Result<Label> {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._:-".contains(c) { c } else { '_' };
    let values: String = dataset.values_joined().chars().take(LABEL_VALUES).map(allowed).collect();
    let values = values.trim_start_matches(['.', '-']);
    numbered_label(if values.is_empty() { "dataset" } else { values }, incarnation)
}

/// A label from the beginning of a text and a number.
pub(crate) fn numbered_label(text: &str, number: u64) -> Result<Label> {
    let text: String = text.chars().take(LABEL_VALUES).collect();
    format!("{text}-{number:016x}").parse().map_err(Error::Object)
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
    fn a_label_begins_with_the_values_and_ends_with_the_incarnation() {
        let plain = key(&[("class", "od"), ("expver", "0001"), ("domain", "")]);
        assert_eq!(label_of(&plain, 0xab).unwrap().as_str(), "od:0001:-00000000000000ab");
        for (odd, expected) in [("..", "dataset"), ("o/d \u{e9}", "o_2Fd__"), (ROOT, ROOT), ("", "dataset")] {
            let label = label_of(&key(&[("class", odd)]), u64::MAX).unwrap();
            assert_eq!(label.as_str(), format!("{expected}-ffffffffffffffff"));
        }
        let long = label_of(&key(&[("class", &"x".repeat(300))]), 0).unwrap();
        assert_eq!(long.as_str(), format!("{}-{:016}", "x".repeat(110), 0));
    }

    #[test]
    fn no_two_datasets_have_the_same_incarnation() {
        let lives: std::collections::HashSet<u64> = (0..1000).map(|_| new_incarnation()).collect();
        assert_eq!(lives.len(), 1000);
    }
}
