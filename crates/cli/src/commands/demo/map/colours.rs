//! From values to colours, and the round numbers of a scale.

use super::canvas::Colour;

/// The colours of the scale from the least value to the greatest, evenly spaced: cold to warm, dark at both ends.
const ANCHORS: [Colour; 9] = [
    [38, 30, 86],
    [46, 74, 150],
    [56, 128, 178],
    [112, 182, 190],
    [232, 235, 206],
    [246, 200, 118],
    [232, 134, 72],
    [196, 62, 58],
    [110, 22, 58],
];

/// The colour at a position on the scale, from 0 to 1.
pub(crate) fn colour(position: f64) -> Colour {
    let last = ANCHORS.len() - 1;
    let position = position.clamp(0.0, 1.0) * last as f64;
    let below = (position.floor() as usize).min(last - 1);
    let share = position - below as f64;
    let mix = |low: u8, high: u8| (f64::from(low) + (f64::from(high) - f64::from(low)) * share).round() as u8;
    let (low, high) = (ANCHORS[below], ANCHORS[below + 1]);
    [mix(low[0], high[0]), mix(low[1], high[1]), mix(low[2], high[2])]
}

/// A round interval that divides a range into about `parts` parts: 1, 2 or 5 times a power of ten.
pub(crate) fn interval(range: f64, parts: f64) -> f64 {
    let rough = range / parts;
    if rough.is_nan() || rough <= 0.0 || rough.is_infinite() {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| rough <= times * power * (1.0 + 1e-9));
    times.unwrap_or(10.0) * power
}

/// The multiples of an interval in a range.
pub(crate) fn ticks(least: f64, greatest: f64, interval: f64) -> impl Iterator<Item = f64> {
    let (first, last) = ((least / interval).ceil() as i64, (greatest / interval).floor() as i64);
    (first..=last).map(move |multiple| multiple as f64 * interval)
}

/// A value with as many decimals as its interval needs.
pub(crate) fn number(value: f64, interval: f64) -> String {
    let decimals = (-interval.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_runs_from_its_first_colour_to_its_last() {
        assert_eq!(colour(-1.0), ANCHORS[0]);
        assert_eq!(colour(0.5), ANCHORS[4]);
        assert_eq!(colour(2.0), ANCHORS[8]);
    }

    #[test]
    fn intervals_are_round() {
        assert_eq!(interval(70.0, 8.0), 10.0);
        assert_eq!(interval(16.0, 8.0), 2.0);
        assert_eq!(interval(0.0, 8.0), 1.0);
        assert_eq!(interval(0.003, 6.0), 0.0005);
        assert_eq!(ticks(231.0, 262.0, 10.0).collect::<Vec<_>>(), [240.0, 250.0, 260.0]);
        assert_eq!((number(250.0, 10.0), number(0.0015, 0.0005)), ("250".to_owned(), "0.0015".to_owned()));
    }
}
