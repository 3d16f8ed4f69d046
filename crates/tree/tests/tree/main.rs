//! The tree on an engine with transactions, and on one that changes one cell at a time.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod damage;
mod faults;
mod large;
mod listing;
mod processes;
mod removal;
mod sweep;

use std::{sync::Arc, thread};

use isotach_engine_kit::hooks::{Hooked, Hooks, hook_engine};
use isotach_engine_posix::Posix;
use isotach_object::{
    Anchor, Capabilities, Cell, Container, ContainerFacets, ContainerOptions, Engine, Epoch, Error, KeyValue,
    Label, ObjectClass, ObjectId, ObjectType, Page, Pool, PoolUri, Precondition, Result, Transaction, Update,
    memory::Memory,
};
use isotach_tree::{Part, Tree};

/// A value that is an array of its own.
const LARGE: usize = 100_000;

/// Does what the inner container does, one cell at a time.
#[derive(Debug)]
struct OneCell;

impl Hooks for OneCell {
    fn capabilities(&self, _inner: &dyn Container) -> Capabilities {
        Capabilities::NONE
    }

    fn facets<'c>(&self, _inner: &dyn Container, all: ContainerFacets<'c>) -> ContainerFacets<'c> {
        ContainerFacets::none(all.engine)
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        let named = transaction.preconditions.iter().map(Precondition::cell);
        let mut cells: Vec<_> =
            named.chain(transaction.updates.iter().map(|update| update.scope())).collect();
        cells.dedup();
        match cells.len() {
            0 | 1 => inner.commit(transaction),
            _ => Err(Error::Unsupported { engine: "one-cell", what: "more than one cell".to_owned() }),
        }
    }
}

fn one_cell() -> Arc<dyn Engine> {
    hook_engine(Arc::new(Memory::new()), |_| Ok(()), |inner| Arc::new(Hooked::new(inner, OneCell)))
}

fn new_pool(engine: &dyn Engine, uri: &PoolUri) -> Arc<dyn Pool> {
    engine.create_pool(uri).unwrap();
    engine.open_pool(uri).unwrap()
}

fn label() -> Label {
    "tree".parse().unwrap()
}

/// Runs a test on every kind of engine.
fn on_each(test: impl Fn(&dyn Pool)) {
    let uri: PoolUri = "memory:pool".parse().unwrap();
    test(&*new_pool(&Memory::new(), &uri));
    test(&*new_pool(&*one_cell(), &uri));
    let folder = tempfile::tempdir().unwrap();
    test(&*new_pool(&Posix, &format!("posix:{}/pool", folder.path().display()).parse().unwrap()));
}

fn paths(tree: &Tree, prefix: &str) -> Vec<String> {
    let mut paths: Vec<String> = tree.list(prefix).unwrap().into_iter().map(|listed| listed.path).collect();
    paths.sort();
    paths
}

fn read(tree: &Tree, path: &str) -> Option<Vec<u8>> {
    tree.read(path, Part::Whole).unwrap().map(|bytes| bytes.to_vec())
}

/// The arrays of a container.
fn arrays(pool: &dyn Pool) -> usize {
    let container = pool.open_container(&label()).unwrap();
    let (objects, _) = container.list_objects(&Anchor::start(), 10_000).unwrap();
    objects.iter().filter(|object| object.otype() == ObjectType::Array).count()
}

#[test]
fn values_of_every_size_read_back_whole_and_in_parts() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        for length in [0, 1, 4096, 4097, LARGE] {
            let value: Vec<u8> = (0..length).map(|at| at as u8).collect();
            tree.put("a/b", &value).unwrap();
            let other = Tree::open(pool, &label()).unwrap();
            assert_eq!(read(&other, "a/b").unwrap(), value);
            assert_eq!(other.size("a/b").unwrap(), Some(length as u64));
            let part = other.read("a/b", Part::Range(1, 4000)).unwrap().unwrap();
            assert_eq!(&*part, &value[length.min(1)..length.min(4000)]);
            let end = other.read("a/b", Part::Last(5)).unwrap().unwrap();
            assert_eq!(&*end, &value[length.saturating_sub(5)..]);
        }
        assert_eq!((read(&tree, "a/c"), tree.size("b").unwrap()), (None, None));
    });
}

#[test]
fn a_replaced_or_removed_value_leaves_no_array() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        tree.put("a/b", &vec![1; LARGE]).unwrap();
        tree.put("a/b", &vec![2; LARGE]).unwrap();
        assert!(!tree.put_if_absent("a/b", &vec![3; LARGE]).unwrap());
        assert!(tree.put_if_absent("a/c", &vec![3; LARGE]).unwrap());
        tree.flush().unwrap();
        assert_eq!((arrays(pool), read(&tree, "a/b").unwrap()), (2, vec![2; LARGE]));
        tree.put("a/b", b"small").unwrap();
        tree.remove("a/c").unwrap();
        tree.remove("a/absent").unwrap();
        tree.flush().unwrap();
        assert_eq!((arrays(pool), paths(&tree, "")), (0, vec!["a/b".to_owned()]));
    });
}

#[test]
fn a_directory_is_listed_as_long_as_a_value_is_below_it() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        for path in ["a/b/c", "a/b/d/e", "a/f", "ab/c", "g"] {
            tree.put(path, b"").unwrap();
        }
        assert_eq!(tree.children("").unwrap(), ["a", "ab", "g"]);
        assert_eq!(tree.children("a").unwrap(), ["b", "f"]);
        assert_eq!(paths(&tree, "a"), ["a/b/c", "a/b/d/e", "a/f", "ab/c"]);
        assert_eq!(paths(&tree, "a/b/"), ["a/b/c", "a/b/d/e"]);
        tree.remove("a/b/c").unwrap();
        tree.remove("a/b/d/e").unwrap();
        assert_eq!(tree.children("a").unwrap(), ["f"]);
        assert!(tree.is_empty("a/b").unwrap() && !tree.is_empty("a").unwrap());
        tree.remove_below("a").unwrap();
        assert_eq!(
            (tree.children("").unwrap(), paths(&tree, "")),
            (vec!["ab".into(), "g".into()], vec!["ab/c".into(), "g".into()])
        );
        tree.remove_below("").unwrap();
        assert!(tree.is_empty("").unwrap());
        tree.put("a/b/c", b"again").unwrap();
        assert_eq!((tree.children("a").unwrap(), paths(&tree, "")), (vec!["b".into()], vec!["a/b/c".into()]));
    });
}

#[test]
fn the_deepest_directories_are_found_empty_on_a_small_stack() {
    let deep = format!("{}a", "a/".repeat(6000));
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&Memory::new(), &uri);
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.put(&deep, b"").unwrap();
    thread::scope(|scope| {
        let check = || {
            assert!(!tree.is_empty("a").unwrap());
            tree.remove(&deep).unwrap();
            assert!(tree.is_empty("a").unwrap() && tree.children("").unwrap().is_empty());
        };
        thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, check).unwrap();
    });
}

#[test]
fn removing_a_directory_leaves_nothing_in_the_container() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        for at in 0..50 {
            tree.put(&format!("a/{at}/{}", at % 7), &vec![1; 5000]).unwrap();
        }
        tree.remove_below("a").unwrap();
        tree.flush().unwrap();
        let container = pool.open_container(&label()).unwrap();
        let (objects, _) = container.list_objects(&Anchor::start(), 1000).unwrap();
        assert_eq!(objects.len(), 1, "only that it is a tree: {objects:?}");
    });
}

#[test]
fn values_that_are_put_while_their_directory_is_removed_are_gone_or_listed() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        thread::scope(|scope| {
            for writer in 0..2 {
                scope.spawn(move || {
                    let tree = Tree::open(pool, &label()).unwrap();
                    for at in 0..200 {
                        tree.put(&format!("a/b/{writer}/{at}"), b"value").unwrap();
                    }
                });
            }
            for _ in 0..20 {
                match tree.remove_below("a") {
                    Ok(()) | Err(Error::Conflict { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let listed = paths(&tree, "");
        for path in (0..400).map(|at| format!("a/b/{}/{}", at / 200, at % 200)) {
            assert_eq!(read(&tree, &path).is_some(), listed.contains(&path), "{path}");
        }
    });
}

#[test]
fn one_of_several_writers_puts_a_value_that_does_not_exist() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        let winners: usize = thread::scope(|scope| {
            let put = |writer: u8| {
                let tree = Tree::open(pool, &label()).unwrap();
                tree.put_if_absent("a/b", &vec![writer; LARGE]).unwrap()
            };
            let writers: Vec<_> = (0..8).map(|writer| scope.spawn(move || put(writer))).collect();
            writers.into_iter().map(|writer| usize::from(writer.join().unwrap())).sum()
        });
        assert_eq!(winners, 1);
        let value = read(&tree, "a/b").unwrap();
        assert_eq!(value, vec![value[0]; LARGE]);
    });
}

#[test]
fn transactions_are_refused_where_the_engine_has_none() {
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&*one_cell(), &uri);
    let tree = Tree::create(&*pool, &label()).unwrap();
    assert_eq!(tree.begin().unwrap_err().code(), "unsupported");
}

#[test]
fn a_transaction_that_is_rolled_back_or_refused_leaves_no_array() {
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&Memory::new(), &uri);
    let (tree, other) = (Tree::create(&*pool, &label()).unwrap(), Tree::open(&*pool, &label()).unwrap());
    tree.begin().unwrap();
    tree.put("a", &vec![1; LARGE]).unwrap();
    tree.put("a", &vec![2; LARGE]).unwrap();
    assert_eq!((arrays(&*pool), read(&tree, "a").unwrap()[0], read(&other, "a")), (1, 2, None));
    tree.roll_back().unwrap();
    assert_eq!((arrays(&*pool), read(&tree, "a")), (0, None));
    tree.begin().unwrap();
    tree.put("a", &vec![3; LARGE]).unwrap();
    other.put("a", b"first").unwrap();
    let error = tree.commit().unwrap_err();
    assert!(error.code() == "conflict" && error.to_string().contains("\"a\""), "{error}");
    assert_eq!((arrays(&*pool), read(&tree, "a")), (0, Some(b"first".to_vec())));
    assert_eq!(tree.commit().unwrap_err().code(), "invalid-input");
}

#[test]
fn a_handle_that_is_dropped_in_a_transaction_leaves_no_array() {
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&Memory::new(), &uri);
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.begin().unwrap();
    tree.put("kept", &vec![1; LARGE]).unwrap();
    tree.commit().unwrap();
    tree.begin().unwrap();
    tree.put("dropped", &vec![2; LARGE]).unwrap();
    assert_eq!(arrays(&*pool), 2);
    drop(tree);
    assert_eq!(arrays(&*pool), 1);
}

#[test]
fn a_transaction_reads_what_it_first_saw_or_reports_a_conflict() {
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&Memory::new(), &uri);
    let (tree, other) = (Tree::create(&*pool, &label()).unwrap(), Tree::open(&*pool, &label()).unwrap());
    tree.put("small", b"1").unwrap();
    tree.put("large", &vec![1; LARGE]).unwrap();
    tree.begin().unwrap();
    assert_eq!(
        (read(&tree, "small"), tree.size("large").unwrap()),
        (Some(b"1".to_vec()), Some(LARGE as u64))
    );
    other.put("small", b"2").unwrap();
    other.put("large", &vec![2; LARGE]).unwrap();
    assert_eq!(read(&tree, "small"), Some(b"1".to_vec()));
    assert_eq!(tree.read("large", Part::Whole).unwrap_err().code(), "conflict");
    tree.put("new", b"").unwrap();
    tree.commit().unwrap();
    assert_eq!((read(&tree, "small"), read(&other, "new")), (Some(b"2".to_vec()), Some(Vec::new())));
}

#[test]
fn a_container_that_holds_no_tree_or_a_newer_one_is_refused() {
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&Memory::new(), &uri);
    assert_eq!(Tree::open(&*pool, &label()).unwrap_err().code(), "not-found");
    pool.create_container(&label(), &ContainerOptions::default()).unwrap();
    assert_eq!(Tree::open(&*pool, &label()).unwrap_err().code(), "invalid-input");
    let container = pool.open_container(&label()).unwrap();
    let settings = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);
    KeyValue::new(&*container, settings).unwrap().put(b"layout", b"tree 3").unwrap();
    container.flush().unwrap();
    let error = Tree::create(&*pool, &label()).unwrap_err();
    assert!(error.code() == "newer-format" && error.to_string().contains("layout 3"), "{error}");
}

#[test]
fn a_lost_array_is_corrupt_and_not_absent() {
    let uri = "memory:pool".parse().unwrap();
    let pool = new_pool(&Memory::new(), &uri);
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.put("a/b", &vec![1; LARGE]).unwrap();
    let container = pool.open_container(&label()).unwrap();
    let (objects, _) = container.list_objects(&Anchor::start(), 100).unwrap();
    let object = objects.into_iter().find(|object| object.otype() == ObjectType::Array).unwrap();
    container.update(&[Update::Write { cell: Cell::array(object), offset: 0, data: b"" }]).unwrap();
    container.update(&[Update::Destroy { object }]).unwrap();
    container.flush().unwrap();
    let error = tree.read("a/b", Part::Whole).unwrap_err();
    assert!(error.code() == "corrupt" && error.to_string().contains("\"a/b\""), "{error}");
}
