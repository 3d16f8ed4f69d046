//! Decodes the datatype message of the HDF5 file format.

use isotach_engine_kit::bytes::Reader;

use crate::{
    ByteOrder, Charset, Class, Datatype, Error, Float, Member, Padding, ReferenceKind, Result, error::damaged,
};

/// The message's number, with which `H5Tencode` begins.
const MESSAGE: u8 = 3;
/// The form of what `H5Tencode` writes.
const ENCODING: u8 = 0;
/// The newest version of the message.
const NEWEST: u32 = 5;
/// How deep types may be nested.
const DEPTH_MAX: u32 = 64;
/// The most dimensions of an array.
const RANK_MAX: u8 = 32;

impl Datatype {
    /// Decodes what `H5Tencode` writes.
    ///
    /// # Errors
    /// `Damaged`; `Newer` for a version or class that is not known.
    ///
    /// ```
    /// use isotach_hdf5_types::Datatype;
    /// let encoded = [3, 0, 0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];
    /// assert_eq!(Datatype::decode(&encoded)?.to_string(), "i32");
    /// # Ok::<(), isotach_hdf5_types::Error>(())
    /// ```
    pub fn decode(encoded: &[u8]) -> Result<Self> {
        match encoded {
            [MESSAGE, ENCODING, message @ ..] => Decoder { reader: Reader(message) }.datatype(0),
            [MESSAGE, newer, ..] => Err(Error::Newer { what: format!("encoding {newer}") }),
            _ => Err(damaged("it does not begin as one")),
        }
    }
}

struct Decoder<'m> {
    reader: Reader<'m>,
}

fn cut<T>(field: Option<T>) -> Result<T> {
    field.ok_or_else(|| damaged("it is cut short"))
}

impl Decoder<'_> {
    fn datatype(&mut self, depth: u32) -> Result<Datatype> {
        if depth > DEPTH_MAX {
            return Err(damaged("types are nested too deep"));
        }
        let head = cut(self.reader.u32())?;
        let (version, flags) = (head >> 4 & 0xf, head >> 8);
        if version == 0 {
            return Err(damaged("version 0"));
        }
        if version > NEWEST {
            return Err(Error::Newer { what: format!("version {version}") });
        }
        let size = cut(self.reader.u32())?;
        if size == 0 {
            return Err(damaged("elements without bytes"));
        }
        let class = match head & 0xf {
            0 => self.integer(flags)?,
            1 => self.float(version, flags)?,
            2 => {
                cut(self.reader.u16())?;
                Class::Time { order: order(flags) }
            }
            3 => Class::Text { padding: padding(flags & 0xf), charset: charset(flags >> 4 & 0xf) },
            4 => {
                let (offset, precision) = (cut(self.reader.u16())?, cut(self.reader.u16())?);
                Class::Bits { order: order(flags), offset, precision }
            }
            5 => self.opaque(flags)?,
            6 => self.compound(version, flags, size, depth)?,
            7 => Class::Reference(reference(flags & 0xf)?),
            8 => self.enumeration(version, flags, size, depth)?,
            9 => self.variable(flags, depth)?,
            10 => self.array(version, size, depth)?,
            11 => self.complex(size, depth)?,
            class => return Err(Error::Newer { what: format!("class {class}") }),
        };
        check_bits(&class, size)?;
        Ok(Datatype { size, class })
    }

    fn integer(&mut self, flags: u32) -> Result<Class> {
        let (offset, precision) = (cut(self.reader.u16())?, cut(self.reader.u16())?);
        Ok(Class::Integer { order: order(flags), signed: flags & 8 != 0, offset, precision })
    }

    fn float(&mut self, version: u32, flags: u32) -> Result<Class> {
        let order = match order(flags) {
            ByteOrder::Big if version >= 3 && flags & 0x40 != 0 => ByteOrder::Vax,
            order => order,
        };
        let reader = &mut self.reader;
        let mut fields = || {
            Some(Float {
                order,
                sign: (flags >> 8) as u8,
                is_implied: flags >> 4 & 3 == 2,
                offset: reader.u16()?,
                precision: reader.u16()?,
                exponent: reader.u8()?,
                exponent_size: reader.u8()?,
                mantissa: reader.u8()?,
                mantissa_size: reader.u8()?,
                bias: reader.u32()?,
            })
        };
        cut(fields()).map(Class::Float)
    }

    fn opaque(&mut self, flags: u32) -> Result<Class> {
        let tag = cut(self.reader.take((flags & 0xff) as usize))?;
        Ok(Class::Opaque { tag: text_of(until_zero(tag)) })
    }

    /// A name that ends with a zero; before version 3 filled up to a multiple of 8 bytes.
    fn name(&mut self, version: u32) -> Result<String> {
        let length = cut(self.reader.0.iter().position(|byte| *byte == 0))?;
        let taken = if version < 3 { (length + 8) / 8 * 8 } else { length + 1 };
        let name = cut(self.reader.take(taken))?;
        Ok(text_of(name.get(..length).unwrap_or(name)))
    }

    fn compound(&mut self, version: u32, flags: u32, size: u32, depth: u32) -> Result<Class> {
        let count = flags & 0xffff;
        let mut members = Vec::new();
        for _ in 0..count {
            let name = self.name(version)?;
            let offset = if version < 3 { cut(self.reader.u32())? } else { self.offset(size)? };
            let dims = if version == 1 { self.member_dims()? } else { Vec::new() };
            let datatype = array_of(self.datatype(depth + 1)?, dims)?;
            let end = offset.checked_add(datatype.size).filter(|end| *end <= size);
            end.ok_or_else(|| damaged("a member that is outside of its compound"))?;
            members.push(Member { name, offset, datatype });
        }
        Ok(Class::Compound { members })
    }

    /// An offset in as many bytes as the size of the compound needs.
    fn offset(&mut self, size: u32) -> Result<u32> {
        let bytes = cut(self.reader.take(size.ilog2() as usize / 8 + 1))?;
        Ok(bytes.iter().rev().fold(0, |offset, byte| offset << 8 | u32::from(*byte)))
    }

    /// The extent of a member in version 1, where members may be arrays.
    fn member_dims(&mut self) -> Result<Vec<u32>> {
        let rank = cut(self.reader.u8())?;
        // Reserved bytes, a permutation that is never used, and more reserved bytes.
        cut(self.reader.take(3 + 4 + 4))?;
        let mut dims = [0; 4];
        for length in &mut dims {
            *length = cut(self.reader.u32())?;
        }
        dims.get(..rank.into())
            .map(<[u32]>::to_vec)
            .ok_or_else(|| damaged("a member of more than 4 dimensions"))
    }

    fn enumeration(&mut self, version: u32, flags: u32, size: u32, depth: u32) -> Result<Class> {
        let base = Box::new(self.datatype(depth + 1)?);
        if base.size != size || !matches!(base.class, Class::Integer { .. }) {
            return Err(damaged("an enumeration of other than integers"));
        }
        let count = (flags & 0xffff) as usize;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(self.name(version)?);
        }
        let mut members = Vec::with_capacity(names.len());
        for name in names {
            members.push((name, cut(self.reader.take(size as usize))?.to_vec()));
        }
        Ok(Class::Enumeration { base, members })
    }

    fn variable(&mut self, flags: u32, depth: u32) -> Result<Class> {
        let base = Box::new(self.datatype(depth + 1)?);
        match flags & 0xf {
            0 => Ok(Class::Sequence { base }),
            1 if base.size == 1 => Ok(Class::VariableText {
                padding: padding(flags >> 4 & 0xf),
                charset: charset(flags >> 8 & 0xf),
            }),
            _ => Err(damaged("variable-length data of an unknown kind")),
        }
    }

    fn array(&mut self, version: u32, size: u32, depth: u32) -> Result<Class> {
        let rank = cut(self.reader.u8())?;
        if rank > RANK_MAX {
            return Err(damaged("an array of more than 32 dimensions"));
        }
        let old = usize::from(version < 3);
        cut(self.reader.take(3 * old))?;
        let mut dims = Vec::new();
        for _ in 0..rank {
            dims.push(cut(self.reader.u32())?);
        }
        cut(self.reader.take(4 * usize::from(rank) * old))?;
        let array = array_of(self.datatype(depth + 1)?, dims)?;
        if array.size != size {
            return Err(damaged("an array of another size than its elements"));
        }
        match array.class {
            class @ Class::Array { .. } => Ok(class),
            class => Ok(Class::Array { dims: Vec::new(), base: Box::new(Datatype { size, class }) }),
        }
    }

    fn complex(&mut self, size: u32, depth: u32) -> Result<Class> {
        let base = Box::new(self.datatype(depth + 1)?);
        if base.size.checked_mul(2) != Some(size) || !matches!(base.class, Class::Float(_)) {
            return Err(damaged("a complex number of other than two floating-point numbers"));
        }
        Ok(Class::Complex { base })
    }
}

/// An array of these elements, or an element itself without dimensions.
fn array_of(base: Datatype, dims: Vec<u32>) -> Result<Datatype> {
    if dims.is_empty() {
        return Ok(base);
    }
    let size = dims.iter().try_fold(base.size, |size, length| size.checked_mul(*length));
    let size = size.filter(|size| *size > 0).ok_or_else(|| damaged("an array without bytes, or of 4 GiB"))?;
    Ok(Datatype { size, class: Class::Array { dims, base: Box::new(base) } })
}

/// Refuses numbers whose bits are not in their bytes.
fn check_bits(class: &Class, size: u32) -> Result<()> {
    let bits = u64::from(size) * 8;
    let is_within = |first: u64, count: u64| count > 0 && first + count <= bits;
    let is_right = match class {
        Class::Integer { offset, precision, .. } | Class::Bits { offset, precision, .. } => {
            is_within((*offset).into(), (*precision).into())
        }
        Class::Float(float) => {
            is_within(float.exponent.into(), float.exponent_size.into())
                && is_within(float.mantissa.into(), float.mantissa_size.into())
                && is_within(float.sign.into(), 1)
        }
        _ => true,
    };
    if is_right { Ok(()) } else { Err(damaged("bits outside of their number")) }
}

fn order(flags: u32) -> ByteOrder {
    if flags & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big }
}

fn padding(number: u32) -> Padding {
    match number {
        0 => Padding::Terminated,
        2 => Padding::Spaces,
        _ => Padding::Zeros,
    }
}

fn charset(number: u32) -> Charset {
    if number == 0 { Charset::Ascii } else { Charset::Utf8 }
}

fn reference(number: u32) -> Result<ReferenceKind> {
    match number {
        0 => Ok(ReferenceKind::Object),
        1 => Ok(ReferenceKind::Region),
        2..=4 => Ok(ReferenceKind::Standard),
        other => Err(Error::Newer { what: format!("references of kind {other}") }),
    }
}

pub(crate) fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(bytes)
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
