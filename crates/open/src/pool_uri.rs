//! Pools as users name them: by a URI, or by a path alone.

use std::path::Path;

use isotach_fields::{Error, Result};
use isotach_object::{Error as ObjectError, PoolUri};

/// Parses a pool's URI. A path alone, absolute or with ./, is a posix pool. A relative path becomes absolute, because URIs are
/// also stored.
///
/// ```
/// let uri = isotach_open::pool_uri("/data/fields")?;
/// assert_eq!(uri.to_string(), "posix:/data/fields");
/// assert!(isotach_open::pool_uri("fields").is_err());
/// # Ok::<(), isotach_fields::Error>(())
/// ```
///
/// # Errors
/// [`Error::Invalid`] for a text that looks like a path but would be parsed as something else; `InvalidInput` for a text that is no
/// URI.
pub fn pool_uri(text: &str) -> Result<PoolUri> {
    check_path(text)?;
    let uri: PoolUri = text.parse()?;
    if uri.scheme() != "posix" || uri.path().is_empty() || uri.path().starts_with('/') {
        return Ok(uri);
    }
    let path = Path::new(uri.path());
    let failed = |source| ObjectError::from_io(source, format!("the absolute path of {}", path.display()));
    let absolute = std::path::absolute(path).map_err(failed)?;
    below(&absolute, &uri)
}

/// The URI of the pool in this folder, with the options of another. Refuses a folder that no URI can name.
fn below(folder: &Path, options: &PoolUri) -> Result<PoolUri> {
    let text = folder.to_str().filter(|text| !text.contains('?')).ok_or_else(|| Error::Invalid {
        what: format!("store {}", folder.display()),
        expected: "a path in UTF-8 without a question mark, also of the working folder".to_owned(),
    })?;
    let options = options.to_string();
    let options = options.find('?').map_or("", |at| &options[at..]);
    Ok(format!("posix:{text}{options}").parse()?)
}

/// Whether two URIs name one pool, whatever their spelling and options.
pub fn is_same_pool(one: &PoolUri, other: &PoolUri) -> bool {
    let is_same_folder = || {
        let [one, other] = [one, other].map(|uri| Path::new(uri.path()).canonicalize().ok());
        one.is_some() && one == other
    };
    one.scheme() == other.scheme()
        && (one.path() == other.path() || one.scheme() == "posix" && is_same_folder())
}

/// Refuses text that looks like a path but would be parsed as something else.
fn check_path(text: &str) -> Result<()> {
    let is_path = ["/", "./", "../"].iter().any(|start| text.starts_with(start));
    let refuse = |expected: String| Err(Error::Invalid { what: format!("store {text:?}"), expected });
    if is_path && text.contains('?') {
        return refuse(format!("posix:{text}, because a path alone has no options"));
    }
    if !is_path && !text.trim().is_empty() && !text.contains(':') {
        return refuse(format!("./{text} or posix:{text} for a relative path, or a URI such as posix:/path"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn a_folder_that_no_uri_can_name_is_refused() {
        let options = "posix:fields?sync=no".parse().unwrap();
        let uri = below("/data/fields".as_ref(), &options).unwrap();
        assert_eq!(uri.to_string(), "posix:/data/fields?sync=no");
        for folder in [&b"/what?/fields"[..], b"/\xff/fields"] {
            let error = below(Path::new(OsStr::from_bytes(folder)), &options).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains("without a question mark"), "{error}");
        }
    }
}
