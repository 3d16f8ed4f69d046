//! Converts FDB's spaces: each of their roots becomes a space of ours, and the roots of one space share its pattern.

use super::{
    Reading,
    written::{Root, SpaceAsWritten},
};
use crate::{
    Action, Forbidden, Pattern, Result,
    config::{Space, Spread},
};

/// The datasets of a lane, and its prohibitions.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    pattern: Option<Pattern>,
    pub(super) forbidden: Forbidden,
}

impl Lane {
    /// The lane of the datasets that `select` takes and `excludes` does not.
    pub(super) fn selecting(&self, select: &str, excludes: &[String]) -> Result<Self> {
        let mut pattern = Pattern::of_lane(select)?;
        for exclude in excludes {
            pattern = pattern.unless(Pattern::of_lane(exclude)?);
        }
        Ok(Self { pattern: Some(self.and(pattern)), forbidden: self.forbidden.clone() })
    }

    /// The lane of the datasets that the lane with `select` and `excludes` does not take.
    pub(super) fn without(&self, select: &str, excludes: &[String]) -> Result<Self> {
        let taken = Self::default().selecting(select, excludes)?.and(Pattern::all());
        let rest = self.pattern.clone().unwrap_or_else(Pattern::all).unless(taken);
        Ok(Self { pattern: Some(rest), forbidden: self.forbidden.clone() })
    }

    fn and(&self, pattern: Pattern) -> Pattern {
        match &self.pattern {
            None => pattern,
            Some(own) => own.clone().and(pattern),
        }
    }
}

/// The spaces of the roots of one FDB space.
pub(super) fn spaces_of(
    reading: &Reading<'_>,
    space: &SpaceAsWritten,
    lane: &Lane,
    place: &str,
    group: usize,
) -> Result<Vec<Space>> {
    let (roots, word) = match (&space.roots, &space.catalogue_roots) {
        (Some(roots), None) => (roots, "roots"),
        (None, Some(roots)) => (roots, "catalogueRoots"),
        _ => return Err(reading.wrong(place, "roots", "", "either roots, or catalogueRoots and storeRoots")),
    };
    if roots.is_empty() {
        return Err(reading.wrong(place, word, "", "at least one root"));
    }
    let store = match (&space.roots, space.store_roots.as_deref()) {
        (Some(_), None) => None,
        (None, Some([store])) => Some(store),
        (Some(_), Some(_)) => {
            return Err(reading.wrong(place, "storeRoots", "", "either roots, or both of these"));
        }
        (None, _) => {
            return Err(reading.wrong(place, "storeRoots", "", "exactly one root beside catalogueRoots"));
        }
    };
    let wrong = |key, error| reading.wrong_value(place, key, error);
    let pattern = space.regex.as_deref().map_or_else(|| Ok(Pattern::all()), Pattern::of_joined);
    let pattern = pattern.map_err(|error| wrong("regex", error))?;
    let mut made: Vec<Space> = Vec::new();
    for (at, root) in roots.iter().enumerate() {
        let mut forbidden = lane.forbidden.clone();
        forbidden.add(&reading.forbidden(&root.switches(), &format!("{place}{word}[{at}].")));
        if let Some(store) = store {
            forbidden.add(&reading.forbidden(&store.switches(), &format!("{place}storeRoots[0].")));
        }
        let pool = |root: &Root| reading.paths.pool(&root.path).map_err(|error| wrong("path", error));
        let catalogue = pool(root)?;
        if made.iter().any(|other| other.catalogue == catalogue) {
            // One of them could forbid what the other allows.
            return Err(reading.wrong(place, "path", &root.path, "each root once in a space"));
        }
        made.push(Space {
            name: space.name.clone().unwrap_or_else(|| "default".to_owned()),
            pattern: lane.and(pattern.clone()),
            store: store.map_or_else(|| Ok(catalogue.clone()), pool)?,
            catalogue,
            forbidden,
            group,
            spread: Spread::First,
        });
    }
    let open = made.iter().filter(|space| !space.forbidden.contains(Action::Archive)).count();
    let spread = spread_of(reading, space.handler.as_deref().unwrap_or("Default"), open, place)?;
    made.iter_mut().for_each(|space| space.spread = spread);
    Ok(made)
}

/// The spread of an FDB handler for a space with `open` writable roots.
fn spread_of(reading: &Reading<'_>, handler: &str, open: usize, place: &str) -> Result<Spread> {
    match handler {
        "Default" | "First" => Ok(Spread::First),
        "expver" => Ok(Spread::Expvers),
        "RoundRobin" | "Random" | "PureRandom" => Ok(Spread::Datasets),
        "LeastUsed" | "LeastUsedPercent" | "WeightedRandom" | "WeightedRandomPercent" if open <= 1 => {
            Ok(Spread::First)
        }
        "LeastUsed" | "LeastUsedPercent" | "WeightedRandom" | "WeightedRandomPercent" => {
            let expected = "one root that is writable, or a handler that does not look at how full roots are: First, \
                            RoundRobin, Random or expver; processes that see other figures would put one dataset into \
                            two roots";
            Err(reading.wrong(place, "handler", handler, expected))
        }
        _ => Err(reading.wrong(
            place,
            "handler",
            handler,
            "Default, First, expver, RoundRobin, Random or PureRandom",
        )),
    }
}
