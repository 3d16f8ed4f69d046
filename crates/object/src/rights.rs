//! The rights of a container: its owner, its group and its access control list.

use crate::{Acl, Permissions, Principal};

/// The rights of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// The owner: a user's name, or the number of a user without a name.
    pub owner: String,
    /// Its group.
    pub group: String,
    /// The access control list.
    pub acl: Acl,
}

impl Rights {
    /// The list for a new container of `owner` and `group` that inherits these rights. Every principal gets the permissions that
    /// it has here, without deletion and administration: those belong to the new owner. Where the present owner and group are
    /// others, the list names them.
    ///
    /// ```
    /// use isotach_object::Rights;
    /// let acl = "A:G:GROUP@:rw,A::EVERYONE@:r".parse()?;
    /// let root = Rights { owner: "alice".to_owned(), group: "hpc".to_owned(), acl };
    /// assert_eq!(root.inherited("alice", "hpc"), root.acl);
    /// let theirs = root.inherited("bob", "users").to_string();
    /// assert_eq!(theirs, "A::OWNER@:rwdtTaAo,A::alice@:rwta,A:G:hpc@:rw,A::EVERYONE@:r");
    /// let root = Rights { acl: "A::ann@:rwdtTaAo,A:G:GROUP@:r,A:G:hpc@:rw".parse()?, ..root };
    /// let theirs = root.inherited("bob", "users").to_string();
    /// assert_eq!(theirs, "A::OWNER@:rwdtTaAo,A::alice@:rwta,A::ann@:rwta,A:G:hpc@:rw", "of one's own, and of two entries both");
    /// # Ok::<(), isotach_object::Error>(())
    /// ```
    pub fn inherited(&self, owner: &str, group: &str) -> Acl {
        // Only an owner deletes and administers what is his.
        let shared = |permissions: Permissions| {
            permissions.without(Permissions::DELETE).without(Permissions::ADMINISTER)
        };
        let mut acl = self.acl.entries().fold(Acl::new(), |acl, (principal, permissions)| match principal {
            Principal::Owner => acl,
            other => acl.with(other.clone(), shared(permissions)),
        });
        if owner != self.owner {
            let theirs = shared(self.acl.of(&Principal::Owner));
            acl = acl
                .with(Principal::User(self.owner.clone()), theirs)
                .without(&Principal::User(owner.to_owned()));
        }
        if group != self.group {
            let (theirs, named) = (acl.of(&Principal::Group), Principal::NamedGroup(self.group.clone()));
            acl = acl.without(&Principal::Group);
            let both = theirs.and(acl.of(&named));
            if both != Permissions::NONE {
                acl = acl.with(named, both);
            }
        }
        acl
    }
}

/// A change of rights. What is `None` stays, or becomes the engine's default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RightsChange {
    /// Another owner.
    pub owner: Option<String>,
    /// Another group.
    pub group: Option<String>,
    /// Another list.
    pub acl: Option<Acl>,
}

/// The rights of a new container. Its creator owns it unless another owner is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewRights {
    /// The engine's default, with these changes.
    Asked(RightsChange),
    /// Inherited from another container ([`Rights::inherited`]).
    Inherited(Rights),
}

impl Default for NewRights {
    fn default() -> Self {
        Self::Asked(RightsChange::default())
    }
}
