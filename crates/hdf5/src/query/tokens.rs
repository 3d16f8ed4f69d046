//! The words, signs, numbers and texts of a condition.

use super::condition::{Comparison, Literal, is_plain};
use crate::{Error, Result};

/// A part of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a word that means something.
    Word(String),
    /// A number, or a text in quotes.
    Literal(Literal),
    Comparison(Comparison),
    /// One of `( ) . .. @`.
    Sign(&'static str),
    End,
}

/// A part of a condition, and where it begins, in characters from 1.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) column: usize,
    /// As it was written.
    pub(super) text: String,
}

/// The error of a condition that cannot be read: what is wrong, where, and what was expected.
pub(super) fn wrong(condition: &str, column: usize, what: &str, expected: &str) -> Error {
    Error::invalid(format!("condition {condition:?}, column {column}: {what}"), expected)
}

const SIGNS: [&str; 5] = ["(", ")", "..", ".", "@"];
const COMPARISONS: [(&str, Comparison); 8] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<>", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Takes a condition apart.
pub(super) fn tokens(condition: &str) -> Result<Vec<Placed>> {
    let (mut found, mut rest, mut column) = (Vec::new(), condition, 1);
    loop {
        let trimmed = rest.trim_start();
        column += rest.chars().count() - trimmed.chars().count();
        rest = trimmed;
        let (token, length) = token(condition, rest, column)?;
        let (text, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let is_end = token == Token::End;
        found.push(Placed { token, column, text: text.to_owned() });
        if is_end {
            return Ok(found);
        }
        column += text.chars().count();
        rest = behind;
    }
}

/// The first token, and its length in bytes.
fn token(condition: &str, rest: &str, column: usize) -> Result<(Token, usize)> {
    let Some(first) = rest.chars().next() else { return Ok((Token::End, 0)) };
    let is_number = first.is_ascii_digit()
        || (matches!(first, '+' | '-' | '.')
            && rest.get(1..).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit() || c == 'i')));
    if first == '"' || first == '\'' {
        return text(condition, rest, column, first);
    }
    if is_number || is_infinity(rest) {
        return number(condition, rest, column);
    }
    if let Some((sign, comparison)) = COMPARISONS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((Token::Comparison(*comparison), sign.len()));
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    let length = rest.find(|character| !is_plain(character)).unwrap_or(rest.len());
    if length == 0 {
        let expected = "a name, a number, a text in quotes, a comparison or a bracket";
        return Err(wrong(condition, column, &format!("{first:?}"), expected));
    }
    Ok((Token::Word(rest.chars().take_while(|character| is_plain(*character)).collect()), length))
}

fn is_infinity(rest: &str) -> bool {
    rest.starts_with("inf") && !rest.get(3..).is_some_and(|next| next.starts_with(is_plain))
}

fn text(condition: &str, rest: &str, column: usize, quote: char) -> Result<(Token, usize)> {
    let (mut text, mut is_escaped) = (String::new(), false);
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            '\\' if !is_escaped => is_escaped = true,
            _ if character == quote && !is_escaped => {
                return Ok((Token::Literal(Literal::Text(text)), at + 1));
            }
            _ => {
                text.push(character);
                is_escaped = false;
            }
        }
    }
    Err(wrong(condition, column, "a text without an end", &format!("{quote} at its end")))
}

fn number(condition: &str, rest: &str, column: usize) -> Result<(Token, usize)> {
    let length = number_length(rest);
    let text = rest.get(..length).unwrap_or(rest);
    let literal = match text.parse::<i128>() {
        Ok(integer) => Some(Literal::Integer(integer)),
        Err(_) => text.parse::<f64>().ok().map(Literal::Real),
    };
    match literal {
        Some(literal) if !rest.get(length..).is_some_and(|next| next.starts_with(is_plain)) => {
            Ok((Token::Literal(literal), length))
        }
        _ => {
            let what: String = rest.chars().take_while(|c| is_plain(*c) || "+-.".contains(*c)).collect();
            Err(wrong(condition, column, &what, "a number, as in 280, -1.5 or 2e-6"))
        }
    }
}

/// How long a number is. Two dots end it: they stand between the ends of a range.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = usize::from(rest.starts_with(['+', '-']));
    if rest.get(at..).is_some_and(is_infinity) {
        return at + 3;
    }
    while let Some(byte) = bytes.get(at) {
        let is_exponent_sign = |byte: u8| {
            matches!(byte, b'+' | b'-') && at > 0 && matches!(bytes.get(at - 1), Some(b'e' | b'E'))
        };
        let is_range = *byte == b'.' && bytes.get(at + 1) == Some(&b'.');
        if is_range || !(byte.is_ascii_alphanumeric() || *byte == b'.' || is_exponent_sign(*byte)) {
            break;
        }
        at += 1;
    }
    at
}
