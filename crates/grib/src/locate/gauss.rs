//! Gaussian latitudes: where the Legendre polynomial of an even degree is zero.

/// The `2 * half` latitudes in degrees, from north to south.
pub(super) fn latitudes(half: u32) -> Vec<f64> {
    let north: Vec<f64> = (0..half).map(|number| root(half * 2, number).asin().to_degrees()).collect();
    north.iter().copied().chain(north.iter().rev().map(|latitude| -latitude)).collect()
}

/// The zero of the polynomial of this degree that is number `number` from the greatest, by Newton's method.
fn root(degree: u32, number: u32) -> f64 {
    // Each step doubles the digits that are right. The first guess has about four, so that a step below `EXACT` is the last.
    const STEPS: usize = 8;
    const EXACT: f64 = 1e-14;
    let guess = std::f64::consts::PI * (f64::from(number) + 0.75) / (f64::from(degree) + 0.5);
    let mut x = guess.cos();
    for _ in 0..STEPS {
        let (value, slope) = polynomial(degree, x);
        let step = value / slope;
        x -= step;
        if step.abs() < EXACT {
            break;
        }
    }
    x
}

/// The Legendre polynomial and its derivative.
fn polynomial(degree: u32, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for n in 2..=degree {
        let n = f64::from(n);
        (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
    }
    (value, f64::from(degree) * (before - x * value) / (1.0 - x * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latitudes_are_the_known_ones_and_symmetric() {
        let two = latitudes(2);
        let known = |sign: f64| (3.0 / 7.0 + sign * 2.0 / 7.0 * 1.2_f64.sqrt()).sqrt().asin().to_degrees();
        assert!((two[0] - known(1.0)).abs() < 1e-12 && (two[1] - known(-1.0)).abs() < 1e-12, "{two:?}");
        let many = latitudes(32);
        assert!((many[0] - 87.863_798_839_232_63).abs() < 1e-12);
        assert!(many.len() == 64 && many.is_sorted_by(|one, other| one > other));
        assert!(many.iter().zip(many.iter().rev()).all(|(one, other)| *one == -other));
    }
}
