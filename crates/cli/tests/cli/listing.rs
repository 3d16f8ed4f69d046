//! What `list` shows on demand, and requests that must name some keys.

use crate::support::{KEY, Store};

fn store() -> Store {
    let store = Store::new();
    store.write_raw(0, b"first");
    store.write_raw(6, b"second");
    store.write_raw(6, b"second again");
    store
}

const DATASET: &str = "{class=rd,expver=test,stream=oper,date=20240101,time=0000}";

#[test]
fn a_listing_shows_lengths_on_demand() {
    let said = store().run(["list", "--length"]).succeeds();
    let lines: Vec<&str> = said.text().lines().collect();
    let head = format!("{DATASET}{{type=fc,levtype=sfc}}");
    assert_eq!(
        lines,
        [format!("{head}{{step=0,param=167}}, length=5"), format!("{head}{{step=6,param=167}}, length=12"),]
    );
}

#[test]
fn a_porcelain_listing_leaves_out_the_mark_on_replaced_fields() {
    let store = store();
    let listed = |flags: &[&str]| {
        let said = store.run(["list", "--duplicates"].iter().chain(flags)).succeeds();
        said.text().to_owned()
    };
    assert_eq!(listed(&[]).matches(" (replaced)").count(), 1);
    assert_eq!(listed(&["--porcelain"]), listed(&[]).replace(" (replaced)", ""));
}

#[test]
fn a_listing_shows_datasets_or_collocations_alone() {
    let store = store();
    let other = KEY.replace("levtype=sfc", "levtype=pl,levelist=500");
    let file = store.file("raw", b"third");
    let key = format!("{other},step=0");
    store.run(["write".as_ref(), "--key".as_ref(), key.as_ref(), file.as_os_str()]).succeeds();
    let listed = |depth: &str| store.run(["list", "--depth", depth]).succeeds().text().to_owned();
    assert_eq!(listed("1"), format!("{DATASET}\n"));
    let collocations = listed("2");
    let mut lines: Vec<&str> = collocations.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [format!("{DATASET}{{type=fc,levtype=pl}}"), format!("{DATASET}{{type=fc,levtype=sfc}}")]
    );
    assert_eq!(listed("3").lines().count(), 3);
    assert_eq!(store.run(["list", "--depth", "4"]).code, Some(2));
}

#[test]
fn a_request_without_a_key_of_the_minimum_is_refused() {
    let store = store();
    let message = "the request lacks expver, date, which --minimum-keys asks for";
    let least = "--minimum-keys=class, expver,date";
    for command in ["list", "axes", "stats", "purge", "wipe"] {
        store.run([command, least, "class=rd"]).fails(2, message);
    }
    store.run(["lock", "--wipe", least, "class=rd"]).fails(2, message);
    store
        .run(["list", least])
        .fails(2, "the request lacks class, expver, date, which --minimum-keys asks for");
    let requests =
        store.file("requests", b"retrieve,class=rd,expver=test,date=20240101\nretrieve,class=rd\n");
    let said = store.run(["list".as_ref(), least.as_ref(), "-f".as_ref(), requests.as_os_str()]);
    said.fails_with(2, &["requests:2: the request lacks expver, date"]);
    for least in [least, "--minimum-keys="] {
        let said = store.run(["list", least, "class=rd,expver=test,date=20240101"]).succeeds();
        assert_eq!(said.text().lines().count(), 2);
    }
}
