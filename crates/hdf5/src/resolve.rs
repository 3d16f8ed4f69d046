//! Paths: from a group over links to what they lead to.

use std::sync::Arc;

use crate::{Error, File, Kind, Link, Object, Result, Target};

/// How many links that are not hard are followed, as HDF5 does.
const FOLLOWED_MAX: u32 = 16;

/// What is done with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It is followed.
    Follow,
    /// It is the result.
    Keep,
}

/// What a path leads to.
#[derive(Debug, Clone)]
pub enum Resolved {
    /// An object.
    Object(Object),
    /// A link: any with [`Last::Keep`], else a soft link to nothing.
    Link {
        /// The group that holds it.
        parent: Object,
        /// Its name.
        name: String,
        /// The link.
        link: Link,
    },
    /// Nothing: the last name is not in its group.
    Absent {
        /// The group.
        parent: Object,
        /// The name.
        name: String,
    },
    /// A path in another file. The caller opens it and goes on.
    External {
        /// The name of the file, as in the link.
        file: String,
        /// The path of the link, and what followed the link in the path.
        path: String,
        /// The group that holds the link.
        link_parent: Object,
    },
    /// A link of a program's own class. The caller follows it and goes on.
    UserDefined {
        /// The number of the class.
        class: u8,
        /// The bytes of the link.
        bytes: Vec<u8>,
        /// The group that holds the link.
        parent: Object,
        /// The name of the link.
        name: String,
        /// What followed the link in the path.
        rest: String,
    },
}

impl File {
    /// What a path leads to, from a group or, with a slash in front, from the root. Empty names and `.` are skipped. Soft links are
    /// followed from the group that holds them.
    ///
    /// # Errors
    /// `NotFound` if a name before the last one leads nowhere; `InvalidInput` if one leads to no group, or for more than 16 links that
    /// are followed; `Corrupt`, `Object`.
    pub fn resolve(self: &Arc<Self>, from: &Object, path: &str, last: Last) -> Result<Resolved> {
        let mut followed = 0;
        self.walk(from, path, last, &mut followed)
    }

    fn walk(self: &Arc<Self>, from: &Object, path: &str, last: Last, followed: &mut u32) -> Result<Resolved> {
        let mut here = if path.starts_with('/') { self.root()? } else { from.clone() };
        let mut rest = path.trim_start_matches('/');
        loop {
            let (name, behind) = rest.split_once('/').unwrap_or((rest, ""));
            let behind = skipped(behind);
            if name.is_empty() || name == "." {
                if behind.is_empty() {
                    return Ok(Resolved::Object(here));
                }
                rest = behind;
                continue;
            }
            if here.kind() != Kind::Group {
                return Err(Error::invalid(format!("{name:?} in a {:?}", here.kind()), "a group"));
            }
            let is_last = behind.is_empty();
            let Some(link) = here.link(name)? else {
                if is_last {
                    return Ok(Resolved::Absent { parent: here, name: name.to_owned() });
                }
                return Err(Error::not_found(format!("{name:?} in {path:?}")));
            };
            if is_last && last == Last::Keep {
                return Ok(Resolved::Link { parent: here, name: name.to_owned(), link });
            }
            match self.follow(&here, name, link, behind, followed)? {
                Resolved::Object(object) if is_last => return Ok(Resolved::Object(object)),
                Resolved::Object(object) => (here, rest) = (object, behind),
                Resolved::Link { .. } | Resolved::Absent { .. } if !is_last => {
                    return Err(Error::not_found(format!("what {name:?} in {path:?} leads to")));
                }
                other => return Ok(other),
            }
        }
    }

    /// What a link leads to. `behind` is what follows it in the path.
    fn follow(
        self: &Arc<Self>,
        here: &Object,
        name: &str,
        link: Link,
        behind: &str,
        followed: &mut u32,
    ) -> Result<Resolved> {
        if !matches!(link.target, Target::Hard { .. }) {
            *followed += 1;
            if *followed > FOLLOWED_MAX {
                return Err(Error::invalid(
                    format!("link {name:?}, which leads on and on"),
                    format!("at most {FOLLOWED_MAX} links to follow"),
                ));
            }
        }
        Ok(match &link.target {
            Target::Hard { number, kind } => Resolved::Object(Object::open(self.clone(), *number, *kind)),
            Target::Soft(target) => match self.walk(here, target, Last::Follow, followed) {
                Ok(Resolved::Absent { .. } | Resolved::Link { .. }) | Err(Error::NotFound { .. }) => {
                    Resolved::Link { parent: here.clone(), name: name.to_owned(), link }
                }
                // What follows this link comes after what followed a link in its target.
                Ok(Resolved::External { file, path, link_parent }) => {
                    Resolved::External { file, path: joined(&path, behind), link_parent }
                }
                Ok(Resolved::UserDefined { class, bytes, parent, name, rest }) => {
                    Resolved::UserDefined { class, bytes, parent, name, rest: joined(&rest, behind) }
                }
                other => other?,
            },
            Target::External { file, path } => Resolved::External {
                file: file.clone(),
                path: joined(path, behind),
                link_parent: here.clone(),
            },
            Target::User { class, bytes } => Resolved::UserDefined {
                class: *class,
                bytes: bytes.clone(),
                parent: here.clone(),
                name: name.to_owned(),
                rest: behind.to_owned(),
            },
        })
    }
}

/// A path without the empty names and `.` in front.
fn skipped(mut path: &str) -> &str {
    loop {
        let (name, behind) = path.split_once('/').unwrap_or((path, ""));
        if path.is_empty() || !(name.is_empty() || name == ".") {
            return path;
        }
        path = behind;
    }
}

fn joined(path: &str, behind: &str) -> String {
    match (path, behind) {
        (path, "") => path.to_owned(),
        ("", behind) => behind.to_owned(),
        (path, behind) => format!("{}/{behind}", path.trim_end_matches('/')),
    }
}
