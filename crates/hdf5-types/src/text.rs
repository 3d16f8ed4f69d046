//! Datatypes as text, as in `f64`, `i32be`, `string[12]`, `compound{a: i32, b: f64}`.

use std::fmt;

use crate::{ByteOrder, Class, Datatype, Float, ReferenceKind};

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u64::from(self.size) * 8;
        match &self.class {
            Class::Integer { order, signed, .. } => {
                write!(f, "{}{bits}{}", if *signed { 'i' } else { 'u' }, suffix(*order, self.size))
            }
            Class::Float(float) => write!(f, "{}{}", float_name(float, bits), suffix(float.order, self.size)),
            Class::Time { order } => write!(f, "time{bits}{}", suffix(*order, self.size)),
            Class::Text { .. } => write!(f, "string[{}]", self.size),
            Class::Bits { order, .. } => write!(f, "bits{bits}{}", suffix(*order, self.size)),
            Class::Opaque { .. } => write!(f, "opaque[{}]", self.size),
            Class::Compound { members } => {
                f.write_str("compound{")?;
                for (at, member) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: {}", member.name, member.datatype)?;
                }
                f.write_str("}")
            }
            Class::Reference(ReferenceKind::Region) => f.write_str("region-ref"),
            Class::Reference(_) => f.write_str("ref"),
            Class::Enumeration { .. } => f.write_str("enum"),
            Class::Sequence { base } => write!(f, "vlen<{base}>"),
            Class::VariableText { .. } => f.write_str("string"),
            Class::Array { dims, base } => {
                let dims: Vec<String> = dims.iter().map(u32::to_string).collect();
                write!(f, "array[{}]<{base}>", dims.join("x"))
            }
            Class::Complex { base } => write!(f, "complex<{base}>"),
        }
    }
}

fn suffix(order: ByteOrder, size: u32) -> &'static str {
    match order {
        ByteOrder::Little => "",
        _ if size == 1 => "",
        ByteOrder::Big => "be",
        ByteOrder::Vax => "vax",
    }
}

fn float_name(float: &Float, bits: u64) -> String {
    match (bits, float.exponent_size, float.mantissa_size) {
        (16, 8, 7) => "bf16".to_owned(),
        (8, exponent, mantissa) => format!("f8e{exponent}m{mantissa}"),
        _ => format!("f{bits}"),
    }
}
