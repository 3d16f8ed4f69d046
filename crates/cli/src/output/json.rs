//! JSON for machines: one object a line.

use std::{
    fmt::{self, Write as _},
    io::{Write, stdout},
};

use isotach_mars::Key;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Outcome;

/// Prints one object as one line.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut out = stdout().lock();
    out.write_all(&line)?;
    out.flush()?;
    Ok(())
}

/// A key as an object, in its order.
pub(crate) fn key_object(key: &Key) -> Value {
    let pairs = key.iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// A text as a JSON string, quotes and all. For lines that are too many to go through a tree of values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonText<'a>(pub(crate) &'a str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        let mut rest = self.0;
        while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
            let (plain, special) = rest.split_at(at);
            f.write_str(plain)?;
            let mut characters = special.chars();
            match characters.next() {
                Some(c @ ('"' | '\\')) => write!(f, "\\{c}")?,
                Some(c) => write!(f, "\\u{:04x}", u32::from(c))?,
                None => {}
            }
            rest = characters.as_str();
        }
        f.write_str(rest)?;
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_reads_back_from_its_json() {
        for text in ["", "plain", "qu\"ote", "back\\slash", "line\nend\u{1}", "é%:/"] {
            let back: String = serde_json::from_str(&JsonText(text).to_string()).unwrap();
            assert_eq!(back, text);
        }
    }

    #[test]
    fn a_key_keeps_its_order_and_leaves_out_what_is_absent() {
        let key = Key::new().with("step", "6").with("levelist", "").with("class", "od");
        assert_eq!(key_object(&key).to_string(), r#"{"step":"6","class":"od"}"#);
    }
}
