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

/// A place in a text that is read from its beginning.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// What is left to read.
    pub(crate) rest: &'a str,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column, from 1, in characters.
    pub(crate) column: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, column: 1 }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        if character == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    /// Passes over this character, if it is the next.
    pub(crate) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    /// Passes over the next characters of a kind, and returns them.
    pub(crate) fn take_while(&mut self, is_of_kind: impl Fn(char) -> bool) -> &'a str {
        let before = self.rest;
        while self.peek().is_some_and(&is_of_kind) {
            self.next();
        }
        &before[..before.len() - self.rest.len()]
    }

    /// The text up to a closing quote, which is passed over, without its escapes; `None` if there is no such quote.
    pub(crate) fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                '\\' => text.push(unescaped(self.next()?)),
                closing if closing == quote => return Some(text),
                character => text.push(character),
            }
        }
    }

    /// The next character as an error message names it.
    pub(crate) fn found(&self) -> String {
        self.peek().map_or_else(|| "the end".to_owned(), |character| format!("{character:?}"))
    }
}

/// What a backslash and this character stand for inside quotes.
fn unescaped(character: char) -> char {
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
