//! Bytes that are no datatype, or no element of one, are errors.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

use isotach_hdf5_types::{Datatype, Error, Stored, StoredCreation, Unpacked};
use proptest::prelude::*;

/// The message of a compound {a: i32, b: vlen<f64>, c: enum, d: array[2]<string>} in version 3.
fn message() -> Vec<u8> {
    let integer = [0x30, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];
    let float = [0x31, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
    let byte = [0x30, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];
    let sequence = [&[0x39, 0, 0, 0, 16, 0, 0, 0][..], &float].concat();
    let text = [&[0x39, 1, 1, 0, 8, 0, 0, 0][..], &byte].concat();
    let array = [&[0x3a, 0, 0, 0, 16, 0, 0, 0, 1, 2, 0, 0, 0][..], &text].concat();
    let names = [&[0x38, 2, 0, 0, 1, 0, 0, 0][..], &byte, b"NO\0YES\0", &[0, 1]].concat();
    let mut message = vec![3, 0, 0x36, 4, 0, 0, 37, 0, 0, 0];
    for (name, offset, part) in
        [(b'a', 0, integer.to_vec()), (b'b', 4, sequence), (b'c', 20, names), (b'd', 21, array)]
    {
        message.extend([name, 0, offset]);
        message.extend(part);
    }
    message
}

#[test]
fn a_compound_of_all_kinds_has_a_text_and_two_forms() {
    let datatype = Datatype::decode(&message()).unwrap();
    assert_eq!(datatype.to_string(), "compound{a: i32, b: vlen<f64>, c: enum, d: array[2]<string>}");
    assert_eq!(datatype.memory_form().unwrap(), datatype);
    assert_eq!(datatype.file_form().unwrap().size, 4 + 20 + 1 + 40);
    assert_eq!(datatype.file_form().unwrap().memory_form().unwrap(), datatype);
}

#[test]
fn every_cut_message_is_an_error() {
    let message = message();
    for length in 0..message.len() {
        assert!(Datatype::decode(&message[..length]).is_err(), "{length}");
    }
}

fn try_all(encoded: &[u8], element: &[u8]) {
    let Ok(datatype) = Datatype::decode(encoded) else { return };
    let _ = datatype.to_string();
    let _ = datatype.memory_form();
    let Ok(form) = datatype.file_form() else { return };
    let _ = form.value(element, &mut |id| Ok(id.repeat(4)));
    let _ = form.pack(element, &mut |id| Ok(id.repeat(4)));
    let _ = form.replace_references(&mut element.to_vec(), &mut |number| Ok::<_, Error>(number + 1));
    let pack = |Unpacked { element, blobs }: &Unpacked| {
        form.pack(element, &mut |id| Ok(Unpacked::blob(blobs, id).unwrap().to_vec()))
    };
    // What cannot be packed again has a reference that leads to no object.
    if let Some(packed) = form.unpack(element).ok().and_then(|unpacked| pack(&unpacked).ok()) {
        assert_eq!(pack(&form.unpack(&packed).unwrap()).unwrap(), packed);
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), class in 0..12_u8, version in 1..6_u8) {
        let _ = (Stored::parse(&bytes), StoredCreation::parse(&bytes));
        try_all(&bytes, &bytes);
        let encoded = [&[3, 0, version << 4 | class][..], &bytes].concat();
        try_all(&encoded, &bytes);
    }

    #[test]
    fn changed_bytes_never_panic(at in 2..150_usize, to: u8, element in prop::collection::vec(any::<u8>(), 65)) {
        let mut message = message();
        if let Some(byte) = message.get_mut(at) {
            *byte = to;
        }
        try_all(&message, &element);
    }
}
