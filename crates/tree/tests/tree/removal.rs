//! Directories that are removed while others write into them: at every moment of one, the whole of the other.

use std::{
    fmt, io,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;

/// What is done before calls: with 0 before the chosen one, with 1 before the next, and so on.
type Act = dyn Fn(&Tree, usize) -> Result<()> + Send + Sync;

/// Calls that are counted, and what is done before those from `from` on.
struct Calls {
    count: AtomicUsize,
    from: usize,
    other: Tree,
    act: &'static Act,
}

/// Counts the calls that read or change entries.
struct Interrupted {
    one_cell: bool,
    calls: Arc<Calls>,
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupted(from {})", self.calls.from)
    }
}

impl Interrupted {
    fn call(&self) -> Result<()> {
        let at = self.calls.count.fetch_add(1, Ordering::Relaxed);
        at.checked_sub(self.calls.from).map_or(Ok(()), |at| (self.calls.act)(&self.calls.other, at))
    }
}

impl Hooks for Interrupted {
    fn capabilities(&self, inner: &dyn Container) -> Capabilities {
        if self.one_cell { OneCell.capabilities(inner) } else { inner.capabilities() }
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.call()?;
        if self.one_cell { OneCell.commit(inner, transaction) } else { inner.commit(transaction) }
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

/// Runs `run` on a handle, once for each of its calls, with `act` on another handle from that call on. Checks what a third one sees.
fn at_each_call(run: impl Fn(&Tree) -> Result<()>, act: &'static Act) {
    for one_cell in [false, true] {
        for from in 0.. {
            let (memory, uri) = (Arc::new(Memory::new()), "memory:pool".parse().unwrap());
            let pool = new_pool(&*memory, &uri);
            Tree::create(&*pool, &label()).unwrap();
            let plain = if one_cell {
                hook_engine(memory.clone(), |_| Ok(()), |inner| Arc::new(Hooked::new(inner, OneCell)))
            } else {
                memory.clone()
            };
            let open = || Tree::open(&*plain.open_pool(&uri).unwrap(), &label()).unwrap();
            let other = open();
            for path in &PATHS[..3] {
                other.put(path, b"value").unwrap();
            }
            let count = AtomicUsize::new(0);
            let calls = Arc::new(Calls { count, from: from + 1, other, act });
            let shared = Arc::clone(&calls);
            let wrap = move |inner| -> Arc<dyn Container> {
                Arc::new(Hooked::new(inner, Interrupted { one_cell, calls: Arc::clone(&shared) }))
            };
            let interrupted = hook_engine(memory, |_| Ok(()), wrap);
            // Opening it is the first call.
            let tree = Tree::open(&*interrupted.open_pool(&uri).unwrap(), &label()).unwrap();
            let outcome = run(&tree);
            assert_listed(
                &open(),
                &format!("from call {from} on, one cell at a time: {one_cell}, {outcome:?}"),
            );
            if calls.count.load(Ordering::Relaxed) <= from + 1 {
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

fn put_new(tree: &Tree) {
    tree.put("a/b/new", b"value").unwrap();
    tree.put("a/new/h/i", b"value").unwrap();
}

#[test]
fn a_value_that_is_put_at_any_moment_of_a_removal_is_listed_from_then_on() {
    at_each_call(|tree| tree.remove_below("a"), &|other, at| {
        if at == 0 {
            put_new(other);
        }
        assert_listed(other, "during the removal");
        Ok(())
    });
}

#[test]
fn a_value_that_is_put_before_a_removal_dies_is_listed() {
    at_each_call(|tree| tree.remove_below("a"), &|other, at| match at {
        0 => {
            put_new(other);
            Ok(())
        }
        _ => killed(),
    });
    at_each_call(|tree| tree.remove_below("a"), &|_, _| killed());
}

#[test]
fn a_value_whose_directory_is_removed_at_any_moment_of_the_put_is_listed() {
    at_each_call(|tree| tree.put("a/b/new", b"value"), &|other, at| {
        if at == 0 { other.remove_below("a") } else { Ok(()) }
    });
    at_each_call(|tree| tree.put("a/new/h/i", b"value"), &|other, at| {
        if at == 0 { other.remove_below("") } else { Ok(()) }
    });
}

#[test]
fn a_put_that_dies_at_any_moment_leaves_no_value_that_is_not_listed() {
    at_each_call(|tree| tree.put("a/new/h/i", b"value"), &|_, _| killed());
}
