//! Whose a container is, and who may do what with it.

use crate::{Acl, Permissions, Principal};

/// Whose a container is, and who may do what with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// The user who owns it: a name, or a number that has none.
    pub owner: String,
    /// Its group.
    pub group: String,
    /// Who may do what.
    pub acl: Acl,
}

impl Rights {
    /// The list for a container that `owner` with `group` makes, and that those who may do something with this one may
    /// do the same with, but for deleting and administering it, which is its owner's. The maker owns it; the owner of
    /// this one, and its group, go by their names where they are others.
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

/// What is asked to change; the rest stays, or becomes what the engine makes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RightsChange {
    /// Another owner.
    pub owner: Option<String>,
    /// Another group.
    pub group: Option<String>,
    /// Another list.
    pub acl: Option<Acl>,
}

/// Whose a new container is to be, and who may do what with it. Whoever makes it owns it, unless another owner is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewRights {
    /// As the engine makes it, but for what is asked for.
    Asked(RightsChange),
    /// As those of another container have it ([`Rights::inherited`]).
    Inherited(Rights),
}

impl Default for NewRights {
    fn default() -> Self {
        Self::Asked(RightsChange::default())
    }
}
