//! Owner, group, others and listed users, each with every action.

use std::fs;

use isotach_object::{Acl, RightsChange};

use crate::{ALICE, BOB, MATE, OWNER, STRANGER, SharedPool, User, label, mode};

/// The permitted actions of a user.
type Row<'a> = (&'a str, User, &'a str);

const ACTIONS: [(&str, char); 4] = [("read", 'r'), ("write", 'w'), ("administer", 'A'), ("delete", 'd')];

fn list(rest: &str) -> String {
    rest.replace("ALICE", &ALICE.user.to_string())
        .replace("BOBS", &BOB.group.to_string())
        .replace("BOB", &BOB.user.to_string())
}

/// Tries every action as every user, the owner last, whose actions are not refused.
fn check(place: &SharedPool, acl: &str, rows: &[Row<'_>]) -> usize {
    for (name, who, may) in rows {
        for (action, letter) in ACTIONS {
            let came = place.act(*who, &[action]);
            let wanted = if may.contains(letter) { "ok" } else { "permission-denied: " };
            assert!(came.starts_with(wanted), "{action} by {name} with {acl}: {came}");
            if wanted != "ok" && action != "write" {
                // The user, the owner, and the missing right.
                for fact in [who.user, OWNER.user].map(|user| user.to_string()) {
                    assert!(came.contains(&fact), "{action} by {name} does not tell {fact}: {came}");
                }
            }
            assert!(wanted == "ok" || came.contains("/containers/c"), "no place: {came}");
        }
    }
    rows.len() * ACTIONS.len()
}

#[test]
fn every_user_may_do_what_the_list_permits_and_nothing_else() {
    let Some(place) = SharedPool::new() else { return };
    let lists: [(&str, [&str; 4]); 8] = [
        // The group's member, alice, bob, a stranger.
        ("", ["", "", "", ""]),
        ("A:G:GROUP@:r", ["r", "", "", ""]),
        ("A:G:GROUP@:rw,A::EVERYONE@:r", ["rw", "r", "r", "r"]),
        ("A::EVERYONE@:rw", ["", "rw", "rw", "rw"]),
        ("A::ALICE@:r,A:G:BOBS@:rw", ["", "r", "rw", ""]),
        ("A::ALICE@:rw,A::BOB@:,A::EVERYONE@:r", ["", "rw", "", "r"]),
        ("A::ALICE@:r,A::EVERYONE@:rw,A:G:GROUP@:r", ["r", "r", "rw", "rw"]),
        ("A:G:BOBS@:,A::BOB@:rw,A:G:GROUP@:rw", ["rw", "", "rw", ""]),
    ];
    let mut tried = 0;
    for (text, may) in lists {
        let acl = list(text);
        place.must(OWNER, &["create", &acl]);
        place.must(OWNER, &["write"]);
        let rights = place.rights();
        let names = [OWNER.user, OWNER.group].map(|number| number.to_string());
        assert_eq!([rights.owner, rights.group], names);
        let named: Acl = acl.parse().unwrap();
        let seeing = named.entries().map(|(who, what)| (who.clone(), what.with_sight()));
        let reported = rights.acl.entries().map(|(who, what)| (who.clone(), what));
        assert!(reported.eq(seeing), "what was set is what is reported: {acl} {}", rights.acl);
        let [mate, alice, bob, stranger] = may;
        let others = [("mate", MATE, mate), ("alice", ALICE, alice), ("bob", BOB, bob)];
        tried += check(&place, &acl, &others);
        tried += check(&place, &acl, &[("stranger", STRANGER, stranger), ("owner", OWNER, "rwAd")]);
        assert!(!place.container().exists());
    }
    println!("{tried} attempts by 5 users with {} lists", lists.len());
}

#[test]
fn a_new_list_applies_to_existing_files_of_other_users() {
    let Some(place) = SharedPool::new() else { return };
    let both = list("A::ALICE@:rw,A::BOB@:rw");
    place.must(OWNER, &["create", &both]);
    place.must(ALICE, &["write"]);
    // Alice is excluded, but everyone may use what she wrote. The stranger is admitted.
    let stranger = list(&format!("A::BOB@:rw,A::{}@:r", STRANGER.user));
    place.must(OWNER, &["set-acl", &stranger]);
    for (who, what) in [(STRANGER, "read"), (BOB, "read"), (BOB, "write"), (OWNER, "read"), (OWNER, "verify")]
    {
        place.must(who, &[what]);
    }
    place.refuses(&[(ALICE, "read"), (ALICE, "write"), (STRANGER, "write"), (STRANGER, "administer")]);
    // Only root changes the owner, who then has all rights.
    let stranger = STRANGER.user.to_string();
    let came = place.act(OWNER, &["set-owner", &stranger]);
    assert!(came.starts_with("permission-denied: ") && came.contains("only root"), "{came}");
    let change = RightsChange { owner: Some(stranger.clone()), ..RightsChange::default() };
    assert_eq!(place.pool().access_control().unwrap().set_rights(&label(), &change).unwrap().owner, stranger);
    for (who, what) in [(STRANGER, "write"), (STRANGER, "administer"), (BOB, "write"), (STRANGER, "verify")] {
        place.must(who, &[what]);
    }
    place.refuses(&[(OWNER, "read")]);
    place.must(STRANGER, &["delete"]);
    assert_eq!(fs::read_dir(place.folder.join("pool/limbo")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn unenforceable_rights_are_refused_and_change_nothing() {
    let Some(place) = SharedPool::new() else { return };
    place.must(OWNER, &["create", "A:G:GROUP@:r"]);
    let before = place.rights();
    for (acl, code, hint) in [
        ("A::OWNER@:rw", "unsupported", "can always grant the rest"),
        ("A::root@:rd", "unsupported", "reserves removing a container"),
        ("A:G:GROUP@:rwAo", "unsupported", "reserves removing a container"),
        ("A:G:GROUP@:rwtT", "unsupported", "reserves removing a container"),
        ("A::root@:w", "unsupported", "writers can read"),
        ("A::EVERYONE@:t", "unsupported", "a user who may not read"),
        ("A::no-such-user@:r", "invalid-input", "no-such-user"),
        ("A:G:no-such-group@:r", "invalid-input", "no-such-group"),
    ] {
        let came = place.act(OWNER, &["set-acl", acl]);
        assert!(came.starts_with(code) && came.contains(hint), "{acl}: {came}");
        assert_eq!(place.rights(), before);
    }
    assert_eq!(mode(&place.container()) & 0o7777, 0o2750);
}

#[test]
fn a_container_without_a_list_follows_the_umask_and_its_owner_removes_it() {
    let Some(place) = SharedPool::new() else { return };
    place.must(OWNER, &["create"]);
    place.must(OWNER, &["write"]);
    assert_eq!(place.rights().acl, Acl::new(), "a umask of 077");
    place.refuses(&[(MATE, "read")]);
    // A listing still names it.
    assert_eq!(place.pool().list_containers().unwrap(), [label()]);
    place.must(OWNER, &["delete"]);
}
