//! Creating and opening stores.

use isotach_fields::{Config, FieldStore, Space};
use isotach_mars::Schema;
use isotach_object::{Cell, ObjectClass, ObjectId, ObjectType, Update};

use crate::layouts::{Layout, archive, field, listed, named, request, with};

#[test]
fn an_open_store_needs_only_its_uri() {
    for layout in named([Layout::memory(), Layout::posix()]) {
        archive(&layout.store(), &[(field("0", "t"), b"0")]);
        let config = Config::single(&layout.config.spaces[0].catalogue);
        let store = FieldStore::open(&config, &layout.registry).unwrap();
        assert_eq!(store.schema().source(), crate::layouts::SCHEMA);
        assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");
    }
}

#[test]
fn a_store_without_a_schema_of_its_own_has_the_standard_one() {
    let layout = Layout::memory();
    let config = Config::single(&"memory:standard".parse().unwrap());
    let store = FieldStore::create(&config, &layout.registry).unwrap();
    assert_eq!(*store.schema(), Schema::standard());
}

#[test]
fn making_a_store_again_opens_it_unless_the_schema_is_another() {
    let layout = Layout::memory();
    archive(&layout.store(), &[(field("0", "t"), b"0")]);
    assert_eq!(listed(&layout.store(), "").len(), 1);
    let commented = layout.config.clone().with_schema(format!("# a comment\n{}", crate::layouts::SCHEMA));
    assert!(FieldStore::create(&commented, &layout.registry).is_ok());
    let other = layout.config.clone().with_schema("[ class [ type [ step ]]]");
    let error = FieldStore::create(&other, &layout.registry).unwrap_err();
    assert_eq!(error.code(), "other-schema");
    assert!(error.to_string().contains("memory:all"), "{error}");
}

#[test]
fn a_place_without_a_store_is_named_and_never_made_by_opening() {
    let layout = Layout::posix();
    let open = |text: String| {
        FieldStore::open(&Config::single(&text.parse().unwrap()), &layout.registry).unwrap_err()
    };
    let absent = open(format!("posix:{}/absent", layout.folder.path().display()));
    assert_eq!(absent.code(), "not-found");
    assert!(absent.to_string().contains("/absent"), "{absent}");
    assert!(!absent.is_usage());

    let uri = "memory:bare";
    layout.registry.engine("memory").unwrap().create_pool(&uri.parse().unwrap()).unwrap();
    let bare = open(uri.to_owned());
    assert_eq!(bare.code(), "not-a-store");
    let expected = "memory:bare is not a field store: the pool has no container \"root\"; `init` makes one";
    assert_eq!(bare.to_string(), expected);
    assert!(open("nosuch:x".to_owned()).is_usage());
}

#[test]
fn a_store_of_a_newer_format_is_refused() {
    let layout = Layout::memory();
    drop(layout.store());
    let pool = layout.registry.open_pool(&layout.config.spaces[0].catalogue).unwrap();
    let root = pool.open_container(&"root".parse().unwrap()).unwrap();
    let settings = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 2);
    let newer = 7_u32.to_le_bytes();
    root.update(&[Update::Put { cell: Cell::kv(settings, b"version"), value: &newer }]).unwrap();
    let error = FieldStore::open(&layout.config, &layout.registry).unwrap_err();
    assert_eq!(error.code(), "newer-format");
    assert_eq!(
        error.to_string(),
        "store memory:all has format 7, and this program knows up to 1; use a newer one"
    );
}

#[test]
fn a_schema_with_a_mistake_makes_no_store() {
    let layout = Layout::memory();
    let config = Config::single(&"memory:wrong".parse().unwrap()).with_schema("[ class [");
    assert_eq!(FieldStore::create(&config, &layout.registry).unwrap_err().code(), "schema");
    assert!(layout.registry.open_pool(&"memory:wrong".parse().unwrap()).is_err());
}

#[test]
fn the_first_space_that_matches_takes_a_dataset_and_all_are_read() {
    let layout = Layout::posix();
    let space = |group: usize, name: &str, pattern: &str| {
        let pool = format!("memory:{name}").parse().unwrap();
        Space { group, pattern: pattern.parse().unwrap(), ..Space::new(name, &pool, &pool) }
    };
    let mut config = layout.config.clone();
    config.spaces = vec![space(0, "research", "class=rd|ra,expver=x..."), space(1, "operations", "class=od")];
    let store = FieldStore::create(&config, &layout.registry).unwrap();
    let research = with(&field("0", "t"), "class=rd,expver=xabc");
    archive(&store, &[(research.clone(), b"rd"), (field("0", "t"), b"od")]);
    let pool_of = |text: &str| store.status(&request(text)).unwrap()[0].catalogue.pool.to_string();
    assert_eq!([pool_of("class=rd"), pool_of("class=od")], ["memory:research", "memory:operations"]);
    assert_eq!(listed(&store, "").len(), 2);
    assert_eq!(store.retrieve_one(&research).unwrap().unwrap(), b"rd");
    let error = store.archive(&with(&field("0", "t"), "class=rd"), b"none takes it").unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("class=rd|ra,expver=x... or class=od"), "{error}");

    // A dataset stays where it is when the patterns change.
    config.spaces[1].pattern = "*".parse().unwrap();
    config.spaces.swap(0, 1);
    let store = FieldStore::open(&config, &layout.registry).unwrap();
    archive(&store, &[(with(&research, "step=6"), b"6")]);
    assert_eq!(store.status(&request("class=rd")).unwrap().len(), 1);
}
