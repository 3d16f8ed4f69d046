//! Values as text and as JSON.

use isotach_hdf5::BlobId;
use isotach_hdf5_tools::{Error, Paths, Source};
use isotach_hdf5_types::{Datatype, Reference, Value};
use serde_json::{Map, Value as Json, json};

/// Reads values of a file, with references as paths.
pub(super) struct Values<'v> {
    source: &'v dyn Source,
    /// Walked at the first reference.
    paths: Option<Paths>,
}

impl<'v> Values<'v> {
    pub(super) fn new(source: &'v dyn Source) -> Self {
        Self { source, paths: None }
    }

    /// The value of an element. The datatype has the form of the file.
    pub(super) fn read(&self, datatype: &Datatype, element: &[u8], place: &str) -> Result<Value, Error> {
        let source = self.source;
        let value = datatype.value(element, &mut |id| source.blob(&BlobId(*id)).map_err(Into::into));
        value.map_err(|source| Error::Datatype { place: place.to_owned(), source })
    }

    fn path(&mut self, number: u64) -> Result<Option<&str>, Error> {
        if self.paths.is_none() {
            self.paths = Some(Paths::of(self.source)?);
        }
        Ok(self.paths.as_ref().and_then(|paths| paths.get(number)))
    }

    /// Where a reference leads. Nothing for none.
    fn target(&mut self, reference: &Reference) -> Result<Option<String>, Error> {
        let path = match reference {
            Reference::Null => return Ok(None),
            Reference::External => return Ok(Some("(in another file)".to_owned())),
            Reference::Region(None) => return Ok(Some("(a region)".to_owned())),
            Reference::Object(number) | Reference::Region(Some(number)) | Reference::Attribute(number) => {
                self.path(*number)?.unwrap_or("(no object)").to_owned()
            }
        };
        Ok(Some(match reference {
            Reference::Region(_) => format!("{path} (a region)"),
            Reference::Attribute(_) => format!("{path} (an attribute)"),
            _ => path,
        }))
    }

    /// A value as text.
    pub(super) fn text(&mut self, value: &Value) -> Result<String, Error> {
        Ok(match value {
            Value::Integer(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Single(number) => format!("{number:?}"),
            Value::Complex(parts) => {
                let [real, imaginary] = &**parts;
                let (real, imaginary) = (self.text(real)?, self.text(imaginary)?);
                let plus = if imaginary.starts_with('-') { "" } else { "+" };
                format!("{real}{plus}{imaginary}i")
            }
            Value::Text(text) => json!(text).to_string(),
            Value::Name(name) => name.clone(),
            Value::Bytes(bytes) => hexadecimal(bytes),
            Value::Members(members) => {
                let mut shown = Vec::with_capacity(members.len());
                for (name, value) in members {
                    shown.push(format!("{name}: {}", self.text(value)?));
                }
                format!("{{{}}}", shown.join(", "))
            }
            Value::List(values) => {
                let shown: Result<Vec<String>, Error> = values.iter().map(|value| self.text(value)).collect();
                format!("[{}]", shown?.join(", "))
            }
            Value::Reference(reference) => self.target(reference)?.unwrap_or_else(|| "null".to_owned()),
        })
    }

    /// A value as JSON. What JSON has no number for is a text.
    pub(super) fn json(&mut self, value: &Value) -> Result<Json, Error> {
        Ok(match value {
            Value::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(number), _) => json!(number),
                (_, Ok(number)) => json!(number),
                _ => json!(number.to_string()),
            },
            Value::Unsigned(number) => json!(number.to_string()),
            Value::Float(number) if number.is_finite() => json!(number),
            Value::Single(number) if number.is_finite() => json_single(*number),
            Value::Float(_) | Value::Single(_) => json!(self.text(value)?),
            Value::Complex(parts) => {
                let [real, imaginary] = &**parts;
                json!([self.json(real)?, self.json(imaginary)?])
            }
            Value::Text(text) | Value::Name(text) => json!(text),
            Value::Bytes(bytes) => json!(hexadecimal(bytes)),
            Value::Members(members) => {
                let mut object = Map::new();
                for (name, value) in members {
                    object.insert(name.clone(), self.json(value)?);
                }
                Json::Object(object)
            }
            Value::List(values) => {
                let list: Result<Vec<Json>, Error> = values.iter().map(|value| self.json(value)).collect();
                Json::Array(list?)
            }
            Value::Reference(reference) => json!(self.target(reference)?),
        })
    }
}

/// The shortest number that is this one among those of 4 bytes.
fn json_single(number: f32) -> Json {
    format!("{number:?}").parse::<f64>().map_or(Json::Null, |number| json!(number))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// Values in a flat list as nested lists of these lengths, as far as they go.
pub(super) fn nested(values: Vec<Json>, dims: &[u64]) -> Json {
    let Some((_, inner)) = dims.split_first().filter(|(_, inner)| !inner.is_empty()) else {
        return Json::Array(values);
    };
    let length = inner.iter().product::<u64>().max(1) as usize;
    let mut left = values.into_iter();
    let mut rows = Vec::new();
    loop {
        let row: Vec<Json> = left.by_ref().take(length).collect();
        if row.is_empty() {
            return Json::Array(rows);
        }
        rows.push(nested(row, inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_values_are_nested_as_far_as_they_go() {
        let values = |count: u64| (0..count).map(|number| json!(number)).collect::<Vec<_>>();
        assert_eq!(nested(values(6), &[2, 3]), json!([[0, 1, 2], [3, 4, 5]]));
        assert_eq!(nested(values(4), &[2, 3]), json!([[0, 1, 2], [3]]));
        assert_eq!(nested(values(2), &[2]), json!([0, 1]));
        assert_eq!(nested(values(0), &[0, 3]), json!([]));
    }
}
