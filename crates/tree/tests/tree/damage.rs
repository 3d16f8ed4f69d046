//! Containers whose entries no writer has made.

use super::*;

/// The key-value object of the top.
fn top() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0x42c4_b0e3, 0xc8f4_fb9a_141c_fc98)
}

#[test]
fn a_name_that_no_writer_makes_is_corrupt_in_every_listing() {
    for name in [&b"/"[..], b"//", b"/a/", b"a//", b"a/b", b"\xff"] {
        let uri = "memory:pool".parse().unwrap();
        let pool = new_pool(&Memory::new(), &uri);
        let tree = Tree::create(&*pool, &label()).unwrap();
        tree.put("a/b", b"value").unwrap();
        let container = pool.open_container(&label()).unwrap();
        KeyValue::new(&*container, top()).unwrap().put(name, b"").unwrap();
        container.flush().unwrap();
        let outcomes = [
            tree.list("").map(drop),
            tree.children("").map(drop),
            tree.is_empty("").map(drop),
            tree.remove_below(""),
        ];
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(error.code() == "corrupt" && error.to_string().contains("the name"), "{name:?}: {error}");
        }
    }
}

#[test]
fn a_length_past_the_end_of_the_array_is_corrupt_and_allocates_nothing() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        tree.put("large", &vec![1; LARGE]).unwrap();
        tree.flush().unwrap();
        let container = pool.open_container(&label()).unwrap();
        let directory = KeyValue::new(&*container, top()).unwrap();
        let entry = directory.get(b"large").unwrap().unwrap();
        for length in [LARGE as u64 + 1, 1 << 40, i64::MAX as u64, u64::MAX] {
            let damaged = [&entry[..17], &length.to_le_bytes()].concat();
            directory.put(b"large", &damaged).unwrap();
            container.flush().unwrap();
            for part in [Part::Whole, Part::From(1), Part::Last(length - 1)] {
                let error = tree.read("large", part).unwrap_err();
                assert_eq!(error.code(), "corrupt", "{length} bytes, {part:?}: {error}");
            }
            assert_eq!(tree.read("large", Part::Range(0, 9)).unwrap().unwrap().len(), 9);
        }
    });
}
