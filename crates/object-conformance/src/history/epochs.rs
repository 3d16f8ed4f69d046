//! Checks that epochs follow time: an operation that begins after another has ended never returns an earlier epoch.
//!
//! An epoch is the position of a commit in the container's history, so this holds across all keys.

use super::operation::Operation;

/// The first operation with an earlier epoch than one that had returned before it was called, and that one.
pub(super) fn backward(operations: &[Operation]) -> Option<[&Operation; 2]> {
    let mut returned: Vec<&Operation> = operations.iter().filter(|one| one.epoch.is_some()).collect();
    let mut called = returned.clone();
    returned.sort_by_key(|one| one.returned);
    called.sort_by_key(|one| one.called);
    let mut before = returned.into_iter().peekable();
    let mut highest: Option<&Operation> = None;
    for one in called {
        while let Some(ended) = before.next_if(|ended| ended.returned < Some(one.called)) {
            if highest.is_none_or(|highest| highest.epoch < ended.epoch) {
                highest = Some(ended);
            }
        }
        if let Some(highest) = highest.filter(|highest| highest.epoch > one.epoch) {
            return Some([highest, one]);
        }
    }
    None
}
