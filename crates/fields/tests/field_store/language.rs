//! The MARS language beyond plain values: keywords, words for every value, winds.

use crate::layouts::{Layout, archive, bytes_of, everywhere, field, listed, request, request_like, with};

#[test]
fn a_word_for_every_value_reads_all_there_are() {
    for (_layout, store) in everywhere(Layout::store) {
        archive(
            &store,
            &[
                (field("12", "130"), b"12t"),
                (field("6", "130"), b"6t"),
                (field("6", "131"), b"6u"),
                (with(&field("6", "130"), "date=20240102"), b"next"),
            ],
        );
        let read = |changes| bytes_of(&store, &request_like(&field("6", "130"), changes));
        assert_eq!(read("step=all"), [b"6t".to_vec(), b"12t".to_vec()], "numbers by size");
        assert_eq!(read("param=any,step=*"), [b"6t".to_vec(), b"6u".to_vec(), b"12t".to_vec()]);
        assert_eq!(read("date=all"), [b"6t".to_vec(), b"next".to_vec()]);
        let mut retrieval = store.retrieve(&request_like(&field("6", "130"), "step=all,param=t/w")).unwrap();
        assert_eq!(retrieval.by_ref().count(), 2);
        let missing = retrieval.missing().unwrap();
        assert_eq!(missing.count, 1, "the other parameter, once, whatever the steps");
        assert_eq!(missing.keys[0].get("param"), Some("135"));
        assert_eq!(missing.keys[0].get("step"), None);
    }
}

#[test]
fn a_wind_is_read_as_vorticity_and_divergence_where_these_are_stored() {
    for (_layout, store) in everywhere(Layout::store) {
        let other = |param| with(&field("6", param), "levtype=ml");
        archive(
            &store,
            &[
                (field("6", "vo"), b"vo"),
                (field("6", "d"), b"d"),
                (other("u"), b"u"),
                (other("v"), b"v"),
                (other("vo"), b"ml vo"),
                (other("d"), b"ml d"),
            ],
        );
        for asked in ["param=u/v", "param=u", "param=v"] {
            let mut retrieval = store.retrieve(&request_like(&field("6", "t"), asked)).unwrap();
            let found: Vec<_> = retrieval.by_ref().map(|field| field.unwrap().bytes.into_vec()).collect();
            assert_eq!(found, [b"vo".to_vec(), b"d".to_vec()], "{asked}");
            assert_eq!(retrieval.missing().unwrap().count, 0, "{asked}");
        }
        let stored = bytes_of(&store, &request_like(&other("t"), "param=u/v"));
        assert_eq!(stored, [b"u".to_vec(), b"v".to_vec()], "a wind that is there is itself");
        assert!(listed(&store, "levtype=pl,param=u/v").is_empty(), "a listing shows what is there");
    }
}

#[test]
fn keywords_that_name_no_field_change_neither_a_reading_nor_a_listing() {
    let store = Layout::memory().store();
    archive(&store, &[(field("6", "130"), b"6t")]);
    let asked = request_like(&field("6", "130"), "grid=1/1,area=75/-10/30/40,target=out,expect=1");
    assert_eq!(bytes_of(&store, &asked), [b"6t"]);
    assert_eq!(listed(&store, &asked.to_string()).len(), 1);
}

#[test]
fn what_removes_moves_or_locks_takes_no_keyword_without_effect() {
    let store = Layout::memory().store();
    archive(&store, &[(field("6", "130"), b"6t")]);
    let asked = request("class=od,area=75/-10/30/40");
    let expected = "\"area\" is a keyword of MARS that has no effect here";
    assert_eq!(store.wipe(&asked, true).unwrap_err().to_string(), expected);
    assert_eq!(store.purge(&asked, true).unwrap_err().to_string(), expected);
    assert_eq!(store.control(&asked, true, &[]).unwrap_err().to_string(), expected);
    let target = Layout::memory().store();
    assert_eq!(store.move_to(&target, &asked).unwrap_err().to_string(), expected);
    assert_eq!(listed(&store, "").len(), 1);
}
