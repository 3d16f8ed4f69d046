//! The distribution of figures over operations, processes or repetitions.

use serde::{Deserialize, Serialize};

/// Bytes of a MiB and of a GiB, the units of bandwidths.
pub(crate) const MIB: f64 = (1 << 20) as f64;
pub(crate) const GIB: f64 = 1024.0 * MIB;

/// The distribution of figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// The standard deviation, of all figures and not of a sample.
    pub(crate) deviation: f64,
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Spread {
    pub(crate) fn of(mut all: Vec<f64>) -> Self {
        let Some(last) = all.len().checked_sub(1) else { return Self::default() };
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / all.len() as f64;
        // The smallest value that so many hundredths of all do not exceed.
        let part = |hundredths: usize| all[(all.len() * hundredths).div_ceil(100).saturating_sub(1)];
        let (p95, p99, min, max) = (part(95), part(99), all[0], all[last]);
        Self { mean, deviation: variance.sqrt(), min, median: median(all), p95, p99, max }
    }
}

/// The middle figure, or the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[half],
        _ => f64::midpoint(values[half - 1], values[half]),
    }
}

pub(crate) fn median_of<T>(all: impl IntoIterator<Item = T>, figure: impl Fn(T) -> f64) -> f64 {
    median(all.into_iter().map(figure).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_figures_of_its_values() {
        let spread = Spread::of((1..=100).rev().map(f64::from).collect());
        assert_eq!(
            (spread.min, spread.median, spread.p95, spread.p99, spread.max),
            (1.0, 50.5, 95.0, 99.0, 100.0)
        );
        assert_eq!(spread.mean, 50.5);
        let two = Spread::of(vec![2.0, 4.0]);
        assert_eq!((two.mean, two.deviation, two.median), (3.0, 1.0, 3.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
        assert_eq!(median(vec![1.0, 4.0]), 2.5);
    }
}
