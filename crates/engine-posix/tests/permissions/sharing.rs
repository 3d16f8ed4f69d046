//! Several users of one container: writers, and readers without the right to write.

use std::{fs, os::unix::fs::MetadataExt};

use crate::{ALICE, BOB, MATE, OWNER, STRANGER, SharedPool, outcome};

const FIELDS: u64 = 40;

#[test]
fn several_users_write_one_container_and_a_reader_follows_them() {
    let Some(place) = SharedPool::new() else { return };
    let acl = format!("A:G:GROUP@:rw,A::{}@:rw,A::{}@:rw,A::EVERYONE@:r", ALICE.user, BOB.user);
    place.must(OWNER, &["create", &acl]);
    let count = (4 * FIELDS).to_string();
    let follower = place.begin(STRANGER, &["follow", &count]);
    let writers: Vec<_> = (1..)
        .zip([OWNER, MATE, ALICE, BOB])
        .map(|(at, who)| {
            let [from, to] = [at * 1000, at * 1000 + FIELDS].map(|number| number.to_string());
            place.begin(who, &["fields", &from, &to])
        })
        .collect();
    for writer in writers {
        assert_eq!(outcome(writer), "ok");
    }
    assert_eq!(outcome(follower), "ok");
    for who in [OWNER, MATE, ALICE, BOB, STRANGER] {
        place.must(who, &["verify"]);
    }
    let owners: std::collections::BTreeSet<u32> = fs::read_dir(place.container().join("data"))
        .unwrap()
        .chain(fs::read_dir(place.container()).unwrap())
        .map(|entry| entry.unwrap().metadata().unwrap())
        .inspect(|metadata| assert_eq!(metadata.gid(), OWNER.group, "all is of the container's group"))
        .map(|metadata| metadata.uid())
        .collect();
    assert_eq!(owners.len(), 4, "all four made files");
    let names = fs::read_dir(place.container()).unwrap().map(|entry| entry.unwrap().file_name());
    let runs = names.filter(|name| name.to_string_lossy().starts_with("run.")).count();
    assert!(runs > 0 && runs < 40, "{runs} runs: they were made, and merged by whoever came");
    place.must(OWNER, &["delete"]);
    assert!(!place.container().exists());
    assert_eq!(fs::read_dir(place.folder.join("pool/limbo")).unwrap().count(), 0, "of files of others, too");
}

#[test]
fn inherited_rights_admit_the_same_users() {
    let Some(place) = SharedPool::new() else { return };
    place.must(OWNER, &["create", &format!("A:G:GROUP@:rw,A::{}@:rw,A::{}@:r", ALICE.user, BOB.user)]);
    fs::rename(place.container(), place.folder.join("pool/containers/first")).unwrap();
    place.must(ALICE, &["inherit", "first"]);
    assert_eq!(place.rights().owner, ALICE.user.to_string());
    for who in [ALICE, OWNER, MATE] {
        place.must(who, &["write"]);
    }
    place.must(BOB, &["read"]);
    place.refuses(&[(BOB, "write"), (STRANGER, "read"), (OWNER, "delete"), (MATE, "administer")]);
}
