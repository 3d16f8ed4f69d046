//! `write --modify`, filters, `copy --modify` and `read --extract`.

use crate::support::{
    MESSAGE, Said, Store, archived_messages, field, messages, messages_in_file, same_bytes,
};

fn write(store: &Store, flags: &[&str], file: &str) -> Said {
    store.run([&["write"], flags, &[file]].concat())
}

#[test]
fn a_modified_message_is_archived_under_its_new_key() {
    let Some((good, store, file)) = messages_in_file(2) else { return };
    write(&store, &["--modify", "expver=over,type=an"], &file).succeeds();
    let request = format!("{MESSAGE},step=0/6").replace("test", "over").replace("type=fc", "type=an");
    let read = store.read(&request);
    assert_eq!(read.len(), good.concat().len());
    assert!(read != good.concat());
    assert_eq!(store.count(), 2);
}

#[test]
fn a_key_that_cannot_be_set_is_named_with_its_message() {
    let Some((_, store, file)) = messages_in_file(1) else { return };
    let said = write(&store, &["--modify", "nosuchkey=1"], &file);
    said.fails_with(1, &["good.grib: message 1 at byte 0: --modify: ", "set the key nosuchkey to 1"]);
    assert_eq!(store.count(), 0);
    for edits in ["expver", "=1", "expver=", ""] {
        write(&store, &["--modify", edits], &file).exits(2);
    }
}

#[test]
fn modify_refuses_a_field_that_is_no_message() {
    let Some(_) = messages(1) else { return };
    let store = Store::new();
    let file = store.file("raw", b"no message");
    let key = field(0);
    let said = write(&store, &["--key", &key, "--modify", "expver=over"], &file);
    said.fails_with(1, &["raw: --modify: not one whole GRIB message"]);
    assert_eq!(store.count(), 0);
}

#[test]
fn filters_select_messages_by_their_keys() {
    let Some((_, store, file)) = messages_in_file(4) else { return };
    let filters =
        ["--include-filter", "step=0/to/12/by/6", "--exclude-filter", "step=6", "--modify", "expver=over"];
    write(&store, &filters, &file).succeeds().begins("archived 2 fields");
    store.ok(["axes", "--json"]).shows(&[r#""step":["0","12"]"#]);
    let said = write(&store, &["--include-filter", "nosuchkey=1"], &file);
    said.fails_with(2, &["--include-filter: ", "nosuchkey"]);
}

#[test]
fn an_edited_copy_goes_to_the_same_store_or_to_another() {
    let Some((good, store)) = archived_messages(2) else { return };
    let other = Store::new();
    store.ok(["copy", "step=0", "--modify", "expver=over"]);
    store.ok(["copy", "expver=test,step=6", "--modify", "expver=away", "--to", &other.uri()]);
    let of = |expver: &str, step: &str| format!("{MESSAGE},step={step}").replace("test", expver);
    same_bytes(&store.read(&of("test", "0/6")), &good.concat());
    assert_eq!(store.read(&of("over", "0/6")).len(), good[0].len());
    assert_eq!(other.read(&of("away", "0/6")).len(), good[1].len());
    assert_eq!((store.count(), other.count()), (3, 1));
    let said = store.run(["copy", "step=0"]);
    assert!(said.code == Some(2) && said.err.contains("--to"), "{said:?}");
}

#[test]
fn an_edited_copy_of_a_field_that_is_no_message_names_the_field() {
    let Some(_) = messages(1) else { return };
    let store = Store::with_field(6, b"no message");
    let said = store.run(["copy", "step=6", "--modify", "expver=over"]);
    said.fails_with(1, &["field class=rd,expver=test", "step=6", "not one whole GRIB message"]);
    assert_eq!(store.count(), 1);
}

#[test]
fn fields_are_read_by_the_keys_of_a_files_messages() {
    let Some((good, store)) = archived_messages(3) else { return };
    let like = store.file("like.grib", &[&*good[2], &good[0], &good[2]].concat());
    let read = store.run(["read", "--extract", &like, "-o", "-"]);
    same_bytes(&read.succeeds().out, &[&*good[2], &good[0]].concat());
    let cut = store.file("cut.grib", &good[0][..good[0].len() - 1]);
    let said = store.run(["read", "--extract", &cut, "-o", "-"]);
    said.fails_with(1, &["cut.grib: message 1", "is cut short"]);
}

#[test]
fn an_edited_copy_ignores_locks_on_listing_as_any_copy_does() {
    let Some((_, store)) = archived_messages(2) else { return };
    store.ok(["lock", "--list", "class=rd,expver=test"]);
    store.ok(["copy", "expver=test", "--modify", "expver=over"]).begins("copied 2 fields");
    store.ok(["lock", "--retrieve", "class=rd,expver=test"]);
    let said = store.run(["copy", "expver=test", "--modify", "expver=away"]);
    said.fails_with(1, &["expver=test", "locked"]);
}

#[test]
fn an_edited_copy_reports_or_refuses_replaced_fields() {
    let Some((_, store, file)) = messages_in_file(2) else { return };
    store.write(&file).succeeds();
    write(&store, &["--modify", "expver=more"], &file).succeeds();
    let copy = ["copy", "class=rd", "--modify", "expver=once"];
    let said = store.run([&copy[..], &["--no-replace"]].concat());
    said.fails_with(1, &["2 have the key of another message", "expver=once", "nothing was archived"]);
    assert_eq!(store.count(), 4);
    let said = store.ok(copy).begins("copied 4 fields");
    assert!(said.err.contains("2 fields replaced others of this command under the same key"), "{said:?}");
    let again = ["copy", "expver=more", "--modify", "expver=once", "--no-replace"];
    store.run(again).fails_with(1, &["2 are in the store already"]);
}

#[test]
fn excluded_messages_are_counted_and_an_empty_filter_excludes_none() {
    let Some((_, store, file)) = messages_in_file(3) else { return };
    let said = write(&store, &["--exclude-filter", "step=6"], &file).succeeds().shows(&["archived 2 fields"]);
    assert!(said.text().ends_with(", left out 1 message\n"), "{said:?}");
    write(&store, &["--exclude-filter", ""], &file).succeeds().begins("archived 3 fields");
    let said = write(&store, &["--exclude-filter", "area=1"], &file);
    said.fails_with(2, &["--exclude-filter: ", "area"]);
}
