//! The tokens of a Rust file, as far as finding its imports needs them.

/// The identifiers and punctuation marks of `text`. `::` is one token; comments, strings, characters and lifetimes are left out.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else {
            let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if rest.starts_with("::") { 2 } else { name.max(first.len_utf8()) };
            found.push(&rest[..length]);
            length
        };
        at += length;
    }
    found
}

/// The length of the string, character or lifetime at the start of `text`, if one starts there.
fn literal(text: &str) -> Option<usize> {
    let prefix = text.find(|c| !matches!(c, 'b' | 'c' | 'r')).filter(|&length| length <= 2)?;
    let body = &text[prefix..];
    let hashes = body.len() - body.trim_start_matches('#').len();
    if text[..prefix].ends_with('r') && body[hashes..].starts_with('"') {
        let end = format!("\"{}", &body[..hashes]);
        let length = body[hashes + 1..].find(&end).map_or(body.len(), |at| hashes + 1 + at + end.len());
        return Some(prefix + length);
    }
    let quote = body.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = &body[1..];
    let is_lifetime = quote == '\'' && !inside.starts_with('\\') && inside.chars().nth(1) != Some('\'');
    if is_lifetime {
        return Some(
            prefix + 1 + inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len()),
        );
    }
    let mut escaped = false;
    let end = inside.find(|c| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    Some(prefix + end.map_or(body.len(), |end| end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_characters_and_lifetimes_are_no_tokens() {
        let code = r##"use a::b; // c
            /* d */ let e = (b"f\"g", r#"h"i"#, '\'', 'j', b'k'); fn l<'m>(n: &'m str) {}"##;
        let names: Vec<&str> =
            tokens(code).into_iter().filter(|token| token.starts_with(char::is_alphabetic)).collect();
        assert_eq!(names, ["use", "a", "b", "let", "e", "fn", "l", "n", "str"]);
        assert_eq!(tokens("a::b"), ["a", "::", "b"]);
    }
}
