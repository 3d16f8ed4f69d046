//! Commits of more updates than the tree gives an engine at once.

use super::*;

const MANY: usize = 5000;

#[test]
fn a_transaction_of_thousands_of_values_is_visible_as_a_whole_or_not_at_all() {
    on_each(|pool| {
        let (tree, other) = (Tree::create(pool, &label()).unwrap(), Tree::open(pool, &label()).unwrap());
        if !pool.open_container(&label()).unwrap().capabilities().transactions {
            return assert_eq!(tree.begin().unwrap_err().code(), "unsupported");
        }
        let put_all = |value: &[u8]| {
            tree.begin().unwrap();
            (0..MANY).for_each(|at| tree.put(&format!("a/{}/{at}", at % 10), value).unwrap());
        };
        put_all(b"first");
        assert!(other.is_empty("").unwrap() && paths(&tree, "").len() == MANY);
        tree.commit().unwrap();
        assert_eq!((paths(&other, "").len(), other.children("a").unwrap().len()), (MANY, 10));
        put_all(b"second");
        other.put("a/7/4997", b"other").unwrap();
        assert_eq!(tree.commit().unwrap_err().code(), "conflict");
        let values: Vec<_> =
            [0, MANY - 1].iter().map(|at| read(&other, &format!("a/{}/{at}", at % 10))).collect();
        assert_eq!(values, [Some(b"first".to_vec()), Some(b"first".to_vec())]);
        tree.remove_below("a").unwrap();
        assert!(other.is_empty("").unwrap() && paths(&other, "").is_empty());
    });
}
