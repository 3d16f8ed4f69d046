//! Groups, links, attributes, blobs, reference counts, paths.

use crate::common::{at, attribute, data, dataset, group, hard, linked, linked_in, places, read_all, whole};
use isotach_hdf5::{
    Attribute, BlobId, By, Charset, Convert, CopyOf, CopyOptions, Error, File, Header, Kind, Last, Link,
    Object, Order, Resolved, Target,
};

fn names(links: Vec<(String, Link)>) -> Vec<String> {
    links.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn links_are_listed_by_name_and_by_creation_also_after_a_commit() {
    for place in places() {
        let file = place.create();
        for name in ["b", "c", "a"] {
            linked(&file, name, group());
        }
        let mut file = place.reopened(file);
        file.root().unwrap().insert_link("0", Target::Soft("a".to_owned()), Charset::Ascii).unwrap();
        file.root().unwrap().remove_link("c").unwrap();
        for _ in 0..2 {
            let root = file.root().unwrap();
            assert_eq!(names(root.links(By::Name, Order::Native).unwrap()), ["0", "a", "b"]);
            assert_eq!(names(root.links(By::Name, Order::Decreasing).unwrap()), ["b", "a", "0"]);
            assert_eq!(names(root.links(By::CreationOrder, Order::Increasing).unwrap()), ["b", "a", "0"]);
            assert_eq!(root.link_count().unwrap(), 3);
            drop(root);
            file = place.reopened(file);
        }
        let root = file.root().unwrap();
        let error = root.insert_link("a", Target::Soft("x".to_owned()), Charset::Ascii).unwrap_err();
        assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
        for wrong in ["", ".", "a/b"] {
            assert!(root.insert_link(wrong, Target::Soft("x".to_owned()), Charset::Ascii).is_err());
        }
        assert!(matches!(root.remove_link("none"), Err(Error::NotFound { .. })));
    }
}

#[test]
fn an_attribute_is_created_once_and_written_in_its_place() {
    for place in places() {
        let file = place.create();
        let object = file.root().unwrap();
        let large = vec![7; 40_000];
        for (name, value) in [("a", b"one".as_slice()), ("large", &large), ("z", b"one")] {
            object.create_attribute(attribute(name, value)).unwrap();
        }
        file.commit().unwrap();
        let objects = place.objects();
        for value in [b"two".as_slice(), &large] {
            let twice = object.create_attribute(attribute("z", value));
            assert!(matches!(twice, Err(Error::AlreadyExists { .. })), "{twice:?}");
        }
        // Only an uncommitted value of the same length is replaced in place.
        let values = [
            (b"two".as_slice(), false),
            (b"six", true),
            (b"three", false),
            (b"", false),
            (&large, false),
            (&large, false),
            (b"four", false),
            (b"five", true),
        ];
        for (value, is_in_place) in values {
            let found = object.attribute("a").unwrap().unwrap();
            let new = Attribute { value: value.to_vec(), ..found.clone() };
            assert_eq!(object.rewrite_attribute(&found, value).unwrap(), is_in_place, "{value:?}");
            if !is_in_place {
                object.put_attribute(new.clone()).unwrap();
            }
            assert_eq!(object.attribute("a").unwrap().unwrap(), new);
        }
        // Another type came between reading and writing.
        let read = object.attribute("z").unwrap().unwrap();
        object.put_attribute(Attribute { datatype: b"epyt".to_vec(), ..read.clone() }).unwrap();
        assert!(!object.rewrite_attribute(&read, &read.value).unwrap());
        object.put_attribute(read.clone()).unwrap();
        drop(object);
        let file = place.reopened(file);
        let object = file.root().unwrap();
        assert_eq!(object.attribute("z").unwrap().unwrap(), read);
        assert_eq!(object.attribute("a").unwrap().unwrap().value, b"five");
        assert_eq!(object.attribute("large").unwrap().unwrap().value, large);
        assert_eq!(place.objects(), objects, "no value is left");
    }
}

#[test]
fn attributes_keep_their_order_and_large_values_are_arrays() {
    for place in places() {
        let file = place.create();
        let object = linked(&file, "object", group());
        let large = vec![3; 100_000];
        for (name, value) in [("z", &b"1"[..]), ("large", &large), ("a", b"")] {
            object.put_attribute(attribute(name, value)).unwrap();
        }
        object.put_attribute(attribute("z", b"two")).unwrap();
        assert_eq!(object.attribute("large").unwrap().unwrap().value, large);
        drop(object);
        let file = place.reopened(file);
        let object = at(&file, "object");
        let in_order = object.attributes(By::CreationOrder, Order::Increasing).unwrap();
        assert_eq!(in_order, [("z".to_owned(), 0), ("large".to_owned(), 1), ("a".to_owned(), 2)]);
        let found = object.attribute("z").unwrap().unwrap();
        assert_eq!(found, attribute("z", b"two"));
        object.rename_attribute("large", "big").unwrap();
        object.remove_attribute("a").unwrap();
        assert!(matches!(object.rename_attribute("big", "z"), Err(Error::AlreadyExists { .. })));
        assert!(matches!(object.remove_attribute("a"), Err(Error::NotFound { .. })));
        drop(object);
        let file = place.reopened(file);
        let object = at(&file, "object");
        assert_eq!(object.attribute("big").unwrap().unwrap().value, large);
        assert_eq!(object.attribute("big").unwrap().unwrap().order, 1);
        assert_eq!((object.attribute_count().unwrap(), object.attribute("large").unwrap()), (2, None));
    }
}

#[test]
fn an_object_goes_with_its_last_link_and_its_last_handle() {
    for place in places() {
        let file = place.create();
        let object = linked(&file, "one", group());
        let number = object.number();
        let member = linked_in(&object, "member", group()).number();
        file.root().unwrap().insert_link("two", hard(&object), Charset::Ascii).unwrap();
        assert_eq!(object.header().unwrap().references, 2);
        drop(object);
        let file = place.reopened(file);
        file.root().unwrap().remove_link("one").unwrap();
        let object = file.object(number).unwrap();
        file.root().unwrap().remove_link("two").unwrap();
        assert_eq!(object.header().unwrap().references, 0);
        assert!(file.object(member).is_ok());
        let copy = object.clone();
        drop(object);
        assert!(file.object(number).is_ok());
        drop(copy);
        assert!(matches!(file.object(number), Err(Error::NotFound { .. })));
        assert!(
            matches!(file.object(member), Err(Error::NotFound { .. })),
            "the group took its member along"
        );
        let file = place.reopened(file);
        assert!(file.object(number).is_err() && file.object(member).is_err());
    }
}

#[test]
fn a_removed_dataset_leaves_no_chunks_and_an_anonymous_one_neither() {
    for place in places() {
        let file = place.create();
        file.commit().unwrap();
        let empty = place.objects();
        let set = dataset(&file, "set", data(&[4000], &[1000], 8));
        set.write(&whole(&set), &[1; 32_000]).unwrap();
        set.put_attribute(attribute("large", &[3; 100_000])).unwrap();
        drop(set);
        let anonymous = file.create_object(Header::dataset(Vec::new(), data(&[4000], &[1000], 8))).unwrap();
        anonymous.write(&whole(&anonymous), &[1; 32_000]).unwrap();
        drop(anonymous);
        assert_eq!(file.root().unwrap().link_count().unwrap(), 1);
        let file = place.reopened(file);
        at(&file, "set").write(&[isotach_hdf5::Run { first: 1, count: 1 }], &[2; 8]).unwrap();
        at(&file, "set").put_attribute(attribute("large", &[4; 100_000])).unwrap();
        let before = file.commit().unwrap();
        // Header, index, three arrays, a chunk in place, an attribute.
        assert_eq!(place.objects().len(), empty.len() + 7);
        file.root().unwrap().remove_link("set").unwrap();
        assert!(file.commit().unwrap() > before);
        assert_eq!((file.root().unwrap().link_count().unwrap(), place.objects()), (0, empty));
    }
}

#[test]
fn a_link_is_moved_and_copied() {
    for place in places() {
        let file = place.create();
        let root = file.root().unwrap();
        let (one, other) = (linked(&file, "one", group()), linked(&file, "other", group()));
        linked_in(&one, "x", group());
        one.move_link("x", &other, "y").unwrap();
        assert_eq!((one.link_count().unwrap(), at(&file, "other/y").kind()), (0, Kind::Group));
        assert_eq!(at(&file, "other/y").header().unwrap().references, 1);
        other.copy_link("y", &root, "z").unwrap();
        assert_eq!(at(&file, "/z").header().unwrap().references, 2);
        assert!(matches!(other.move_link("y", &root, "z"), Err(Error::AlreadyExists { .. })));
        assert!(matches!(other.move_link("none", &root, "n"), Err(Error::NotFound { .. })));
        drop((root, one, other));
        let file = place.reopened(file);
        assert_eq!(at(&file, "other/y").number(), at(&file, "z").number());
    }
}

#[test]
fn paths_follow_soft_links_from_the_group_that_holds_them() {
    for place in places() {
        let file = place.create();
        let root = file.root().unwrap();
        let outer = linked(&file, "outer", group());
        let inner = linked_in(&outer, "inner", group());
        let soft = |path: &str| Target::Soft(path.to_owned());
        outer.insert_link("here", soft("inner"), Charset::Ascii).unwrap();
        root.insert_link("away", soft("/outer/./here"), Charset::Ascii).unwrap();
        root.insert_link("dangling", soft("none/at/all"), Charset::Ascii).unwrap();
        root.insert_link("loop", soft("loop"), Charset::Ascii).unwrap();
        let external = Target::External { file: "o.h5".to_owned(), path: "/p".to_owned() };
        inner.insert_link("out", external, Charset::Ascii).unwrap();
        let user = Target::User { class: 70, bytes: vec![1] };
        inner.insert_link("user", user, Charset::Ascii).unwrap();
        for path in ["outer/inner", "/outer//here/", "away", "./away/."] {
            assert_eq!(at(&file, path).number(), inner.number(), "{path}");
        }
        assert_eq!(at(&file, "/").number(), at(&file, ".").number());
        let resolve = |path, last| file.resolve(&root, path, last);
        assert!(
            matches!(resolve("outer/none", Last::Follow), Ok(Resolved::Absent { name, .. }) if name == "none")
        );
        assert!(matches!(resolve("none/x", Last::Follow), Err(Error::NotFound { .. })));
        assert!(matches!(resolve("dangling/x", Last::Follow), Err(Error::NotFound { .. })));
        assert!(
            matches!(resolve("dangling", Last::Follow), Ok(Resolved::Link { name, .. }) if name == "dangling")
        );
        assert!(matches!(resolve("away", Last::Keep), Ok(Resolved::Link { .. })));
        assert!(matches!(resolve("loop", Last::Follow), Err(Error::InvalidInput { .. })));
        let Ok(Resolved::External { file: name, path, link_parent }) = resolve("away/out/a/b", Last::Follow)
        else {
            panic!("an external link")
        };
        assert_eq!((name.as_str(), path.as_str(), link_parent.number()), ("o.h5", "/p/a/b", inner.number()));
        let user = resolve("away/user/a", Last::Follow);
        assert!(matches!(user, Ok(Resolved::UserDefined { class: 70, rest, .. }) if rest == "a"));
    }
}

#[test]
fn sixteen_soft_links_are_followed_and_not_one_more() {
    let place = crate::common::memory();
    let file = place.create();
    let root = file.root().unwrap();
    linked(&file, "0", group());
    for at in 1..=17 {
        let target = Target::Soft((at - 1).to_string());
        root.insert_link(&at.to_string(), target, Charset::Ascii).unwrap();
    }
    assert!(matches!(file.resolve(&root, "16", Last::Follow), Ok(Resolved::Object(_))));
    assert!(matches!(file.resolve(&root, "17", Last::Follow), Err(Error::InvalidInput { .. })));
}

#[test]
fn blobs_are_read_back_before_and_after_a_commit() {
    for place in places() {
        let file = place.create();
        let lengths = [1, 20, 40_000, 300_000, 3_000_000, 0];
        let blobs: Vec<(BlobId, Vec<u8>)> = (0..400)
            .map(|at| {
                let bytes = vec![at as u8; lengths[at % if at < 12 { 6 } else { 2 }]];
                (file.put_blob(&bytes).unwrap(), bytes)
            })
            .collect();
        let check = |file: &File| {
            blobs.iter().for_each(|(id, bytes)| assert!(file.blob(id).unwrap() == *bytes));
        };
        check(&file);
        let file = place.reopened(file);
        check(&file);
        let (id, bytes) = &blobs[1];
        file.remove_blob(id).unwrap();
        file.remove_blob(id).unwrap();
        let new = file.put_blob(b"new").unwrap();
        let file = place.reopened(file);
        assert_eq!((file.blob(&new).unwrap(), bytes.len()), (b"new".to_vec(), 20));
        assert_eq!(file.blob(&blobs[0].0).unwrap(), blobs[0].1, "a page stays while it has blobs");
        blobs.iter().for_each(|(id, _)| file.remove_blob(id).unwrap());
        let file = place.reopened(file);
        assert!(matches!(file.blob(&blobs[0].0), Err(Error::NotFound { .. })));
        assert!(matches!(file.blob(&BlobId([9; 16])), Err(Error::NotFound { .. })));
        assert!(file.blob(&BlobId::NULL).unwrap().is_empty());
    }
}

#[test]
fn a_copy_has_everything_below_and_keeps_what_is_shared_shared() {
    for (from, to) in places().into_iter().zip(places()) {
        let (file, other) = (from.create(), to.create());
        let tree = linked(&file, "tree", group());
        let set = linked_in(&tree, "set", Header::dataset(b"type".to_vec(), data(&[50, 60], &[20, 30], 8)));
        let bytes: Vec<u8> = (0..24_000_u32).map(|at| at as u8).collect();
        set.write(&whole(&set), &bytes).unwrap();
        set.put_attribute(attribute("units", b"m")).unwrap();
        tree.insert_link("again", hard(&set), Charset::Ascii).unwrap();
        tree.insert_link("soft", Target::Soft("set".to_owned()), Charset::Ascii).unwrap();
        linked_in(&linked_in(&tree, "sub", group()), "deep", group());
        tree.insert_link("cycle", hard(&tree), Charset::Ascii).unwrap();

        let copy = tree.copy_to(&other, &CopyOptions::default()).unwrap();
        other.root().unwrap().insert_link("copy", hard(&copy), Charset::Ascii).unwrap();
        drop(copy);
        let other = to.reopened(other);
        assert_eq!(read_all(&at(&other, "copy/set")), bytes);
        assert_eq!(at(&other, "copy/set").attribute("units").unwrap().unwrap().value, b"m");
        assert_eq!(at(&other, "copy/set").header().unwrap().references, 2);
        assert_eq!(at(&other, "copy/again").number(), at(&other, "copy/soft").number());
        assert_eq!(at(&other, "copy/sub/deep").kind(), Kind::Group);
        assert_eq!(at(&other, "copy/cycle").number(), at(&other, "copy").number());

        let options = CopyOptions {
            is_shallow: true,
            expand_soft: true,
            without_attributes: true,
            ..CopyOptions::default()
        };
        let copy = tree.copy_to(&file, &options).unwrap();
        file.root().unwrap().insert_link("copy", hard(&copy), Charset::Ascii).unwrap();
        assert_eq!(at(&file, "copy/sub").link_count().unwrap(), 0);
        assert_eq!(at(&file, "copy/soft").attribute_count().unwrap(), 0);
        assert!(matches!(copy.link("soft").unwrap().unwrap().target, Target::Hard { .. }));
    }
}

/// Elements of one type are the numbers of objects, turned around. A type that begins with `committed` has the number of a committed one.
struct References(Option<std::sync::Arc<File>>);

impl Convert for References {
    fn applies(&self, datatype: &[u8]) -> Result<bool, Error> {
        Ok(datatype == b"references")
    }

    fn convert(
        &self,
        _: &std::sync::Arc<File>,
        _: &[u8],
        elements: Vec<u8>,
        copy_of: &mut CopyOf<'_>,
    ) -> Result<Vec<u8>, Error> {
        let numbers = elements.chunks(8).map(|bytes| !u64::from_le_bytes(bytes.try_into().unwrap()));
        let copies = numbers.map(|number| Ok((!copy_of(number)?).to_le_bytes()));
        Ok(copies.collect::<Result<Vec<_>, Error>>()?.concat())
    }

    fn committed(&self, datatype: &[u8]) -> Result<u64, Error> {
        let number = datatype.strip_prefix(b"committed");
        Ok(number.map_or(0, |number| u64::from_le_bytes(number.try_into().unwrap())))
    }

    fn with_committed(&self, _: &[u8], number: u64) -> Result<Vec<u8>, Error> {
        Ok(of_committed(number))
    }

    fn linked(&self, _: &Object, file: &str, path: &str) -> Result<Option<Object>, Error> {
        Ok(self.0.as_ref().filter(|_| file == "there").map(|there| at(there, path)))
    }
}

fn of_committed(number: u64) -> Vec<u8> {
    [&b"committed"[..], &number.to_le_bytes()].concat()
}

fn referring_to(object: &Object) -> Vec<u8> {
    (!object.number()).to_le_bytes().to_vec()
}

fn referred(value: &[u8]) -> u64 {
    !u64::from_le_bytes(value.try_into().unwrap())
}

/// A group with a dataset and an attribute that refer to objects in it and outside of it.
fn with_references(file: &std::sync::Arc<File>) -> (Object, Object, Object) {
    let (tree, outside) = (linked(file, "tree", group()), linked(file, "outside", group()));
    outside.put_attribute(attribute("mark", b"o")).unwrap();
    let inside = linked_in(&tree, "inside", group());
    let set = linked_in(&tree, "set", Header::dataset(b"references".to_vec(), data(&[2], &[2], 8)));
    set.write(&whole(&set), &[referring_to(&inside), referring_to(&outside)].concat()).unwrap();
    let to_set = Attribute { datatype: b"references".to_vec(), ..attribute("to", &referring_to(&set)) };
    inside.put_attribute(to_set).unwrap();
    (tree, inside, outside)
}

#[test]
fn a_copy_follows_references_and_links_what_has_no_other_link() {
    let (from, to) = (crate::common::memory(), crate::common::memory());
    let (file, other) = (from.create(), to.create());
    let (tree, ..) = with_references(&file);
    let convert = References(None);
    let options = CopyOptions { expand_references: true, convert: Some(&convert), ..CopyOptions::default() };
    let copy = tree.copy_to(&other, &options).unwrap();
    let root = other.root().unwrap();
    root.insert_link("copy", hard(&copy), Charset::Ascii).unwrap();
    let (inside, set) = (at(&other, "copy/inside"), at(&other, "copy/set"));
    let values = read_all(&set);
    assert_eq!(referred(&values[..8]), inside.number());
    assert_eq!(referred(&inside.attribute("to").unwrap().unwrap().value), set.number());
    let outside = at(&other, &format!("~obj_pointed_by_{}", referred(&values[8..])));
    assert_eq!(outside.attribute("mark").unwrap().unwrap().value, b"o");
    assert_eq!(root.link_count().unwrap(), 2, "what is in the tree needs no other link");
}

#[test]
fn references_that_are_not_followed_stay_in_a_file_and_lead_nowhere_in_another() {
    let (from, to) = (crate::common::memory(), crate::common::memory());
    let (file, other) = (from.create(), to.create());
    let (tree, inside, outside) = with_references(&file);
    let convert = References(None);
    let options = CopyOptions { convert: Some(&convert), ..CopyOptions::default() };
    for (target, expected) in [(&file, [inside.number(), outside.number()]), (&other, [0, 0])] {
        let copy = tree.copy_to(target, &options).unwrap();
        target.root().unwrap().insert_link("copy", hard(&copy), Charset::Ascii).unwrap();
        let values = read_all(&at(target, "copy/set"));
        assert_eq!([referred(&values[..8]), referred(&values[8..])], expected);
    }
}

#[test]
fn a_copy_takes_what_external_links_lead_to_and_keeps_links_to_nothing() {
    let (from, to, third) = (crate::common::memory(), crate::common::memory(), crate::common::memory());
    let (file, other, there) = (from.create(), to.create(), third.create());
    linked(&there, "object", group()).put_attribute(attribute("mark", b"t")).unwrap();
    let tree = linked(&file, "tree", group());
    let external = |file: &str| Target::External { file: file.to_owned(), path: "object".to_owned() };
    tree.insert_link("link", external("there"), Charset::Ascii).unwrap();
    tree.insert_link("lost", external("nowhere"), Charset::Ascii).unwrap();
    tree.insert_link("soft", Target::Soft("link".to_owned()), Charset::Ascii).unwrap();
    let convert = References(Some(there));
    let options = CopyOptions {
        expand_external: true,
        expand_soft: true,
        convert: Some(&convert),
        ..CopyOptions::default()
    };
    let copy = tree.copy_to(&other, &options).unwrap();
    other.root().unwrap().insert_link("copy", hard(&copy), Charset::Ascii).unwrap();
    assert_eq!(at(&other, "copy/link").attribute("mark").unwrap().unwrap().value, b"t");
    assert_eq!(at(&other, "copy/link").number(), at(&other, "copy/soft").number());
    assert_eq!(copy.link("lost").unwrap().unwrap().target, external("nowhere"));
    let kept = tree.copy_to(&other, &CopyOptions::default()).unwrap();
    assert_eq!(kept.link("link").unwrap().unwrap().target, external("there"));
}

#[test]
fn a_committed_datatype_goes_with_what_is_of_it_or_is_merged_with_an_equal_one() {
    let (from, to) = (crate::common::memory(), crate::common::memory());
    let (file, other) = (from.create(), to.create());
    let datatype = |bytes: &[u8]| Header { datatype: bytes.to_vec(), ..Header::new(Kind::Datatype) };
    let committed = linked(&file, "type", datatype(b"i32"));
    let equal = linked(&other, "equal", datatype(b"i32"));
    let header = Header::dataset(of_committed(committed.number()), data(&[2], &[2], 4));
    let set = linked(&file, "set", header);
    let convert = References(None);
    for merge_datatypes in [false, true] {
        let options = CopyOptions { merge_datatypes, convert: Some(&convert), ..CopyOptions::default() };
        let copy = set.copy_to(&other, &options).unwrap();
        let number = convert.committed(&copy.header().unwrap().datatype).unwrap();
        let copied = other.object(number).unwrap();
        assert_eq!(copied.header().unwrap().datatype, b"i32");
        assert_eq!(number == equal.number(), merge_datatypes);
    }
}

#[test]
fn a_copy_translates_the_elements_and_attributes_that_need_it() {
    let (from, to) = (crate::common::memory(), crate::common::memory());
    let (file, other) = (from.create(), to.create());
    let set = linked(&file, "set", Header::dataset(b"references".to_vec(), data(&[150_000], &[1000], 8)));
    set.write(&whole(&set), &[1; 1_200_000]).unwrap();
    set.put_attribute(attribute("plain", b"a")).unwrap();
    set.put_attribute(Attribute { datatype: b"references".to_vec(), ..attribute("list", &[0; 8]) }).unwrap();
    let convert = References(None);
    let options = CopyOptions { convert: Some(&convert), ..CopyOptions::default() };
    let copy = set.copy_to(&other, &options).unwrap();
    assert!(read_all(&copy).iter().all(|byte| *byte == 255));
    assert_eq!(copy.attribute("plain").unwrap().unwrap().value, b"a");
    assert_eq!(copy.attribute("list").unwrap().unwrap().value, [255; 8]);
}
