//! Key-value objects: entries put, got, compared, removed; all sizes and all keys.

use super::{
    bytes::{awkward_keys, noise},
    trial::{Trial, kv_id, refused},
};
use isotach_object::{Cell, MAX_KEY, MAX_VALUE, Update};

pub fn a_get_returns_the_last_put(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    assert_eq!(kv.get(b"k").unwrap(), None);
    kv.put(b"k", b"one").unwrap();
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"one");
    kv.put(b"k", b"a longer second").unwrap();
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"a longer second");
    kv.put(b"k", b"3").unwrap();
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"3");
}

pub fn an_empty_value_is_present(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    kv.put(b"empty", b"").unwrap();
    assert_eq!((kv.get(b"empty").unwrap(), kv.size(b"empty").unwrap()), (Some(Vec::new()), Some(0)));
    refused(kv.put_if_absent(b"empty", b"x"), "conflict");
    kv.compare_and_put(b"empty", b"", b"full").unwrap();
    kv.put(b"full", b"x").unwrap();
    kv.put(b"full", b"").unwrap();
    assert_eq!(kv.get(b"full").unwrap().unwrap(), b"");
    trial.flush();
    let scratch = trial.another();
    assert_eq!(scratch.get_many(&[Cell::kv(kv_id(1), b"full")]).unwrap(), [Some(Vec::new())]);
}

pub fn a_removed_entry_is_gone_and_may_come_back(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    kv.remove(b"never").unwrap();
    kv.put(b"k", b"x").unwrap();
    kv.remove(b"k").unwrap();
    assert_eq!((kv.get(b"k").unwrap(), kv.size(b"k").unwrap()), (None, None));
    kv.remove(b"k").unwrap();
    kv.put_if_absent(b"k", b"again").unwrap();
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"again");
}

pub fn sizes_are_known_without_the_values(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    for size in [0, 1, 700, 70_000] {
        kv.put(b"k", &noise(1, size)).unwrap();
        assert_eq!(kv.size(b"k").unwrap(), Some(size as u64));
    }
    assert_eq!(kv.size(b"other").unwrap(), None);
}

pub fn put_if_absent_keeps_an_existing_value(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    kv.put_if_absent(b"k", b"first").unwrap();
    refused(kv.put_if_absent(b"k", b"second"), "conflict");
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"first");
}

pub fn compare_and_put_needs_the_expected_value(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    refused(kv.compare_and_put(b"k", b"", b"x"), "conflict");
    assert_eq!(kv.get(b"k").unwrap(), None, "absent is not empty");
    kv.put(b"k", b"one").unwrap();
    for wrong in [&b""[..], b"on", b"one\0", b"two"] {
        refused(kv.compare_and_put(b"k", wrong, b"x"), "conflict");
    }
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"one");
    kv.compare_and_put(b"k", b"one", b"two").unwrap();
    kv.compare_and_put(b"k", b"two", b"").unwrap();
    kv.compare_and_put(b"k", b"", b"three").unwrap();
    assert_eq!(kv.get(b"k").unwrap().unwrap(), b"three");
}

pub fn keys_are_any_bytes(trial: &Trial<'_>) {
    let (kv, keys) = (trial.kv(1), awkward_keys());
    for (at, key) in keys.iter().enumerate() {
        kv.put(key, &noise(at as u64, 9)).unwrap();
    }
    trial.flush();
    let other = trial.another();
    for container in [&trial.container, &other] {
        let cells: Vec<_> = keys.iter().map(|key| Cell::kv(kv_id(1), key)).collect();
        let values = container.get_many(&cells).unwrap();
        for (at, value) in values.iter().enumerate() {
            assert_eq!(value.as_ref(), Some(&noise(at as u64, 9)), "key {at}");
        }
    }
}

pub fn values_of_all_sizes_come_back(trial: &Trial<'_>) {
    let sizes = [0, 1, 4 << 10, 1 << 20, MAX_VALUE];
    for size in sizes {
        trial.kv(1).put(&size.to_string().into_bytes(), &noise(size as u64, size)).unwrap();
    }
    trial.flush();
    let other = trial.another();
    for size in sizes {
        let key = size.to_string().into_bytes();
        let value = other.get_many(&[Cell::kv(kv_id(1), &key)]).unwrap().pop().flatten();
        assert!(value.unwrap() == noise(size as u64, size), "the value of {size} bytes is another");
    }
}

pub fn a_key_or_value_of_a_forbidden_size_is_refused(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    let (too_long, too_large) = (vec![b'k'; MAX_KEY + 1], vec![0; MAX_VALUE + 1]);
    refused(kv.put(b"", b"x"), "invalid-input");
    refused(kv.put(&too_long, b"x"), "invalid-input");
    refused(kv.put(b"k", &too_large), "invalid-input");
    refused(kv.put_if_absent(b"k", &too_large), "invalid-input");
    refused(kv.get(b""), "invalid-input");
    refused(kv.get(&too_long), "invalid-input");
    refused(kv.size(b""), "invalid-input");
    refused(kv.remove(&too_long), "invalid-input");
    assert_eq!(kv.get(b"k").unwrap(), None);
}

pub fn a_batch_is_applied_in_order_and_answered_in_order(trial: &Trial<'_>) {
    let cell = |key| Cell::kv(kv_id(1), key);
    let updates = [
        Update::Put { cell: cell(b"a"), value: b"1" },
        Update::Put { cell: cell(b"b"), value: b"2" },
        Update::Remove { cell: cell(b"a") },
        Update::Put { cell: cell(b"b"), value: b"3" },
        Update::Put { cell: cell(b"c"), value: b"4" },
    ];
    trial.container.update(&updates).unwrap();
    let cells = [cell(b"c"), cell(b"a"), cell(b"b"), cell(b"c")];
    let values = trial.container.get_many(&cells).unwrap();
    assert_eq!(values, [Some(b"4".to_vec()), None, Some(b"3".to_vec()), Some(b"4".to_vec())]);
    assert_eq!(trial.container.size_many(&cells).unwrap(), [Some(1), None, Some(1), Some(1)]);
    assert!(trial.container.get_many(&[]).unwrap().is_empty());
    trial.container.update(&[]).unwrap();
}

pub fn the_same_key_in_two_objects_is_two_entries(trial: &Trial<'_>) {
    trial.kv(1).put(b"k", b"one").unwrap();
    trial.kv(2).put(b"k", b"two").unwrap();
    trial.update(Update::Destroy { object: kv_id(2) });
    assert_eq!(trial.kv(1).get(b"k").unwrap().unwrap(), b"one");
    assert_eq!(trial.kv(2).get(b"k").unwrap(), None);
}

pub fn a_destroyed_object_is_empty_and_can_be_written_again(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    let destroy = Update::Destroy { object: kv_id(1) };
    trial.update(destroy);
    for key in 0..50_u8 {
        kv.put(&[key], b"old").unwrap();
    }
    let again = Update::Put { cell: Cell::kv(kv_id(1), &[7]), value: b"new" };
    trial.container.update(&[destroy, again]).unwrap();
    assert_eq!(kv.get(&[6]).unwrap(), None);
    assert_eq!(kv.get(&[7]).unwrap().unwrap(), b"new");
    assert_eq!(kv.list(&isotach_object::Anchor::start(), 100, false).unwrap().len(), 1);
}
