//! Directories that are removed while others write into them: at every moment of one, the whole of the other.

use std::{
    fmt, io,
    sync::atomic::{AtomicIsize, Ordering},
};

use super::*;

/// What is done before calls: with 0 before the chosen one, with 1 before the next, and so on.
type Act = Arc<dyn Fn(&Place, usize) -> Result<()> + Send + Sync>;

/// A tree in memory, and how its engine commits.
#[derive(Debug, Clone)]
struct Place {
    memory: Memory,
    one_cell: bool,
}

/// Counts the calls that read or change entries, and acts before those from `from` on.
#[derive(Clone)]
struct Interrupted {
    place: Place,
    count: Arc<AtomicIsize>,
    from: usize,
    act: Act,
}

impl Place {
    fn new(one_cell: bool) -> Self {
        let place = Self { memory: Memory::new(), one_cell };
        Tree::create(&*new_pool(&place.memory, &Self::uri()), &label()).unwrap();
        let tree = place.open();
        PATHS[..3].iter().for_each(|path| tree.put(path, b"value").unwrap());
        place
    }

    fn uri() -> PoolUri {
        "memory:pool".parse().unwrap()
    }

    fn open(&self) -> Tree {
        self.open_interrupted(usize::MAX, Arc::new(|_, _| Ok(()))).0
    }

    /// A handle that acts before its calls from `from` on, and how often it was called.
    fn open_interrupted(&self, from: usize, act: Act) -> (Tree, Arc<AtomicIsize>) {
        // Opening it is a call of its own.
        let count = Arc::new(AtomicIsize::new(-1));
        let hooks = Interrupted { place: self.clone(), count: Arc::clone(&count), from, act };
        let wrap = move |inner| -> Arc<dyn Container> { Arc::new(Hooked::new(inner, hooks.clone())) };
        let engine = hook_engine(Arc::new(self.memory.clone()), |_| Ok(()), wrap);
        (Tree::open(&*engine.open_pool(&Self::uri()).unwrap(), &label()).unwrap(), count)
    }
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupted(from {})", self.from)
    }
}

impl Interrupted {
    fn call(&self) -> Result<()> {
        let at = usize::try_from(self.count.fetch_add(1, Ordering::Relaxed)).ok();
        at.and_then(|at| at.checked_sub(self.from)).map_or(Ok(()), |at| (self.act)(&self.place, at))
    }
}

impl Hooks for Interrupted {
    fn capabilities(&self, inner: &dyn Container) -> Capabilities {
        if self.place.one_cell { OneCell.capabilities(inner) } else { inner.capabilities() }
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.call()?;
        if self.place.one_cell { OneCell.commit(inner, transaction) } else { inner.commit(transaction) }
    }

    fn update(&self, inner: &dyn Container, updates: &[Update<'_>]) -> Result<()> {
        self.call()?;
        inner.update(updates)
    }

    fn get_many(&self, inner: &dyn Container, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.call()?;
        inner.get_many(cells)
    }

    fn list_entries(
        &self,
        inner: &dyn Container,
        object: ObjectId,
        anchor: &Anchor,
        limit: usize,
        values: bool,
    ) -> Result<Page> {
        self.call()?;
        inner.list_entries(object, anchor, limit, values)
    }
}

const PATHS: [&str; 5] = ["a/b/c", "a/d", "a/e/f/g", "a/b/new", "a/new/h/i"];

/// Asserts that each value that can be read is listed, and found from every directory above it.
fn assert_listed(tree: &Tree, when: &str) {
    let listed = paths(tree, "");
    for path in PATHS {
        let found = read(tree, path).is_some();
        assert_eq!(found, listed.contains(&path.to_owned()), "{path} {when}");
        assert!(!found || !tree.is_empty("a").unwrap(), "{path} {when}");
    }
}

/// Runs `run` on a handle, once for each of its calls, and acts from that call on. Checks what others see afterwards.
fn at_each_call(
    run: impl Fn(&Tree) -> Result<()>,
    act: impl Fn(&Place, usize) -> Result<()> + Send + Sync + 'static,
) {
    let act: Act = Arc::new(act);
    for one_cell in [false, true] {
        for from in 0.. {
            let place = Place::new(one_cell);
            let (tree, count) = place.open_interrupted(from, Arc::clone(&act));
            let outcome = run(&tree);
            let when = format!("from call {from} on, one cell at a time: {one_cell}, {outcome:?}");
            assert_listed(&place.open(), &when);
            if usize::try_from(count.load(Ordering::Relaxed)).unwrap() <= from {
                outcome.unwrap();
                assert!(from > 2, "{from} calls");
                break;
            }
        }
    }
}

fn killed() -> Result<()> {
    Err(Error::Io { what: "killed".to_owned(), source: io::Error::other("by the test").into() })
}

fn put_new(place: &Place) {
    let tree = place.open();
    tree.put("a/b/new", b"value").unwrap();
    tree.put("a/new/h/i", b"value").unwrap();
}

#[test]
fn a_value_that_is_put_at_any_moment_of_a_removal_is_listed_from_then_on() {
    at_each_call(
        |tree| tree.remove_below("a"),
        |place, at| {
            if at == 0 {
                put_new(place);
            }
            assert_listed(&place.open(), "during the removal");
            Ok(())
        },
    );
}

#[test]
fn a_value_that_is_put_before_a_removal_dies_is_listed() {
    let die_after_put = |place: &Place, at: usize| {
        if at > 0 {
            return killed();
        }
        put_new(place);
        Ok(())
    };
    at_each_call(|tree| tree.remove_below("a"), die_after_put);
    at_each_call(|tree| tree.remove_below("a"), |_, _| killed());
}

#[test]
fn a_value_that_is_put_while_two_remove_its_directory_is_listed() {
    for second in 0..40 {
        let remove_too = move |place: &Place, at: usize| {
            if at > 0 {
                return Ok(());
            }
            let put_once = |place: &Place, at: usize| {
                if at == 0 {
                    put_new(place);
                }
                Ok(())
            };
            place.open_interrupted(second, Arc::new(put_once)).0.remove_below("a")
        };
        at_each_call(|tree| tree.remove_below("a"), remove_too);
    }
}

#[test]
fn a_value_whose_directory_is_removed_at_any_moment_of_the_put_is_listed() {
    for (path, directory) in [("a/b/new", "a"), ("a/new/h/i", "")] {
        at_each_call(
            |tree| tree.put(path, b"value"),
            move |place, at| if at == 0 { place.open().remove_below(directory) } else { Ok(()) },
        );
    }
}

#[test]
fn a_put_that_dies_at_any_moment_leaves_no_value_that_is_not_listed() {
    at_each_call(|tree| tree.put("a/new/h/i", b"value"), |_, _| killed());
}
