//! The actions that a configuration forbids in a pool, independent of the locks of its datasets.
//!
//! What must stay true: a prohibition is checked before an operation changes anything, names the key of the
//! configuration that it comes from, and cannot be lifted by `unlock`.

use std::sync::Arc;

use isotach_mars::Key;

use crate::{Error, Pattern, Result, catalogue::locks::Action};

/// The actions that a configuration forbids, each with the key that forbids it.
///
/// ```
/// use isotach_fields::{Action, Config};
/// let text = "spaces: [{roots: [{path: /data, wipe: false}]}]";
/// let config = Config::parse(text, "/etc/fdb.yaml".as_ref())?;
/// let forbidden = &config.spaces[0].forbidden;
/// assert!(forbidden.contains(Action::Wipe) && !forbidden.contains(Action::Archive));
/// # Ok::<(), isotach_fields::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forbidden(Option<Arc<Reasons>>);

/// Why each action is forbidden, in the order of [`Action::ALL`].
type Reasons = [Option<Box<str>>; Action::ALL.len()];

impl Forbidden {
    /// Whether this action is forbidden.
    pub fn contains(&self, action: Action) -> bool {
        self.reason(action).is_some()
    }

    /// The configuration key that forbids an action, with its place.
    pub fn reason(&self, action: Action) -> Option<&str> {
        self.0.as_ref()?[action as usize].as_deref()
    }

    /// The forbidden actions.
    pub fn iter(&self) -> impl Iterator<Item = Action> {
        Action::ALL.into_iter().filter(|action| self.contains(*action))
    }

    /// Whether every action is forbidden.
    pub(crate) fn is_total(&self) -> bool {
        Action::ALL.into_iter().all(|action| self.contains(action))
    }

    /// Forbids an action. The first reason is kept.
    pub(crate) fn forbid(&mut self, action: Action, reason: &str) {
        let reasons = Arc::make_mut(self.0.get_or_insert_default());
        reasons[action as usize].get_or_insert_with(|| reason.into());
    }

    /// Adds the prohibitions of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        for action in Action::ALL {
            if let Some(reason) = other.reason(action) {
                self.forbid(action, reason);
            }
        }
    }

    /// Refuses a forbidden action on `what`.
    pub(crate) fn check(&self, action: Action, what: impl FnOnce() -> String) -> Result<()> {
        match self.reason(action) {
            None => Ok(()),
            Some(reason) => Err(Error::Forbidden { what: what(), action, by: reason.to_owned() }),
        }
    }
}

/// The prohibitions in one catalogue pool, for each space that uses it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits(Vec<(Pattern, Forbidden)>);

impl Limits {
    /// Adds a space that uses the pool.
    pub(crate) fn push(&mut self, pattern: &Pattern, forbidden: &Forbidden) {
        self.0.push((pattern.clone(), forbidden.clone()));
    }

    /// The prohibitions on a dataset: those of the first space that takes it, or those of all spaces if none does.
    pub(crate) fn of(&self, dataset: &Key) -> Forbidden {
        match self.0.iter().find(|(pattern, _)| pattern.matches(dataset)) {
            Some((_, forbidden)) => forbidden.clone(),
            None => self.of_any(),
        }
    }

    /// The prohibitions of all spaces.
    pub(crate) fn of_any(&self) -> Forbidden {
        let mut any = Forbidden::default();
        self.0.iter().for_each(|(_, forbidden)| any.add(forbidden));
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbidding(action: Action, reason: &str) -> Forbidden {
        let mut forbidden = Forbidden::default();
        forbidden.forbid(action, reason);
        forbidden
    }

    #[test]
    fn a_prohibition_names_the_dataset_the_action_and_the_key() {
        let forbidden = forbidding(Action::Wipe, "`wipe: false` of roots[0] in /etc/fdb.yaml");
        let error = forbidden.check(Action::Wipe, || "dataset class=od".to_owned()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "dataset class=od: the configuration forbids wipe, by `wipe: false` of roots[0] in /etc/fdb.yaml"
        );
        assert_eq!((error.code(), error.is_usage()), ("forbidden", false));
        assert!(forbidden.check(Action::List, String::new).is_ok());
    }

    #[test]
    fn the_first_space_that_takes_a_dataset_rules_it_and_all_rule_the_others() {
        let mut limits = Limits::default();
        limits.push(&"class=od".parse().unwrap(), &forbidding(Action::Wipe, "first"));
        limits.push(&"class=od|rd".parse().unwrap(), &forbidding(Action::List, "second"));
        let of = |class| limits.of(&Key::new().with("class", class)).iter().collect::<Vec<_>>();
        assert_eq!(of("od"), [Action::Wipe]);
        assert_eq!(of("rd"), [Action::List]);
        assert_eq!(of("ea"), [Action::List, Action::Wipe]);
    }
}
