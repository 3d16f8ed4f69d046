//! Sizes as people type them: `4096`, `64KiB`, `1MiB`.

/// Reads a size in bytes.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = text[digits.len()..].trim().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err("expected a number of bytes, or one with KiB, MiB or GiB".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a size such as 4096, 64KiB or 1MiB".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "expected a size below 16 EiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1 mib"), Ok(1 << 20));
        for wrong in ["", "MiB", "1.5MiB", "1MB", "-1", "99999999999GiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
