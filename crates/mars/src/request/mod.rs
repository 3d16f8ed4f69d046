//! [`Request`]: which fields are meant, as names with lists of values, in MARS language.
//!
//! A request is text that has been taken apart, nothing more: what its values mean depends on the types a schema gives
//! their keys, so ranges, names and relative dates are worked out in [`Schema::plans`](crate::Schema::plans).

pub(crate) mod keywords;
mod parse;

use std::fmt;
use std::str::FromStr;

use crate::error::RequestError;
use crate::key::Key;
use crate::text;

/// The words that may stand in front of a request.
pub(crate) const VERBS: [&str; 24] = [
    "archive",
    "axes",
    "browse",
    "compute",
    "copy",
    "disseminate",
    "dump",
    "flush",
    "get",
    "inspect",
    "list",
    "move",
    "purge",
    "r",
    "read",
    "remove",
    "ret",
    "retr",
    "retrieve",
    "stage",
    "stats",
    "status",
    "wipe",
    "write",
];

/// Names with lists of values: `class=od,step=0/to/24/by/6`, with or without a verb in front.
///
/// Names are kept in lower case, values as they were given. No pairs at all means everything.
///
/// ```
/// use isotach_mars::Request;
///
/// let request: Request = "retrieve, class=od, param=t/u".parse()?;
/// assert_eq!(request.verb(), Some("retrieve"));
/// assert_eq!(request.get("PARAM"), Some(&["t".to_owned(), "u".to_owned()][..]));
/// # Ok::<(), isotach_mars::RequestError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    verb: Option<String>,
    pairs: Vec<(String, Vec<String>)>,
}

impl Request {
    /// The request for everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A request from names and their values. A name given twice has the values given last.
    ///
    /// ```
    /// use isotach_mars::Request;
    ///
    /// let request = Request::from_map([("class", vec!["od"]), ("step", vec!["0", "6"])]);
    /// assert_eq!(request.to_string(), "class=od,step=0/6");
    /// ```
    pub fn from_map<N, I, V>(pairs: impl IntoIterator<Item = (N, I)>) -> Self
    where
        N: AsRef<str>,
        I: IntoIterator<Item = V>,
        V: Into<String>,
    {
        let mut request = Self::new();
        for (name, values) in pairs {
            request.set(name.as_ref(), values);
        }
        request
    }

    /// The requests of a file, each with the line, from 1, on which it begins. They are separated by their verbs or,
    /// without verbs, by a line that does not end in a comma. `#` and `!` begin a comment; a request may spread over
    /// lines. Nothing is inherited from one to the next.
    ///
    /// ```
    /// use isotach_mars::Request;
    ///
    /// let requests = Request::parse_many("class=od,\n step=0\n\nclass=rd")?;
    /// assert_eq!(requests[1], (4, "class=rd".parse()?));
    /// # Ok::<(), isotach_mars::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// [`RequestError::Syntax`], with the place of the first mistake.
    pub fn parse_many(text: &str) -> Result<Vec<(usize, Self)>, RequestError> {
        parse::requests(text)
    }

    /// The word in front, if there was one.
    #[must_use]
    pub fn verb(&self) -> Option<&str> {
        self.verb.as_deref()
    }

    /// Sets the values of `name`, in place if it is there. No values at all remove it.
    pub fn set<V: Into<String>>(&mut self, name: &str, values: impl IntoIterator<Item = V>) {
        let name = name.to_ascii_lowercase();
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        let place = self.pairs.iter().position(|(known, _)| *known == name);
        match (place, values.is_empty()) {
            (Some(at), true) => {
                self.pairs.remove(at);
            }
            (Some(at), false) => self.pairs[at].1 = values,
            (None, true) => {}
            (None, false) => self.pairs.push((name, values)),
        }
    }

    /// Sets the values of `name` from MARS text: `0/to/24/by/6`, or one value. Quotes protect what has a meaning, as in a request.
    ///
    /// ```
    /// use isotach_mars::Request;
    ///
    /// let mut request = Request::new();
    /// request.set_text("step", "0/6")?;
    /// assert_eq!(request.get("step"), Some(&["0".to_owned(), "6".to_owned()][..]));
    /// assert!(request.set_text("step", "0,class=rd").is_err());
    /// # Ok::<(), isotach_mars::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// [`RequestError::BadValue`] if the text is not a list of values.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), RequestError> {
        self.set(name, parse::values(name, text)?);
        Ok(())
    }

    /// Replaces `given` and its values, in place; if another pair has the new name, it stays and `given` goes.
    pub(crate) fn rename(&mut self, given: &str, name: &str, values: Vec<String>) {
        if given != name && self.contains(name) {
            return self.remove(given);
        }
        if let Some(pair) = self.pairs.iter_mut().find(|(known, _)| known == given) {
            *pair = (name.to_owned(), values);
        }
    }

    /// Removes `name` and its values.
    pub fn remove(&mut self, name: &str) {
        self.pairs.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    }

    /// The values of `name` as given; `None` if the request does not name it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.pairs
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, values)| values.as_slice())
    }

    /// Whether the request names `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.pairs.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// How many keys the request names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether it names none, and so means everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Those of `names` that the request does not name, or of which it means every value; for operations that ask for a
    /// least number of keys.
    pub fn missing_from<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let is_named = |name: &&str| {
            self.get(name).is_some_and(|values| !values.iter().any(|value| keywords::means_all(value)))
        };
        names.into_iter().filter(|name| !is_named(name)).collect()
    }
}

impl From<&Key> for Request {
    /// The request for the one field of this key; absent keys are left out.
    fn from(key: &Key) -> Self {
        Self::from_map(key.iter().map(|(name, value)| (name, [value])))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        if let Some(verb) = &self.verb {
            out.write_str(verb)?;
            before = ",";
        }
        for (name, values) in &self.pairs {
            out.write_str(before)?;
            text::write_quoted(out, name)?;
            for (index, value) in values.iter().enumerate() {
                out.write_str(if index == 0 { "=" } else { "/" })?;
                text::write_quoted(out, value)?;
            }
            before = ",";
        }
        Ok(())
    }
}

impl FromStr for Request {
    type Err = RequestError;

    /// Reads one request. Empty text is the request for everything.
    fn from_str(text: &str) -> Result<Self, RequestError> {
        parse::one(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_shows_as_it_is_read() {
        let text = "retrieve,class=od,step=0/to/24/by/6,grid=\"1.5/1.5\"";
        assert_eq!(text.parse::<Request>().unwrap().to_string(), text);
    }

    #[test]
    fn a_key_becomes_the_request_for_its_one_field() {
        let key = Key::new().with("class", "od").with("levelist", "").with("grid", "1/1");
        assert_eq!(Request::from(&key).to_string(), "class=od,grid=\"1/1\"");
    }

    #[test]
    fn setting_no_values_removes_a_name() {
        let mut request: Request = "a=1,b=2".parse().unwrap();
        request.set("A", Vec::<String>::new());
        assert_eq!(request.to_string(), "b=2");
        request.remove("B");
        assert!(request.is_empty());
    }

    #[test]
    fn missing_names_are_reported() {
        let request: Request = "class=od".parse().unwrap();
        assert_eq!(request.missing_from(["class", "expver"]), ["expver"]);
        for wide in ["class=off,expver=1", "class=all,expver=1", "class=od/*,expver=1", "class= Any,expver=1"]
        {
            let request: Request = wide.parse().unwrap();
            assert_eq!(request.missing_from(["class", "expver"]), ["class"], "{wide}");
        }
    }
}
