//! Errors of the engine while values are written.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Fails the updates that destroy an array: this many of them.
#[derive(Debug)]
struct NoDestroy {
    one_cell: bool,
    failures: Arc<AtomicUsize>,
}

impl Hooks for NoDestroy {
    fn capabilities(&self, inner: &dyn Container) -> Capabilities {
        if self.one_cell { OneCell.capabilities(inner) } else { inner.capabilities() }
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        if self.one_cell { OneCell.commit(inner, transaction) } else { inner.commit(transaction) }
    }

    fn update(&self, inner: &dyn Container, updates: &[Update<'_>]) -> Result<()> {
        let destroys = updates.iter().any(|update| matches!(update, Update::Destroy { .. }));
        let take = |left: usize| left.checked_sub(1);
        if destroys && self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            return Err(Error::Conflict { what: "an array that resists".to_owned() });
        }
        inner.update(updates)
    }
}

/// A pool in which the next destructions of arrays fail, as many as the counter says.
fn resisting(one_cell: bool) -> (Arc<dyn Pool>, Arc<AtomicUsize>) {
    let failures = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&failures);
    let wrap = move |inner| -> Arc<dyn Container> {
        Arc::new(Hooked::new(inner, NoDestroy { one_cell, failures: Arc::clone(&shared) }))
    };
    let engine = hook_engine(Arc::new(Memory::new()), |_| Ok(()), wrap);
    (new_pool(&*engine, &"memory:pool".parse().unwrap()), failures)
}

#[test]
fn a_value_counts_although_the_array_of_the_old_one_cannot_be_destroyed() {
    let (pool, failures) = resisting(true);
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.put("a", &vec![1; LARGE]).unwrap();
    failures.store(1, Ordering::Relaxed);
    tree.put("a", &vec![2; LARGE]).unwrap();
    assert_eq!((read(&tree, "a"), failures.load(Ordering::Relaxed)), (Some(vec![2; LARGE]), 0));
    failures.store(1, Ordering::Relaxed);
    tree.remove("a").unwrap();
    assert_eq!(read(&tree, "a"), None);
}

#[test]
fn a_value_set_twice_in_a_transaction_keeps_its_array_if_the_first_one_stays() {
    let (pool, failures) = resisting(false);
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.begin().unwrap();
    tree.put("a", &vec![1; LARGE]).unwrap();
    failures.store(1, Ordering::Relaxed);
    tree.put("a", &vec![2; LARGE]).unwrap();
    tree.commit().unwrap();
    assert_eq!(read(&tree, "a"), Some(vec![2; LARGE]));
}

#[test]
fn a_refused_transaction_reports_why_although_one_of_its_arrays_cannot_be_destroyed() {
    let (pool, failures) = resisting(false);
    let (tree, other) = (Tree::create(&*pool, &label()).unwrap(), Tree::open(&*pool, &label()).unwrap());
    tree.begin().unwrap();
    for path in ["a", "b", "c"] {
        tree.put(path, &vec![1; LARGE]).unwrap();
    }
    other.put("b", b"first").unwrap();
    failures.store(1, Ordering::Relaxed);
    let error = tree.commit().unwrap_err().to_string();
    assert!(error.contains("another writer changed \"b\""), "{error}");
    assert_eq!(arrays(&*pool), 1, "only the array that could not be destroyed");
}
