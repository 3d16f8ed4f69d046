//! Puts into key-value objects, stored in one buffer, and the state of their flush.

use std::collections::HashSet;

use isotach_object::{Cell, Container, ObjectId, Update};

use crate::{
    Result,
    catalogue::layout::{DATASET, ENTRY_TRANSACTION, new_incarnation},
};

/// The number of updates in one call, which bounds the memory of a large flush. The entries of a field may exceed it.
const UPDATES_MAX: usize = 16_384;

/// Puts into key-value objects.
#[derive(Debug, Default)]
pub(crate) struct Puts {
    bytes: Vec<u8>,
    /// For each put, its object and the ends of its key and value in `bytes`. It begins at the end of the put before.
    ends: Vec<(ObjectId, usize, usize)>,
    /// For each field, the position of its index entry and the number of its entries. The next one is its history entry.
    fields: Vec<(usize, usize)>,
}

/// A put: object, key, value.
pub(crate) type Put<'a> = (ObjectId, &'a [u8], &'a [u8]);

/// The puts that a flush takes from a batch.
#[derive(Debug, Default)]
pub(crate) struct Load {
    pub(crate) puts: Puts,
    /// The number of first fields that an earlier, failed flush may have published.
    pub(crate) sent: usize,
    /// The dataset's generation before these fields were sent.
    pub(crate) generation: u32,
    /// The number of further fields that were wiped with their collocation and are still to be reported.
    pub(crate) wiped: u64,
}

impl Load {
    pub(crate) fn is_empty(&self) -> bool {
        self.puts.ends.is_empty() && self.wiped == 0
    }

    /// The number of fields that are lost with this load.
    pub(crate) fn fields(&self) -> u64 {
        self.puts.fields.len() as u64 + self.wiped
    }

    /// The puts without published fields and without earlier fields of the same keys, which would replace them.
    pub(crate) fn unpublished(&self, published: &[bool]) -> Puts {
        let fields: Vec<_> = self.puts.fields().take(published.len()).collect();
        let mut later = HashSet::new();
        let mut is_out = published.to_vec();
        for (((index, element, _), _), is_out) in fields.iter().zip(&mut is_out).rev() {
            *is_out |= later.contains(&(*index, *element));
            if *is_out {
                later.insert((*index, *element));
            }
        }
        self.puts.without(|field| is_out.get(field).copied().unwrap_or_default())
    }

    /// Drops wiped fields.
    pub(crate) fn drop_fields(&mut self, is_gone: &[bool]) {
        let is_gone = |field: usize| is_gone.get(field).copied().unwrap_or_default();
        let fields = 0..self.puts.fields.len();
        self.wiped += fields.clone().filter(|field| is_gone(*field)).count() as u64;
        self.sent = fields.take(self.sent).filter(|field| !is_gone(*field)).count();
        self.puts = self.puts.without(is_gone);
    }
}

impl Puts {
    pub(crate) fn push(&mut self, object: ObjectId, key: &[u8], value: &[u8]) {
        self.push_with(object, key, |bytes| bytes.extend_from_slice(value));
    }

    /// As `push`, with a value that `write` appends.
    pub(crate) fn push_with(&mut self, object: ObjectId, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        write(&mut self.bytes);
        self.ends.push((object, key_end, self.bytes.len()));
    }

    /// Marks the next `entries` puts as those of a field: its index entry, its history entry, and what else it has.
    pub(crate) fn begin_field(&mut self, entries: usize) {
        self.fields.push((self.ends.len(), entries));
    }

    /// Appends all puts of `later`.
    pub(crate) fn append(&mut self, later: &Self) {
        let before = self.ends.len();
        self.fields.extend(later.fields.iter().map(|(at, entries)| (before + at, *entries)));
        for (object, key, value) in later.iter() {
            self.push(object, key, value);
        }
    }

    /// The puts without those of some fields.
    fn without(&self, is_gone: impl Fn(usize) -> bool) -> Self {
        let mut rest = Self::default();
        let mut fields = self.fields.iter().copied().enumerate().peekable();
        let mut puts = self.iter().enumerate();
        while let Some((at, (object, key, value))) = puts.next() {
            if let Some((field, (_, entries))) = fields.next_if(|(_, (of_field, _))| *of_field == at) {
                if is_gone(field) {
                    puts.by_ref().take(entries - 1).for_each(drop);
                    continue;
                }
                rest.begin_field(entries);
            }
            rest.push(object, key, value);
        }
        rest
    }

    /// Each put.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Put<'_>> {
        (0..self.ends.len()).map(|at| self.put(at))
    }

    fn put(&self, at: usize) -> Put<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].2);
        let (object, key_end, end) = self.ends[at];
        (object, &self.bytes[start..key_end], &self.bytes[key_end..end])
    }

    /// Each field's put into its index and into its history.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (Put<'_>, Put<'_>)> {
        self.fields.iter().map(|(at, _)| (self.put(*at), self.put(at + 1)))
    }

    /// Calls `take` with all puts, in order and in chunks. The entries of a field are in one chunk: a purge that finds the index
    /// entry finds the history entry, too.
    fn in_chunks(
        &self,
        mut take: impl FnMut(&[Update<'_>]) -> isotach_object::Result<()>,
    ) -> isotach_object::Result<()> {
        let mut start = 0;
        while start < self.ends.len() {
            let end = self.chunk_end(start);
            let puts = (start..end).map(|at| self.put(at));
            let updates = puts.map(|(object, key, value)| Update::Put { cell: Cell::kv(object, key), value });
            take(&updates.collect::<Vec<_>>())?;
            start = end;
        }
        Ok(())
    }

    fn chunk_end(&self, start: usize) -> usize {
        let end = (start + UPDATES_MAX).min(self.ends.len());
        let before = self.fields.partition_point(|(at, _)| *at < end);
        self.fields[..before].last().map_or(end, |(at, entries)| end.max(at + entries))
    }

    /// Hands all puts to the engine, in order, as one transaction. It is durable after a flush.
    pub(crate) fn commit(&self, container: &dyn Container) -> isotach_object::Result<()> {
        let mut staging = container.staged_transactions()?.stage()?;
        self.in_chunks(|updates| staging.update(updates))?;
        let mark = new_incarnation().to_le_bytes();
        staging.update(&[Update::Put { cell: Cell::kv(DATASET, ENTRY_TRANSACTION), value: &mark }])?;
        staging.commit(&[])?;
        Ok(())
    }

    /// Hands all puts to the engine and makes them durable and visible.
    pub(crate) fn publish(&self, container: &dyn Container) -> Result<()> {
        self.in_chunks(|updates| container.update(updates))?;
        Ok(container.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::layout::array_of;

    /// A declaration and a field for each element.
    fn load(elements: &[&str]) -> Load {
        let mut puts = Puts::default();
        for element in elements {
            puts.push(DATASET, b"declared", &[]);
            // Elements of one digit have a jump index.
            let has_jump = element.len() == 1;
            puts.begin_field(if has_jump { 3 } else { 2 });
            puts.push(array_of(0, 1), element.as_bytes(), b"where");
            puts.push(array_of(0, 2), b"id", element.as_bytes());
            if has_jump {
                puts.push(array_of(0, 3), b"jump", element.as_bytes());
            }
        }
        Load { puts, sent: 2, ..Load::default() }
    }

    fn elements(puts: &Puts) -> Vec<&[u8]> {
        assert!(puts.fields().all(|((_, element, _), (.., same))| element == same));
        puts.fields().map(|((_, element, _), _)| element).collect()
    }

    /// The elements of the jump indexes.
    fn jumps(puts: &Puts) -> Vec<&[u8]> {
        puts.iter().filter(|(_, key, _)| *key == b"jump").map(|(.., element)| element).collect()
    }

    #[test]
    fn fields_that_are_dropped_take_all_their_entries_and_leave_all_declarations() {
        let mut load = load(&["0", "6", "12"]);
        load.drop_fields(&[true, false]);
        assert_eq!(elements(&load.puts), [b"6".as_slice(), b"12"]);
        assert_eq!((load.sent, load.wiped, load.fields()), (1, 1, 3));
        assert_eq!(jumps(&load.puts), [b"6"]);
        assert_eq!(load.puts.iter().filter(|(object, ..)| *object == DATASET).count(), 3);
        load.drop_fields(&[true, true]);
        assert_eq!((load.sent, load.wiped, load.fields()), (0, 3, 3));
        assert!(!load.is_empty(), "what is gone is still to be reported");
    }

    #[test]
    fn what_was_published_is_not_put_again_nor_what_it_replaced() {
        let load = load(&["0", "6", "0", "12", "0"]);
        let rest = |published: &[bool]| elements(&load.unpublished(published)).concat();
        assert_eq!(rest(&[false; 5]), b"060120");
        assert_eq!(rest(&[false, true]), b"00120");
        assert_eq!(
            rest(&[false, false, true, false]),
            b"6120",
            "the first of step 0 was published before the second"
        );
        assert_eq!(rest(&[true; 5]), b"");
        assert_eq!(load.unpublished(&[true; 5]).iter().count(), 5, "declarations stay");
    }

    #[test]
    fn a_chunk_ends_after_all_entries_of_a_field() {
        for declarations in 0..4 {
            let mut puts = Puts::default();
            (0..declarations).for_each(|_| puts.push(DATASET, b"declared", &[]));
            for _ in 0..UPDATES_MAX {
                puts.append(&load(&["0"]).puts);
            }
            let mut ends = vec![0];
            puts.in_chunks(|updates| {
                ends.push(ends.last().unwrap() + updates.len());
                Ok(())
            })
            .unwrap();
            let is_cut =
                |end: &usize| puts.fields.iter().any(|(at, entries)| (at + 1..at + entries).contains(end));
            assert!(!ends.iter().any(is_cut), "{declarations}: {ends:?}");
            assert!(ends.len() > 4 && ends.last() == Some(&puts.ends.len()), "{declarations}: {ends:?}");
        }
    }

    #[test]
    fn puts_that_are_appended_keep_their_fields() {
        let mut first = load(&["0"]).puts;
        first.append(&load(&["6", "12"]).puts);
        assert_eq!(elements(&first), [b"0".as_slice(), b"6", b"12"]);
        assert_eq!(jumps(&first), [b"0", b"6"]);
    }
}
