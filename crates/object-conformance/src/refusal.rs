//! What an engine must refuse, and that it does so before anything is done.

use super::trial::{Trial, all_objects, array_id, general_id, kv_id, refused};
use isotach_object::{
    Anchor, Array, ArrayRead, Cell, KeyValue, ObjectClass, ObjectId, ObjectType, Precondition, Transaction,
    Update, extents_of,
};

/// Updates that are each wrong in another way.
fn wrong_updates() -> Vec<Update<'static>> {
    let (kv, array, general) = (kv_id(1), array_id(1), general_id(1));
    let entry = Cell::kv(kv, b"k");
    vec![
        Update::Put { cell: Cell::array(array), value: b"x" },
        Update::Put { cell: Cell::kv(array, b"k"), value: b"x" },
        Update::Put { cell: Cell::kv(general, b"k"), value: b"x" },
        Update::Put { cell: Cell::general(kv, b"d", b"a"), value: b"x" },
        Update::Put { cell: Cell::kv(kv, b""), value: b"x" },
        Update::Remove { cell: Cell::array(array) },
        Update::Remove { cell: Cell::kv(general, b"d") },
        Update::Write { cell: entry, offset: 0, data: b"x" },
        Update::Write { cell: Cell::general(array, b"d", b"a"), offset: 0, data: b"x" },
        Update::Write { cell: Cell::array(array), offset: i64::MAX as u64, data: b"x" },
        Update::SetSize { cell: entry, size: 1 },
        Update::Punch { cell: entry, offset: 0, length: 1 },
        Update::RemoveDkey { object: kv, dkey: b"k" },
        Update::RemoveDkey { object: array, dkey: b"k" },
        Update::RemoveDkey { object: general, dkey: b"" },
    ]
}

fn good(key: &[u8]) -> Update<'_> {
    Update::Put { cell: Cell::kv(kv_id(7), key), value: b"x" }
}

pub fn a_batch_with_one_wrong_update_does_nothing(trial: &Trial<'_>) {
    for wrong in wrong_updates() {
        refused(trial.container.update(&[good(b"before"), wrong, good(b"after")]), "invalid-input");
        let transaction = Transaction::new().update(good(b"before")).update(wrong).update(good(b"after"));
        let result = trial.container.commit(&transaction);
        let code = result.expect_err("a wrong update").code();
        let fits = code == "invalid-input" || (code == "unsupported" && !trial.capabilities().transactions);
        assert!(fits, "{code} for {wrong:?}");
    }
    for object in [kv_id(1), general_id(1)] {
        refused(trial.container.write_new(object, b"x"), "invalid-input");
    }
    trial.flush();
    assert!(all_objects(&trial.container, 10).is_empty(), "nothing was applied");
}

pub fn reads_of_the_wrong_type_are_refused(trial: &Trial<'_>) {
    let container = &trial.container;
    let (entry, array) = (Cell::kv(kv_id(1), b"k"), Cell::array(array_id(1)));
    for cell in [array, Cell::kv(kv_id(1), b""), Cell::kv(general_id(1), b"d")] {
        refused(container.get_many(&[entry, cell]), "invalid-input");
    }
    for cell in [Cell::general(kv_id(1), b"d", b"a"), Cell::kv(array_id(1), b"k")] {
        refused(container.size_many(&[entry, cell]), "invalid-input");
    }
    for cell in [entry, Cell::kv(array_id(1), b"k"), Cell::kv(general_id(1), b"d")] {
        let mut buffers = [[0; 4]; 2];
        let [one, two] = &mut buffers;
        let mut reads = [array, cell].into_iter().zip([&mut one[..], &mut two[..]]);
        let mut read = || reads.next().map(|(cell, buffer)| ArrayRead { cell, offset: 0, buffer, filled: 0 });
        let mut reads = [read().unwrap(), read().unwrap()];
        refused(container.read_many(&mut reads), "invalid-input");
        refused(extents_of(&**container, cell, 0, 4), "invalid-input");
        if let Some(pending) = container.facets().pending_reads {
            refused(pending.begin_read(cell, 0, vec![0; 4]), "invalid-input");
        }
        if let Some(lent) = container.facets().lent_reads {
            refused(lent.lend(cell, 0, 1), "invalid-input");
        }
    }
}

pub fn lists_of_the_wrong_type_are_refused(trial: &Trial<'_>) {
    let (container, start) = (&trial.container, Anchor::start());
    for object in [array_id(1), general_id(1)] {
        refused(container.list_entries(object, &start, 10, true), "invalid-input");
    }
    for object in [array_id(1), kv_id(1)] {
        refused(container.list_dkeys(object, &start, 10), "invalid-input");
        refused(container.list_akeys(object, b"d", &start, 10), "invalid-input");
    }
    refused(container.list_akeys(general_id(1), b"", &start, 10), "invalid-input");
}

pub fn a_precondition_on_a_malformed_cell_is_refused(trial: &Trial<'_>) {
    let wrong = [
        Precondition::Equals(Cell::array(array_id(1)), b"x"),
        Precondition::Absent(Cell::kv(kv_id(1), b"")),
        Precondition::Present(Cell::general(kv_id(1), b"d", b"a")),
        Precondition::Absent(Cell::kv(general_id(1), b"d")),
    ];
    for precondition in wrong {
        refused(trial.container.commit(&Transaction::new().require(precondition)), "invalid-input");
    }
}

pub fn typed_handles_refuse_objects_of_other_types(trial: &Trial<'_>) {
    refused(KeyValue::new(&*trial.container, array_id(1)), "invalid-input");
    refused(Array::new(&*trial.container, kv_id(1)), "invalid-input");
}

pub fn a_redundant_class_is_kept_or_refused(trial: &Trial<'_>) {
    let id = |class| ObjectId::new(ObjectType::KeyValue, class, 0, 1);
    for class in [ObjectClass::RP_2G1, ObjectClass::EC_4P1G1] {
        let redundant = Update::Put { cell: Cell::kv(id(class), b"k"), value: b"x" };
        let result = trial.container.update(&[good(b"before"), redundant]);
        // An engine that can may find too few machines, and must say so before it does anything.
        if result.is_ok() {
            assert!(trial.capabilities().redundancy, "{class} is kept by an engine that keeps one copy");
            assert_eq!(trial.container.size_many(&[Cell::kv(id(class), b"k")]).unwrap(), [Some(1)]);
        } else {
            refused(result, "unsupported");
            refused(trial.container.commit(&Transaction::new().update(redundant)), "unsupported");
            assert!(all_objects(&trial.container, 10).is_empty(), "nothing was applied");
        }
    }
    for class in [ObjectClass::S1, ObjectClass::S2, ObjectClass::SX] {
        let plain = Update::Put { cell: Cell::kv(id(class), b"k"), value: b"x" };
        trial.update(plain);
        assert_eq!(trial.container.size_many(&[Cell::kv(id(class), b"k")]).unwrap(), [Some(1)]);
    }
}

pub fn an_allocation_of_no_ids_is_refused(trial: &Trial<'_>) {
    refused(trial.container.allocate_ids(0), "invalid-input");
}
