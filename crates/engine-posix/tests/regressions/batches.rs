//! Arrays that are read in one batch, whether they lie side by side or apart.

use std::sync::Arc;

use isotach_engine_posix::simulation::SimulatedDisk;
use isotach_object::{ArrayRead, Cell, Container, ContainerOptions, Error, Label, Pool, Update};

use super::{Store, array, change};

/// Arrays of one chunk and of several, more than are read at once, one with a hole at its beginning.
const LENGTHS: [usize; 5] = [100, 4096, 70_000, 60_000, 1];
const COUNT: u64 = 400;
const HOLE: u64 = 12;

fn content(number: u64) -> Vec<u8> {
    let mut bytes = vec![number as u8; LENGTHS[number as usize % LENGTHS.len()]];
    bytes[0] = !bytes[0];
    bytes
}

fn offset(number: u64) -> u64 {
    if number == HOLE { 50 } else { 0 }
}

fn store_all(container: &dyn Container) {
    for number in 0..COUNT {
        let (cell, data) = (Cell::array(array(number)), &*content(number));
        container.update(&[Update::Write { cell, offset: offset(number), data }]).unwrap();
    }
    container.flush().unwrap();
}

/// A pool with one container, on a disk that has half of each range in memory.
fn half_in_memory() -> (SimulatedDisk, Arc<dyn Pool>, Label) {
    let (disk, uri, label) = (SimulatedDisk::new(), "posix:/pool".parse().unwrap(), "c".parse().unwrap());
    disk.engine().create_pool(&uri).unwrap();
    let pool = disk.engine().open_pool(&uri).unwrap();
    pool.create_container(&label, &ContainerOptions::default()).unwrap();
    (disk, pool, label)
}

/// The bytes of these arrays, read in one batch.
fn read(container: &dyn Container, numbers: &[u64]) -> Result<Vec<Vec<u8>>, Error> {
    let mut buffers: Vec<Vec<u8>> = numbers.iter().map(|_| vec![9; 80_000]).collect();
    let reads = numbers.iter().zip(&mut buffers);
    let mut reads: Vec<ArrayRead<'_>> = reads
        .map(|(number, buffer)| ArrayRead { cell: Cell::array(array(*number)), offset: 0, buffer, filled: 0 })
        .collect();
    container.read_many(&mut reads)?;
    let filled: Vec<usize> = reads.iter().map(|read| read.filled).collect();
    Ok(buffers.iter().zip(filled).map(|(buffer, filled)| buffer[..filled].to_vec()).collect())
}

fn assert_reads_all(container: &dyn Container) {
    let all = 0..COUNT;
    let orders: [Vec<u64>; 4] = [
        all.clone().collect(),
        all.clone().step_by(10).collect(),
        all.clone().rev().collect(),
        all.map(|number| number * 7 % COUNT).collect(),
    ];
    for numbers in orders {
        for (number, bytes) in numbers.iter().zip(read(container, &numbers).unwrap()) {
            let hole = vec![0; offset(*number) as usize];
            assert!(bytes == [hole, content(*number)].concat(), "array {number} of {numbers:?}");
        }
    }
}

fn assert_reads_all_but(damaged: u64, container: &dyn Container) {
    for numbers in [(0..COUNT).collect::<Vec<_>>(), (1..COUNT).step_by(10).collect()] {
        let error = read(container, &numbers).unwrap_err();
        assert_eq!(error.code(), "corrupt");
        assert!(error.to_string().contains(&array(damaged).to_string()), "{error}");
        let others: Vec<u64> = numbers.into_iter().filter(|number| *number != damaged).collect();
        assert!(read(container, &others).is_ok());
    }
}

/// Where the last byte of an array is in the data file.
fn last_byte_of(number: u64, bytes: &[u8]) -> usize {
    let needle = content(number);
    bytes.windows(needle.len()).position(|bytes| bytes == needle).unwrap() + needle.len() - 1
}

#[test]
fn a_batch_of_arrays_in_any_order_brings_the_bytes_of_each() {
    let store = Store::new("");
    store_all(&*store.open());
    assert_reads_all(&*store.open());
}

#[test]
fn a_batch_of_arrays_of_which_a_half_is_in_memory_brings_the_bytes_of_each() {
    let (_disk, pool, label) = half_in_memory();
    store_all(&*pool.open_container(&label).unwrap());
    assert_reads_all(&*pool.open_container(&label).unwrap());
}

// Bytes that fail their check are read again, so only the number of calls shows that the rest was read from the right place.
#[test]
fn an_array_of_which_a_half_is_in_memory_is_read_with_two_calls() {
    let (disk, pool, label) = half_in_memory();
    store_all(&*pool.open_container(&label).unwrap());
    let container = pool.open_container(&label).unwrap();
    let apart: Vec<u64> = (0..COUNT).step_by(10).collect();
    read(&*container, &apart).unwrap();
    let calls = disk.calls();
    read(&*container, &apart).unwrap();
    let (calls, count) = (disk.calls() - calls, apart.len() as u64);
    assert!((2 * count..3 * count).contains(&calls), "{calls} calls for {count} arrays");
}

#[test]
fn a_damaged_array_of_a_batch_is_named_and_the_others_stay_readable() {
    let store = Store::new("");
    store_all(&*store.open());
    let [file] = &store.data_files()[..] else { panic!("one data file") };
    change(file, |bytes| {
        let at = last_byte_of(131, bytes);
        bytes[at] ^= 1;
    });
    assert_reads_all_but(131, &*store.open());
}

#[test]
fn a_damaged_array_of_which_a_half_is_in_memory_is_named() {
    let (disk, pool, label) = half_in_memory();
    store_all(&*pool.open_container(&label).unwrap());
    let files = disk.files();
    let (file, _) = files.iter().find(|(path, _)| path.parent().unwrap().ends_with("data")).unwrap();
    assert!(disk.flip_bit(file, 8 * last_byte_of(131, &disk.read(file).unwrap()) as u64));
    assert_reads_all_but(131, &*pool.open_container(&label).unwrap());
}
