//! DAOS's anchors, which hold those of engines. Programs copy them, so a copy goes on where it was made.
//!
//! The buffer of one begins with two numbers: which of the long anchors of the same listing was the last, 0 for none, and how many bytes the
//! engine's anchor has that follows. One that there is no room for is kept here until its listing ends: copies end with it, and those of
//! places that their listing has left may end before.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use isotach_object::Anchor;

use crate::{
    abi::{constants::*, types::daos_anchor_t},
    runtime::error::{Result, invalid},
};

/// Bytes of the buffer before the engine's anchor.
const HEAD: usize = 16;
/// The flag of an anchor whose engine's anchor is the last long one.
const IS_LONG: u32 = 1;
/// How many bytes are kept: of more the oldest go that their listings have left, and then those of listings that nobody brings to their end.
const MOST_BYTES: usize = 16 << 20;

/// Anchors that are longer than DAOS's have room for, by number: each with that of the long one before in its listing, or 0. A number is never
/// given twice.
#[derive(Debug)]
struct Long {
    last: u64,
    bytes: usize,
    kept: BTreeMap<u64, (Anchor, u64)>,
    /// Those behind which their listing went on.
    left: BTreeSet<u64>,
}

fn long() -> MutexGuard<'static, Long> {
    static LONG: Mutex<Long> = Mutex::new(Long::new());
    LONG.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Long {
    const fn new() -> Self {
        Self { last: 0, bytes: 0, kept: BTreeMap::new(), left: BTreeSet::new() }
    }

    fn keep(&mut self, anchor: &Anchor, before: u64) -> u64 {
        self.last += 1;
        self.bytes += anchor.as_bytes().len();
        self.kept.insert(self.last, (anchor.clone(), before));
        if self.kept.contains_key(&before) {
            self.left.insert(before);
        }
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.left.first().or_else(|| self.kept.keys().next())
        {
            self.forget(*oldest);
        }
        self.last
    }

    /// Forgets an anchor; gives the number of the one before.
    fn forget(&mut self, number: u64) -> Option<u64> {
        let (anchor, before) = self.kept.remove(&number)?;
        self.left.remove(&number);
        self.bytes -= anchor.as_bytes().len();
        Some(before)
    }

    /// Forgets the anchors of a listing.
    fn release(&mut self, mut last: u64) {
        while let Some(before) = self.forget(last) {
            last = before;
        }
    }
}

/// The numbers in an anchor.
fn head_of(anchor: &daos_anchor_t) -> (u64, usize) {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| anchor.da_buf[at + byte]));
    if anchor.da_type == DAOS_ANCHOR_TYPE_ZERO { (0, 0) } else { (number(0), number(8) as usize) }
}

/// Puts where a listing goes on into its anchor; without that it has ended.
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
            last = long().keep(next, last);
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
        IS_LONG => long().kept.get(&last).map(|(anchor, _)| anchor.clone()),
        _ => {
            let mark = anchor.da_buf.get(HEAD..HEAD.saturating_add(length));
            mark.map(|mark| Anchor::from_bytes(mark.to_vec()))
        }
    };
    found.map_or_else(
        || invalid("an anchor that this library did not give, or a copy from a listing that has ended"),
        Ok,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_long_anchors_goes_when_their_listing_ends_and_not_that_of_another() {
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
        let kept: Vec<bool> = copies.iter().map(|copy| unpacked(copy).is_ok()).collect();
        assert_eq!(kept, [false, true, true, false, false]);
        assert_eq!(unpacked(&other), Ok(mark(9, 200)));
        assert_eq!(long().bytes, 200);
        pack(None, &mut other);
        assert!(long().kept.is_empty() && long().bytes == 0);
    }

    #[test]
    fn listings_that_nobody_ends_keep_no_more_than_there_is_room_for() {
        let mut long = Long::new();
        let mark = Anchor::from_bytes(vec![7; 65_535]);
        let last = (0..1000).map(|_| long.keep(&mark, 0)).last();
        assert!(long.bytes <= MOST_BYTES && long.kept.len() > 200 && long.kept.contains_key(&last.unwrap()));
        assert!(long.left.is_empty());
    }

    #[test]
    fn a_listing_that_rests_keeps_its_place_beside_a_long_one() {
        let mut long = Long::new();
        let mark = Anchor::from_bytes(vec![7; 640]);
        let resting = long.keep(&mark, 0);
        let mut other = 0;
        for _ in 0..28_000 {
            other = long.keep(&mark, other);
            assert!(long.kept.contains_key(&resting) && long.kept.contains_key(&other));
        }
        assert!(long.bytes <= MOST_BYTES && long.kept.len() > 20_000);
        assert_eq!(long.kept.len(), long.left.len() + 2);
        long.release(other);
        assert_eq!((long.kept.len(), long.left.len(), long.bytes), (1, 0, 640));
    }
}
