//! Rows of points of one latitude.

/// Points along a parallel, at equal distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) latitude: f64,
    /// Of the first point.
    pub(super) longitude: f64,
    /// From one point to the next, in degrees; negative to the west.
    pub(super) step: f64,
    pub(super) count: u64,
    /// The index of the first point, and how far the next is.
    pub(super) index: u64,
    pub(super) stride: u64,
}

impl Row {
    /// Longitude and index of each point.
    pub(super) fn points(&self) -> impl Iterator<Item = (f64, u64)> + use<> {
        let row = *self;
        (0..row.count)
            .map(move |place| (row.longitude + row.step * place as f64, row.index + place * row.stride))
    }

    /// The points that may be the nearest to a meridian: longitude and index. They are the ones on both sides of it, and the first,
    /// for a row that does not go around the Earth has two ends.
    pub(super) fn nearest(&self, longitude: f64) -> impl IntoIterator<Item = (f64, u64)> + use<> {
        let ahead = ((longitude - self.longitude) * self.step.signum()).rem_euclid(360.0);
        let last = self.count.saturating_sub(1);
        let steps = if self.step == 0.0 { 0.0 } else { ahead / self.step.abs() };
        let places = [steps.floor(), steps.ceil()].map(|place| (place as u64).min(last));
        let row = *self;
        let of = move |place: u64| (row.longitude + row.step * place as f64, row.index + place * row.stride);
        (row.count > 0).then(|| [of(places[0]), of(places[1]), of(0)]).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(row: Row, longitude: f64) -> Vec<u64> {
        row.nearest(longitude).into_iter().map(|(_, index)| index).collect()
    }

    #[test]
    fn the_first_point_of_a_row_around_the_earth_follows_its_last() {
        let row = Row { latitude: 0.0, longitude: 0.0, step: 90.0, count: 4, index: 10, stride: 1 };
        assert_eq!(places(row, 359.0), [13, 13, 10]);
        assert_eq!(places(row, -100.0), [12, 13, 10]);
        assert_eq!(places(row, 120.0), [11, 12, 10]);
    }

    #[test]
    fn a_row_may_run_west_and_skip_indices() {
        let row = Row { latitude: 0.0, longitude: 30.0, step: -1.0, count: 21, index: 5, stride: 100 };
        assert_eq!(places(row, 28.2), [105, 205, 5]);
        assert_eq!(places(row, 31.0), [2005, 2005, 5]);
    }
}
