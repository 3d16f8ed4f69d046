//! Damaged containers: an error or an answer, and never a panic.

use isotach_engine_kit::random::Seeded;
use isotach_hdf5::{Attribute, By, Charset, Data, Error, File, Order, Run, Space, Target};
use isotach_object::{Anchor, Cell, ObjectType, Update};

use crate::common::{at, data, dataset, filter, group, linked, memory, whole};

fn attribute() -> Attribute {
    Attribute {
        name: "a".to_owned(),
        charset: Charset::Ascii,
        order: 0,
        datatype: vec![1],
        space: Space::fixed(&[40_000]),
        creation: Vec::new(),
        value: vec![1; 40_000],
    }
}

/// Does everything that reads a file. Errors are fine.
fn use_all(file: &std::sync::Arc<File>) -> Result<(), Error> {
    let root = file.root()?;
    let _ = (file.properties()?, root.attributes(By::Name, Order::Native)?);
    for (name, link) in root.links(By::CreationOrder, Order::Increasing)? {
        let Target::Hard { number, .. } = link.target else { continue };
        let object = file.object(number)?;
        for (name, _) in object.attributes(By::CreationOrder, Order::Native)? {
            object.attribute(&name)?;
        }
        let header = object.header()?;
        let Some(data) = &header.data else { continue };
        let count = data.space.count()?.min(100_000);
        let mut bytes = vec![0; (count * u64::from(data.element.min(1000))) as usize];
        let read = object.read(&[Run { first: 0, count }], &mut bytes);
        object.chunk_count()?;
        object.storage_size()?;
        let written =
            object.write(&[Run { first: 3, count: 2 }], &vec![1; 2 * data.element.min(1000) as usize]);
        let _ = object.set_extent(&[5]);
        let _ = root.remove_link(&name);
        read.and(written)?;
    }
    file.put_blob(b"more")?;
    file.commit().map(drop)
}

#[test]
fn a_file_with_any_damaged_entry_is_an_error_or_an_answer() {
    let mut random = Seeded(11);
    let mut refused = 0;
    for round in 0..400 {
        let place = memory();
        let file = place.create();
        for (name, filters) in [("plain", vec![]), ("packed", vec![filter(2, &[4]), filter(1, &[1])])] {
            let set = dataset(&file, name, Data { filters, ..data(&[3000], &[1500], 4) });
            set.write(&whole(&set), &vec![round as u8; 12_000]).unwrap();
            set.put_attribute(attribute()).unwrap();
        }
        linked(&file, "group", group());
        let blob = file.put_blob(b"a blob").unwrap();
        file.commit().unwrap();
        at(&file, "plain").write(&[Run { first: 0, count: 5 }], &[9; 20]).unwrap();
        file.commit().unwrap();
        drop(file);
        let container = place.container();
        let kept: Vec<_> =
            place.objects().into_iter().filter(|one| one.otype() == ObjectType::KeyValue).collect();
        let object = kept[random.below(kept.len() as u64) as usize];
        let page = container.list_entries(object, &Anchor::start(), 100, true).unwrap();
        let (key, value) = page.get(random.below(page.len() as u64) as usize).unwrap();
        let mut value = value.to_vec();
        match random.below(3) {
            0 => value.truncate(random.below(value.len() as u64 + 1) as usize),
            1 => value = random.bytes(40),
            _ => {
                let at = random.below(value.len().max(1) as u64) as usize;
                if let Some(byte) = value.get_mut(at) {
                    *byte = random.number() as u8;
                }
            }
        }
        container.update(&[Update::Put { cell: Cell::kv(object, key), value: &value }]).unwrap();
        container.flush().unwrap();
        let used = place.site.open(&place.name, isotach_hdf5::Access::ReadWrite).and_then(|file| {
            let _ = file.blob(&blob);
            use_all(&file)
        });
        refused += usize::from(used.is_err());
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_container_that_holds_something_else_or_a_newer_layout_is_refused() {
    let place = memory();
    drop(place.create());
    let container = place.container();
    let file = place.objects()[0];
    for (layout, expected) in [
        (&[2, 0, 0, 0][..], "layout 2"),
        (&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], "features 0x1"),
        (&[0], "corrupt"),
    ] {
        container.update(&[Update::Put { cell: Cell::kv(file, b"layout"), value: layout }]).unwrap();
        container.flush().unwrap();
        let error = place.site.open(&place.name, isotach_hdf5::Access::ReadOnly).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    container.update(&[Update::Destroy { object: file }]).unwrap();
    container.flush().unwrap();
    assert!(!place.site.exists(&place.name).unwrap());
    let error = place.site.open(&place.name, isotach_hdf5::Access::ReadOnly).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
}
