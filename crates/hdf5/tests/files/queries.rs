//! Queries with any index against a plain evaluation, while several processes write.

use std::sync::Arc;

use isotach_hdf5::{
    Comparison, Condition, Data, Error, File, Filter, Header, IndexOptions, Literal, Object, Run, Selection,
    Test,
};
use proptest::prelude::*;

use crate::{
    common::{at, data, filter, linked, plain, read_all},
    isolation::Shared,
    types::{compound, float, integer, stored},
};

/// The types of elements that are tried: the message, the bytes, and the members with offset and kind.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Element {
    Single,
    Double,
    Short,
    Byte,
    Long,
    Compound,
}

impl Element {
    fn message(self) -> Vec<u8> {
        match self {
            Self::Single => float(4, false),
            Self::Double => float(8, true),
            Self::Short => integer(2, true, true),
            Self::Byte => integer(1, false, false),
            Self::Long => integer(8, true, false),
            Self::Compound => compound(8, &[("a", 0, float(4, false)), ("b", 4, integer(4, true, true))]),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double | Self::Long | Self::Compound => 8,
            Self::Short => 2,
            Self::Byte => 1,
        }
    }

    /// The filter that rounds numbers to integers, or cuts bits of integers. `None` for a compound.
    fn lossy(self, chunk: &[u64]) -> Option<Filter> {
        let (kind, factor, class, is_signed, is_big) = match self {
            Self::Single => (0, 0, 1, 1, 0),
            Self::Double => (0, 0, 1, 1, 1),
            Self::Short => (2, 5, 0, 1, 1),
            Self::Byte => (2, 3, 0, 0, 0),
            Self::Long => (2, 44, 0, 1, 0),
            Self::Compound => return None,
        };
        let count = chunk.iter().product::<u64>() as u32;
        let mut values = vec![kind, factor, count, class, self.bytes() as u32, is_signed, is_big];
        values.resize(20, 0);
        Some(Filter { flags: Filter::OPTIONAL, ..filter(6, &values) })
    }

    fn members(self) -> &'static [&'static str] {
        if self == Self::Compound { &["a", "b"] } else { &[""] }
    }

    /// An element of a small number.
    fn encode(self, number: i64) -> Vec<u8> {
        let real = if number == 99 { f64::NAN } else { number as f64 / 2.0 };
        match self {
            Self::Single => (real as f32).to_le_bytes().to_vec(),
            Self::Double => real.to_le_bytes().iter().rev().copied().collect(),
            Self::Short => (number as i16).to_le_bytes().iter().rev().copied().collect(),
            Self::Byte => vec![number as u8],
            Self::Long => (number << 40).to_le_bytes().to_vec(),
            Self::Compound => {
                let second = (number as i32).to_le_bytes();
                let second: Vec<u8> = second.iter().rev().copied().collect();
                [(real as f32).to_le_bytes().to_vec(), second].concat()
            }
        }
    }

    /// The number in a member, read in the plainest way.
    fn number(self, element: &[u8], member: &str) -> f64 {
        let reversed: Vec<u8> = element.iter().rev().copied().collect();
        let as_single = |bytes: &[u8]| f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
        match self {
            Self::Single => as_single(element),
            Self::Double => f64::from_le_bytes(reversed.try_into().unwrap()),
            Self::Short => i16::from_le_bytes(reversed.try_into().unwrap()).into(),
            Self::Byte => element[0].into(),
            // Powers of 2 times small numbers: exact.
            Self::Long => i64::from_le_bytes(element.try_into().unwrap()) as f64,
            Self::Compound if member == "a" => as_single(&element[..4]),
            Self::Compound => i32::from_le_bytes(reversed[..4].try_into().unwrap()).into(),
        }
    }

    fn literal(self, number: i64) -> Literal {
        match self {
            Self::Long => Literal::Integer(i128::from(number) << 40),
            Self::Short | Self::Byte => Literal::Integer(number.into()),
            _ => Literal::Real(number as f64 / 2.0),
        }
    }
}

fn holds(condition: &Condition, element: Element, bytes: &[u8]) -> bool {
    let number_of = |literal: &Literal| match literal {
        Literal::Integer(number) => *number as f64,
        Literal::Real(number) => *number,
        Literal::Text(_) => panic!("no texts here"),
    };
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(part, element, bytes)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, element, bytes)),
        Condition::Not(part) => !holds(part, element, bytes),
        Condition::Value { member, test } => {
            let number = element.number(bytes, member.first().map_or("", String::as_str));
            match test {
                Test::Is(comparison, literal) => {
                    let literal = number_of(literal);
                    match comparison {
                        Comparison::Equal => number == literal,
                        Comparison::Unequal => number != literal,
                        Comparison::Less => number < literal,
                        Comparison::AtMost => number <= literal,
                        Comparison::Greater => number > literal,
                        Comparison::AtLeast => number >= literal,
                    }
                }
                Test::In(low, high) => number_of(low) <= number && number <= number_of(high),
                Test::IsNan => number.is_nan(),
                Test::IsNumber => !number.is_nan(),
                Test::Like(_) => panic!("no texts here"),
            }
        }
        _ => panic!("no names here"),
    }
}

fn elements(selection: &Selection) -> Vec<u64> {
    selection.runs().iter().flat_map(|run| run.first..run.first + run.count).collect()
}

/// Compares a query with a plain evaluation of all elements.
fn check(object: &Object, element: Element, condition: &Condition) {
    let bytes = read_all(object);
    let expected: Vec<u64> = bytes
        .chunks(element.bytes())
        .zip(0..)
        .filter(|(bytes, _)| holds(condition, element, bytes))
        .map(|(_, at)| at)
        .collect();
    let selection = object.select(condition).unwrap();
    assert_eq!(elements(&selection), expected, "{condition} with {:?}", object.index().unwrap());
    assert_eq!(Condition::parse(&condition.to_string()).unwrap(), *condition);
}

fn literal(element: Element) -> impl Strategy<Value = Literal> + Clone {
    (-30..120_i64).prop_map(move |number| element.literal(number))
}

fn condition(element: Element) -> impl Strategy<Value = Condition> {
    let comparison = prop::sample::select(vec![
        Comparison::Equal,
        Comparison::Unequal,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::Greater,
        Comparison::AtLeast,
    ]);
    let test = prop_oneof![
        6 => (comparison, literal(element)).prop_map(|(comparison, literal)| Test::Is(comparison, literal)),
        2 => (literal(element), literal(element)).prop_map(|(low, high)| Test::In(low, high)),
        1 => prop::sample::select(vec![Test::IsNan, Test::IsNumber]),
    ];
    let member = prop::sample::select(element.members().to_vec());
    let member = member.prop_map(|name| if name.is_empty() { Vec::new() } else { vec![name.to_owned()] });
    let leaf = (member, test).prop_map(|(member, test)| Condition::Value { member, test });
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::All),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Any),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

/// What one of two processes does.
#[derive(Debug, Clone)]
enum Step {
    /// Writes rows: the first, how many, and what they begin with and how they vary.
    Rows(u64, u64, i64, i64),
    /// Writes a run: the first element, how many, a number.
    Run(u64, u64, i64),
    Extent(u64, u64),
    Index {
        has_bins: bool,
        one_member: bool,
    },
    RemoveIndex,
    Commit,
    Refresh,
    Query(Condition),
}

fn step(element: Element) -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..24_u64, 1..9_u64, -20..100_i64, 1..60_i64).prop_map(|(first, count, base, spread)| Step::Rows(first, count, base, spread)),
        2 => (0..9000_u64, 1..2500_u64, -20..100_i64).prop_map(|(first, count, number)| Step::Run(first, count, number)),
        1 => (1..26_u64, 100..450_u64).prop_map(|(rows, columns)| Step::Extent(rows, columns)),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(has_bins, one_member)| Step::Index { has_bins, one_member }),
        1 => Just(Step::RemoveIndex),
        3 => Just(Step::Commit),
        1 => Just(Step::Refresh),
        4 => condition(element).prop_map(Step::Query),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Filters {
    None,
    Lossless,
    Lossy,
}

type Scenario = (Element, Filters, bool, Vec<(usize, Step)>, Vec<Condition>);

fn scenario() -> impl Strategy<Value = Scenario> {
    let element = prop::sample::select(vec![
        Element::Single,
        Element::Double,
        Element::Short,
        Element::Byte,
        Element::Long,
        Element::Compound,
    ]);
    element.prop_flat_map(|element| {
        let steps = prop::collection::vec((0..2_usize, step(element)), 4..24);
        let last = prop::collection::vec(condition(element), 3);
        let filters = prop::sample::select(vec![Filters::None, Filters::Lossless, Filters::Lossy]);
        (Just(element), filters, any::<bool>(), steps, last)
    })
}

fn make(file: &Arc<File>, element: Element, filters: Filters, has_fill: bool) {
    let size = element.bytes();
    // Whole chunks are larger than what is kept in an entry, without filters.
    let chunk = [7, 4400 / size as u64];
    let filters = match filters {
        Filters::None => Vec::new(),
        Filters::Lossless => vec![filter(2, &[size as u32]), filter(1, &[1])],
        Filters::Lossy => element.lossy(&chunk).into_iter().collect(),
    };
    let fill = has_fill.then(|| element.encode(40));
    let data = Data { filters, fill, ..data(&[20, chunk[1] + 150], &chunk, size as u32) };
    drop(linked(file, "set", Header::dataset(stored(&element.message()), data)));
    file.commit().unwrap();
}

/// Numbers that differ from element to element, or not.
fn varied(element: Element, count: u64, base: i64, spread: i64) -> Vec<u8> {
    (0..count as i64).flat_map(|at| element.encode(base + at * 7919 % spread)).collect()
}

fn act(object: &Object, element: Element, step: &Step) -> Result<(), Error> {
    let header = object.header()?;
    let dims = header.data.as_ref().unwrap().space.dims().to_vec();
    match step {
        Step::Rows(first, count, base, spread) => {
            let first = first % dims[0];
            let count = (*count).min(dims[0] - first) * dims[1];
            object.write(&[Run { first: first * dims[1], count }], &varied(element, count, *base, *spread))
        }
        Step::Run(first, count, number) => {
            let all = dims[0] * dims[1];
            let first = first % all;
            let count = (*count).min(all - first);
            object.write(&[Run { first, count }], &varied(element, count, *number, 1))
        }
        Step::Extent(rows, columns) => object.set_extent(&[*rows, *columns]),
        Step::Index { has_bins, one_member } => {
            let members = if *one_member && element == Element::Compound {
                vec![vec!["b".to_owned()]]
            } else {
                Vec::new()
            };
            let info = object.build_index(&IndexOptions { has_bins: *has_bins, members })?;
            assert_eq!(info.indexed + info.without, info.chunks, "{info:?}");
            Ok(())
        }
        Step::RemoveIndex => object.remove_index().map(drop),
        Step::Commit => object.file().commit().map(drop),
        Step::Refresh => object.file().refresh(),
        Step::Query(condition) => {
            check(object, element, condition);
            Ok(())
        }
    }
}

fn play(files: &[Arc<File>], element: Element, steps: &[(usize, Step)], last: &[Condition]) {
    let objects: Vec<Object> = files.iter().map(|file| at(file, "set")).collect();
    for (process, step) in steps {
        let object = &objects[process % objects.len()];
        act(object, element, step).unwrap();
    }
    for object in &objects {
        object.file().commit().unwrap();
    }
    for object in &objects {
        object.file().refresh().unwrap();
        last.iter().for_each(|condition| check(object, element, condition));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_query_finds_what_a_plain_evaluation_finds_whoever_writes(
        (element, filters, has_fill, steps, last) in scenario(),
    ) {
        let shared = Shared::new();
        let file = shared.create();
        make(&file, element, filters, has_fill);
        let other = shared.open(1);
        play(&[file, other], element, &steps, &last);
    }

    #[test]
    fn a_query_finds_the_same_on_an_engine_without_transactions(
        (element, filters, has_fill, steps, last) in scenario(),
    ) {
        let place = plain();
        let file = place.create();
        make(&file, element, filters, has_fill);
        play(&[file], element, &steps, &last);
    }
}
