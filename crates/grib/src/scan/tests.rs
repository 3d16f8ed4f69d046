//! What every scanner promises, on hand-built messages: only indicator and trailer matter to a scan.

use std::io::{self, Cursor, Read};

use proptest::prelude::*;

use super::{LocationScanner, MessageScanner, ScanError, ScanProblem, SliceScanner};

/// The last `width` bytes of a number, the most significant first.
fn big_endian(number: usize, width: usize) -> Vec<u8> {
    number.to_le_bytes()[..width].iter().rev().copied().collect()
}

/// A message of `length` bytes whose body is filled with `fill`.
fn message(edition: u8, length: usize, fill: u8) -> Vec<u8> {
    let mut bytes = b"GRIB".to_vec();
    if edition == 1 {
        bytes.extend(big_endian(length, 3));
        bytes.push(1);
    } else {
        bytes.extend([0, 0, 0, 2]);
        bytes.extend(big_endian(length, 8));
    }
    bytes.resize(length - 4, fill);
    bytes.extend(b"7777");
    bytes
}

/// A stream that hands out few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let some = buffer.len().min(self.1);
        self.0.read(&mut buffer[..some])
    }
}

/// What a scan says, in words that can be compared between scanners.
fn told<T>(
    item: Result<T, ScanError>,
    place: impl Fn(&T) -> (u64, u64, u64),
) -> Result<(u64, u64, u64), String> {
    item.map(|message| place(&message)).map_err(|error| error.to_string())
}

type Told = Vec<Result<(u64, u64, u64), String>>;

/// Scans with all scanners, checks that they agree and that bytes are the input's, and returns what they say.
fn scan(bytes: &[u8], skip_bad: bool) -> Told {
    let whole = |number, offset: u64, found: &[u8]| {
        assert_eq!(found, &bytes[offset as usize..][..found.len()], "message {number}");
        (number, offset, found.len() as u64)
    };
    let slice: Told = SliceScanner::new(bytes)
        .skip_bad(skip_bad)
        .map(|item| told(item, |m| whole(m.number, m.offset, m.bytes)))
        .collect();
    let stream: Told = MessageScanner::new(Trickle(bytes, 1000))
        .skip_bad(skip_bad)
        .map(|item| told(item, |m| whole(m.number, m.offset, &m.bytes)))
        .collect();
    let location: Told = LocationScanner::new(Cursor::new(bytes))
        .unwrap()
        .skip_bad(skip_bad)
        .map(|item| told(item, |m| (m.number, m.offset, m.length)))
        .collect();
    assert_eq!(slice, stream);
    assert_eq!(slice, location);
    slice
}

#[test]
fn finds_both_editions_with_padding_around_them() {
    let file = [vec![0; 3], message(1, 500, 9), message(2, 70_000, 9), vec![0; 70_000], message(1, 12, 0)];
    let places = [(1, 3, 500), (2, 503, 70_000), (3, 140_503, 12)];
    assert_eq!(scan(&file.concat(), false), places.map(Ok));
}

#[test]
fn an_input_without_a_mark_is_said_to_hold_no_message() {
    for (bytes, length) in [(b"".as_slice(), 0), (b"GRI", 3), (&[7; 100_000], 100_000), (b"GRI GIB", 7)] {
        assert_eq!(scan(bytes, true), [Err(format!("no GRIB message found in {length} bytes"))]);
    }
}

#[test]
fn a_truncated_message_is_named_with_its_length() {
    for edition in [1, 2] {
        let file = [message(edition, 40, 0), message(edition, 90_000, 0)].concat();
        for length in [40 + 5, 40 + 16, 40 + 17, 40 + 89_999] {
            let told = scan(&file[..length], true);
            assert_eq!(told[0], Ok((1, 0, 40)));
            let error = told[1].clone().unwrap_err();
            let expected = if length == 45 { 8 } else { 90_000 };
            assert_eq!(
                error,
                format!(
                    "message 2 at byte 40 is cut short: expected {expected} bytes, the input ends after {}",
                    length - 40
                )
            );
            assert_eq!(told.len(), 2);
        }
    }
}

#[test]
fn a_bad_message_is_named_and_the_scan_continues_on_request() {
    let mut bad = message(1, 300, 0);
    bad[298] = b'x';
    let file = [message(1, 200, 0), bad, message(2, 400, 0)].concat();
    let told = scan(&file, true);
    assert_eq!(told[0], Ok((1, 0, 200)));
    assert_eq!(
        told[1],
        Err("message 2 at byte 200 does not end where its header says: expected \"7777\" as the last of 300 bytes, \
             found [37, 37, 78, 37]"
            .to_owned())
    );
    assert_eq!(told[2..], [Ok((3, 500, 400))]);
    assert_eq!(scan(&file, false), told[..2], "without skip_bad the error is the end");
}

#[test]
fn a_length_that_leads_past_the_next_message_does_not_swallow_it() {
    let mut bad = message(2, 300, 0);
    bad[14] = 200;
    let told = scan(&[bad, message(2, 400, 0)].concat(), true);
    assert!(
        told[0].clone().unwrap_err().contains("cut short: expected 51244 bytes, the input ends after 700")
    );
    assert_eq!(told[1..], [Ok((2, 300, 400))]);
}

#[test]
fn absurd_headers_are_refused_before_anything_is_read_for_them() {
    let cases: [(&[u8], ScanProblem); 4] = [
        (b"GRIB of the week", ScanProblem::Edition { edition: b' ' }),
        (b"GRIB\x00\x00\x05\x017777", ScanProblem::Length { length: 5, least: 12 }),
        (
            b"GRIB\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x137777",
            ScanProblem::Length { length: 19, least: 20 },
        ),
        (
            b"GRIB\x00\x00\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff7777",
            ScanProblem::TooLong { length: u64::MAX, limit: 1 << 31 },
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(scan(bytes, true), [Err(format!("message 1 at byte 0 {expected}"))]);
    }
}

#[test]
fn the_limit_is_the_callers_to_set() {
    let file = message(2, 1000, 0);
    let error = MessageScanner::new(file.as_slice()).max_length(999).next().unwrap().unwrap_err();
    assert!(matches!(
        error,
        ScanError::BadMessage {
            number: 1,
            offset: 0,
            problem: ScanProblem::TooLong { length: 1000, limit: 999 }
        }
    ));
    assert_eq!(MessageScanner::new(file.as_slice()).max_length(u64::MAX).flatten().count(), 1);
}

#[test]
fn a_promise_of_gigabytes_costs_no_more_memory_than_there_are_bytes() {
    let mut bytes = message(2, 100, 0);
    bytes[12] = 0x7f;
    let mut scanner = MessageScanner::new(bytes.as_slice());
    assert!(scanner.next().unwrap().is_err());
    assert!(scanner.source_capacity() <= 8 << 20, "{}", scanner.source_capacity());
}

/// A GRIB 1 message of `blocks * 120 + 4 - short` bytes written in the large-message convention.
fn large_message(blocks: usize, short: u8, flags: u8) -> Vec<u8> {
    let length = blocks * 120 + 4 - usize::from(short);
    let mut bytes = b"GRIB".to_vec();
    bytes.extend(big_endian(0x80_0000 | blocks, 3));
    bytes.push(1);
    let mut section_1 = [0; 28];
    (section_1[2], section_1[7]) = (28, flags);
    bytes.extend(section_1);
    for (flag, size) in [(0x80, 32), (0x40, 19)] {
        if flags & flag != 0 {
            bytes.extend([0, 0, size]);
            bytes.resize(bytes.len() + usize::from(size) - 3, 0);
        }
    }
    bytes.extend([0, 0, short]);
    bytes.resize(length - 4, 0);
    bytes.extend(b"7777");
    bytes
}

#[test]
fn large_grib_1_messages_state_their_length_in_blocks() {
    for flags in [0, 0x80, 0x40, 0xc0] {
        let large = large_message(3, 17, flags);
        assert_eq!(scan(&[large, message(1, 30, 0)].concat(), false), [Ok((1, 0, 347)), Ok((2, 347, 30))]);
    }
    // Cut inside the sections that have to be stepped over.
    let told = scan(&large_message(3, 17, 0xc0)[..50], false);
    assert!(told[0].clone().unwrap_err().contains("cut short: expected 71 bytes, the input ends after"));
}

#[test]
fn a_grib_1_length_with_bit_23_that_simply_fits_is_taken_as_written() {
    let mut plain = message(1, 0x80_0000 + 24, 0);
    plain[8 + 2] = 28;
    plain[8 + 28..][..3].copy_from_slice(&[0x7f, 0xff, 0xf0]);
    assert_eq!(scan(&plain, false), [Ok((1, 0, 0x80_0000 + 24))]);
}

#[test]
fn a_read_that_fails_ends_the_scan_with_its_place() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let good = message(1, 100, 0);
    let mut scanner = MessageScanner::new(good.as_slice().chain(Broken)).skip_bad(true);
    assert_eq!(scanner.next().unwrap().unwrap().bytes, good, "what came before the failure counts");
    let error = scanner.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "cannot read at byte 100: the disk is on fire");
    assert!(scanner.next().is_none());
}

/// Padding of any bytes but a whole mark, also none that its neighbours could complete to one.
fn padding() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        proptest::collection::vec(prop_oneof![Just(b'G'), Just(b'R'), Just(b'I'), Just(b'B')], 0..40),
        (0..140_000_usize).prop_map(|length| vec![0; length]),
    ];
    bytes.prop_filter("holds a mark", |bytes| !bytes.windows(4).any(|window| window == b"GRIB"))
}

fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![20..400_usize, 60_000..70_000_usize, 130_000..133_000_usize];
    (1..=2_u8, length, any::<u8>()).prop_map(|(edition, length, fill)| message(edition, length, fill))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_message_in_any_mix_with_padding_is_found(
        parts in proptest::collection::vec((padding(), any_message()), 1..8),
        end in padding(),
    ) {
        let (mut file, mut expected) = (Vec::new(), Vec::new());
        for (number, (padding, message)) in parts.iter().enumerate() {
            file.extend(padding);
            expected.push(Ok((number as u64 + 1, file.len() as u64, message.len() as u64)));
            file.extend(message);
        }
        file.extend(end);
        prop_assert_eq!(scan(&file, false), expected);
    }

    #[test]
    fn no_bytes_make_a_scanner_panic_or_disagree(
        parts in proptest::collection::vec(prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..30),
            Just(b"GRIB".to_vec()),
            Just(b"7777".to_vec()),
            Just(b"GRIB\x00\x00\x20\x01".to_vec()),
            Just(b"GRIB\x80\x00\x02\x01\x00\x00\x1c\x00\x00\x00\x00\xc0".to_vec()),
            Just(b"GRIB\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x30".to_vec()),
            any_message(),
        ], 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let file = parts.concat();
        let file = &file[..cut.index(file.len() + 1)];
        let found = scan(file, true);
        prop_assert!(found.len() <= file.len() / 4 + 1);
        scan(file, false);
    }
}
