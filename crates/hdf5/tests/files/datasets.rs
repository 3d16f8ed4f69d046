//! Elements of datasets against a plain array.

use std::ops::ControlFlow;

use crate::common::{Place, at, data, dataset, filter, memory, places, pool, read_all, whole};
use isotach_hdf5::{ChunkAt, Data, Error, File, Filter, Header, Object, Run, Space};
use proptest::prelude::*;

#[test]
fn scalars_and_empty_spaces_are_datasets_too() {
    for place in places() {
        let file = place.create();
        let of = |space: Space, element| Data { space, chunk: Vec::new(), ..data(&[], &[], element) };
        let scalar = dataset(&file, "scalar", of(Space::Scalar, 8));
        assert_eq!(read_all(&scalar), [0; 8]);
        scalar.write(&whole(&scalar), &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let large = dataset(&file, "large", of(Space::Scalar, 10_000));
        large.write(&whole(&large), &[4; 10_000]).unwrap();
        let null = dataset(&file, "null", of(Space::Null, 8));
        assert_eq!(read_all(&null), []);
        drop((scalar, large, null));
        let file = place.reopened(file);
        assert_eq!(read_all(&at(&file, "scalar")), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(read_all(&at(&file, "large")), [4; 10_000]);
        assert_eq!(at(&file, "large").chunk_count().unwrap(), 1);
        assert!(matches!(at(&file, "scalar").set_extent(&[2]), Err(Error::InvalidInput { .. })));
    }
}

#[test]
fn what_was_never_written_reads_as_the_fill_value() {
    for place in places() {
        let file = place.create();
        let fill = Some(vec![1, 2]);
        let set = dataset(&file, "set", Data { fill, ..data(&[5, 3], &[2, 2], 2) });
        set.write(&[Run { first: 4, count: 2 }], &[9, 9, 8, 8]).unwrap();
        let mut expected = [1, 2].repeat(15);
        expected[8..12].copy_from_slice(&[9, 9, 8, 8]);
        assert_eq!(read_all(&set), expected);
        assert_eq!(set.chunk_count().unwrap(), 2);
        set.set_extent(&[1, 2]).unwrap();
        set.set_extent(&[5, 3]).unwrap();
        assert_eq!(read_all(&set), [1, 2].repeat(15), "what was cut off is gone");
        drop(set);
        let file = place.reopened(file);
        assert_eq!(read_all(&at(&file, "set")), [1, 2].repeat(15));
    }
}

#[test]
fn stored_chunks_are_listed_read_and_written_as_they_are() {
    for place in places() {
        let file = place.create();
        let filters = vec![filter(2, &[4]), filter(1, &[6])];
        let set = dataset(&file, "set", Data { filters, ..data(&[30, 50], &[10, 20], 4) });
        let bytes: Vec<u8> = (0..6000_u32).map(|at| (at / 100) as u8).collect();
        set.write(&whole(&set), &bytes).unwrap();
        for _ in 0..2 {
            assert_eq!(set.chunk_count().unwrap(), 9);
            let mut places = Vec::new();
            let mut total = 0;
            set.each_chunk(&mut |chunk| {
                places.push(chunk.offset.clone());
                total += chunk.stored_length;
                Ok(if places.len() == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })
            .unwrap();
            assert_eq!((places[1].as_slice(), places[8].as_slice()), (&[0, 20][..], &[20, 40][..]));
            assert_eq!(set.storage_size().unwrap(), total);
            assert!(total < 3000, "{total}");
            let info = set.chunk_info(ChunkAt::Index(3)).unwrap();
            assert_eq!(info, set.chunk_info(ChunkAt::Offset(&[10, 0])).unwrap());
            file.commit().unwrap();
        }
        let (mask, stored) = set.read_chunk(&[10, 20]).unwrap();
        set.write_chunk(&[0, 0], mask, &stored).unwrap();
        set.write_chunk(&[20, 0], 3, &[7; 800]).unwrap();
        file.commit().unwrap();
        let all = read_all(&set);
        assert_eq!(all[..80], bytes[(10 * 50 + 20) * 4..(10 * 50 + 40) * 4]);
        assert_eq!(all[20 * 200..20 * 200 + 80], [7; 80]);
        assert!(matches!(set.chunk_info(ChunkAt::Offset(&[1, 0])), Err(Error::InvalidInput { .. })));
        assert!(matches!(set.chunk_info(ChunkAt::Index(9)), Err(Error::NotFound { .. })));
        assert!(matches!(set.read_chunk(&[30, 0]), Err(Error::InvalidInput { .. })));
        set.write_chunk(&[0, 0], 0, &[1; 100]).unwrap();
        let mut one = [0; 4];
        let error = set.read(&[Run { first: 0, count: 1 }], &mut one).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}

#[test]
fn shuffle_without_a_size_gets_that_of_an_element() {
    let file = memory().create();
    let set = dataset(&file, "set", Data { filters: vec![filter(2, &[])], ..data(&[8], &[8], 4) });
    assert_eq!(set.header().unwrap().data.as_ref().unwrap().filters[0].values, [4]);
    let unknown = Data { filters: vec![filter(4, &[])], ..data(&[8], &[8], 4) };
    let error = file.create_object(Header::dataset(Vec::new(), unknown)).unwrap_err();
    assert!(error.to_string().contains("filter 4"), "{error}");
}

#[test]
fn a_committed_chunk_is_changed_in_place_and_back_in_an_array_when_written_whole() {
    for place in places() {
        let file = place.create();
        let set = dataset(&file, "set", data(&[4000], &[2000], 8));
        set.write(&whole(&set), &[1; 32_000]).unwrap();
        let mut expected = vec![1; 32_000];
        file.commit().unwrap();
        for round in 0..3_u8 {
            let first = 100 + 700 * u64::from(round);
            set.write(&[Run { first, count: 3 }], &[round + 2; 24]).unwrap();
            expected[first as usize * 8..first as usize * 8 + 24].fill(round + 2);
            assert!(read_all(&set) == expected);
            file.commit().unwrap();
            assert!(read_all(&set) == expected);
        }
        assert_eq!(set.storage_size().unwrap(), 32_000);
        assert_eq!(set.read_chunk(&[0]).unwrap().1, expected[..16_000]);
        set.write(&[Run { first: 0, count: 2000 }], &[9; 16_000]).unwrap();
        expected[..16_000].fill(9);
        drop(set);
        let file = place.reopened(file);
        assert!(read_all(&at(&file, "set")) == expected);
    }
}

#[test]
fn data_larger_than_the_memory_for_changed_chunks_is_read_back() {
    let place = pool();
    let file = place.create();
    // Columns touch every chunk and complete none until the last.
    let set = dataset(&file, "set", data(&[1000, 24], &[10, 24], 4000));
    let column =
        |at: u64| -> Vec<Run> { (0..1000).map(|row| Run { first: row * 24 + at, count: 1 }).collect() };
    for at in 0..24 {
        set.write(&column(at), &vec![at as u8; 4_000_000]).unwrap();
    }
    for at in [0, 5, 23] {
        let mut bytes = vec![0; 4_000_000];
        set.read(&column(at), &mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == at as u8));
    }
    file.commit().unwrap();
    set.write(&column(7), &vec![200; 4_000_000]).unwrap();
    drop(set);
    let file = place.reopened(file);
    let mut bytes = vec![0; 4_000_000];
    at(&file, "set").read(&column(7), &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 200));
}

/// What a test does with a dataset.
#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(u64, u64)>, u8),
    SetExtent(u64, u64),
    Commit,
    Reopen,
    Refresh,
    Read(Vec<(u64, u64)>),
}

fn step() -> impl Strategy<Value = Step> {
    let runs = || prop::collection::vec((0..2000_u64, 1..400_u64), 1..5);
    prop_oneof![
        5 => (runs(), any::<u8>()).prop_map(|(runs, byte)| Step::Write(runs, byte)),
        2 => (0..45_u64, 0..45_u64).prop_map(|(rows, columns)| Step::SetExtent(rows, columns)),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
        1 => Just(Step::Refresh),
        2 => runs().prop_map(Step::Read),
    ]
}

/// A dataset as a plain array: rows of elements.
struct Model {
    rows: u64,
    columns: u64,
    elements: Vec<Vec<u8>>,
    fill: Vec<u8>,
}

impl Model {
    fn resize(&mut self, rows: u64, columns: u64) {
        let old = std::mem::take(&mut self.elements);
        let element = |row, column| {
            let is_kept = row < self.rows && column < self.columns;
            if is_kept { old[(row * self.columns + column) as usize].clone() } else { self.fill.clone() }
        };
        self.elements = (0..rows)
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
            .map(|(row, column)| element(row, column))
            .collect();
        (self.rows, self.columns) = (rows, columns);
    }

    /// Runs that are within the extent.
    fn runs(&self, runs: &[(u64, u64)]) -> Vec<Run> {
        let count = self.elements.len() as u64;
        let within = runs.iter().filter(|_| count > 0).map(|(first, length)| {
            let first = first % count;
            Run { first, count: (*length).min(count - first) }
        });
        within.collect()
    }

    fn packed(&self, runs: &[Run]) -> Vec<u8> {
        runs.iter()
            .flat_map(|run| run.first..run.first + run.count)
            .flat_map(|at| self.elements[at as usize].clone())
            .collect()
    }
}

fn compare(place: &Place, shape: ([u64; 2], u32, bool), filters: Vec<Filter>, steps: Vec<Step>) {
    let (chunk, element, has_fill) = shape;
    let fill: Vec<u8> =
        if has_fill { (0..element).map(|at| at as u8 | 1).collect() } else { vec![0; element as usize] };
    let mut model = Model { rows: 0, columns: 0, elements: Vec::new(), fill: fill.clone() };
    model.resize(30, 40);
    let mut file = place.create();
    let set = Data { fill: has_fill.then_some(fill), filters, ..data(&[30, 40], &chunk, element) };
    drop(dataset(&file, "set", set));
    let read = |file: &std::sync::Arc<File>, runs: &[Run], model: &Model| {
        let expected = model.packed(runs);
        let mut bytes = vec![0xee; expected.len()];
        at(file, "set").read(runs, &mut bytes).unwrap();
        assert!(bytes == expected, "runs {runs:?}");
    };
    for step in steps {
        match step {
            Step::Write(runs, byte) => {
                let runs = model.runs(&runs);
                let count: u64 = runs.iter().map(|run| run.count).sum();
                let packed: Vec<u8> =
                    (0..count * u64::from(element)).map(|at| (at as u8).wrapping_mul(3) ^ byte).collect();
                at(&file, "set").write(&runs, &packed).unwrap();
                let places = runs.iter().flat_map(|run| run.first..run.first + run.count);
                for (place, bytes) in places.zip(packed.chunks(element as usize)) {
                    model.elements[place as usize] = bytes.to_vec();
                }
            }
            Step::SetExtent(rows, columns) => {
                at(&file, "set").set_extent(&[rows, columns]).unwrap();
                model.resize(rows, columns);
            }
            Step::Commit => drop(file.commit().unwrap()),
            Step::Reopen => file = place.reopened(file),
            Step::Refresh => file.refresh().unwrap(),
            Step::Read(runs) => read(&file, &model.runs(&runs), &model),
        }
    }
    let all = [Run { first: 0, count: model.elements.len() as u64 }];
    read(&file, &all, &model);
    file = place.reopened(file);
    read(&file, &all, &model);
    let set: Object = at(&file, "set");
    let header: std::sync::Arc<Header> = set.header().unwrap();
    assert_eq!(header.data.as_ref().unwrap().space.dims(), [model.rows, model.columns]);
}

fn shapes() -> impl Strategy<Value = ([u64; 2], u32, bool)> {
    let chunk = prop::sample::select(vec![[1, 1], [7, 40], [30, 40], [16, 16], [50, 50], [3, 11], [8, 45]]);
    (chunk, prop::sample::select(vec![1_u32, 8, 31, 300]), any::<bool>())
}

fn pipelines() -> impl Strategy<Value = Vec<Filter>> {
    let optional = Filter { flags: Filter::OPTIONAL, ..filter(32_015, &[1]) };
    prop::sample::select(vec![
        vec![],
        vec![],
        vec![filter(2, &[8]), filter(1, &[4]), filter(3, &[])],
        vec![filter(32_004, &[])],
        vec![optional],
    ])
}

proptest! {
    #[test]
    fn a_dataset_in_memory_is_a_plain_array(
        shape in shapes(), filters in pipelines(), steps in prop::collection::vec(step(), 1..20),
    ) {
        compare(&memory(), shape, filters, steps);
    }

    #[test]
    fn a_dataset_in_a_posix_pool_is_a_plain_array(
        shape in shapes(), filters in pipelines(), steps in prop::collection::vec(step(), 1..20),
    ) {
        compare(&pool(), shape, filters, steps);
    }
}
