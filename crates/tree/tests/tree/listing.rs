//! Which directories a listing takes, and what it reads of them.

use super::*;

#[test]
fn a_path_with_a_slash_at_either_end_names_no_directory() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        tree.put("a/b/c", b"value").unwrap();
        tree.put("x", b"value").unwrap();
        let refuse = || {
            for directory in ["/", "a/", "/a", "a//b", "a/b/"] {
                let outcomes = [
                    tree.children(directory).map(drop),
                    tree.is_empty(directory).map(drop),
                    tree.remove_below(directory),
                ];
                for outcome in outcomes {
                    assert_eq!(outcome.unwrap_err().code(), "invalid-input", "{directory:?}");
                }
            }
        };
        refuse();
        if tree.begin().is_ok() {
            tree.put("a/d", b"value").unwrap();
            refuse();
            tree.roll_back().unwrap();
        }
        assert_eq!(paths(&tree, ""), ["a/b/c", "x"]);
    });
}

#[test]
fn no_value_has_a_prefix_that_no_path_begins_with() {
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        tree.put("a/b/c", b"value").unwrap();
        tree.put("x", b"value").unwrap();
        for prefix in ["/", "/x", "/a", "//", "a//", "a//b", "x/", "a/b/c/"] {
            assert!(paths(&tree, prefix).is_empty(), "{prefix:?}");
        }
        for prefix in ["a", "a/", "a/b", "a/b/", "a/b/c"] {
            assert_eq!(paths(&tree, prefix), ["a/b/c"], "{prefix:?}");
        }
    });
}

/// Refuses to list values.
#[derive(Debug)]
struct NamesOnly;

impl Hooks for NamesOnly {
    fn list_entries(
        &self,
        inner: &dyn Container,
        object: ObjectId,
        anchor: &Anchor,
        limit: usize,
        values: bool,
    ) -> Result<Page> {
        match values {
            true => Err(Error::invalid("a listing of values", "one of names")),
            false => inner.list_entries(object, anchor, limit, values),
        }
    }
}

#[test]
fn the_children_of_a_directory_are_found_by_their_names_alone() {
    let wrap = |inner| -> Arc<dyn Container> { Arc::new(Hooked::new(inner, NamesOnly)) };
    let engine = hook_engine(Arc::new(Memory::new()), |_| Ok(()), wrap);
    let pool = new_pool(&*engine, &"memory:pool".parse().unwrap());
    let tree = Tree::create(&*pool, &label()).unwrap();
    for path in ["a/b/c", "a/d", "e"] {
        tree.put(path, b"value").unwrap();
    }
    assert_eq!(
        (tree.children("").unwrap(), tree.children("a").unwrap()),
        (vec!["a".into(), "e".into()], vec!["b".into(), "d".into()])
    );
    assert!(!tree.is_empty("a").unwrap());
}
