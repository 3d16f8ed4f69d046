//! Containers under paths of the operating system (libduns): parsing such a path, and its extended attribute.

use isotach_object::Label;

use crate::{
    abi::property_names::LAYOUTS,
    abi::stored::is_uuid,
    dfs::{Errno, Result},
};

const PREFIX: &[u8] = b"daos://";

/// The target of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Label or UUID.
    pub(crate) pool: String,
    /// Label or UUID; `None` if only a pool is named.
    pub(crate) container: Option<String>,
    /// The rest of the path, with its leading slash.
    pub(crate) rest: Option<Vec<u8>>,
}

fn wrong<T>() -> Result<T> {
    Err(Errno(libc::EINVAL))
}

/// The next name of a path, without the slashes around it.
fn next<'p>(rest: &mut &'p [u8]) -> Option<&'p [u8]> {
    let start = rest.iter().position(|byte| *byte != b'/')?;
    let named = &rest[start..];
    let end = named.iter().position(|byte| *byte == b'/').unwrap_or(named.len());
    *rest = named.get(end + 1..).unwrap_or_default();
    Some(&named[..end])
}

/// A label, or the text of a UUID.
fn name(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    text.parse::<Label>().is_ok().then(|| text.to_owned())
}

fn has_prefix(path: &[u8]) -> bool {
    path.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// Parses `daos://POOL/CONTAINER/...`, or `/POOL/CONTAINER/...` without a prefix.
///
/// # Errors
/// `EINVAL` if it names no pool.
pub(crate) fn read(path: &[u8], without_prefix: bool) -> Result<Target> {
    let mut rest = path;
    if !without_prefix && next(&mut rest).is_none() {
        return wrong();
    }
    let Some(pool) = next(&mut rest).and_then(name) else { return wrong() };
    let container = match next(&mut rest) {
        None => return Ok(Target { pool, container: None, rest: None }),
        Some(container) => name(container).ok_or(Errno(libc::EINVAL))?,
    };
    let rest = (!rest.is_empty()).then(|| [b"/", rest].concat());
    Ok(Target { pool, container: Some(container), rest })
}

/// The target of a path in this form. Without a prefix it must consist of UUIDs, because `/a/b` is also an ordinary path.
pub(crate) fn direct(path: &[u8], without_prefix: bool) -> Option<Target> {
    if !without_prefix {
        return has_prefix(path).then(|| read(path, false).ok()).flatten();
    }
    let target = path.starts_with(b"/").then(|| read(path, true).ok()).flatten()?;
    (is_uuid(&target.pool) && target.container.as_deref().is_some_and(is_uuid)).then_some(target)
}

/// The number of a container layout, by its name.
pub(crate) fn layout(name: &str) -> Option<u16> {
    let number = LAYOUTS.iter().position(|known| known.eq_ignore_ascii_case(name))?;
    u16::try_from(number).ok().filter(|number| *number > 0)
}

/// The value of the extended attribute: the layout, and the UUIDs of pool and container.
pub(crate) fn value(layout: u16, pool: &str, container: &str) -> Result<Vec<u8>> {
    let Some(layout) = LAYOUTS.get(usize::from(layout)).filter(|_| layout > 0) else { return wrong() };
    Ok(format!("DAOS.{layout}://{pool}/{container}\0").into_bytes())
}

/// Parses such a value.
///
/// # Errors
/// `EINVAL`.
pub(crate) fn read_value(value: &[u8]) -> Result<(u16, Target)> {
    let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = str::from_utf8(value).map_err(|_| Errno(libc::EINVAL))?;
    let parts = text.split_once('.').and_then(|(_, text)| text.split_once(':'));
    let Some((layout, rest)) = parts.and_then(|(name, rest)| Some((layout(name)?, rest))) else {
        return wrong();
    };
    let target = read(rest.as_bytes(), true)?;
    match is_uuid(&target.pool) && target.container.as_deref().is_some_and(is_uuid) {
        true => Ok((layout, target)),
        false => wrong(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "01234567-89ab-cdef-0123-456789abcdef";

    fn target(pool: &str, container: Option<&str>, rest: Option<&str>) -> Target {
        let rest = rest.map(|rest| rest.as_bytes().to_vec());
        Target { pool: pool.to_owned(), container: container.map(str::to_owned), rest }
    }

    #[test]
    fn a_path_with_a_prefix_names_pool_container_and_what_is_behind() {
        let read = |path: &str| direct(path.as_bytes(), false);
        assert_eq!(read("daos://tank/files/a/b"), Some(target("tank", Some("files"), Some("/a/b"))));
        assert_eq!(read("DAOS://tank/files"), Some(target("tank", Some("files"), None)));
        assert_eq!(read("daos://tank/"), Some(target("tank", None, None)));
        for other in ["/tank/files", "tank", "daos:/", "daos://", "daos://ta nk/files"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn without_a_prefix_only_uuids_are_taken_for_pool_and_container() {
        let path = format!("/{ONE}/{ONE}/x");
        assert_eq!(direct(path.as_bytes(), true), Some(target(ONE, Some(ONE), Some("/x"))));
        assert_eq!(direct(b"/tank/files", true), None);
        assert_eq!(
            read(b"/tank/files", true),
            Ok(target("tank", Some("files"), None)),
            "where it is said to be none"
        );
    }

    #[test]
    fn the_attribute_of_a_path_is_read_as_it_was_written_and_others_are_refused() {
        let written = value(1, ONE, ONE).unwrap();
        assert_eq!(written, format!("DAOS.POSIX://{ONE}/{ONE}\0").into_bytes());
        assert_eq!(read_value(&written), Ok((1, target(ONE, Some(ONE), None))));
        for other in
            ["", "DAOS", "DAOS.POSIX", "DAOS.what://a/b", "DAOS.POSIX://tank/files", "DAOS.unknown://a/b"]
        {
            assert_eq!(read_value(other.as_bytes()), Err(Errno(libc::EINVAL)), "{other}");
        }
        assert_eq!(value(0, ONE, ONE), Err(Errno(libc::EINVAL)));
    }
}
