//! Puts and gets of entries beside plain omap operations of Ceph's with the same keys, values, batches and depth, in turns:
//!
//! `scripts/ceph-dev with cargo run --release -p isotach-engine-rados --features cluster --example index`
//!
//! Options are words: `rounds=5 batches=32 batch=1000 value=120 store=rados://POOL/NAME`. Prints a table and, last, the medians of the
//! ratios, each of two runs that followed each other.
#![expect(clippy::unwrap_used, reason = "a measurement: a failure ends it")]

use std::{collections::HashMap, env, time::Instant};

use isotach_engine_rados::{
    Rados,
    raw::{Entries, Raw},
};
use isotach_object::{
    Cell, Container, ContainerOptions, Engine, ObjectClass, ObjectId, ObjectType, PoolUri, Update,
};

const OBJECT: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);

fn main() {
    let options: HashMap<String, String> = env::args()
        .skip(1)
        .map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap())
        .collect();
    let number = |name: &str, default: usize| options.get(name).map_or(default, |text| text.parse().unwrap());
    let (rounds, batches) = (number("rounds", 5), number("batches", 32));
    let (batch, length) = (number("batch", 1000), number("value", 120));
    let pool = env::var("ISOTACH_RADOS_POOL").unwrap_or_else(|_| "isotach".to_owned());
    let uri = options.get("store").cloned().unwrap_or_else(|| format!("rados://{pool}/index-bench"));
    let uri: PoolUri = uri.parse().unwrap();
    let all: Vec<Entries> = (0..batches)
        .map(|number| (0..batch).map(|at| entry(number * batch + at, length)).collect())
        .collect();
    let engine = Rados::new();
    let raw = Raw::open(&engine, &uri, "index-bench-raw").unwrap();
    engine.create_pool(&uri).unwrap();
    let ratios = measure(&engine, &uri, &raw, &all, rounds);
    engine.destroy_pool(&uri).unwrap();
    for (name, mut ratios) in ["put", "get"].into_iter().zip(ratios) {
        ratios.sort_by(f64::total_cmp);
        println!("{name}: {:.2} of plain omap operations", ratios[ratios.len() / 2]);
    }
}

fn entry(number: usize, length: usize) -> (Vec<u8>, Vec<u8>) {
    let key = format!("class=od,expver=0001,stream=oper,date=20240101,step={},param={number}", number % 240);
    (key.into_bytes(), vec![number as u8; length])
}

fn measure(engine: &Rados, uri: &PoolUri, raw: &Raw, all: &[Entries], rounds: usize) -> [Vec<f64>; 2] {
    let pool = engine.open_pool(uri).unwrap();
    let count: usize = all.iter().map(Vec::len).sum();
    let keys: Vec<Vec<Vec<u8>>> =
        all.iter().map(|batch| batch.iter().map(|(key, _)| key.clone()).collect()).collect();
    println!("entries a second  plain put     put  plain get     get");
    let mut ratios = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        let object = format!("round-{round}");
        let label = object.parse().unwrap();
        pool.create_container(&label, &ContainerOptions::default()).unwrap();
        let container = pool.open_container(&label).unwrap();
        let plain = || {
            let put = timed(count, || raw.set(&object, all).unwrap());
            [put, timed(count, || assert_eq!(raw.get(&object, &keys).unwrap(), count))]
        };
        let ours = || [timed(count, || put(&*container, all)), timed(count, || get(&*container, &keys))];
        // Who comes first has another cluster before him than who comes second, so they take turns.
        let (plain, ours) = match round % 2 {
            0 => (plain(), ours()),
            _ => {
                let ours = ours();
                (plain(), ours)
            }
        };
        raw.remove(&object).unwrap();
        pool.destroy_container(&label).unwrap();
        println!("{:27.0} {:7.0} {:10.0} {:7.0}", plain[0], ours[0], plain[1], ours[1]);
        // The first round warms up.
        if round > 0 {
            (0..2).for_each(|at| ratios[at].push(ours[at] / plain[at]));
        }
    }
    ratios
}

fn timed(count: usize, act: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    act();
    count as f64 / begin.elapsed().as_secs_f64()
}

fn put(container: &dyn Container, all: &[Entries]) {
    for batch in all {
        let updates: Vec<Update<'_>> =
            batch.iter().map(|(key, value)| Update::Put { cell: Cell::kv(OBJECT, key), value }).collect();
        container.update(&updates).unwrap();
    }
    container.flush().unwrap();
}

fn get(container: &dyn Container, keys: &[Vec<Vec<u8>>]) {
    let cells: Vec<Cell<'_>> = keys.iter().flatten().map(|key| Cell::kv(OBJECT, key)).collect();
    let found = container.get_many(&cells).unwrap();
    assert!(found.iter().all(Option::is_some));
}
