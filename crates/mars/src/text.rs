//! Lossless text forms of names and values: quoted for users, escaped for indexes.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// What a value should have been. The caller knows the key and the value.
pub(crate) type Expected = Cow<'static, str>;

/// Characters that mean something in a key or request and so must stand in quotes when they belong to a value.
fn is_special(character: char) -> bool {
    matches!(character, ',' | '=' | '/' | '"' | '\'' | '\\' | '#' | '!')
        || character.is_whitespace()
        || character.is_control()
}

/// Writes `text`, in double quotes with backslash escapes if it could not be read back bare.
pub(crate) fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    if !text.is_empty() && !text.chars().any(is_special) {
        return out.write_str(text);
    }
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.write_char('\\')?;
                out.write_char(character)?;
            }
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            _ => out.write_char(character)?,
        }
    }
    out.write_char('"')
}

/// What a backslash and this character stand for inside quotes.
pub(crate) fn unescaped(character: char) -> char {
    match character {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    }
}

/// Appends `value` to a joined level key: `:`, `/` and `%` become `%3A`, `%2F` and `%25`, all else stays.
pub(crate) fn push_joined(out: &mut String, value: &str) {
    if !value.bytes().any(|byte| matches!(byte, b':' | b'/' | b'%')) {
        out.push_str(value);
        return;
    }
    for character in value.chars() {
        match character {
            ':' => out.push_str("%3A"),
            '/' => out.push_str("%2F"),
            '%' => out.push_str("%25"),
            other => out.push(other),
        }
    }
}

/// Undoes [`push_joined`]. `None` if a `%` is not the start of one of its three escapes.
pub(crate) fn push_unjoined(out: &mut String, part: &str) -> Option<()> {
    let mut rest = part;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        out.push(match rest.get(at + 1..at + 3)? {
            "3A" => ':',
            "2F" => '/',
            "25" => '%',
            _ => return None,
        });
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Some(())
}

/// The number of single-character changes between two short words; to suggest what was meant.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// The candidate nearest to `word`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    // In a short word two changes leave too little of it.
    let changes_max = |candidate: &str| ((candidate.chars().count() + 1) / 3).min(2);
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(changes, candidate)| *changes <= changes_max(candidate))
        .min_by_key(|(changes, _)| *changes)
        .map(|(_, candidate)| candidate)
}
