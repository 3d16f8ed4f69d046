//! Which combinations of the values of some keys have been found: ticked off one by one while they are few enough to
//! have a place each, remembered by what was found when they are not.
//!
//! What must stay true: the count of what is missing is exact up to 2^64, however many combinations there are.

use std::collections::{BTreeMap, HashSet};

/// In place of a value's number: all values of the key.
pub(super) const ANY: u32 = u32::MAX;

/// More combinations than this have no place each.
const PLACES_MAX: usize = 50_000_000;

/// The combinations found. Each is a number for each key: that of its value among the key's values.
#[derive(Clone)]
pub(super) struct Ticked {
    /// How many values each key has.
    sizes: Vec<usize>,
    found: TickedSet,
}

#[derive(Clone)]
enum TickedSet {
    /// A place for each combination, the last key changing fastest, and how many places are empty.
    Places { found: Vec<bool>, missing: usize },
    /// What was found, and which keys were [`ANY`] in it, each way once.
    Patterns { found: HashSet<Box<[u32]>>, shapes: HashSet<Box<[bool]>> },
}

impl Ticked {
    /// Nothing found yet of keys with so many values each.
    pub(super) fn new(sizes: Vec<usize>) -> Self {
        let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
        let found = match count.filter(|count| *count <= PLACES_MAX) {
            Some(count) => TickedSet::Places { found: vec![false; count], missing: count },
            None => TickedSet::Patterns { found: HashSet::new(), shapes: HashSet::new() },
        };
        Self { sizes, found }
    }

    /// The number of combinations; at most the largest `usize`.
    pub(super) fn count(&self) -> usize {
        saturated(product(&self.sizes))
    }

    /// The number of combinations not found; at most the largest `usize`.
    pub(super) fn missing_count(&self) -> usize {
        match &self.found {
            TickedSet::Places { missing, .. } => *missing,
            TickedSet::Patterns { found, .. } => {
                let patterns: Vec<&[u32]> = found.iter().map(AsRef::as_ref).collect();
                saturated(product(&self.sizes).saturating_sub(covered(&patterns, &self.sizes)))
            }
        }
    }

    /// Ticks off a combination, or all that a pattern with [`ANY`] covers.
    pub(super) fn mark(&mut self, pattern: &[u32]) {
        match &mut self.found {
            TickedSet::Places { found, missing } => {
                for place in places(pattern, &self.sizes) {
                    if let Some(found) = found.get_mut(place).filter(|found| !**found) {
                        *found = true;
                        *missing -= 1;
                    }
                }
            }
            TickedSet::Patterns { found, shapes } => {
                shapes.insert(pattern.iter().map(|number| *number == ANY).collect());
                found.insert(pattern.into());
            }
        }
    }

    /// The combinations not found, the last key changing fastest.
    pub(super) fn missing(&self) -> impl Iterator<Item = Vec<u32>> {
        let (places, patterns) = match &self.found {
            TickedSet::Places { found, .. } => (Some(found), None),
            TickedSet::Patterns { found, shapes } => (None, Some((found, shapes))),
        };
        let empty =
            places.into_iter().flat_map(|found| found.iter().enumerate()).filter(|(_, found)| !**found);
        let unseen = patterns.into_iter().flat_map(|(found, shapes)| {
            self.combinations().filter(|combination| !covers(found, shapes, combination))
        });
        empty.map(|(place, _)| self.combination(place)).chain(unseen)
    }

    fn combination(&self, mut place: usize) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.sizes.len());
        for size in self.sizes.iter().rev() {
            numbers.push(u32::try_from(place % size).unwrap_or(ANY));
            place /= size;
        }
        numbers.reverse();
        numbers
    }

    fn combinations(&self) -> impl Iterator<Item = Vec<u32>> {
        let first = (!self.sizes.contains(&0)).then(|| vec![0_u32; self.sizes.len()]);
        std::iter::successors(first, |here| {
            let mut next = here.clone();
            for (number, size) in next.iter_mut().zip(&self.sizes).rev() {
                *number += 1;
                if (*number as usize) < *size {
                    return Some(next);
                }
                *number = 0;
            }
            None
        })
    }
}

/// Whether one of the patterns found covers a combination.
fn covers(found: &HashSet<Box<[u32]>>, shapes: &HashSet<Box<[bool]>>, combination: &[u32]) -> bool {
    shapes.iter().any(|shape| {
        let numbers = combination.iter().zip(shape).map(|(number, any)| if *any { ANY } else { *number });
        found.contains(numbers.collect::<Box<[u32]>>().as_ref())
    })
}

/// The places of the combinations that a pattern covers.
fn places(pattern: &[u32], sizes: &[usize]) -> Vec<usize> {
    let mut places = vec![0_usize];
    for (number, size) in pattern.iter().zip(sizes) {
        if *number == ANY {
            places = places.iter().flat_map(|at| (0..*size).map(move |number| at * size + number)).collect();
        } else {
            places.iter_mut().for_each(|at| *at = *at * size + *number as usize);
        }
    }
    places
}

/// How many combinations some patterns cover together, each counted once.
fn covered(patterns: &[&[u32]], sizes: &[usize]) -> u128 {
    if patterns.is_empty() {
        return 0;
    }
    let Some((size, sizes)) = sizes.split_first() else { return 1 };
    let mut of_any: Vec<&[u32]> = Vec::new();
    let mut of_one: BTreeMap<u32, Vec<&[u32]>> = BTreeMap::new();
    for (number, rest) in patterns.iter().filter_map(|pattern| pattern.split_first()) {
        if *number == ANY {
            of_any.push(rest);
        } else {
            of_one.entry(*number).or_default().push(rest);
        }
    }
    let others = size.saturating_sub(of_one.len()) as u128;
    let mut count = others.saturating_mul(covered(&of_any, sizes));
    for mut patterns in of_one.into_values() {
        patterns.extend(&of_any);
        count = count.saturating_add(covered(&patterns, sizes));
    }
    count
}

fn product(sizes: &[usize]) -> u128 {
    if sizes.contains(&0) {
        return 0;
    }
    sizes.iter().fold(1, |count, size| count.saturating_mul(*size as u128))
}

fn saturated(count: u128) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same combinations, remembered by patterns although they are few.
    fn by_patterns(sizes: &[usize]) -> Ticked {
        let found = TickedSet::Patterns { found: HashSet::new(), shapes: HashSet::new() };
        Ticked { sizes: sizes.to_vec(), found }
    }

    #[test]
    fn patterns_that_overlap_count_once_as_places_do() {
        let sizes = [3, 4, 2];
        let (mut places, mut patterns) = (Ticked::new(sizes.to_vec()), by_patterns(&sizes));
        for pattern in [[0, 1, 1], [0, 1, 1], [ANY, 1, 0], [2, ANY, 1], [ANY, ANY, 1], [1, ANY, ANY]] {
            places.mark(&pattern);
            patterns.mark(&pattern);
            assert_eq!(patterns.missing_count(), places.missing_count(), "after {pattern:?}");
            assert!(patterns.missing().eq(places.missing()), "after {pattern:?}");
            assert_eq!(patterns.missing().count(), patterns.missing_count());
        }
    }

    #[test]
    fn a_hundred_million_are_counted_to_the_last() {
        let mut ticked = Ticked::new(vec![10_001, 10_001]);
        ticked.mark(&[0, 0]);
        ticked.mark(&[5, ANY]);
        ticked.mark(&[5, 7]);
        assert_eq!(ticked.missing_count(), 10_001 * 10_001 - 1 - 10_001);
        assert_eq!(ticked.missing().next(), Some(vec![0, 1]));
    }

    #[test]
    fn more_than_can_be_counted_is_never_none() {
        let mut ticked = Ticked::new(vec![1_000_000; 30]);
        ticked.mark(&[0; 30]);
        assert_eq!((ticked.count(), ticked.missing_count()), (usize::MAX, usize::MAX));
    }
}
