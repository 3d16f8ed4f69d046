//! Reading a [`Key`] from text such as `class=od,expver=1`.

use crate::error::KeyError;
use crate::key::Key;
use crate::text::Cursor;

pub(crate) fn parse(text: &str) -> Result<Key, KeyError> {
    let mut key = Key::new();
    let mut reader = Reader { text, at: Cursor::new(text) };
    reader.skip_blanks();
    while !reader.at.rest.is_empty() {
        let name = reader.token(&['=', ','])?;
        if name.is_empty() {
            return Err(reader.error("a key name"));
        }
        if !reader.at.take('=') {
            return Err(reader.error("'=' after the key name"));
        }
        let value_at = reader.at;
        let value = reader.token(&[','])?;
        if key.slots().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            reader.at = value_at;
            return Err(reader.error("each key once"));
        }
        key.set(&name, &value);
        if !reader.at.rest.is_empty() {
            if !reader.at.take(',') {
                return Err(reader.error("',' between keys"));
            }
            if reader.at.rest.trim().is_empty() {
                return Err(reader.error("a key name after ','"));
            }
        }
    }
    Ok(key)
}

struct Reader<'a> {
    text: &'a str,
    at: Cursor<'a>,
}

impl Reader<'_> {
    fn error(&self, expected: &str) -> KeyError {
        let offset = self.text.len() - self.at.rest.len();
        KeyError::Syntax { text: self.text.to_owned(), offset, expected: expected.to_owned() }
    }

    fn skip_blanks(&mut self) {
        self.at.take_while(char::is_whitespace);
    }

    /// A name or value up to one of `ends`, blanks around it dropped; quoted text is taken as it stands.
    fn token(&mut self, ends: &[char]) -> Result<String, KeyError> {
        self.skip_blanks();
        if let Some(quote @ ('"' | '\'')) = self.at.peek() {
            self.at.next();
            let token = self.at.quoted(quote).ok_or_else(|| self.error("a closing quote"))?;
            self.skip_blanks();
            return Ok(token);
        }
        Ok(self.at.take_while(|character| !ends.contains(&character)).trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn blanks_and_quotes_around_values_are_dropped() {
        let key = parse(" class = od , note='a,b=c' ,Grid=1.5/1.5").unwrap();
        assert_eq!(key.get("note"), Some("a,b=c"));
        assert_eq!(key.get("grid"), Some("1.5/1.5"));
        assert_eq!(key.to_string(), "class=od,note=\"a,b=c\",grid=1.5/1.5");
    }

    #[test]
    fn empty_text_is_the_empty_key() {
        assert!(parse("  ").unwrap().is_empty());
    }

    #[test]
    fn each_mistake_is_named_with_its_place() {
        assert_eq!(message("class"), "at character 6 of \"class\": expected '=' after the key name");
        assert_eq!(message("=od"), "at character 1 of \"=od\": expected a key name");
        assert_eq!(message("a=1,"), "at character 5 of \"a=1,\": expected a key name after ','");
        assert_eq!(message("a=1,A=2"), "at character 7 of \"a=1,A=2\": expected each key once");
        assert_eq!(message("a='1"), "at character 5 of \"a='1\": expected a closing quote");
        assert_eq!(message("a='1'2"), "at character 6 of \"a='1'2\": expected ',' between keys");
    }
}
