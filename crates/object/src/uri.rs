//! The URI of a pool: which engine, and where.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::Error;

/// A pool's URI: `posix:/data/fields`, `posix:///data/fields`, `memory:`, `rados://pool?user=me`.
///
/// The scheme chooses the engine; the rest is the engine's to read. A text without a scheme that starts
/// with `/`, `./` or `../` is a posix path, since that is what users type.
///
/// ```
/// use isotach_object::PoolUri;
/// let uri: PoolUri = "posix:///data/fields".parse()?;
/// assert_eq!((uri.scheme(), uri.path()), ("posix", "/data/fields"));
/// assert_eq!(uri, "posix:/data/fields".parse()?);
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolUri {
    scheme: String,
    path: String,
    query: Vec<(String, String)>,
}

impl PoolUri {
    /// The engine's scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The path or name, without query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of a query option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The names of all query options.
    pub fn option_names(&self) -> impl Iterator<Item = &str> {
        self.query.iter().map(|(key, _)| key.as_str())
    }

    /// Refuses options that an engine does not know.
    ///
    /// # Errors
    /// `InvalidInput`, with those that it knows.
    pub fn check_options(&self, known: &[&str]) -> Result<(), Error> {
        let expected = || match known {
            [] => "no options".to_owned(),
            known => format!("one of: {}", known.join(", ")),
        };
        match self.option_names().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(unknown) => Err(Error::invalid(format!("option {unknown:?} in {self}"), expected())),
        }
    }

    /// The number that an option says, or the usual one.
    ///
    /// # Errors
    /// `InvalidInput` for what is no number of the range.
    pub fn number<T>(&self, option: &str, usual: T, range: &RangeInclusive<T>) -> Result<T, Error>
    where
        T: FromStr + PartialOrd + fmt::Display,
    {
        let Some(text) = self.option(option) else { return Ok(usual) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        number.ok_or_else(|| self.wrong_option(option, &expected()))
    }

    /// The error for an invalid value of an option.
    pub fn wrong_option(&self, option: &str, expected: &str) -> Error {
        let value = self.option(option).unwrap_or_default();
        Error::invalid(format!("option {option}={value} in {self}"), expected)
    }
}

impl FromStr for PoolUri {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::invalid(format!("store {text:?}"), "a URI such as posix:/path or memory:");
        if ["/", "./", "../"].iter().any(|start| text.starts_with(start)) {
            return Ok(Self { scheme: "posix".to_owned(), path: text.to_owned(), query: Vec::new() });
        }
        let (scheme, rest) = text.split_once(':').ok_or_else(wrong)?;
        if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'-') {
            return Err(wrong());
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let query = query.split('&').filter(|part| !part.is_empty());
        let query = query.map(|part| part.split_once('=').unwrap_or((part, "")));
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            path: path.strip_prefix("//").unwrap_or(path).to_owned(),
            query: query.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        })
    }
}

/// Parsing the printed form returns the same URI: records hold URIs as text.
impl fmt::Display for PoolUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // After a scheme, a question mark begins the options; only a path without one can have it.
        if self.path.contains('?') {
            return f.write_str(&self.path);
        }
        // Two slashes after the scheme are no part of the path.
        let slashes = if self.path.starts_with("//") { "//" } else { "" };
        write!(f, "{}:{slashes}{}", self.scheme, self.path)?;
        for (at, (key, value)) in self.query.iter().enumerate() {
            write!(f, "{}{key}={value}", if at == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_plain_paths_are_read_and_nonsense_is_refused() {
        let uri: PoolUri = "rados://fields?user=me&conf=/etc/ceph.conf".parse().unwrap();
        assert_eq!((uri.path(), uri.option("conf")), ("fields", Some("/etc/ceph.conf")));
        assert_eq!(uri.to_string().parse::<PoolUri>().unwrap(), uri);
        assert_eq!("/data/x".parse::<PoolUri>().unwrap().to_string(), "posix:/data/x");
        for text in
            ["/what?x=y", "./a?b", "//data", "posix:////data?sync=no", "posix:///x", "memory:a?b=c=d&e"]
        {
            let uri: PoolUri = text.parse().unwrap();
            assert_eq!(uri.to_string().parse::<PoolUri>().unwrap(), uri, "{text}");
        }
        for text in ["", "plain", ":x", "po six:/x"] {
            assert!(text.parse::<PoolUri>().is_err(), "{text:?}");
        }
    }
}
