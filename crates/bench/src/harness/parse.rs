//! Values of options.

const PROCESSES_MAX: usize = 1 << 16;

pub(crate) fn process_count(text: &str) -> Result<usize, String> {
    within(1, PROCESSES_MAX, text)
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, as in 0.5, at most 1000000".to_owned())
}

pub(crate) fn within(min: usize, max: usize, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("expected a number, at least {min} and at most {max}"))
}
