//! Values that look like weather: warm tropics, cold poles, waves that travel, members that drift apart.
//!
//! A field is a mean that depends on latitude and level, plus a few waves along the parallels. The waves' sines are
//! separated by row and column, so that a point costs a few multiplications.

use std::f64::consts::{PI, TAU};

use super::{FieldName, Layout};

/// Waves around the globe: number of crests, degrees they move east in an hour, tilt from pole to pole, share of the
/// amplitude.
const WAVES: [(f64, f64, f64, f64); 4] =
    [(2.0, 0.12, 0.6, 0.35), (5.0, 0.42, -0.9, 0.40), (8.0, 0.55, 1.7, 0.20), (17.0, 0.70, -3.1, 0.05)];

/// How strongly a member's own waves differ at the start, and how fast that grows in an hour.
const SPREAD: f64 = 0.08;
const SPREAD_GROWTH: f64 = 0.004;

pub(super) struct Weather {
    /// Per wave, sine and cosine at every column.
    columns: Vec<Vec<(f64, f64)>>,
    latitudes: Vec<f64>,
    seed: u64,
}

impl Weather {
    pub(super) fn new(layout: Layout, seed: u64) -> Self {
        let longitudes: Vec<f64> = layout.longitudes().map(f64::to_radians).collect();
        let along = |crests: f64| longitudes.iter().map(|longitude| (crests * longitude).sin_cos()).collect();
        let columns = WAVES.iter().map(|(crests, ..)| along(*crests)).collect();
        Self { columns, latitudes: layout.latitudes().map(f64::to_radians).collect(), seed }
    }

    /// Writes the values of `name`, row by row from the north-west.
    pub(super) fn fill(&self, name: FieldName, values: &mut Vec<f64>) {
        let climate = Climate::of(name);
        values.clear();
        for latitude in &self.latitudes {
            let mean = climate.mean(*latitude);
            let rows: Vec<(f64, f64)> =
                (0..WAVES.len()).map(|wave| self.row(wave, &climate, name, *latitude)).collect();
            let start = values.len();
            values.resize(start + self.columns.first().map_or(0, Vec::len), mean);
            for (columns, (sine_part, cosine_part)) in self.columns.iter().zip(rows) {
                let row = values.get_mut(start..).unwrap_or_default();
                for (value, (sine, cosine)) in row.iter_mut().zip(columns) {
                    *value += sine_part * sine + cosine_part * cosine;
                }
            }
            if climate.positive {
                for value in values.get_mut(start..).unwrap_or_default() {
                    *value = value.max(0.0);
                }
            }
        }
    }

    /// What a wave contributes along one row, as factors of its sine and its cosine by column.
    fn row(&self, wave: usize, climate: &Climate, name: FieldName, latitude: f64) -> (f64, f64) {
        let Some(&(crests, speed, tilt, share)) = WAVES.get(wave) else { return (0.0, 0.0) };
        // Waves live in the middle latitudes and vanish at the poles, where all columns are one point.
        let strength = climate.amplitude * share * latitude.cos() * (0.25 + (2.0 * latitude).sin().powi(2));
        let hours = f64::from(name.step);
        let shared = TAU * self.chance(wave, u64::from(name.param), 0);
        let own = TAU * self.chance(wave, u64::from(name.param), u64::from(name.member) + 1);
        let height = f64::from(name.level) / 1000.0;
        let travelled = crests * (speed * hours).to_radians();
        let phase = shared + tilt * latitude + height - travelled;
        let spread = (SPREAD + SPREAD_GROWTH * hours).min(1.0);
        let (own_sine, own_cosine) = (phase + own).sin_cos();
        let (sine, cosine) = phase.sin_cos();
        (strength * (cosine + spread * own_cosine), strength * (sine + spread * own_sine))
    }

    /// A number in 0..1 that depends on seed and arguments only.
    fn chance(&self, wave: usize, param: u64, member: u64) -> f64 {
        let mut state = self.seed;
        for word in [wave as u64, param, member] {
            state = mixed(state ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        // The upper 53 bits are what a double holds exactly.
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finishing step of the SplitMix64 generator: every input bit reaches every output bit.
fn mixed(mut state: u64) -> u64 {
    state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

/// What a parameter is like at a level.
struct Climate {
    /// Mean at the equator and at the poles.
    equator: f64,
    pole: f64,
    amplitude: f64,
    /// Whether negative values cannot be.
    positive: bool,
}

impl Climate {
    fn of(name: FieldName) -> Self {
        let pressure = f64::from(name.level).clamp(1.0, 1100.0);
        // Height in the standard atmosphere, in km; temperature falls by 6.5 K a km up to the tropopause.
        let height = 7.9 * (1013.0 / pressure).ln();
        let cooling = 6.5 * height.min(11.0);
        let jet = 35.0 * (PI * height.min(20.0) / 20.0).sin();
        let (equator, pole, amplitude, positive) = match name.param {
            129 => (10_107.0 * height, 9307.0 * height, 1500.0, false),
            130 => (300.0 - cooling, 255.0 - cooling * 0.8, 9.0, true),
            131 => (-4.0, jet * 0.3, 12.0 + jet * 0.4, false),
            132 => (0.0, 0.0, 10.0 + jet * 0.4, false),
            133 => (
                0.017 * (-height / 2.2).exp(),
                0.001 * (-height / 2.2).exp(),
                0.003 * (-height / 2.2).exp(),
                true,
            ),
            157 => (70.0, 80.0, 22.0, true),
            _ => (0.0, 0.0, 1.0, false),
        };
        Self { equator, pole, amplitude, positive }
    }

    fn mean(&self, latitude: f64) -> f64 {
        self.pole + (self.equator - self.pole) * latitude.cos().powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { columns: 72, rows: 37 };
    const NAME: FieldName = FieldName { member: 1, step: 6, level: 850, param: 130 };

    fn values(seed: u64, name: FieldName) -> Vec<f64> {
        let mut values = Vec::new();
        Weather::new(LAYOUT, seed).fill(name, &mut values);
        values
    }

    #[test]
    fn values_depend_on_name_and_seed_alone() {
        let here = values(7, NAME);
        assert_eq!(here, values(7, NAME));
        for (seed, name) in [
            (8, NAME),
            (7, FieldName { member: 2, ..NAME }),
            (7, FieldName { step: 12, ..NAME }),
            (7, FieldName { level: 500, ..NAME }),
            (7, FieldName { param: 131, ..NAME }),
        ] {
            assert_ne!(here, values(seed, name), "{seed} {name:?}");
        }
    }

    #[test]
    fn temperatures_are_plausible_warm_at_the_equator_and_smooth() {
        for level in [1000, 850, 500, 250, 50, 1] {
            let field = values(0, FieldName { level, ..NAME });
            let columns = LAYOUT.columns as usize;
            assert!(field.iter().all(|value| (170.0..330.0).contains(value)), "{level}");
            let mean = |row: usize| field[row * columns..][..columns].iter().sum::<f64>() / columns as f64;
            assert!(level < 500 || mean(18) > mean(2) + 15.0, "{level}: {} {}", mean(18), mean(2));
            assert!(
                field
                    .windows(2)
                    .enumerate()
                    .all(|(at, pair)| { (at + 1) % columns == 0 || (pair[0] - pair[1]).abs() < 6.0 })
            );
        }
    }

    #[test]
    fn members_are_near_each_other_at_the_start_and_drift_apart() {
        let apart = |step| {
            let member = |member| values(0, FieldName { member, step, ..NAME });
            member(1).iter().zip(member(2)).map(|(one, two)| (one - two).abs()).sum::<f64>()
        };
        assert!(apart(0) > 0.0);
        assert!(apart(240) > 3.0 * apart(0), "{} {}", apart(0), apart(240));
    }

    #[test]
    fn humidity_is_never_negative() {
        assert!(values(3, FieldName { param: 133, ..NAME }).iter().all(|value| *value >= 0.0));
    }
}
