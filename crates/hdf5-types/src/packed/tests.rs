//! Elements are packed, and unpacked again.

use super::*;
use crate::{ByteOrder, Charset, Member};

fn integer(size: u32) -> Datatype {
    let precision = (size * 8) as u16;
    let class = Class::Integer { order: ByteOrder::Little, signed: true, offset: 0, precision };
    Datatype { size, class }
}

fn text() -> Datatype {
    let class = Class::VariableText { padding: Padding::Terminated, charset: Charset::Utf8 };
    Datatype { size: 20, class }
}

fn fixed_text(size: u32) -> Datatype {
    Datatype { size, class: Class::Text { padding: Padding::Terminated, charset: Charset::Ascii } }
}

fn sequence(base: Datatype) -> Datatype {
    Datatype { size: 20, class: Class::Sequence { base: Box::new(base) } }
}

fn compound(size: u32, members: Vec<(u32, Datatype)>) -> Datatype {
    let member = |(offset, datatype)| Member { name: format!("at {offset}"), offset, datatype };
    Datatype { size, class: Class::Compound { members: members.into_iter().map(member).collect() } }
}

/// What names the blob with this index.
fn named(count: u32, index: usize) -> Vec<u8> {
    [&count.to_le_bytes()[..], &Unpacked::name(index)].concat()
}

fn pack(datatype: &Datatype, element: &[u8], blobs: &[&[u8]]) -> Result<Vec<u8>> {
    let blobs: Vec<Vec<u8>> = blobs.iter().map(|blob| blob.to_vec()).collect();
    datatype
        .pack(element, &mut |name| Unpacked::blob(&blobs, name).map(<[u8]>::to_vec).ok_or("no blob".into()))
}

#[track_caller]
fn packs_as(datatype: &Datatype, element: &[u8], blobs: &[&[u8]], packed: &[u8]) {
    assert_eq!(pack(datatype, element, blobs).unwrap(), packed, "{datatype}");
    let unpacked = datatype.unpack(packed).unwrap();
    let blobs: Vec<&[u8]> = unpacked.blobs.iter().map(Vec::as_slice).collect();
    assert_eq!(pack(datatype, &unpacked.element, &blobs).unwrap(), packed, "{datatype}, packed again");
}

#[test]
fn a_text_or_a_sequence_is_its_bytes_alone_unless_it_is_within_something() {
    packs_as(&text(), &named(3, 0), &[b"abc"], b"abc");
    packs_as(&text(), &[0; 20], &[], b"");
    packs_as(&sequence(integer(2)), &named(2, 0), &[&[1, 0, 2, 0]], &[1, 0, 2, 0]);
    let inner = named(1, 1);
    packs_as(&sequence(text()), &named(1, 0), &[&inner, b"x"], b"\x01\0\0\0x");
    let pair = compound(24, vec![(0, text()), (20, integer(4))]);
    packs_as(&pair, &[named(1, 0), vec![7, 0, 0, 0]].concat(), &[b"y"], b"\x01\0\0\0y\x07\0\0\0");
}

#[test]
fn equal_elements_are_packed_alike_whatever_their_gaps_hold() {
    let gap = compound(8, vec![(0, integer(1)), (4, integer(4))]);
    packs_as(&gap, &[1, 9, 9, 9, 2, 0, 0, 0], &[], &[1, 2, 0, 0, 0]);
    packs_as(&fixed_text(5), b"ab\0zz", &[], b"ab\0\0\0");
    let array = Datatype { size: 16, class: Class::Array { dims: vec![2], base: Box::new(gap) } };
    packs_as(&array, &[1, 9, 9, 9, 2, 0, 0, 0, 3, 8, 8, 8, 4, 0, 0, 0], &[], &[1, 2, 0, 0, 0, 3, 4, 0, 0, 0]);
}

#[test]
fn references_to_objects_are_packed_and_replaced_and_others_refused() {
    let object = Datatype { size: 8, class: Class::Reference(ReferenceKind::Object) };
    let standard = Datatype { size: 22, class: Class::Reference(ReferenceKind::Standard) };
    let region = Datatype { size: 12, class: Class::Reference(ReferenceKind::Region) };
    let to = |number: u64| {
        let mut element = [&TO_OBJECT[..], &number.to_le_bytes()].concat();
        element.resize(22, 0);
        element
    };
    let all = compound(30, vec![(0, object), (8, standard.clone())]);
    let element = [5_u64.to_le_bytes().to_vec(), to(6)].concat();
    packs_as(&all, &element, &[], &element);
    let mut packed = [&element[..], &element].concat();
    sequence(all)
        .replace_references(&mut packed, &mut |number| Ok::<_, Error>(if number == 5 { 50 } else { 0 }))
        .unwrap();
    let replaced = [50_u64.to_le_bytes().to_vec(), vec![0; 22]].concat();
    assert_eq!(packed, [&replaced[..], &replaced].concat());
    packs_as(&region, &[0; 12], &[], &[0; 12]);
    for (datatype, element) in [(region, vec![1; 12]), (standard, vec![3; 22])] {
        let error = pack(&datatype, &element, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an element that cannot be packed: a reference to a region, an attribute or another file"
        );
    }
}

#[test]
fn bytes_that_are_no_packed_element_are_refused() {
    let pair = compound(24, vec![(0, text()), (20, integer(4))]);
    for (datatype, packed) in [
        (integer(4), &[1, 2, 3][..]),
        (integer(4), &[1, 2, 3, 4, 5]),
        (sequence(integer(4)), &[1, 2, 3, 4, 5]),
        (sequence(compound(1, Vec::new())), &[1]),
        (pair.clone(), &[9, 0, 0, 0, 1]),
        (pair, &[255, 255, 255, 255, 1, 2, 3, 4]),
    ] {
        let error = datatype.unpack(packed).unwrap_err();
        assert!(matches!(error, Error::Value { .. }), "{datatype}: {error}");
    }
}

#[test]
fn an_element_that_could_not_be_unpacked_is_not_packed() {
    let gap = compound(16 << 20, vec![(0, integer(1))]);
    let (one, three) = (vec![1; 16 << 20], vec![1; 48 << 20]);
    packs_as(&sequence(gap.clone()), &named(1, 0), &[&one], &[1]);
    let error = pack(&sequence(gap.clone()), &named(3, 0), &[&three]).unwrap_err();
    assert_eq!(error.to_string(), "an element that cannot be packed: a compound with gaps of megabytes");
    let error = sequence(gap).unpack(&[1, 1, 1]).unwrap_err();
    assert_eq!(error.to_string(), "an element that cannot be packed: a compound with gaps of megabytes");
}
