//! New arrays, as the field store writes them.

mod support;

use isotach_engine_kit::checksum::crc32c;
use isotach_object::{ArrayRead, Cell, ContainerOptions, ObjectClass, ObjectId, ObjectType};
use isotach_object_conformance::Fixture;

/// Lengths around the block that a checksum covers and around the least that is sent at once.
const LENGTHS: [usize; 5] = [1, 65_537, 262_144, 1_000_003, 1 << 20];

#[test]
fn a_new_array_of_any_length_has_its_bytes_and_a_large_one_returns_their_checksum() {
    let fixture = support::rados("depth=1");
    let (engine, uri) = (fixture.engine(), fixture.fresh_pool());
    engine.create_pool(&uri).unwrap();
    let (pool, label) = (engine.open_pool(&uri).unwrap(), "c".parse().unwrap());
    pool.create_container(&label, &ContainerOptions::default()).unwrap();
    let container = pool.open_container(&label).unwrap();
    let arrays: Vec<_> = (1..)
        .zip(LENGTHS)
        .map(|(id, length)| {
            let data: Vec<u8> = (0..length).map(|at| (at * 7 + id) as u8 ^ (at >> 9) as u8).collect();
            (ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, id as u64), data)
        })
        .collect();
    for (object, data) in &arrays {
        let sum = container.write_new(*object, data).unwrap();
        assert_eq!(sum, (data.len() >= 262_144).then(|| crc32c(data)), "{} bytes", data.len());
    }
    container.flush().unwrap();
    let other = pool.open_container(&label).unwrap();
    for (object, data) in &arrays {
        let mut buffer = vec![0; data.len() + 1];
        let mut reads = [ArrayRead { cell: Cell::array(*object), offset: 0, buffer: &mut buffer, filled: 0 }];
        other.read_many(&mut reads).unwrap();
        let filled = reads[0].filled;
        assert!(buffer[..filled] == data[..], "{} bytes", data.len());
    }
    engine.destroy_pool(&uri).unwrap();
}
