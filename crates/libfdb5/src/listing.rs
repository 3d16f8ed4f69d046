//! A listing, and the keys of its elements pair by pair.
//!
//! What must stay true: a text of an element stays where it is as long as the listing or a split key holds the element.

use std::{
    ffi::{CStr, CString},
    sync::{Arc, OnceLock},
};

use isotach_capi_kit::{Failure, Result, c_text};
use isotach_fields::Listed;
use isotach_mars::Key;

/// What `fdb_listiterator_t` is.
#[derive(Debug)]
pub(crate) struct Listing {
    fields: isotach_fields::Listing,
    depth: u8,
    current: Option<Arc<Element>>,
    /// The last element that was given. It is not given again, also after an error.
    last: Option<Arc<Element>>,
}

impl Listing {
    pub(crate) fn new(fields: isotach_fields::Listing, depth: u8) -> Self {
        Self { fields, depth, current: None, last: None }
    }

    /// Whether there is a next element, which then is the current one.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.current = None;
        while let Some(listed) = self.fields.next().transpose()? {
            // Fields of one collocation come together.
            if self.last.as_ref().is_none_or(|last| last.differs(&listed, self.depth)) {
                let element = Arc::new(Element::new(listed, self.depth));
                (self.current, self.last) = (Some(Arc::clone(&element)), Some(element));
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn current(&self) -> Result<&Arc<Element>> {
        self.current
            .as_ref()
            .ok_or_else(|| Failure::invalid("the iterator has no element: expected a successful next before"))
    }
}

/// An element of a listing.
#[derive(Debug)]
pub(crate) struct Element {
    listed: Listed,
    depth: u8,
    place: OnceLock<CString>,
    pairs: OnceLock<Vec<Pair>>,
}

/// A pair of a key.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) name: CString,
    pub(crate) value: CString,
    pub(crate) level: usize,
}

impl Element {
    fn new(listed: Listed, depth: u8) -> Self {
        Self { listed, depth, place: OnceLock::new(), pairs: OnceLock::new() }
    }

    /// Whether a field belongs to another element.
    fn differs(&self, listed: &Listed, depth: u8) -> bool {
        let is_same = self.listed.dataset() == listed.dataset()
            && (depth == 1 || self.listed.collocation() == listed.collocation());
        depth == 3 || !is_same
    }

    /// Where the field is: the place, the first byte there, and how many.
    pub(crate) fn place(&self) -> Result<(&CStr, usize, usize)> {
        if self.depth != 3 {
            return Err(Failure::invalid(format!(
                "a listing of depth {} has no places: expected depth 3",
                self.depth
            )));
        }
        let location = self.listed.location();
        let text = || match &location.place {
            isotach_fields::Place::File(path) => c_text(&path.to_string_lossy()),
            isotach_fields::Place::Object { .. } => c_text(&location.to_string()),
        };
        let place = self.place.get_or_init(text);
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok((place.as_c_str(), number(location.offset), number(location.length)))
    }

    /// The pairs of its key that have a value, by level, and in a level by name, as FDB has them.
    pub(crate) fn pairs(&self) -> &[Pair] {
        self.pairs.get_or_init(|| {
            let element = self.listed.element();
            let levels = [self.listed.dataset(), self.listed.collocation(), &element];
            let levels = levels.into_iter().take(self.depth.into()).enumerate();
            levels.flat_map(|(level, key)| pairs_of(level, key)).collect()
        })
    }
}

fn pairs_of(level: usize, key: &Key) -> Vec<Pair> {
    let mut pairs: Vec<Pair> =
        key.iter().map(|(name, value)| Pair { name: c_text(name), value: c_text(value), level }).collect();
    pairs.sort_by(|one, other| one.name.cmp(&other.name));
    pairs
}

/// What `fdb_split_key_t` is: an element, and how many of its pairs were given.
#[derive(Debug, Default)]
pub(crate) struct SplitKey {
    element: Option<Arc<Element>>,
    given: usize,
}

impl SplitKey {
    pub(crate) fn set(&mut self, element: &Arc<Element>) {
        *self = Self { element: Some(Arc::clone(element)), given: 0 };
    }

    /// The next pair.
    pub(crate) fn advance(&mut self) -> Result<Option<&Pair>> {
        let element = self.element.as_ref();
        let element =
            element.ok_or_else(|| Failure::invalid("the split key is empty: expected that of an element"))?;
        let pair = element.pairs().get(self.given);
        self.given += usize::from(pair.is_some());
        Ok(pair)
    }
}

#[cfg(test)]
mod tests {
    use isotach_fields::{Config, FieldStore, ListOptions};
    use isotach_mars::Request;
    use isotach_object::{Anchor, Cell, PoolUri, Update};
    use isotach_open::registry;

    use super::*;

    /// Overwrites what the indexes of a pool have under this key.
    fn damage(pool: &PoolUri, key: &[u8]) {
        let pool = registry().open_pool(pool).unwrap();
        for label in pool.list_containers().unwrap() {
            let container = pool.open_container(&label).unwrap();
            for object in container.list_objects(&Anchor::start(), 100).unwrap().0 {
                let Ok(page) = container.list_entries(object, &Anchor::start(), 100, true) else { continue };
                // An axis has empty entries.
                if page.iter().any(|(found, value)| found == key && !value.is_empty()) {
                    container.update(&[Update::Put { cell: Cell::kv(object, key), value: b"?" }]).unwrap();
                }
            }
            container.flush().unwrap();
        }
    }

    #[test]
    fn a_dataset_is_listed_once_although_one_of_its_fields_is_damaged() {
        let uri: PoolUri = "memory:damaged".parse().unwrap();
        let config = Config::single(&uri).with_schema("[ class [ type [ step: Step ]]]");
        let store = FieldStore::create(&config, &registry()).unwrap();
        for step in ["0", "6", "9"] {
            store.archive(&format!("class=od,type=fc,step={step}").parse().unwrap(), b"field").unwrap();
        }
        store.flush().unwrap();
        damage(&uri, b"6");
        for depth in [1, 2] {
            let fields = store.list(&Request::new(), ListOptions::default()).unwrap();
            let mut listing = Listing::new(fields, depth);
            assert_eq!(listing.advance(), Ok(true));
            assert_eq!(listing.advance().unwrap_err().code, "corrupt");
            assert!(listing.current().is_err());
            assert_eq!(listing.advance(), Ok(false), "depth {depth}");
        }
    }
}
