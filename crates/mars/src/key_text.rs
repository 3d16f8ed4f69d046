//! Reading a [`Key`] from text such as `class=od,expver=1`.

use crate::error::KeyError;
use crate::key::Key;
use crate::text::unescaped;

pub(crate) fn parse(text: &str) -> Result<Key, KeyError> {
    let mut key = Key::new();
    let mut reader = Reader { text, at: 0 };
    reader.skip_blanks();
    while reader.at < text.len() {
        let name = reader.token(&['=', ','])?;
        if name.is_empty() {
            return Err(reader.error("a key name"));
        }
        if !reader.take('=') {
            return Err(reader.error("'=' after the key name"));
        }
        let value_at = reader.at;
        let value = reader.token(&[','])?;
        if key.slots().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            reader.at = value_at;
            return Err(reader.error("each key once"));
        }
        key.set(&name, &value);
        if reader.at < text.len() {
            if !reader.take(',') {
                return Err(reader.error("',' between keys"));
            }
            if text[reader.at..].trim().is_empty() {
                return Err(reader.error("a key name after ','"));
            }
        }
    }
    Ok(key)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, expected: &str) -> KeyError {
        KeyError::Syntax { text: self.text.to_owned(), offset: self.at, expected: expected.to_owned() }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// A name or value up to one of `ends`, blanks around it dropped; quoted text is taken as it stands.
    fn token(&mut self, ends: &[char]) -> Result<String, KeyError> {
        self.skip_blanks();
        if let Some(quote @ ('"' | '\'')) = self.peek() {
            self.at += 1;
            let token = self.quoted(quote)?;
            self.skip_blanks();
            return Ok(token);
        }
        let rest = &self.text[self.at..];
        let end = rest.find(ends).unwrap_or(rest.len());
        self.at += end;
        Ok(rest[..end].trim_end().to_owned())
    }

    fn quoted(&mut self, quote: char) -> Result<String, KeyError> {
        let mut token = String::new();
        while let Some(mut character) = self.peek() {
            self.at += character.len_utf8();
            if character == quote {
                return Ok(token);
            }
            if character == '\\' {
                let Some(escaped) = self.peek() else { break };
                self.at += escaped.len_utf8();
                character = unescaped(escaped);
            }
            token.push(character);
        }
        Err(self.error("a closing quote"))
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
