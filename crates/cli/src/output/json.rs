//! JSON for machines: one object a line.

use std::io::{Write, stdout};

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

/// Appends a text as a JSON string, quotes and all. For lines that are too many to go through a tree of values.
pub(crate) fn push_json_text(line: &mut String, text: &str) {
    line.push('"');
    if text.bytes().all(is_plain) {
        line.push_str(text);
    } else {
        for character in text.chars() {
            match character {
                '"' | '\\' => line.extend(['\\', character]),
                '\0'..='\u{1f}' => line.push_str(&format!("\\u{:04x}", u32::from(character))),
                _ => line.push(character),
            }
        }
    }
    line.push('"');
}

/// Whether a byte stands for itself in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// A text as a JSON string.
pub(crate) fn json_text(text: &str) -> String {
    let mut line = String::new();
    push_json_text(&mut line, text);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_reads_back_from_its_json() {
        for text in ["", "plain", "qu\"ote", "back\\slash", "line\nend\u{1}", "é%:/"] {
            let back: String = serde_json::from_str(&json_text(text)).unwrap();
            assert_eq!(back, text);
        }
    }

    #[test]
    fn a_key_keeps_its_order_and_leaves_out_what_is_absent() {
        let key = Key::new().with("step", "6").with("levelist", "").with("class", "od");
        assert_eq!(key_object(&key).to_string(), r#"{"step":"6","class":"od"}"#);
    }
}
