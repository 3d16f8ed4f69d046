//! When readers see fields.

use isotach_fields::{FieldStore, ListOptions, MessageKey};
use isotach_mars::Key;

use crate::layouts::{Layout, archive, bytes_of, everywhere, field, listed, named, request_like, with};

fn one(store: &FieldStore, step: &str) -> Option<Vec<u8>> {
    store.retrieve_one(&field(step, "130")).unwrap().map(Vec::from)
}

#[test]
fn a_field_is_not_visible_before_flush_and_visible_after_it_to_readers_already_open() {
    for (_layout, [writer, reader]) in everywhere(Layout::two_handles) {
        archive(&writer, &[(field("0", "130"), b"zero")]);
        assert_eq!(one(&reader, "0").unwrap(), b"zero");
        for step in ["6", "12"] {
            writer.archive(&field(step, "130"), step.as_bytes()).unwrap();
            assert!(writer.is_dirty());
            assert!(one(&reader, step).is_none() && one(&writer, step).is_none());
            assert!(!listed(&reader, "class=od").iter().any(|key| key.contains(&format!("step={step}"))));
            writer.flush().unwrap();
            assert!(!writer.is_dirty());
            assert_eq!(one(&reader, step).unwrap(), step.as_bytes());
            assert!(listed(&reader, "class=od").iter().any(|key| key.contains(&format!("step={step}"))));
        }
    }
}

#[test]
fn a_dataset_made_after_a_reader_has_looked_for_it_is_seen() {
    for (_layout, [writer, reader]) in everywhere(Layout::two_handles) {
        assert!(one(&reader, "0").is_none());
        assert!(listed(&reader, "class=od").is_empty());
        archive(&writer, &[(field("0", "130"), b"zero")]);
        assert_eq!(one(&reader, "0").unwrap(), b"zero");
        assert_eq!(listed(&reader, "class=od").len(), 1);
    }
}

#[test]
fn the_old_field_is_seen_until_the_new_one_is_flushed_and_the_newest_wins() {
    for (_layout, [writer, reader]) in everywhere(Layout::two_handles) {
        archive(&writer, &[(field("0", "130"), b"old")]);
        writer.archive(&field("0", "130"), b"newer").unwrap();
        writer.archive(&field("0", "t"), b"newest").unwrap();
        assert_eq!(one(&reader, "0").unwrap(), b"old");
        writer.flush().unwrap();
        assert_eq!(one(&reader, "0").unwrap(), b"newest");
        assert_eq!(listed(&reader, "class=od").len(), 1);

        let request = "class=od".parse().unwrap();
        let all = reader.list(&request, ListOptions { duplicates: true }).unwrap();
        let mut all: Vec<(bool, Vec<u8>)> = all
            .map(|listed| listed.unwrap())
            .map(|listed| (listed.is_replaced(), reader.read(listed.location()).unwrap().into_vec()))
            .collect();
        all.sort();
        let old = |bytes: &[u8]| (true, bytes.to_vec());
        assert_eq!(all, [(false, b"newest".to_vec()), old(b"newer"), old(b"old")]);
    }
}

#[test]
fn what_was_not_flushed_is_gone_with_its_handle() {
    for (layout, writer) in everywhere(Layout::store) {
        writer.archive(&field("0", "130"), b"zero").unwrap();
        drop(writer);
        assert!(one(&layout.store(), "0").is_none());
        assert!(listed(&layout.store(), "class=od").is_empty());
    }
}

#[test]
fn more_datasets_than_are_kept_open_are_all_written() {
    for layout in named([Layout::memory(), Layout::posix()]) {
        let (writer, reader) = (layout.store(), layout.store());
        let key = |at: u32| with(&field("0", "130"), &format!("expver={at}"));
        for at in 0..150 {
            writer.archive(&key(at), at.to_string().as_bytes()).unwrap();
        }
        writer.archive(&key(0), b"again").unwrap();
        writer.flush().unwrap();
        let all = format!("expver={}", (0..150).map(|at| at.to_string()).collect::<Vec<_>>().join("/"));
        let found = bytes_of(&reader, &request_like(&field("0", "130"), &all));
        assert_eq!((found.len(), &*found[0], &*found[149]), (150, &b"again"[..], &b"149"[..]));
    }
}

#[test]
fn fields_of_any_size_come_back_byte_for_byte() {
    for (_layout, store) in everywhere(Layout::store) {
        let sizes = [0_usize, 1, 4095, 4096, 1 << 20, (20 << 20) + 3];
        let data = |size: usize| -> Vec<u8> { (0..size).map(|at| (at * 7 + size) as u8).collect() };
        for (step, size) in sizes.iter().enumerate() {
            store.archive(&field(&step.to_string(), "130"), &data(*size)).unwrap();
        }
        store.flush().unwrap();
        let found = bytes_of(&store, &request_like(&field("0", "130"), "step=0/to/5/by/1"));
        assert_eq!(found.len(), sizes.len());
        assert!(found.iter().zip(sizes).all(|(found, size)| *found == data(size)));
    }
}

/// Messages whose text begins with their key.
struct Labelled;

impl MessageKey for Labelled {
    fn key(&self, message: &[u8]) -> Result<Key, Box<dyn std::error::Error + Send + Sync>> {
        let text = std::str::from_utf8(message)?;
        let (key, _) = text.split_once('|').ok_or("no key in front")?;
        Ok(key.parse()?)
    }
}

#[test]
fn a_message_is_archived_under_the_key_that_it_carries() {
    let store = Layout::memory().store();
    let message = format!("{}|data", field("0", "t"));
    let key = store.archive_message(&Labelled, message.as_bytes()).unwrap();
    let error = store.archive_message(&Labelled, b"no message").unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("message", "no key in front"));
    store.flush().unwrap();
    assert_eq!(store.retrieve_one(&key).unwrap().unwrap(), message.as_bytes());
    assert_eq!(listed(&store, "").len(), 1);
}
