//! Listings that are read to their end.

use isotach_object::{Anchor, Page};

/// The entries in one page.
pub(crate) const PER_PAGE: usize = 1000;

/// The keys of all pages of a listing, of which `page` reads one.
pub(crate) fn all_keys<E>(page: impl Fn(&Anchor, usize) -> Result<Page, E>) -> Result<Vec<Vec<u8>>, E> {
    let (mut keys, mut anchor) = (Vec::new(), Some(Anchor::start()));
    while let Some(from) = anchor {
        let page = page(&from, PER_PAGE)?;
        keys.extend(page.keys().map(<[u8]>::to_vec));
        anchor = page.next().cloned();
    }
    Ok(keys)
}
