//! Locks.

use isotach_fields::{Action, Error};

use crate::layouts::{Layout, archive, everywhere, field, listed, request, with};

#[test]
fn a_lock_holds_for_every_handle_until_it_is_taken_off() {
    for (layout, [store, other]) in everywhere(Layout::two_handles) {
        archive(&store, &[(field("0", "t"), b"0"), (with(&field("0", "t"), "class=rd"), b"rd")]);
        assert_eq!(other.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");

        let locked = store.control(&request("class=od"), true, &Action::ALL).unwrap();
        assert_eq!(locked.len(), 1);
        let expect = |result: Result<(), Error>, action: Action| match result {
            Err(Error::Locked { action: found, dataset }) => {
                assert_eq!(found, action);
                assert!(dataset.contains("class=od"), "{dataset}");
            }
            other => panic!("{action} on {}: {other:?}", layout.name),
        };
        expect(other.retrieve_one(&field("0", "t")).map(drop), Action::Retrieve);
        let retrieval = other.retrieve(&crate::layouts::request_like(&field("0", "t"), "step=0/6"));
        expect(retrieval.unwrap().next().unwrap().map(drop), Action::Retrieve);
        expect(other.archive(&field("6", "t"), b"6"), Action::Archive);
        expect(other.wipe(&request("class=od"), false).map(drop), Action::Wipe);
        assert_eq!(listed(&other, "").len(), 1, "a locked dataset is passed over in a listing");
        assert_eq!(other.retrieve_one(&with(&field("0", "t"), "class=rd")).unwrap().unwrap(), b"rd");
        assert_eq!(other.status(&request("class=od")).unwrap()[0].locks.iter().count(), 4);

        store.control(&request("class=od"), false, &Action::ALL).unwrap();
        archive(&other, &[(field("6", "t"), b"6")]);
        assert_eq!(listed(&other, "").len(), 3);
    }
}

#[test]
fn a_writer_at_work_flushes_what_it_has_and_then_finds_the_lock() {
    for (_layout, [writer, other]) in everywhere(Layout::two_handles) {
        writer.archive(&field("0", "t"), b"0").unwrap();
        other.control(&request("class=od"), true, &[Action::Archive]).unwrap();
        writer.flush().unwrap();
        assert_eq!(other.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");
        assert_eq!(writer.archive(&field("6", "t"), b"6").unwrap_err().code(), "locked");
    }
}
