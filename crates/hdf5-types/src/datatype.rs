//! [`Datatype`]: what the elements of a dataset or an attribute are.

/// What an element is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datatype {
    /// The bytes of an element.
    pub size: u32,
    /// The class, with its details.
    pub class: Class,
}

/// The classes of datatypes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// An integer.
    Integer {
        /// The order of its bytes.
        order: ByteOrder,
        /// Whether it has a sign, as a two's complement.
        signed: bool,
        /// The first bit that counts.
        offset: u16,
        /// How many bits count.
        precision: u16,
    },
    /// A floating-point number.
    Float(Float),
    /// A time, a class that HDF5 itself hardly supports.
    Time {
        /// The order of its bytes.
        order: ByteOrder,
    },
    /// A text of a fixed length.
    Text {
        /// How a shorter text is filled up.
        padding: Padding,
        /// Its encoding.
        charset: Charset,
    },
    /// Bits.
    Bits {
        /// The order of the bytes.
        order: ByteOrder,
        /// The first bit that counts.
        offset: u16,
        /// How many bits count.
        precision: u16,
    },
    /// Bytes without a meaning to HDF5.
    Opaque {
        /// What the program says of them.
        tag: String,
    },
    /// Members beside each other.
    Compound {
        /// The members, in the order in which they were defined.
        members: Vec<Member>,
    },
    /// A reference to an object or to a part of it.
    Reference(ReferenceKind),
    /// A number with a name.
    Enumeration {
        /// The type of the number.
        base: Box<Datatype>,
        /// Names and the bytes of their numbers.
        members: Vec<(String, Vec<u8>)>,
    },
    /// A sequence of any length.
    Sequence {
        /// The type of an element of the sequence.
        base: Box<Datatype>,
    },
    /// A text of any length.
    VariableText {
        /// How it ended in the program's memory.
        padding: Padding,
        /// Its encoding.
        charset: Charset,
    },
    /// An array of a fixed extent.
    Array {
        /// The extent.
        dims: Vec<u32>,
        /// The type of an element of the array.
        base: Box<Datatype>,
    },
    /// A complex number: real and imaginary part.
    Complex {
        /// The type of a part.
        base: Box<Datatype>,
    },
}

/// A member of a compound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its first byte in the element.
    pub offset: u32,
    /// What it is.
    pub datatype: Datatype,
}

/// The order of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant first.
    Little,
    /// The most significant first.
    Big,
    /// That of a VAX: pairs of bytes, the most significant pair first, the least significant byte of a pair first.
    Vax,
}

/// Where the parts of a floating-point number are, in bits from the least significant one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Float {
    /// The order of its bytes.
    pub order: ByteOrder,
    /// The first bit that counts.
    pub offset: u16,
    /// How many bits count.
    pub precision: u16,
    /// The bit of the sign.
    pub sign: u8,
    /// The first bit of the exponent.
    pub exponent: u8,
    /// The bits of the exponent.
    pub exponent_size: u8,
    /// The first bit of the mantissa.
    pub mantissa: u8,
    /// The bits of the mantissa.
    pub mantissa_size: u8,
    /// What is subtracted from the exponent.
    pub bias: u32,
    /// Whether the mantissa has a first bit that is not stored.
    pub is_implied: bool,
}

/// How a text is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// It ends with a zero.
    Terminated,
    /// With zeros.
    Zeros,
    /// With spaces.
    Spaces,
}

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
}

/// The kinds of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// To an object, by its number or address.
    Object,
    /// To a region of a dataset, by a place in the file.
    Region,
    /// To an object, a region or an attribute: the references of HDF5 1.12 and newer.
    Standard,
}

impl Datatype {
    /// Whether an element, or a part of it, is variable-length data or a reference: its bytes then mean nothing outside of its file.
    pub fn is_bound_to_its_file(&self) -> bool {
        match &self.class {
            Class::Sequence { .. } | Class::VariableText { .. } | Class::Reference(_) => true,
            _ => self.parts().any(Self::is_bound_to_its_file),
        }
    }

    /// Whether an element, or a part of it, is a reference of this kind.
    pub fn has_reference(&self, kind: ReferenceKind) -> bool {
        self.class == Class::Reference(kind) || self.parts().any(|part| part.has_reference(kind))
    }

    /// The types that this one is made of.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let (members, base) = match &self.class {
            Class::Compound { members } => (members.as_slice(), None),
            Class::Enumeration { base, .. }
            | Class::Sequence { base }
            | Class::Array { base, .. }
            | Class::Complex { base } => (&[][..], Some(&**base)),
            _ => (&[][..], None),
        };
        members.iter().map(|member| &member.datatype).chain(base)
    }
}
