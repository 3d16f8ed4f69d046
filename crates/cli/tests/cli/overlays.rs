//! `isotach overlay`: messages that are shown under another key.

use isotach_grib::message_key;

use crate::support::{MESSAGE, Store, archived_messages, field, messages, same_bytes};

const BELOW: &str = "class=rd,expver=test,stream=oper,date=20240101,time=0,domain=g";
const SHOWN: &str = "class=od,expver=1,stream=oper,date=20240101,time=0,domain=g";

fn shown(step: &str) -> String {
    format!("{MESSAGE},step={step}").replace("class=rd,expver=test", "class=od,expver=1")
}

/// The value of a key in a message.
fn value(message: &[u8], name: &str) -> String {
    let key = message_key(message).unwrap();
    key.into_iter().find(|(known, _)| known == name).map(|(_, value)| value).unwrap_or_default()
}

#[test]
fn a_message_below_an_overlay_is_read_with_the_key_of_the_overlay() {
    let Some((good, store)) = archived_messages(2) else { return };
    let said = store.ok(["overlay", BELOW, SHOWN]);
    assert_eq!(said.text(), format!("{SHOWN} shows {BELOW}\n"));
    let read = store.read(&shown("6"));
    assert_eq!((value(&read, "class"), value(&read, "expver")), ("od".to_owned(), "0001".to_owned()));
    assert_eq!((value(&read, "step"), read.len()), ("6".to_owned(), good[1].len()));
    assert_eq!(store.count(), 4);
    same_bytes(&store.read(&format!("{MESSAGE},step=0/6")), &good.concat());
    store.ok(["status", "class=od", "--json"]).shows(&[r#""overlays":[{"class":"rd","expver":"test""#]);
    store.ok(["dump", "class=od"]).shows(&["\n  overlays  class=rd,expver=test,"]);
    store.ok(["overlay", "--remove", BELOW, SHOWN]);
    assert_eq!(store.count(), 2);
}

#[test]
fn an_overlay_refuses_a_key_that_the_message_cannot_carry() {
    let Some((_, store)) = archived_messages(1) else { return };
    let long = SHOWN.replace("expver=1", "expver=toolong");
    store.ok(["overlay", BELOW, &long]);
    let request = shown("0").replace("expver=1", "expver=toolong");
    let said = store.try_read(&request);
    assert!(said.out.is_empty(), "{said:?}");
    said.fails_with(1, &["expver=toolong", "shown by an overlay, and cannot be given its key"]);
}

#[test]
fn an_overlay_refuses_a_field_that_is_no_message() {
    let Some(_) = messages(1) else { return };
    let store = Store::with_field(6, b"no message");
    let below = "class=rd,expver=test,stream=oper,date=20240101,time=0";
    let over = below.replace("expver=test", "expver=over");
    store.ok(["overlay", "--variable-keys", "expver", below, &over]);
    let request = field(6).replace("expver=test", "expver=over");
    let said = store.try_read(&request);
    assert!(said.out.is_empty(), "{said:?}");
    said.fails_with(1, &["expver=over", "cannot be given its key", "not one whole GRIB message"]);
}

#[test]
fn an_overlay_with_a_forbidden_difference_is_refused_with_the_key() {
    let Some((_, store)) = archived_messages(1) else { return };
    let said = store.run(["overlay", BELOW, &SHOWN.replace("20240101", "20240102")]);
    said.fails_with(2, &["date=20240102", "only class, expver may differ"]);
    let said = store.run(["overlay", &BELOW.replace("test", "none"), SHOWN]);
    said.fails_with(1, &["dataset class=rd,expver=none", "does not exist"]);
    store.ok(["overlay", BELOW, SHOWN]);
    let said = store.run(["overlay", BELOW, SHOWN]);
    said.fails_with(1, &["dataset class=od,expver=0001", "force the overlay"]);
    store.ok(["wipe", "class=rd", "--doit"]);
    let parts =
        ["is an overlay of class=rd,expver=test", "is not there", "isotach overlay class=rd,expver=test"];
    store.run(["list", "class=od"]).fails_with(1, &parts);
}
