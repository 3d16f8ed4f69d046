//! Names of users and groups. The file system has numbers, users have names. A number without a name stands for itself.

use isotach_object::{Error, Result};

/// The number of a user.
pub(crate) fn user(name: &str) -> Result<u32> {
    number("user", name, uzers::get_user_by_name(name).map(|user| user.uid()))
}

/// The number of a group.
pub(crate) fn group(name: &str) -> Result<u32> {
    number("group", name, uzers::get_group_by_name(name).map(|group| group.gid()))
}

/// The name of a user.
pub(crate) fn user_name(number: u32) -> String {
    let user = uzers::get_user_by_uid(number);
    user.and_then(|user| user.name().to_str().map(str::to_owned)).unwrap_or_else(|| number.to_string())
}

/// The name of a group.
pub(crate) fn group_name(number: u32) -> String {
    let group = uzers::get_group_by_gid(number);
    group.and_then(|group| group.name().to_str().map(str::to_owned)).unwrap_or_else(|| number.to_string())
}

/// The user for whom this process acts.
pub(crate) fn myself() -> String {
    user_name(rustix::process::geteuid().as_raw())
}

fn number(what: &str, name: &str, known: Option<u32>) -> Result<u32> {
    // The largest number means "nobody" to the system.
    let number = || name.parse().ok().filter(|number| *number != u32::MAX);
    let wrong = || {
        Error::invalid(format!("{what} {name:?}"), format!("a {what} that this machine knows, or a number"))
    };
    known.or_else(number).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_distinguished_and_others_are_refused() {
        assert_eq!((user("root").unwrap(), user_name(0).as_str()), (0, "root"));
        assert_eq!((group("root").unwrap(), group_name(0).as_str()), (0, "root"));
        assert_eq!(
            (user("3999999999").unwrap(), user_name(3_999_999_999).as_str()),
            (3_999_999_999, "3999999999")
        );
        for wrong in ["no-such-user-here", "4294967295", "-1", ""] {
            assert_eq!(user(wrong).unwrap_err().code(), "invalid-input", "{wrong:?}");
        }
    }
}
