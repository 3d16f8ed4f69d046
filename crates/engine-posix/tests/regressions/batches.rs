//! Arrays that are read in one batch, whether they lie side by side or apart.

use isotach_object::{ArrayRead, Cell, Container, Error, Update};

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

fn stored() -> Store {
    let store = Store::new("");
    let container = store.open();
    for number in 0..COUNT {
        let (cell, data) = (Cell::array(array(number)), &*content(number));
        container.update(&[Update::Write { cell, offset: offset(number), data }]).unwrap();
    }
    container.flush().unwrap();
    store
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

#[test]
fn a_batch_of_arrays_in_any_order_brings_the_bytes_of_each() {
    let store = stored();
    let container = store.open();
    let all = 0..COUNT;
    let orders: [Vec<u64>; 4] = [
        all.clone().collect(),
        all.clone().step_by(10).collect(),
        all.clone().rev().collect(),
        all.map(|number| number * 7 % COUNT).collect(),
    ];
    for numbers in orders {
        for (number, bytes) in numbers.iter().zip(read(&*container, &numbers).unwrap()) {
            let hole = vec![0; offset(*number) as usize];
            assert!(bytes == [hole, content(*number)].concat(), "array {number} of {numbers:?}");
        }
    }
}

#[test]
fn a_damaged_array_of_a_batch_is_named_and_the_others_stay_readable() {
    let store = stored();
    let damaged = 131;
    let [file] = &store.data_files()[..] else { panic!("one data file") };
    let needle = content(damaged);
    change(file, |bytes| {
        let at = bytes.windows(needle.len()).position(|bytes| bytes == needle).unwrap();
        bytes[at + needle.len() - 1] ^= 1;
    });
    let container = store.open();
    for numbers in [(0..COUNT).collect::<Vec<_>>(), (1..COUNT).step_by(10).collect()] {
        let error = read(&*container, &numbers).unwrap_err();
        assert_eq!(error.code(), "corrupt");
        assert!(error.to_string().contains(&array(damaged).to_string()), "{error}");
        let others: Vec<u64> = numbers.into_iter().filter(|number| *number != damaged).collect();
        assert!(read(&*container, &others).is_ok());
    }
}
