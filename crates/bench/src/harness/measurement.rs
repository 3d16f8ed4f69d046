//! Measurements of processes that measure themselves, and the medians of their repetitions.

use std::fmt;

use serde::Serialize;

use crate::harness::{
    groups::grouped,
    metrics::OVERLAP_MIN,
    output::{short, size_text},
    spread::{MIB, median},
    usage::Total,
};

/// The shortest processor time, in seconds, with a figure of the kernel's share, which is counted in ticks of 10 ms.
const SHARE_MIN: f64 = 0.2;

/// A participant of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Peer {
    Limit,
    Isotach,
    /// Another build of this program.
    Before,
    FdbTuned,
    Fdb,
    FdbHammer,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Limit => "limit",
            Self::Isotach => "Isotach",
            Self::Before => "Isotach before",
            Self::FdbTuned => "FDB tuned",
            Self::Fdb => "FDB",
            Self::FdbHammer => "fdb-hammer",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Measurement {
    /// Whose it is, in a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peer: Option<Peer>,
    /// The operation: `archive`, `retrieve`, `list` ...
    pub(crate) what: &'static str,
    #[serde(flatten)]
    pub(crate) case: Case,
    #[serde(flatten)]
    pub(crate) total: Total,
    pub(crate) fields_per_s: f64,
    pub(crate) mib_per_s: f64,
    pub(crate) cpu_us_per_field: f64,
    /// The part of `cpu_us_per_field` in the kernel; none for a short run.
    pub(crate) system_us_per_field: Option<f64>,
    pub(crate) first_ms: f64,
    /// The part of the time in which all processes were at work.
    pub(crate) overlap: f64,
    /// Peak resident memory of the largest process.
    pub(crate) rss_mib: f64,
    /// The plain write or read of the same bytes right before, and the ratio to it.
    pub(crate) limit_mib_per_s: Option<f64>,
    pub(crate) ratio: Option<f64>,
    pub(crate) is_limit_overlap_poor: Option<bool>,
}

/// The parameters of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Case {
    /// The kind of file system, and the folder.
    pub(crate) place: String,
    /// Bytes per field.
    pub(crate) size: usize,
    /// Whether each flush waited for the device.
    pub(crate) sync: bool,
    pub(crate) repetition: u32,
    /// The processes that archive the fields; a measurement may use fewer.
    #[serde(rename = "archived_by")]
    pub(crate) procs: usize,
}

impl Measurement {
    pub(crate) fn new(what: &'static str, case: &Case, total: &Total, limit: Option<&Self>) -> Self {
        let per_field = |seconds: f64| seconds * 1e6 / (total.fields.max(1) as f64);
        let mib_per_s = total.bytes as f64 / total.seconds / MIB;
        let limit_mib_per_s = limit.map(|limit| limit.mib_per_s);
        Self {
            peer: None,
            what,
            case: case.clone(),
            total: *total,
            fields_per_s: total.fields as f64 / total.seconds,
            mib_per_s,
            cpu_us_per_field: per_field(total.user + total.sys),
            system_us_per_field: (total.user + total.sys >= SHARE_MIN).then(|| per_field(total.sys)),
            first_ms: total.first_s * 1e3,
            overlap: total.overlap(),
            rss_mib: total.rss_kb as f64 / 1024.0,
            limit_mib_per_s,
            ratio: limit_mib_per_s.map(|limit| mib_per_s / limit),
            is_limit_overlap_poor: limit.map(Self::is_overlap_poor),
        }
    }

    /// Whether it is one half of readers beside as many writers.
    pub(crate) fn is_beside(&self) -> bool {
        self.what.contains(" beside ")
    }

    /// Whether its processes did not overlap well.
    pub(crate) fn is_overlap_poor(&self) -> bool {
        self.overlap < OVERLAP_MIN
    }

    /// Operation, size and processes, by which a table has its rows.
    pub(crate) fn row(&self) -> (&'static str, usize, usize, usize) {
        (self.what, self.case.size, self.total.procs, self.case.procs)
    }

    /// One line about a measurement that is done.
    pub(crate) fn progress(&self, repetitions: u32) -> String {
        let ratio = self.ratio.map_or(String::new(), |ratio| format!(", {ratio:.2} of plain"));
        let Case { place, size, repetition, .. } = &self.case;
        let (size, rate, fields) = (size_text(*size), short(self.mib_per_s), short(self.fields_per_s));
        let (what, procs) = (self.what, self.total.procs);
        format!(
            "[{repetition}/{repetitions}] {place} {what} {size} x{procs}: {rate} MiB/s, {fields} fields/s{ratio}"
        )
    }
}

#[derive(Debug)]
pub(crate) struct Repetitions<'a>(Vec<&'a Measurement>);

impl<'a> Repetitions<'a> {
    /// Measurements grouped by case, in the order of their first repetition.
    pub(crate) fn group(all: impl IntoIterator<Item = &'a Measurement>) -> Vec<Self> {
        grouped(all, |one| (one.case.place.as_str(), one.row()))
            .into_iter()
            .map(|(_, all)| Self(all))
            .collect()
    }

    /// The first one, for what they have in common.
    pub(crate) fn first(&self) -> &'a Measurement {
        self.0[0]
    }

    pub(crate) fn median(&self, figure: impl Fn(&Measurement) -> f64) -> f64 {
        median(self.0.iter().map(|one| figure(one)).collect())
    }

    /// The median of a figure that may be missing; none if it is missing everywhere.
    pub(crate) fn median_of_some(&self, figure: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        let figures: Vec<f64> = self.0.iter().filter_map(|one| figure(one)).collect();
        (!figures.is_empty()).then(|| median(figures))
    }

    /// The median of the ratios, each to the limit right before it.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.median_of_some(|one| one.ratio)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One process that moved a thousand fields of 1 MiB.
    pub(crate) fn measurement(what: &'static str, seconds: f64, limit: Option<&Measurement>) -> Measurement {
        let total = Total {
            procs: 1,
            seconds,
            together_s: seconds,
            user: 1.0,
            sys: 0.5,
            rss_kb: 2048,
            fields: 1000,
            bytes: 1000 << 20,
            first_s: 0.002,
            close_s: 0.25,
            lifetime_s: None,
        };
        let case = Case { place: "tmpfs".to_owned(), size: 1 << 20, sync: false, repetition: 1, procs: 1 };
        Measurement::new(what, &case, &total, limit)
    }

    #[test]
    fn rates_costs_and_the_ratio_to_the_limit_follow_from_a_total() {
        let limit = measurement("plain write", 1.0, None);
        let own = measurement("archive", 2.0, Some(&limit));
        assert_eq!((own.mib_per_s, own.fields_per_s, own.ratio), (500.0, 500.0, Some(0.5)));
        assert_eq!(
            (own.total.close_s, own.is_limit_overlap_poor, limit.is_limit_overlap_poor),
            (0.25, Some(false), None)
        );
        let apart = Measurement { overlap: 0.5, ..limit };
        assert_eq!(measurement("archive", 2.0, Some(&apart)).is_limit_overlap_poor, Some(true));
        assert_eq!((own.cpu_us_per_field, own.system_us_per_field, own.rss_mib), (1500.0, Some(500.0), 2.0));
    }

    #[test]
    fn repetitions_are_grouped_and_have_a_median() {
        let limits = [1.0, 1.0, 2.0].map(|seconds| measurement("plain write", seconds, None));
        let mut all = Vec::new();
        for (limit, seconds) in limits.iter().zip([2.0, 4.0, 2.0]) {
            all.push(limit.clone());
            all.push(measurement("archive", seconds, Some(limit)));
        }
        let groups = Repetitions::group(&all);
        assert_eq!(
            groups.iter().map(|group| group.first().what).collect::<Vec<_>>(),
            ["plain write", "archive"]
        );
        assert_eq!(groups[1].median(|one| one.mib_per_s), 500.0);
        assert_eq!((groups[0].ratio(), groups[1].ratio()), (None, Some(0.5)));
    }
}
