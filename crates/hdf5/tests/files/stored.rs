//! What a file stores, and the length of its stub.

use std::fs;

use isotach_hdf5::{Attribute, Charset, Data, Run, Space};
use isotach_object::{Cell, ObjectClass, ObjectId, ObjectType, Update};

use crate::common::{at, beside, data, dataset, filter, places, read_all, whole};

fn length(name: &str) -> u64 {
    fs::metadata(name).unwrap().len()
}

#[test]
fn what_is_stored_and_removed_is_counted() {
    for place in places() {
        let file = place.create();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 0);
        let set = dataset(&file, "set", data(&[10_000], &[1000], 8));
        set.write(&whole(&set), &[1; 80_000]).unwrap();
        assert_eq!(file.stored_size().unwrap(), 80_000, "before the commit");
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 80_000);
        set.write(&[Run { first: 0, count: 1500 }], &[2; 12_000]).unwrap();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 80_000, "the same chunks");
        set.set_extent(&[5000]).unwrap();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 40_000);

        let value = |value: Vec<u8>| Attribute {
            name: "value".to_owned(),
            charset: Charset::Ascii,
            order: 0,
            datatype: b"type".to_vec(),
            space: Space::Scalar,
            creation: Vec::new(),
            value,
        };
        set.put_attribute(value(vec![1; 50_000])).unwrap();
        let blob = file.put_blob(&[1; 300_000]).unwrap();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 390_000);
        set.rename_attribute("value", "other").unwrap();
        set.put_attribute(value(vec![1; 10])).unwrap();
        file.remove_blob(&blob).unwrap();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 90_000);
        drop(set);
        file.root().unwrap().remove_link("set").unwrap();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 0);
    }
}

#[test]
fn the_stub_is_about_as_long_as_what_the_file_stores() {
    let place = beside();
    let file = place.create();
    let text = length(&place.name);
    assert!(text < 200, "{text}");
    let packed = Data { filters: vec![filter(1, &[6])], ..data(&[100_000], &[10_000], 8) };
    for (name, data) in [("packed", packed), ("plain", data(&[100_000], &[10_000], 8))] {
        let set = dataset(&file, name, data);
        set.write(&whole(&set), &[7; 800_000]).unwrap();
        let before = length(&place.name);
        file.commit().unwrap();
        let added = length(&place.name) - before;
        assert_eq!(added > 800_000 - text, name == "plain", "{name} {added}");
    }
    let file = place.reopened(file);
    assert_eq!(read_all(&at(&file, "plain")), [7; 800_000]);
    assert_eq!(length(&place.name), file.stored_size().unwrap());
    for name in ["plain", "packed"] {
        file.root().unwrap().remove_link(name).unwrap();
    }
    file.commit().unwrap();
    assert_eq!(length(&place.name), text, "its lines stay");
    assert_eq!(place.reopened(file).root().unwrap().link_count().unwrap(), 0);
}

#[test]
fn a_wrong_counter_is_no_error() {
    for place in places() {
        let file = place.create();
        let set = dataset(&file, "set", data(&[1000], &[1000], 8));
        set.write(&whole(&set), &[1; 8000]).unwrap();
        file.commit().unwrap();
        for wrong in [&b""[..], b"abc", &[0; 8], &[0xff; 8]] {
            let record = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 1, 0);
            let update = Update::Put { cell: Cell::kv(record, b"stored"), value: wrong };
            let container = place.container();
            container.update(&[update]).unwrap();
            container.flush().unwrap();
            file.refresh().unwrap();
            file.stored_size().unwrap();
            set.set_extent(&[500]).unwrap();
            set.set_extent(&[0]).unwrap();
            file.commit().unwrap();
            set.set_extent(&[1000]).unwrap();
            set.write(&whole(&set), &[1; 8000]).unwrap();
            file.commit().unwrap();
            file.stored_size().unwrap();
        }
        assert_eq!(read_all(&set), [1; 8000]);
    }
}

#[test]
fn a_file_in_the_place_of_the_stub_is_left_alone() {
    let place = beside();
    let file = place.create();
    fs::write(&place.name, b"another file").unwrap();
    let set = dataset(&file, "set", data(&[1000], &[1000], 8));
    set.write(&whole(&set), &[1; 8000]).unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read(&place.name).unwrap(), b"another file");
}
