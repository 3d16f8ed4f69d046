//! The text of requests, on the command line and in files.
//!
//! ```text
//! requests := { [verb [","]] name "=" value { "/" value } { "," ... } }
//! ```
//!
//! Blanks and line ends may stand between any two parts. A word in front that is not followed by `=` must be a known
//! verb: a slip such as `oper` for `stream=oper` must not come to mean everything.

use super::{Request, VERBS};
use crate::error::RequestError;
use crate::text::Cursor;

/// Exactly one request, or none for the request for everything.
pub(super) fn one(text: &str) -> Result<Request, RequestError> {
    let mut reader = Reader::new(text);
    reader.skip_blanks();
    if reader.at.rest.is_empty() {
        return Ok(Request::new());
    }
    let request = reader.request()?;
    reader.skip_blanks();
    match reader.at.peek() {
        None => Ok(request),
        Some(_) => Err(reader.error("',' before another key, or the end of the request")),
    }
}

pub(super) fn requests(text: &str) -> Result<Vec<(usize, Request)>, RequestError> {
    let mut reader = Reader::new(text);
    let mut requests: Vec<(usize, Request)> = Vec::new();
    reader.skip_blanks();
    while !reader.at.rest.is_empty() {
        let position = reader.at;
        let request = reader.request()?;
        let forgotten =
            request.verb.is_none() && requests.first().is_some_and(|(_, first)| first.verb.is_some());
        if forgotten {
            let expected = "',' at the end of the line before, or a verb";
            return Err(error_at(position, expected, "a key".to_owned()));
        }
        requests.push((position.line, request));
        reader.skip_blanks();
    }
    Ok(requests)
}

/// The values of `name`, and nothing else.
pub(super) fn values(name: &str, text: &str) -> Result<Vec<String>, RequestError> {
    let mut reader = Reader::new(text);
    let values = reader.values().ok();
    reader.skip_blanks();
    values.filter(|_| reader.at.rest.is_empty()).ok_or_else(|| RequestError::BadValue {
        name: name.to_owned(),
        value: text.to_owned(),
        expected: "values separated by '/', in quotes if they hold more than words".to_owned(),
    })
}

fn error_at(place: Cursor<'_>, expected: &str, found: String) -> RequestError {
    RequestError::Syntax { line: place.line, column: place.column, expected: expected.to_owned(), found }
}

struct Reader<'a> {
    at: Cursor<'a>,
    /// Whether a comment that began with `!` was the last thing passed over: it may have been meant as a value.
    after_exclamation: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { at: Cursor::new(text), after_exclamation: false }
    }

    fn error(&self, expected: &str) -> RequestError {
        error_at(self.at, expected, self.at.found())
    }

    fn skip_blanks(&mut self) {
        self.after_exclamation = false;
        loop {
            self.at.take_while(char::is_whitespace);
            let Some(mark @ ('#' | '!')) = self.at.peek() else { return };
            self.after_exclamation = mark == '!';
            self.at.take_while(|character| character != '\n');
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        self.at.take(wanted)
    }

    fn request(&mut self) -> Result<Request, RequestError> {
        let mut request = Request::new();
        let position = self.at;
        let first = self.word("a key or a verb")?;
        if self.take('=') {
            self.pair(&mut request, &first, position)?;
        } else {
            let verb = first.to_ascii_lowercase();
            if !VERBS.contains(&verb.as_str()) {
                let expected = "a key with '=' or a verb such as retrieve";
                return Err(error_at(position, expected, format!("{first:?}")));
            }
            request.verb = Some(verb);
        }
        while self.take(',') {
            self.skip_blanks();
            let position = self.at;
            let name = self.word("a key")?;
            if !self.take('=') {
                return Err(self.error("'=' after the key"));
            }
            self.pair(&mut request, &name, position)?;
        }
        Ok(request)
    }

    fn pair(&mut self, request: &mut Request, name: &str, position: Cursor<'a>) -> Result<(), RequestError> {
        if request.contains(name) {
            return Err(error_at(position, "each key once", format!("{name:?} again")));
        }
        request.set(name, self.values()?);
        Ok(())
    }

    fn values(&mut self) -> Result<Vec<String>, RequestError> {
        let mut values = vec![self.value()?];
        while self.take('/') {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// A value; blanks inside it, but not line ends, are part of it, each run of them one space.
    fn value(&mut self) -> Result<String, RequestError> {
        let mut value = self.word("a value")?;
        loop {
            let blanks = self.at.take_while(|character| character.is_whitespace() && character != '\n');
            if !self.at.peek().is_some_and(is_bare) {
                return Ok(value);
            }
            if blanks.is_empty() {
                return Err(self.error("',' or '/' after the value"));
            }
            value.push(' ');
            value.push_str(&self.word("a value")?);
        }
    }

    /// A run of bare characters or a quoted text.
    fn word(&mut self, expected: &str) -> Result<String, RequestError> {
        self.skip_blanks();
        if let Some(quote @ ('"' | '\'')) = self.at.peek() {
            let opening = self.at;
            self.at.next();
            let unclosed = || error_at(opening, "a closing quote for this one", "the end".to_owned());
            return self.at.quoted(quote).ok_or_else(unclosed);
        }
        let word = self.at.take_while(is_bare);
        if word.is_empty() {
            let mut error = self.error(expected);
            if let (true, RequestError::Syntax { found, .. }) = (self.after_exclamation, &mut error) {
                found.push_str(": '!' begins a comment in a request");
            }
            return Err(error);
        }
        Ok(word.to_owned())
    }
}

fn is_bare(character: char) -> bool {
    !character.is_whitespace() && !matches!(character, ',' | '=' | '/' | '"' | '\'' | '#' | '!')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(text: &str, expected: &str) {
        assert_eq!(one(text).map(|request| request.to_string()), Ok(expected.to_owned()));
    }

    #[track_caller]
    fn message(text: &str) -> String {
        one(text).unwrap_err().to_string()
    }

    #[test]
    fn a_request_may_spread_over_lines_with_comments() {
        shows(
            "Retrieve, # what\n  CLASS = od, ! the operational one\n step = 0 /\n 6,\nparam=t\n",
            "retrieve,class=od,step=0/6,param=t",
        );
    }

    #[test]
    fn quotes_are_dropped_and_their_contents_kept() {
        shows("class='o#d',expver=\"0001\"", "class=\"o#d\",expver=0001");
        shows("a='it\\'s'", "a=\"it's\"");
    }

    #[test]
    fn nothing_means_everything() {
        shows(" # nothing\n", "");
        shows("retrieve", "retrieve");
    }

    #[test]
    fn values_may_hold_spaces() {
        shows("class = operational   archive ,a=1", "class=\"operational archive\",a=1");
    }

    #[test]
    fn a_comment_in_place_of_a_value_is_reported() {
        let found = "expected a value, found the end: '!' begins a comment in a request";
        assert_eq!(message("class=!od"), format!("line 1, column 10: {found}"));
        assert_eq!(message("class=# od"), "line 1, column 11: expected a value, found the end");
    }

    #[test]
    fn each_mistake_is_named_with_its_place() {
        assert_eq!(
            message("oper"),
            "line 1, column 1: expected a key with '=' or a verb such as retrieve, found \"oper\""
        );
        assert_eq!(
            message("class=od,\n step"),
            "line 2, column 6: expected '=' after the key, found the end"
        );
        assert_eq!(message("class="), "line 1, column 7: expected a value, found the end");
        assert_eq!(message("class=od,"), "line 1, column 10: expected a key, found the end");
        assert_eq!(message("a=1/,b=2"), "line 1, column 5: expected a value, found ','");
        assert_eq!(message("a=1,A=2"), "line 1, column 5: expected each key once, found \"A\" again");
        assert_eq!(message("a='1"), "line 1, column 3: expected a closing quote for this one, found the end");
        assert_eq!(
            message("a=1\nb=2"),
            "line 2, column 1: expected ',' before another key, or the end of the request, found 'b'"
        );
        assert_eq!(message("=1"), "line 1, column 1: expected a key or a verb, found '='");
    }

    #[test]
    fn values_alone_are_read_as_in_a_request() {
        assert_eq!(values("step", " 0/to/ 24 ").unwrap(), ["0", "to", "24"]);
        assert_eq!(values("grid", "'1/1'").unwrap(), ["1/1"]);
        for wrong in ["", "0/", "0,class=rd", "0=1", "'0"] {
            let text = values("step", wrong).unwrap_err().to_string();
            assert!(text.starts_with(&format!("step={wrong:?}: expected values")), "{text}");
        }
    }

    #[test]
    fn a_file_holds_many_requests_and_nothing_is_inherited() {
        let many = requests("retrieve,class=od,\n step=0\n\n# next\nretrieve,param=t\nlist\n").unwrap();
        let shown: Vec<String> = many.iter().map(|(line, request)| format!("{line} {request}")).collect();
        assert_eq!(shown, ["1 retrieve,class=od,step=0", "5 retrieve,param=t", "6 list"]);
        assert_eq!(requests("class=od,step=0\nclass=rd\n").unwrap().len(), 2);
        assert!(requests("").unwrap().is_empty());
    }

    #[test]
    fn a_forgotten_comma_between_lines_is_noticed() {
        let error = requests("retrieve,class=od\nstep=0").unwrap_err().to_string();
        assert_eq!(
            error,
            "line 2, column 1: expected ',' at the end of the line before, or a verb, found a key"
        );
    }
}
