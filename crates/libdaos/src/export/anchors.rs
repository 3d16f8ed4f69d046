//! DAOS's anchors, which hold those of engines. Programs copy them, so a copy continues at the place where it was made.
//!
//! The buffer of an anchor begins with two numbers: the number of the last long anchor of the same listing (0 for none), and the length of
//! the engine's anchor that follows. An engine's anchor that does not fit is stored in this process until its listing ends. Its copies
//! are invalid from then on. A copy of a place that its listing has left may become invalid earlier.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard},
};

use isotach_object::Anchor;

use crate::{
    abi::{constants::*, types::daos_anchor_t},
    runtime::{
        error::{Result, invalid},
        locked,
    },
};

/// Bytes of the buffer before the engine's anchor.
const HEAD: usize = 16;
/// The flag of an anchor whose engine's anchor is the last long one.
const IS_LONG: u32 = 1;
/// The most bytes of long anchors. Beyond it the oldest that their listings have left are removed, and then the oldest of abandoned listings.
const BYTES_MAX: usize = 16 << 20;

/// Anchors that do not fit into DAOS's, by number: each with the number of the previous long one in its listing, or 0. A number is never used
/// twice.
#[derive(Debug)]
struct Long {
    last: u64,
    bytes: usize,
    anchors: BTreeMap<u64, (Anchor, u64)>,
    /// Those that their listing has passed.
    left: BTreeSet<u64>,
}

fn long() -> MutexGuard<'static, Long> {
    static LONG: Mutex<Long> = Mutex::new(Long::new());
    locked(&LONG)
}

impl Long {
    const fn new() -> Self {
        Self { last: 0, bytes: 0, anchors: BTreeMap::new(), left: BTreeSet::new() }
    }

    fn insert(&mut self, anchor: &Anchor, before: u64) -> u64 {
        self.last += 1;
        self.bytes += anchor.as_bytes().len();
        self.anchors.insert(self.last, (anchor.clone(), before));
        if self.anchors.contains_key(&before) {
            self.left.insert(before);
        }
        while self.bytes > BYTES_MAX
            && let Some(oldest) = self.left.first().or_else(|| self.anchors.keys().next())
        {
            self.remove(*oldest);
        }
        self.last
    }

    /// Removes an anchor and returns the number of the previous one.
    fn remove(&mut self, number: u64) -> Option<u64> {
        let (anchor, before) = self.anchors.remove(&number)?;
        self.left.remove(&number);
        self.bytes -= anchor.as_bytes().len();
        Some(before)
    }

    /// Removes the anchors of a listing.
    fn release(&mut self, mut last: u64) {
        while let Some(before) = self.remove(last) {
            last = before;
        }
    }
}

/// The numbers in an anchor.
fn head_of(anchor: &daos_anchor_t) -> (u64, usize) {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| anchor.da_buf[at + byte]));
    if anchor.da_type == DAOS_ANCHOR_TYPE_ZERO { (0, 0) } else { (number(0), number(8) as usize) }
}

/// Puts the place where a listing continues into its anchor. `None` ends the listing.
pub(super) fn pack(next: Option<&Anchor>, anchor: &mut daos_anchor_t) {
    let (mut last, _) = head_of(anchor);
    let Some(next) = next else {
        anchor.da_type = DAOS_ANCHOR_TYPE_EOF;
        return long().release(last);
    };
    let mark = next.as_bytes();
    anchor.da_flags = match anchor.da_buf.get_mut(HEAD..HEAD + mark.len()) {
        Some(place) => {
            place.copy_from_slice(mark);
            0
        }
        None => {
            last = long().insert(next, last);
            IS_LONG
        }
    };
    anchor.da_type = DAOS_ANCHOR_TYPE_HKEY;
    anchor.da_buf[..8].copy_from_slice(&last.to_le_bytes());
    anchor.da_buf[8..HEAD].copy_from_slice(&(mark.len() as u64).to_le_bytes());
}

/// The engine's anchor in one of DAOS's.
pub(super) fn unpacked(anchor: &daos_anchor_t) -> Result<Anchor> {
    if anchor.da_type == DAOS_ANCHOR_TYPE_ZERO {
        return Ok(Anchor::start());
    }
    let (last, length) = head_of(anchor);
    let found = match anchor.da_flags {
        IS_LONG => long().anchors.get(&last).map(|(anchor, _)| anchor.clone()),
        _ => {
            let mark = anchor.da_buf.get(HEAD..HEAD.saturating_add(length));
            mark.map(|mark| Anchor::from_bytes(mark.to_vec()))
        }
    };
    found.map_or_else(
        || invalid("an anchor that this library did not return, or a copy from a listing that has ended"),
        Ok,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_listing_removes_its_long_anchors_and_no_others() {
        let mark = |byte: u8, length| Anchor::from_bytes(vec![byte; length]);
        let (mut one, mut other) = (daos_anchor_t::default(), daos_anchor_t::default());
        pack(Some(&mark(9, 200)), &mut other);
        let marks = [mark(1, 300), mark(2, 20), mark(3, 88), mark(4, 89), mark(5, 60_000)];
        let mut copies = Vec::new();
        for next in &marks {
            pack(Some(next), &mut one);
            copies.push(one);
        }
        for (copy, expected) in copies.iter().zip(&marks) {
            assert_eq!(unpacked(copy), Ok(expected.clone()));
        }
        pack(None, &mut one);
        assert_eq!(one.da_type, DAOS_ANCHOR_TYPE_EOF);
        let valid: Vec<bool> = copies.iter().map(|copy| unpacked(copy).is_ok()).collect();
        assert_eq!(valid, [false, true, true, false, false]);
        assert_eq!(unpacked(&other), Ok(mark(9, 200)));
        assert_eq!(long().bytes, 200);
        pack(None, &mut other);
        assert!(long().anchors.is_empty() && long().bytes == 0);
    }

    #[test]
    fn abandoned_listings_store_at_most_16_mib_of_anchors() {
        let mut long = Long::new();
        let mark = Anchor::from_bytes(vec![7; 65_535]);
        let last = (0..1000).map(|_| long.insert(&mark, 0)).last();
        assert!(
            long.bytes <= BYTES_MAX && long.anchors.len() > 200 && long.anchors.contains_key(&last.unwrap())
        );
        assert!(long.left.is_empty());
    }

    #[test]
    fn a_listing_that_rests_keeps_its_place_beside_a_long_one() {
        let mut long = Long::new();
        let mark = Anchor::from_bytes(vec![7; 640]);
        let resting = long.insert(&mark, 0);
        let mut other = 0;
        for _ in 0..28_000 {
            other = long.insert(&mark, other);
            assert!(long.anchors.contains_key(&resting) && long.anchors.contains_key(&other));
        }
        assert!(long.bytes <= BYTES_MAX && long.anchors.len() > 20_000);
        assert_eq!(long.anchors.len(), long.left.len() + 2);
        long.release(other);
        assert_eq!((long.anchors.len(), long.left.len(), long.bytes), (1, 0, 640));
    }
}
