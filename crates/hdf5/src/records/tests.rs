//! Records read back, and damaged ones are errors.

use proptest::prelude::*;

use super::*;
use crate::Attribute;

/// Decodes a record and encodes it again.
type Again = fn(&[u8]) -> Result<Vec<u8>>;

#[test]
fn the_array_of_a_value_is_found_without_reading_the_rest() {
    let spaces = [Space::Null, Space::Scalar, Space::Simple { dims: vec![3, 0], max: vec![u64::MAX, 9] }];
    for space in spaces {
        let attribute = Attribute { space, ..attribute() };
        let record = |value, length| AttributeRecord { attribute: attribute.clone(), value, length }.encode();
        let elsewhere = record(Place::Array(8), 1 << 40);
        assert_eq!(AttributeRecord::array_of(&elsewhere), Some((8, 1 << 40)));
        assert_eq!(AttributeRecord::array_of(&record(Place::Inline(vec![1; 16]), 16)), None);
        assert!((0..elsewhere.len()).all(|length| AttributeRecord::array_of(&elsewhere[..length]).is_none()));
    }
}

fn attribute() -> Attribute {
    Attribute {
        name: "n".to_owned(),
        charset: Charset::Ascii,
        order: 5,
        datatype: vec![1],
        space: Space::Scalar,
        creation: vec![2],
        value: Vec::new(),
    }
}

fn round_trips() -> Vec<(Vec<u8>, Again)> {
    let filter = Filter { id: 1, flags: 1, values: vec![4, u32::MAX], name: "deflate".to_owned() };
    let data = Data {
        element: 8,
        space: Space::Simple { dims: vec![3, 0], max: vec![u64::MAX, 9] },
        chunk: vec![2, 9],
        fill: Some(vec![1; 8]),
        filters: vec![filter],
        is_chunked: true,
    };
    let header = Header {
        references: 3,
        created: Some(-1),
        modified: Some(i64::MAX),
        creation: vec![1, 2],
        tracks_link_order: true,
        comment: Some("a comment".to_owned()),
        ..Header::dataset(b"type".to_vec(), data)
    };
    let links = [
        Target::Hard { number: 7, kind: Kind::Map },
        Target::Soft("a/b".to_owned()),
        Target::External { file: "f".to_owned(), path: "p".to_owned() },
        Target::User { class: 65, bytes: vec![1, 2] },
    ];
    let links = links.map(|target| Link { target, order: 9, charset: Charset::Utf8 }.encode());
    let attribute = attribute();
    let inline = Place::Inline(vec![1, 2, 3]);
    let attributes = [(inline, 3), (Place::Array(8), 1 << 40)]
        .map(|(value, length)| AttributeRecord { attribute: attribute.clone(), value, length }.encode());
    let chunks = [(Form::Inline(vec![1, 2]), 2), (Form::Array(4), 5000), (Form::InPlace, 5000)]
        .map(|(form, stored_length)| Chunk { form, mask: 0, stored_length }.encode());
    let pages = [Some(vec![1, 2, 3]), None]
        .map(|inline| BlobPage { inline, length: 3, removed: vec![(0, 1), (2, 3)] }.encode());
    let headers = [header.encode(), Header::new(Kind::Group).encode()];
    let all: [(Vec<Vec<u8>>, Again); 5] = [
        (headers.to_vec(), |record| Ok(Header::decode(record, "a test")?.encode())),
        (links.to_vec(), |record| Ok(Link::decode(record, "a test")?.encode())),
        (attributes.to_vec(), |record| Ok(AttributeRecord::decode("n", record, "a test")?.encode())),
        (chunks.to_vec(), |record| Ok(Chunk::decode(record, "a test")?.encode())),
        (pages.to_vec(), |record| Ok(BlobPage::decode(record, "a test")?.encode())),
    ];
    all.into_iter().flat_map(|(records, decode)| records.into_iter().map(move |one| (one, decode))).collect()
}

#[test]
fn every_record_reads_back_and_every_part_of_one_is_corrupt() {
    for (record, again) in round_trips() {
        assert_eq!(again(&record).unwrap(), record);
        for end in 0..record.len() {
            let error = again(&record[..end]).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        }
        let longer = [&record[..], &[0]].concat();
        assert!(matches!(again(&longer), Err(Error::Corrupt { .. })));
        let newer = [&[VERSION + 1], &record[1..]].concat();
        let error = again(&newer).unwrap_err();
        assert!(matches!(error, Error::Newer { .. }) && error.to_string().contains("version 2"), "{error}");
    }
}

#[test]
fn the_order_of_an_entry_is_where_the_record_says() {
    let link = Link { target: Target::Soft("x".to_owned()), order: 77, charset: Charset::Ascii };
    assert_eq!(order_of(b"lname", &link.encode()), Some(77));
    assert_eq!((order_of(b"o", &[1; 20]), order_of(b"l", &[1; 5]), order_of(b"", &[])), (None, None, None));
}

proptest! {
    #[test]
    fn random_bytes_decode_to_an_error_or_a_value(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let versioned = [&[VERSION], &bytes[..]].concat();
        for (_, again) in round_trips() {
            let _ = (again(&bytes), again(&versioned));
        }
    }

    #[test]
    fn a_record_with_changed_bytes_is_an_error_or_a_value(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (mut record, again) in round_trips() {
            for (at, byte) in &changes {
                let at = at.index(record.len());
                record[at] = *byte;
            }
            if let Ok(encoded) = again(&record) {
                prop_assert!(again(&encoded).is_ok());
            }
        }
    }
}
