//! Quantiles as MARS writes them: `3:10` is the third of ten.

/// Which quantile, and of how many parts. Small enough that sums of them never overflow.
pub(super) fn parts(text: &str) -> Option<(i64, i64)> {
    let (which, of) = text.split_once(':')?;
    let number = |text: &str| {
        let is_plain = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_: &i64| is_plain)
    };
    Some((number(which)?, number(of)?))
}

pub(super) fn text(which: i64, of: i64) -> String {
    format!("{which}:{of}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_two_numbers_and_nothing_else() {
        assert_eq!(parts("3:10"), Some((3, 10)));
        for text in ["3", "3:", ":3", "3:4:5", "-1:3", "a:b", "1234567:1"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }
}
