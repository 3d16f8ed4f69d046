//! [`Ahead`]: an iterator whose next items can be looked at before they are taken.

use std::collections::VecDeque;

/// An iterator, and the items that were read from it and not taken.
pub(crate) struct Ahead<I: Iterator> {
    pub(crate) inner: I,
    read: VecDeque<I::Item>,
}

impl<T: Clone, E, I: Iterator<Item = Result<T, E>>> Ahead<I> {
    pub(crate) fn new(inner: I) -> Self {
        Self { inner, read: VecDeque::new() }
    }

    /// Takes an item that was read already.
    pub(crate) fn take_read(&mut self) -> Option<I::Item> {
        self.read.pop_front()
    }

    /// Takes the next item. Reads `count` items if none was read.
    pub(crate) fn next(&mut self, count: usize) -> Option<I::Item> {
        if self.read.is_empty() {
            self.fill(count);
        }
        self.take_read()
    }

    /// The next items, at most `count`, without errors among them, which stay the next ones; and whether there are more.
    pub(crate) fn peek(&mut self, count: usize) -> (Vec<T>, bool) {
        self.fill(count.saturating_add(1));
        let items = self.read.iter().take(count).flatten().cloned().collect();
        (items, self.read.len() > count)
    }

    /// Reads until `count` items are there, or the end.
    fn fill(&mut self, count: usize) {
        while self.read.len() < count
            && let Some(next) = self.inner.next()
        {
            self.read.push_back(next);
        }
    }
}
