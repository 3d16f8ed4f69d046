//! [`Value`]: what an element says.

use isotach_engine_kit::bytes::Reader;

use crate::{
    ByteOrder, Class, Datatype, Error, Padding, ReferenceKind, Result,
    decode::until_zero,
    error::no_value,
    number::{bits, load, signed},
};

/// The value of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer, or the number of an enumeration that has no name.
    Integer(i128),
    /// An integer that is too large for the former.
    Unsigned(u128),
    /// A floating-point number of more than 4 bytes, at most as precise as an `f64`.
    Float(f64),
    /// A floating-point number of at most 4 bytes.
    Single(f32),
    /// Real and imaginary part.
    Complex(Box<[Value; 2]>),
    /// A text.
    Text(String),
    /// The name in an enumeration.
    Name(String),
    /// Opaque bytes, or numbers of more than 16 bytes.
    Bytes(Vec<u8>),
    /// The members of a compound.
    Members(Vec<(String, Value)>),
    /// A sequence or an array.
    List(Vec<Value>),
    /// A reference.
    Reference(Reference),
}

/// What a reference leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// Nothing.
    Null,
    /// The object with this number.
    Object(u64),
    /// Elements of the dataset with this number, if that is known.
    Region(Option<u64>),
    /// An attribute of the object with this number.
    Attribute(u64),
    /// Something in another file.
    External,
}

/// Why a blob cannot be read.
pub type BlobFault = Box<dyn std::error::Error + Send + Sync>;

/// Reads the blob with this name.
pub(crate) type ReadBlob<'b> = dyn FnMut(&[u8; 16]) -> Result<Vec<u8>, BlobFault> + 'b;

impl Datatype {
    /// The value of an element in the form of a file of the connector: this is a [`Datatype::file_form`].
    ///
    /// # Errors
    /// `Value` for bytes that are no such element; `Blob` if `blob` fails.
    pub fn value(&self, element: &[u8], blob: &mut ReadBlob<'_>) -> Result<Value> {
        let element = element.get(..self.size as usize).ok_or_else(|| no_value("it is cut short"))?;
        match &self.class {
            Class::Integer { order, signed, offset, precision } => {
                Ok(integer(element, *order, *signed, (*offset).into(), (*precision).into()))
            }
            Class::Time { order } => Ok(integer(element, *order, true, 0, self.size.saturating_mul(8))),
            Class::Bits { order, offset, precision } => {
                Ok(integer(element, *order, false, (*offset).into(), (*precision).into()))
            }
            Class::Float(float) => Ok(match load(element, float.order) {
                Some(number) if self.size <= 4 => Value::Single(float.read(number) as f32),
                Some(number) => Value::Float(float.read(number)),
                None => Value::Bytes(element.to_vec()),
            }),
            Class::Text { padding, .. } => Ok(Value::Text(text(element, *padding))),
            Class::Opaque { .. } => Ok(Value::Bytes(element.to_vec())),
            Class::Compound { members } => {
                let member = |member: &crate::Member| {
                    let part = element.get(member.offset as usize..).unwrap_or_default();
                    Ok((member.name.clone(), member.datatype.value(part, blob)?))
                };
                Ok(Value::Members(members.iter().map(member).collect::<Result<_>>()?))
            }
            Class::Reference(kind) => reference(*kind, element, blob).map(Value::Reference),
            Class::Enumeration { base, members } => {
                match members.iter().find(|(_, number)| number == element) {
                    Some((name, _)) => Ok(Value::Name(name.clone())),
                    None => base.value(element, blob),
                }
            }
            Class::Sequence { base } => {
                let (count, bytes) = variable(element, base.size, blob)?;
                list(base, &bytes, count, blob)
            }
            Class::VariableText { padding, .. } => {
                let (_, bytes) = variable(element, 1, blob)?;
                Ok(Value::Text(text(&bytes, *padding)))
            }
            Class::Array { dims, base } => {
                let count = dims.iter().map(|length| *length as usize).product();
                list(base, element, count, blob)
            }
            Class::Complex { base } => {
                let (real, imaginary) = element.split_at(base.size as usize);
                match (base.value(real, blob)?, base.value(imaginary, blob)?) {
                    (Value::Bytes(_), _) => Ok(Value::Bytes(element.to_vec())),
                    (real, imaginary) => Ok(Value::Complex(Box::new([real, imaginary]))),
                }
            }
        }
    }
}

fn list(base: &Datatype, bytes: &[u8], count: usize, blob: &mut ReadBlob<'_>) -> Result<Value> {
    let elements = bytes.chunks_exact(base.size as usize).take(count);
    Ok(Value::List(elements.map(|element| base.value(element, blob)).collect::<Result<_>>()?))
}

fn integer(bytes: &[u8], order: ByteOrder, is_signed: bool, offset: u32, precision: u32) -> Value {
    let Some(number) = load(bytes, order) else { return Value::Bytes(bytes.to_vec()) };
    let number = bits(number, offset, precision);
    match i128::try_from(number) {
        _ if is_signed => Value::Integer(signed(number, precision)),
        Ok(number) => Value::Integer(number),
        Err(_) => Value::Unsigned(number),
    }
}

fn text(bytes: &[u8], padding: Padding) -> String {
    let kept = match padding {
        Padding::Terminated => until_zero(bytes),
        Padding::Zeros => trimmed(bytes, 0),
        Padding::Spaces => trimmed(bytes, b' '),
    };
    String::from_utf8_lossy(kept).into_owned()
}

fn trimmed(bytes: &[u8], filler: u8) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != filler).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(bytes)
}

/// The length in elements, and their bytes.
pub(crate) fn variable(element: &[u8], size: u32, blob: &mut ReadBlob<'_>) -> Result<(usize, Vec<u8>)> {
    let mut reader = Reader(element);
    let fields = reader.u32().zip(reader.array::<16>());
    let (count, id) = fields.ok_or_else(|| no_value("it is cut short"))?;
    if count == 0 {
        return Ok((0, Vec::new()));
    }
    let bytes = blob(&id).map_err(Error::Blob)?;
    let length = (count as usize).checked_mul(size as usize);
    if length.is_none_or(|length| length > bytes.len()) {
        return Err(no_value("variable-length data that is cut short"));
    }
    Ok((count as usize, bytes))
}

/// The flag of a reference to another file.
const EXTERNAL: u8 = 1;
/// The kind of a reference to an object.
const TO_OBJECT: u8 = 2;

fn reference(kind: ReferenceKind, element: &[u8], blob: &mut ReadBlob<'_>) -> Result<Reference> {
    let cut = || no_value("a reference that is cut short");
    let mut reader = Reader(element);
    match kind {
        ReferenceKind::Object => match reader.u64().ok_or_else(cut)? {
            0 | u64::MAX => Ok(Reference::Null),
            number => Ok(Reference::Object(number)),
        },
        ReferenceKind::Region if element.iter().all(|byte| *byte == 0) => Ok(Reference::Null),
        ReferenceKind::Region => Ok(Reference::Region(None)),
        ReferenceKind::Standard if element.iter().all(|byte| *byte == 0) => Ok(Reference::Null),
        ReferenceKind::Standard => {
            let (kind, flags) = reader.u8().zip(reader.u8()).ok_or_else(cut)?;
            if flags & EXTERNAL != 0 {
                return Ok(Reference::External);
            }
            // The token of an object follows at once, that of anything else is in a blob.
            let in_blob;
            let mut token = reader;
            if kind != TO_OBJECT {
                let (_, id) = reader.u32().zip(reader.array::<16>()).ok_or_else(cut)?;
                in_blob = blob(&id).map_err(Error::Blob)?;
                token = Reader(&in_blob);
            }
            let number = token.u8().filter(|length| *length == 8).and(token.u64()).ok_or_else(cut)?;
            match kind {
                TO_OBJECT => Ok(Reference::Object(number)),
                3 => Ok(Reference::Region(Some(number))),
                4 => Ok(Reference::Attribute(number)),
                _ => Err(no_value("a reference of an unknown kind")),
            }
        }
    }
}
