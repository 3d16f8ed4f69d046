//! Lists that are sorted and indexed by text, such as the datasets of a root and the collocations of a dataset.

use std::collections::HashMap;

use isotach_mars::{Key, LevelFilter, Wanted};

/// Items stored under a text, in the text's order.
#[derive(Debug)]
pub(crate) struct Stored<T> {
    pub(crate) list: Vec<T>,
    by_text: HashMap<Box<str>, usize>,
}

impl<T> Stored<T> {
    pub(crate) fn new(mut list: Vec<T>, text: impl Fn(&T) -> &str) -> Self {
        list.sort_by(|a, b| text(a).cmp(text(b)));
        let by_text = list.iter().enumerate().map(|(at, item)| (text(item).into(), at)).collect();
        Self { list, by_text }
    }

    pub(crate) fn get(&self, text: &str) -> Option<&T> {
        self.list.get(*self.by_text.get(text)?)
    }

    /// The items that match a filter. `text` appends the text of a key that the filter names; `key` returns an item's
    /// own key. If the filter names its keys, the items come in the request's order.
    pub(crate) fn pick(
        &self,
        filter: &LevelFilter,
        text: impl Fn(&Key, &mut String),
        key: impl Fn(&T) -> &Key,
    ) -> Vec<&T> {
        let few = filter.candidate_count().is_some_and(|count| count <= self.list.len() as u64);
        if let (true, Some(candidates)) = (few, filter.candidates()) {
            let mut buffer = String::new();
            return candidates
                .filter_map(|candidate| {
                    buffer.clear();
                    text(&candidate, &mut buffer);
                    self.get(&buffer)
                })
                .collect();
        }
        // A filter also matches a key of another rule with fewer names.
        let has_names = |item: &T| filter.names().eq(key(item).slots().map(|(name, _)| name));
        let mut found: Vec<&T> =
            self.list.iter().filter(|item| filter.matches(key(item)) && has_names(item)).collect();
        if filter.candidate_count().is_some() {
            found.sort_by_cached_key(|item| rank(filter, key(item)));
        }
        found
    }
}

/// The positions of a key's values in the request's lists.
fn rank(filter: &LevelFilter, key: &Key) -> Vec<usize> {
    let place = |((_, wanted), (_, value)): ((_, &Wanted), (_, &str))| match wanted {
        Wanted::OneOf(values) => {
            values.as_slice().iter().position(|known| known == value).unwrap_or(usize::MAX)
        }
        _ => 0,
    };
    filter.keys().zip(key.slots()).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::layout::{named_text, push_named_text};
    use isotach_mars::{Match, Schema};

    fn stored(keys: &[&str]) -> Stored<Key> {
        let texts: Vec<(String, Key)> = keys
            .iter()
            .map(|text| {
                let key: Key = text.parse().unwrap();
                (named_text(&key), key)
            })
            .collect();
        let by_text = texts.iter().enumerate().map(|(at, (text, _))| (text.as_str().into(), at)).collect();
        Stored { list: texts.into_iter().map(|(_, key)| key).collect(), by_text }
    }

    #[test]
    fn what_is_picked_comes_in_the_requests_order_whether_few_or_many_are_named() {
        let schema = Schema::parse("[ class, expver [ type [ step ]]]").unwrap();
        let stored = stored(&["class=od,expver=1", "class=od,expver=2", "class=rd,expver=1"]);
        for request in ["class=rd/od,expver=2/1,type=fc,step=0", "class=rd/od,expver=2/1/3/4,type=fc,step=0"]
        {
            let plans = schema.plans(&request.parse().unwrap(), Match::Exact).unwrap();
            let found = stored.pick(&plans[0].dataset, |key, text| push_named_text(text, key), |key| key);
            let found: Vec<String> = found.into_iter().map(ToString::to_string).collect();
            assert_eq!(found, ["class=rd,expver=1", "class=od,expver=2", "class=od,expver=1"], "{request}");
        }
    }
}
