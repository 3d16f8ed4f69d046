//! Numbers of all widths and layouts.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do; the lint excepts functions marked as tests alone"
)]

use isotach_hdf5_types::{ByteOrder, Class, Datatype, Float, Value};

fn value(class: Class, element: &[u8]) -> Value {
    let datatype = Datatype { size: element.len() as u32, class };
    datatype.value(element, &mut |_| Err("no blobs".into())).unwrap()
}

fn float(
    order: ByteOrder,
    [exponent, exponent_size, mantissa_size]: [u8; 3],
    bias: u32,
    implied: bool,
) -> Class {
    let sign = exponent + exponent_size;
    let float = Float {
        order,
        offset: 0,
        precision: u16::from(sign) + 1,
        sign,
        exponent,
        exponent_size,
        mantissa: 0,
        mantissa_size,
        bias,
        is_implied: implied,
    };
    Class::Float(float)
}

#[test]
fn floating_point_numbers_of_all_layouts_are_read() {
    use ByteOrder::{Big, Little, Vax};
    let half = float(Little, [10, 5, 10], 15, true);
    for (bits, expected) in [
        (0x3c00_u16, 1.0),
        (0xc000, -2.0),
        (0x0001, 2_f32.powi(-24)),
        (0x7bff, 65504.0),
        (0x8000, -0.0),
        (0x7c00, f32::INFINITY),
    ] {
        assert_eq!(value(half.clone(), &bits.to_le_bytes()), Value::Single(expected), "{bits:x}");
    }
    let Value::Single(nan) = value(half, &0x7e00_u16.to_le_bytes()) else { panic!("no number") };
    assert!(nan.is_nan());
    assert_eq!(value(float(Big, [7, 8, 7], 127, true), &[0x40, 0x49]), Value::Single(3.140_625));
    for number in [0.1, -1e300, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1.0 / 3.0] {
        let class = float(Little, [52, 11, 52], 1023, true);
        assert_eq!(value(class, &number.to_le_bytes()), Value::Float(number));
    }
    // 1.25 with an explicit first bit, as in 80 bits of an x87.
    let mut long = [0; 16];
    long[7..10].copy_from_slice(&[0xa0, 0xff, 0x3f]);
    assert_eq!(value(float(Little, [64, 15, 64], 16383, false), &long), Value::Float(1.25));
    // 1.5 in 128 bits.
    let mut quad = [0; 16];
    quad[13..].copy_from_slice(&[0x80, 0xff, 0x3f]);
    assert_eq!(value(float(Little, [112, 15, 112], 16383, true), &quad), Value::Float(1.5));
    // 1.0 of a VAX: pairs of bytes are swapped.
    assert_eq!(value(float(Vax, [23, 8, 23], 129, true), &[0x80, 0x40, 0, 0]), Value::Single(1.0));
}

#[test]
fn integers_of_any_width_and_place_are_read() {
    let integer = |order, signed, offset, precision| Class::Integer { order, signed, offset, precision };
    assert_eq!(value(integer(ByteOrder::Big, true, 0, 16), &[0xff, 0xfe]), Value::Integer(-2));
    assert_eq!(value(integer(ByteOrder::Little, false, 0, 24), &[1, 0, 0xff]), Value::Integer(0xff0001));
    assert_eq!(value(integer(ByteOrder::Little, true, 4, 8), &[0xf0, 0x0f]), Value::Integer(-1));
    let all = [0xff; 16];
    assert_eq!(value(integer(ByteOrder::Little, false, 0, 128), &all), Value::Unsigned(u128::MAX));
    assert_eq!(value(integer(ByteOrder::Little, true, 0, 128), &all), Value::Integer(-1));
    assert_eq!(value(integer(ByteOrder::Little, true, 0, 160), &[7; 20]), Value::Bytes(vec![7; 20]));
}
