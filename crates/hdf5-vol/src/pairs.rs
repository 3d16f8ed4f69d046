//! Elements of a file with their places in a buffer, and how selections take parts of them.

use isotach_hdf5::Run;

use crate::space::{self, Selection};

/// Elements that follow each other both in a file and in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) file: u64,
    pub(crate) memory: u64,
    pub(crate) count: u64,
}

/// The elements of two selections, one after the other.
pub(crate) fn of(in_file: &[Run], in_memory: &[Run]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(in_file.len().max(in_memory.len()));
    let mut memory = in_memory.iter().copied();
    let mut there = memory.next();
    for run in in_file {
        let mut here = *run;
        while here.count > 0 {
            let Some(other) = &mut there else { return pairs };
            let count = here.count.min(other.count);
            pairs.push(Pair { file: here.first, memory: other.first, count });
            (here.first, here.count) = (here.first + count, here.count - count);
            (other.first, other.count) = (other.first + count, other.count - count);
            if other.count == 0 {
                there = memory.next();
            }
        }
    }
    pairs
}

/// The two selections of pairs.
pub(crate) fn selections(pairs: &[Pair]) -> (Selection, Selection) {
    let (mut file, mut memory, mut total) = (Vec::new(), Vec::new(), 0);
    for pair in pairs {
        space::add(&mut file, Run { first: pair.file, count: pair.count });
        space::add(&mut memory, Run { first: pair.memory, count: pair.count });
        total += pair.count;
    }
    (Selection { runs: file, count: total }, Selection { runs: memory, count: total })
}

/// A selection as it is looked up: from an element's place to its number in the selection, and back.
pub(crate) struct Numbered {
    /// By place: the run, and the number of its first element.
    by_place: Vec<(Run, u64)>,
    /// By number.
    by_number: Vec<(Run, u64)>,
    pub(crate) count: u64,
}

impl Numbered {
    pub(crate) fn new(selection: &Selection) -> Self {
        let mut count = 0;
        let by_number: Vec<(Run, u64)> = selection
            .runs
            .iter()
            .map(|run| {
                let number = count;
                count += run.count;
                (*run, number)
            })
            .collect();
        let mut by_place = by_number.clone();
        by_place.sort_by_key(|(run, _)| run.first);
        Self { by_place, by_number, count }
    }

    /// Parts pairs: those that are in the selection, with their numbers in it for places in the file, and the others.
    pub(crate) fn part(&self, pairs: &[Pair]) -> (Vec<Pair>, Vec<Pair>) {
        let (mut hits, mut rest) = (Vec::new(), Vec::new());
        for pair in pairs {
            let end = pair.file + pair.count;
            let mut at = pair.file;
            let first = self.by_place.partition_point(|(run, _)| run.first + run.count <= at);
            for (run, number) in self.by_place[first..].iter().take_while(|(run, _)| run.first < end) {
                if run.first > at {
                    rest.push(Pair {
                        file: at,
                        memory: pair.memory + (at - pair.file),
                        count: run.first - at,
                    });
                    at = run.first;
                }
                let until = end.min(run.first + run.count);
                if until <= at {
                    continue;
                }
                hits.push(Pair {
                    file: number + (at - run.first),
                    memory: pair.memory + (at - pair.file),
                    count: until - at,
                });
                at = until;
            }
            if at < end {
                rest.push(Pair { file: at, memory: pair.memory + (at - pair.file), count: end - at });
            }
        }
        (hits, rest)
    }

    /// Pairs by number as pairs by place.
    pub(crate) fn place(&self, pairs: &[Pair]) -> Vec<Pair> {
        let mut placed = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let (mut at, end) = (pair.file, pair.file + pair.count);
            let first = self.by_number.partition_point(|(run, number)| number + run.count <= at);
            for (run, number) in self.by_number[first..].iter().take_while(|(_, number)| *number < end) {
                let until = end.min(number + run.count);
                let memory = pair.memory + (at - pair.file);
                placed.push(Pair { file: run.first + (at - number), memory, count: until - at });
                at = until;
            }
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbered, Pair, of};
    use crate::space::Selection;
    use isotach_hdf5::Run;

    fn run(first: u64, count: u64) -> Run {
        Run { first, count }
    }

    fn pair(file: u64, memory: u64, count: u64) -> Pair {
        Pair { file, memory, count }
    }

    #[test]
    fn pairs_end_where_a_run_of_either_side_ends() {
        let pairs = of(&[run(0, 5), run(10, 2)], &[run(100, 3), run(200, 4)]);
        assert_eq!(pairs, [pair(0, 100, 3), pair(3, 200, 2), pair(10, 202, 2)]);
    }

    #[test]
    fn a_selection_takes_its_elements_and_leaves_the_others() {
        let selection = Numbered::new(&Selection { runs: vec![run(12, 4), run(2, 3)], count: 7 });
        let (hits, rest) = selection.part(&[pair(0, 0, 14)]);
        assert_eq!(hits, [pair(4, 2, 3), pair(0, 12, 2)]);
        assert_eq!(rest, [pair(0, 0, 2), pair(5, 5, 7)]);
    }

    #[test]
    fn numbers_become_places_again() {
        let selection = Numbered::new(&Selection { runs: vec![run(12, 4), run(2, 3)], count: 7 });
        assert_eq!(selection.place(&[pair(2, 50, 4)]), [pair(14, 50, 2), pair(2, 52, 2)]);
    }
}
