//! A window of time: a number of fields of some volume that must be written, and partly read back, in so many seconds.

use serde_json::{Value, json};

use super::{
    demand::{Demands, Kind, Resource, Use, demands},
    model::{Predicted, predict},
    site::Site,
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    pub(super) fields: f64,
    pub(super) bytes: f64,
    pub(super) seconds: f64,
    /// The part of the fields that is read while others are written.
    pub(super) read_back: f64,
}

impl Window {
    /// A field of average size, as it is used.
    pub(super) fn field(&self) -> Use {
        Use { bytes: self.bytes / self.fields, writes: 1.0, reads: self.read_back }
    }

    /// Fields in a second that the window takes.
    pub(super) fn pace(&self) -> f64 {
        self.fields / self.seconds
    }

    /// Bytes of all writes and reads.
    pub(super) fn moved(&self) -> f64 {
        self.bytes * (1.0 + self.read_back)
    }
}

/// What a site does with a window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outlook {
    pub(super) window: Window,
    pub(super) demands: Demands,
    pub(super) predicted: Predicted,
    /// The part of all space that the volume takes; none where the site does not say.
    pub(super) space: Option<f64>,
}

impl Outlook {
    pub(super) fn of(site: &Site, window: Window) -> Self {
        let demands = demands(site, window.field());
        let predicted = predict(&demands);
        let space = site.space().map(|space| window.bytes * site.redundancy.stored() / space);
        Self { window, demands, predicted, space }
    }

    /// Seconds for all fields.
    pub(super) fn seconds(&self) -> f64 {
        self.window.fields / self.predicted.throughput
    }

    pub(super) fn is_in_time(&self) -> bool {
        self.predicted.throughput >= self.window.pace()
    }

    pub(super) fn has_space(&self) -> bool {
        self.space.is_none_or(|part| part <= 1.0)
    }

    pub(super) fn fits(&self) -> bool {
        self.is_in_time() && self.has_space()
    }

    /// Bytes in a second, of writes and reads.
    pub(super) fn bandwidth(&self) -> f64 {
        self.window.moved() / self.seconds()
    }

    /// The part of a resource that the window takes; more than 1 where it is too little.
    pub(super) fn needed(&self, resource: &Resource) -> f64 {
        self.window.pace() / resource.most()
    }

    pub(super) fn resource(&self, kind: Kind) -> Option<&Resource> {
        self.demands.resources.iter().find(|resource| resource.kind == kind)
    }

    /// What sets the bound, as text.
    pub(super) fn limit(&self, site: &Site) -> &'static str {
        self.predicted.limit.name(site.engine)
    }

    pub(super) fn json(&self, site: &Site) -> Value {
        let resource = |resource: &Resource| {
            json!({
                "resource": resource.kind.name(site.engine),
                "units": resource.units,
                "busy_s_per_field": resource.busy,
                "fields_per_s_max": resource.most(),
                "used": self.predicted.throughput / resource.most(),
                "needed": self.needed(resource),
            })
        };
        let Window { fields, bytes, seconds, read_back } = self.window;
        json!({
            "site": site.name,
            "engine": site.engine,
            "fields": fields,
            "volume_bytes": bytes,
            "window_s": seconds,
            "read_back": read_back,
            "processes": self.demands.processes,
            "fields_per_s_needed": self.window.pace(),
            "fields_per_s": self.predicted.throughput,
            "fields_per_s_max": self.predicted.bound,
            "bytes_per_s": self.bandwidth(),
            "time_s": self.seconds(),
            "space_used": self.space,
            "fits": self.fits(),
            "limit": self.limit(site),
            "resources": self.demands.resources.iter().map(resource).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::planner::examples;

    const TIB: f64 = (1_u64 << 40) as f64;

    fn window(tib: f64) -> Window {
        Window { fields: 25e6, bytes: tib * TIB, seconds: 3600.0, read_back: 0.7 }
    }

    #[test]
    fn a_window_fits_only_if_time_and_space_are_enough() {
        let site = examples::site("nextgenio-daos").unwrap();
        let small = Outlook::of(&site, window(30.0));
        assert!(small.fits() && small.is_in_time() && small.has_space(), "{small:?}");
        let hour = Outlook::of(&site, window(70.0));
        assert!(hour.is_in_time() && !hour.has_space() && !hour.fits(), "12 servers hold 36 TiB");
    }

    #[test]
    fn what_a_window_needs_of_a_resource_follows_from_its_pace() {
        let site = examples::site("lustre").unwrap();
        let outlook = Outlook::of(&site, window(70.0));
        for resource in &outlook.demands.resources {
            let seconds = 25e6 * resource.busy / resource.units;
            assert!((outlook.needed(resource) - seconds / 3600.0).abs() < 1e-9);
        }
    }

    proptest! {
        #[test]
        fn doubling_the_volume_never_more_than_doubles_the_time(
            tib in 1.0_f64..2000.0, name in proptest::sample::select(&examples::NAMES[..])
        ) {
            let site = examples::site(name).unwrap();
            let (one, two) = (Outlook::of(&site, window(tib)), Outlook::of(&site, window(2.0 * tib)));
            prop_assert!(two.seconds() >= one.seconds() * (1.0 - 1e-9));
            prop_assert!(two.seconds() <= 2.0 * one.seconds() * (1.0 + 1e-9));
            for (before, after) in one.demands.resources.iter().zip(&two.demands.resources) {
                let factor = two.needed(after) / one.needed(before);
                prop_assert!((1.0 - 1e-9..=2.0 + 1e-9).contains(&factor), "{:?} {factor}", before.kind);
            }
        }
    }
}
