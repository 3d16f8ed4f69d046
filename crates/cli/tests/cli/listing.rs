//! The options of `list`, and `--minimum-keys`.

use crate::support::{KEY, Store};

fn store() -> Store {
    let store = Store::with_field(0, b"first");
    store.write_raw(6, b"second");
    store.write_raw(6, b"second again");
    store
}

const DATASET: &str = "{class=rd,expver=test,stream=oper,date=20240101,time=0000}";

#[test]
fn a_listing_shows_lengths_on_demand() {
    let said = store().ok(["list", "--length"]);
    let lines: Vec<&str> = said.text().lines().collect();
    let head = format!("{DATASET}{{type=fc,levtype=sfc}}");
    let line = |step: u32, length: u32| format!("{head}{{step={step},param=167}}, length={length}");
    assert_eq!(lines, [line(0, 5), line(6, 12)]);
}

#[test]
fn a_porcelain_listing_omits_the_mark_on_replaced_fields() {
    let store = store();
    let listed = |flags: &[&str]| {
        let said = store.ok(["list", "--duplicates"].iter().chain(flags));
        said.text().to_owned()
    };
    assert_eq!(listed(&[]).matches(" (replaced)").count(), 1);
    assert_eq!(listed(&["--porcelain"]), listed(&[]).replace(" (replaced)", ""));
}

#[test]
fn a_listing_shows_datasets_or_collocations_alone() {
    let store = store();
    let other = KEY.replace("levtype=sfc", "levtype=pl,levelist=500");
    store.write_keyed(&format!("{other},step=0"), b"third");
    let listed = |depth: &str| store.ok(["list", "--depth", depth]).text().to_owned();
    assert_eq!(listed("1"), format!("{DATASET}\n"));
    let collocations = listed("2");
    let mut lines: Vec<&str> = collocations.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["pl", "sfc"].map(|levtype| format!("{DATASET}{{type=fc,levtype={levtype}}}")));
    assert_eq!(listed("3").lines().count(), 3);
    assert_eq!(store.run(["list", "--depth", "4"]).code, Some(2));
}

#[test]
fn a_request_without_all_minimum_keys_is_refused() {
    let store = store();
    let message = "the request lacks expver, date, which --minimum-keys requires";
    let least = "--minimum-keys=class, expver,date";
    for command in ["list", "axes", "stats", "purge", "wipe"] {
        store.run([command, least, "class=rd"]).fails(2, message);
    }
    store.run(["lock", "--wipe", least, "class=rd"]).fails(2, message);
    let all = "the request lacks class, expver, date, which --minimum-keys requires";
    store.run(["list", least]).fails(2, all);
    let requests = b"retrieve,class=rd,expver=test,date=20240101\nretrieve,class=rd\n";
    let requests = store.file("requests", requests);
    let said = store.run(["list", least, "-f", &requests]);
    said.fails_with(2, &["requests:2: the request lacks expver, date"]);
    for least in [least, "--minimum-keys="] {
        let said = store.ok(["list", least, "class=rd,expver=test,date=20240101"]);
        assert_eq!(said.lines(), 2);
    }
}
