//! Whole and decimal numbers.

use std::fmt::Write;

use crate::text::Expected;

/// Whether `text` is the number as it would be written: digits, no zero in front, short enough for exact doubles.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_empty()
        && bytes.len() <= 15
        && bytes.iter().all(u8::is_ascii_digit)
        && (bytes[0] != b'0' || bytes.len() == 1)
}

pub(super) fn integer(text: &str, out: &mut String) -> Result<(), Expected> {
    if is_plain(text) {
        out.push_str(text);
        return Ok(());
    }
    let number: i64 = text.parse().map_err(|_| Expected::Borrowed("a whole number"))?;
    let _ = write!(out, "{number}");
    Ok(())
}

pub(super) fn double(text: &str, out: &mut String) -> Result<(), Expected> {
    if is_plain(text) {
        out.push_str(text);
        return Ok(());
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or("a number")?;
    // The shortest text that reads back as the same number; adding zero turns -0 into 0.
    let _ = write!(out, "{}", number + 0.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::KeyType;
    use crate::types::tests::{all_mean, all_refused};

    #[test]
    fn a_double_is_written_in_one_way() {
        all_mean(KeyType::Double, &["850.50", "850.5", "8.505e2", "0850.5", "+850.5"], "850.5");
        all_mean(KeyType::Double, &["1000", "1e3", "1000.0"], "1000");
        all_mean(KeyType::Double, &["0", "-0", "0.0", "00"], "0");
        all_mean(KeyType::Double, &["123456.789012345"], "123456.789012345");
        all_refused(KeyType::Double, &["", "x", "1/2", "nan", "inf", "1e999", "1,5"]);
    }

    #[test]
    fn an_integer_is_written_in_one_way() {
        all_mean(KeyType::Integer, &["5", "05", "+5", " 5 "], "5");
        all_mean(KeyType::Integer, &["-1", "-01"], "-1");
        all_refused(KeyType::Integer, &["", "x", "5.5", "1e3", "99999999999999999999"]);
    }
}
