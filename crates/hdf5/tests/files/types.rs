//! Datatypes for tests, as the connector keeps them.

use isotach_hdf5_types::Stored;

/// What the connector keeps of a datatype whose message is this.
pub(crate) fn stored(message: &[u8]) -> Vec<u8> {
    let encoded = [&[3, 0], message].concat();
    Stored { committed: 0, encoded: &encoded }.to_vec()
}

/// The message of an integer.
pub(crate) fn integer(bytes: u8, is_signed: bool, is_big: bool) -> Vec<u8> {
    let flags = u8::from(is_big) | u8::from(is_signed) << 3;
    vec![0x10, flags, 0, 0, bytes, 0, 0, 0, 0, 0, bytes * 8, 0]
}

/// The message of an `f32` or `f64`.
pub(crate) fn float(bytes: u8, is_big: bool) -> Vec<u8> {
    let (sign, exponent, size, mantissa, bias) =
        if bytes == 4 { (31, 23, 8, 23, 127_u32) } else { (63, 52, 11, 52, 1023) };
    let mut message = vec![0x11, 0x20 | u8::from(is_big), sign, 0, bytes, 0, 0, 0, 0, 0, bytes * 8, 0];
    message.extend([exponent, size, 0, mantissa]);
    message.extend(bias.to_le_bytes());
    message
}

/// The message of a text of a fixed length, filled up with zeros.
pub(crate) fn text(bytes: u8) -> Vec<u8> {
    vec![0x13, 1, 0, 0, bytes, 0, 0, 0]
}

/// The message of a text of any length.
pub(crate) fn variable_text() -> Vec<u8> {
    [&[0x19, 1, 0, 0, 16, 0, 0, 0][..], &text(1)].concat()
}

/// The message of an enumeration of bytes.
pub(crate) fn enumeration(names: &[&str]) -> Vec<u8> {
    let mut message = vec![0x38, names.len() as u8, 0, 0, 1, 0, 0, 0];
    message.extend(integer(1, true, false));
    names.iter().for_each(|name| message.extend([name.as_bytes(), &[0]].concat()));
    message.extend(0..names.len() as u8);
    message
}

/// The message of a compound of fewer than 256 bytes: names, offsets and messages of the members.
pub(crate) fn compound(bytes: u8, members: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
    let mut message = vec![0x36, members.len() as u8, 0, 0, bytes, 0, 0, 0];
    for (name, offset, member) in members {
        message.extend([name.as_bytes(), &[0, *offset], member].concat());
    }
    message
}
