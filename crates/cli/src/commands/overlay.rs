//! `isotach overlay`: a dataset under another key; and how messages get that key when they are read.

use std::error::Error;

use isotach_fields::FieldStore;
use isotach_grib::Eccodes;
use isotach_mars::Key;

use crate::{
    context,
    failure::{Failure, Outcome},
    flags::{OverlayFlags, PlaceFlags},
    output::outln,
};

/// Lays an overlay, or removes one.
pub(crate) fn run(place: &PlaceFlags, flags: &OverlayFlags) -> Outcome {
    let key = |text: &str, name| text.parse::<Key>().map_err(|error| Failure::from(error).about(name));
    let (below, shown) = (key(&flags.below, "BELOW")?, key(&flags.shown, "SHOWN")?);
    let store = context::open(place)?;
    if flags.remove {
        store.remove_overlay(&below, &shown)?;
        return outln!("{shown} no longer shows {below}");
    }
    store.overlay(&below, &shown, &flags.variable(), flags.force)?;
    outln!("{shown} shows {below}")
}

/// Lets a store give messages from below an overlay the key under which they are shown.
pub(crate) fn relabel_through_eccodes(store: FieldStore) -> FieldStore {
    store.relabel_with(relabelled);
    store
}

/// A message that carries these keys: looked at again, because a key that is set need not be what MARS then calls it.
fn relabelled(message: &[u8], keys: &Key) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let eccodes = Eccodes::load()?;
    let changed = eccodes.edit_message(message, keys.slots())?;
    let carried = Key::from(eccodes.message_key(&changed)?);
    match keys.slots().find(|(name, value)| carried.get(name).unwrap_or_default() != *value) {
        None => Ok(changed),
        Some((name, value)) => {
            let found = carried.get(name).unwrap_or("no value");
            Err(format!("{name}={value} was set, and the message has {found}").into())
        }
    }
}
