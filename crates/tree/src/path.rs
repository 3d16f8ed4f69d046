//! Paths, and the key-value objects of directories.

use isotach_object::{Error, ObjectClass, ObjectId, ObjectType, Result};
use sha2::{Digest as _, Sha256};

/// The longest name between two slashes, in bytes. With its slash it must be a key.
const MAX_NAME: usize = isotach_object::MAX_KEY - 1;

/// The longest path, in bytes. Each directory above a value costs a hash of its path and a lookup.
const MAX_PATH: usize = isotach_object::MAX_KEY;

/// The object that says that the container holds a tree. No directory has its id but by a collision of SHA-256.
pub(crate) const SETTINGS: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name<'n> {
    /// A value of this name.
    Value(&'n str),
    /// The marker of a directory of this name.
    Directory(&'n str),
}

impl<'n> Name<'n> {
    /// The name that these bytes are. `None` for one that no writer puts into a directory.
    pub(crate) fn decode(stored: &'n [u8]) -> Option<Self> {
        let text = str::from_utf8(stored).ok()?;
        let (name, is_directory) = text.strip_suffix('/').map_or((text, false), |name| (name, true));
        if name.is_empty() || name.contains('/') {
            return None;
        }
        Some(if is_directory { Self::Directory(name) } else { Self::Value(name) })
    }

    /// The name, without a slash.
    pub(crate) fn text(self) -> &'n str {
        let (Self::Value(name) | Self::Directory(name)) = self;
        name
    }
}

/// The directory and the name of a value.
///
/// # Errors
/// `InvalidInput` for a path that is too long, or has an empty or too long name.
pub(crate) fn split(path: &str) -> Result<(&str, &str)> {
    if path.len() > MAX_PATH {
        let what = format!("path of {} bytes", path.len());
        return Err(Error::invalid(what, format!("at most {MAX_PATH} bytes")));
    }
    if path.split('/').any(|name| name.is_empty() || name.len() > MAX_NAME) {
        let expected = format!("names of 1 to {MAX_NAME} bytes with a slash between them");
        return Err(Error::invalid(format!("path {path:?}"), expected));
    }
    Ok(path.rsplit_once('/').unwrap_or(("", path)))
}

/// The beginning of the paths below a directory, the top being the empty path.
///
/// # Errors
/// `InvalidInput` for a path that no directory has, such as one with a slash at either end.
pub(crate) fn slashed(directory: &str) -> Result<String> {
    if directory.is_empty() {
        return Ok(String::new());
    }
    split(directory).map(|_| format!("{directory}/"))
}

/// The directory of the paths that begin with a prefix, and the beginning of their names in it. `None` if no path begins so.
pub(crate) fn split_prefix(prefix: &str) -> Option<(&str, &str)> {
    match prefix.rsplit_once('/') {
        None => Some(("", prefix)),
        Some((directory, start)) => split(directory).is_ok().then_some((directory, start)),
    }
}

/// The key-value object of a directory. The top is the empty path.
pub(crate) fn directory(path: &str) -> ObjectId {
    let digest: [u8; 32] = Sha256::digest(path).into();
    let [a, b, c, d, e, f, g, h, i, j, k, l, ..] = digest;
    let (high, low) = (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes([e, f, g, h, i, j, k, l]));
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, high, low)
}

/// The markers of the directories above a value, each with the object that holds it, from the top down. A marker is a directory's
/// name with a slash behind it.
pub(crate) fn markers(path: &str) -> impl Iterator<Item = (ObjectId, &str)> {
    path.match_indices('/').map(|(slash, _)| marker(&path[..slash], &path[..=slash]))
}

/// The marker of one directory; `slashed` is its path with a slash behind it. None for the top.
pub(crate) fn marker_of(slashed: &str) -> Option<(ObjectId, &str)> {
    Some(marker(slashed.strip_suffix('/')?, slashed))
}

fn marker<'p>(directory_path: &'p str, slashed: &'p str) -> (ObjectId, &'p str) {
    let parent = directory_path.rfind('/');
    let name = &slashed[parent.map_or(0, |slash| slash + 1)..];
    (directory(parent.map_or("", |slash| &directory_path[..slash])), name)
}

/// The path of a name in a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_directory_above_a_value_has_a_marker_in_the_one_above_it() {
        let found: Vec<_> = markers("a/bc/d").collect();
        assert_eq!(found, [(directory(""), "a/"), (directory("a"), "bc/")]);
        assert_eq!(marker_of("a/bc/"), Some((directory("a"), "bc/")));
        assert_eq!((markers("a").count(), marker_of("")), (0, None));
    }

    #[test]
    fn the_id_of_a_directory_is_the_beginning_of_a_hash_of_its_path() {
        // SHA-256 of nothing begins with e3b0c442 98fc1c14 9afbf4c8.
        assert_eq!(directory("").to_string(), "0801000142c4b0e3c8f4fb9a141cfc98");
    }

    #[test]
    fn a_name_has_a_slash_at_most_at_its_end() {
        assert_eq!(Name::decode(b"a"), Some(Name::Value("a")));
        assert_eq!(Name::decode(b"a/"), Some(Name::Directory("a")));
        for stored in [&b""[..], b"/", b"//", b"/a", b"/a/", b"a//", b"a/b", b"\xff", b"\xff/"] {
            assert_eq!(Name::decode(stored), None, "{stored:?}");
        }
    }

    #[test]
    fn a_path_with_an_empty_name_or_of_too_many_bytes_is_refused() {
        for path in ["", "/", "a/", "/a", "a//b"] {
            assert_eq!(split(path).unwrap_err().code(), "invalid-input", "{path:?}");
        }
        for length in [MAX_PATH + 1, 10 * MAX_PATH] {
            let deep = "a/".repeat(length)[..length | 1].to_owned();
            assert_eq!(split(&deep).unwrap_err().code(), "invalid-input", "{length} bytes");
        }
        assert_eq!([split("a").unwrap(), split("a/b/c").unwrap()], [("", "a"), ("a/b", "c")]);
    }
}
