//! Filters on the elements of a collocation, by the values on its axes.

use std::collections::{BTreeSet, HashMap};

use isotach_mars::{Key, LevelFilter, Wanted};

use crate::{
    Result,
    catalogue::{axes::Axes, axes_reader::FEW, select::Target},
    store::Inner,
};

/// The most elements that are looked up one by one.
const LOOKUPS_MAX: usize = 1024;
/// A lookup costs as much as reading this many entries in order.
const ENTRIES_PER_LOOKUP: usize = 16;

/// The filters of a collocation's elements. Empty if the axes show that no element matches.
pub(crate) fn filters(target: &Target, axes: &Axes) -> Vec<ElementFilter> {
    let filters = target.plans.iter().map(|plan| &plan.element);
    let filters = filters.filter(|filter| axes.may_match(filter));
    filters.map(|filter| ElementFilter::new(filter.clone(), axes)).collect()
}

/// The texts of all elements that these filters of a collocation may want, if looking each up costs less than reading all that the
/// axes allow. A value that is added later is not among them: its field was not flushed when the axes were read.
pub(super) fn few_texts(
    inner: &Inner,
    target: &Target,
    filters: &[ElementFilter],
    axes: &Axes,
) -> Result<Option<BTreeSet<String>>> {
    if filters.iter().any(|filter| filter.takes_all) {
        // A page also has the elements whose values a damaged axis lacks.
        return Ok(None);
    }
    let texts: Option<Vec<_>> = filters.iter().map(|filter| filter.texts(axes)).collect();
    let Some(texts) = texts else { return Ok(None) };
    let texts: BTreeSet<String> = texts.into_iter().flatten().collect();
    let is_cheap = |axes: &Axes| texts.len().saturating_mul(ENTRIES_PER_LOOKUP) <= axes.element_count();
    // The whole axes allow at least as many elements as those that were read in part.
    let is_cheap =
        texts.len() <= FEW || is_cheap(axes) || is_cheap(&*target.reader.axes(inner, &target.collocation)?);
    Ok(is_cheap.then_some(texts))
}

/// A filter on elements that evaluates each value once.
#[derive(Debug, Clone)]
pub(crate) struct ElementFilter {
    filter: LevelFilter,
    /// For each key, the results for its escaped values. `None` where every value matches.
    decided: Vec<Option<HashMap<Box<str>, bool>>>,
    takes_all: bool,
}

impl ElementFilter {
    fn new(filter: LevelFilter, axes: &Axes) -> Self {
        let is_open = |(_, wanted): (_, &Wanted)| matches!(wanted, Wanted::Any);
        let mut decided: Vec<Option<HashMap<_, _>>> =
            filter.keys().map(|key| (!is_open(key)).then(HashMap::new)).collect();
        for ((name, values), decided) in axes.0.iter().zip(&mut decided) {
            let Some(decided) = decided else { continue };
            for value in values {
                let escaped = Key::new().with(name, value).values_joined();
                decided.insert(escaped.into(), filter.matches_value(name, value));
            }
        }
        let takes_all = decided.iter().all(Option::is_none);
        Self { filter, decided, takes_all }
    }

    /// The texts of all elements that may be wanted, unless they are many.
    fn texts(&self, axes: &Axes) -> Option<Vec<String>> {
        let mut texts = vec![String::new()];
        for (number, ((name, values), decided)) in axes.0.iter().zip(&self.decided).enumerate() {
            let escaped = values.iter().map(|value| Key::new().with(name, value).values_joined());
            let wanted =
                |value: &String| decided.as_ref().is_none_or(|known| known.get(&**value) == Some(&true));
            let wanted: Vec<String> = escaped.filter(wanted).collect();
            if texts.len().saturating_mul(wanted.len()) > LOOKUPS_MAX {
                return None;
            }
            let separator = if number == 0 { "" } else { ":" };
            let longer = |text: &String| {
                wanted.iter().map(|value| format!("{text}{separator}{value}")).collect::<Vec<_>>()
            };
            texts = texts.iter().flat_map(longer).collect();
        }
        Some(texts)
    }

    /// Whether the element with this text is wanted.
    pub(crate) fn wants(&mut self, element: &str) -> bool {
        if self.takes_all {
            return true;
        }
        let Self { filter, decided, .. } = self;
        element.split(':').zip(filter.names()).zip(decided).all(|((value, name), decided)| {
            let Some(decided) = decided else { return true };
            if let Some(known) = decided.get(value) {
                return *known;
            }
            // A value that was added after the axes were read.
            let raw = Key::from_joined([name], value).unwrap_or_default();
            let wanted = filter.matches_value(name, raw.get(name).unwrap_or_default());
            decided.insert(value.into(), wanted);
            wanted
        })
    }
}
