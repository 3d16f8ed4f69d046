//! Reads a [`Condition`] from text.

use super::{
    condition::{Comparison, Condition, Literal, Test, WORDS},
    tokens::{Placed, Token, tokens, wrong},
};
use crate::{Error, Result};

/// How deep brackets may be nested.
const DEPTH_MAX: u32 = 64;

impl Condition {
    /// Reads a condition.
    ///
    /// | text | holds for |
    /// |---|---|
    /// | `value > 280` | elements above 280; also `=`, `!=`, `<`, `<=`, `>=` |
    /// | `value in 100..500` | elements from 100 to 500, both ends included |
    /// | `pressure < 500`, `value.wind.speed < 5` | elements of which a member is below |
    /// | `value is nan`, `value is not nan` | elements that are not a number, or are one |
    /// | `value = "text"`, `value like "t*"` | elements that are texts; for an enumeration, the name of a number |
    /// | `name like "t*"` | objects by the name of their link |
    /// | `@units = "K"`, `@level > 500`, `has @units` | objects by their attributes; `@"long name"` for other names than words |
    /// | `and`, `or`, `not`, `( )` | combinations; `not` binds closest, then `and` |
    ///
    /// # Errors
    /// `InvalidInput`: what is wrong, in which column, and what was expected.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
        let condition = parser.any()?;
        match parser.here().token {
            Token::End => Ok(condition),
            _ => Err(parser.wrong("\"and\", \"or\" or the end")),
        }
    }
}

/// Reads the path of a member as conditions have it: its name, behind those that hold it and dots. `value` is the element itself.
///
/// # Errors
/// `InvalidInput`.
pub fn parse_member(text: &str) -> Result<Vec<String>> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
    let member = parser.member()?;
    match parser.here().token {
        Token::End => Ok(member),
        _ => Err(parser.wrong("a dot and the name of a member, or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    /// The last one is the end.
    tokens: Vec<Placed>,
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn here(&self) -> Placed {
        let end = || Placed { token: Token::End, column: 1, text: String::new() };
        self.tokens.get(self.at).or(self.tokens.last()).cloned().unwrap_or_else(end)
    }

    fn wrong(&self, expected: &str) -> Error {
        let Placed { token, column, text } = self.here();
        let what = if token == Token::End { "the end".to_owned() } else { format!("{text:?}") };
        wrong(self.text, column, &what, expected)
    }

    /// Goes on behind a word, if it is here.
    fn word(&mut self, word: &str) -> bool {
        let is_here = matches!(self.here().token, Token::Word(found) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(is_here);
        is_here
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is_here = matches!(self.here().token, Token::Sign(found) if found == sign);
        self.at += usize::from(is_here);
        is_here
    }

    fn any(&mut self) -> Result<Condition> {
        self.joined("or", Self::all, Condition::Any)
    }

    fn all(&mut self) -> Result<Condition> {
        self.joined("and", Self::one, Condition::All)
    }

    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Condition>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Result<Condition> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.word(word) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn one(&mut self) -> Result<Condition> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("at most 64 brackets and \"not\" in each other"));
        }
        let condition = self.nested()?;
        self.depth -= 1;
        Ok(condition)
    }

    fn nested(&mut self) -> Result<Condition> {
        if self.word("not") {
            return Ok(Condition::Not(Box::new(self.one()?)));
        }
        if self.sign("(") {
            let condition = self.any()?;
            return if self.sign(")") { Ok(condition) } else { Err(self.wrong("\")\"")) };
        }
        if self.word("has") {
            return if self.sign("@") {
                Ok(Condition::HasAttribute(self.attribute()?))
            } else {
                Err(self.wrong("@ and the name of an attribute"))
            };
        }
        if self.sign("@") {
            let name = self.attribute()?;
            return self.test(|test| Condition::Attribute { name, test });
        }
        if self.word("name") {
            return self.test(Condition::Name);
        }
        let member = self.member()?;
        self.test(|test| Condition::Value { member, test })
    }

    fn attribute(&mut self) -> Result<String> {
        let name = match self.here().token {
            Token::Word(name) | Token::Literal(Literal::Text(name)) => name,
            _ => return Err(self.wrong("the name of an attribute")),
        };
        self.at += 1;
        Ok(name)
    }

    /// `value`, or the names of a member with dots between them.
    fn member(&mut self) -> Result<Vec<String>> {
        let mut member = Vec::new();
        if !self.word("value") {
            match self.here().token {
                Token::Word(name) if !WORDS.contains(&name.to_lowercase().as_str()) => member.push(name),
                _ => {
                    return Err(self.wrong(
                        "value, the name of a member, name, @ and the name of an attribute, has, not or (",
                    ));
                }
            }
            self.at += 1;
        }
        while self.sign(".") {
            match self.here().token {
                Token::Word(name) | Token::Literal(Literal::Text(name)) => member.push(name),
                _ => return Err(self.wrong("the name of a member")),
            }
            self.at += 1;
        }
        Ok(member)
    }

    /// A test, and the condition that it makes.
    fn test(&mut self, condition: impl FnOnce(Test) -> Condition) -> Result<Condition> {
        if self.word("is") {
            let is_not = self.word("not");
            if !self.word("nan") {
                return Err(self.wrong("nan or not nan"));
            }
            return Ok(condition(if is_not { Test::IsNumber } else { Test::IsNan }));
        }
        if self.word("in") {
            let low = self.number()?;
            if !self.sign("..") {
                return Err(self.wrong("two dots, as in 100..500"));
            }
            return Ok(condition(Test::In(low, self.number()?)));
        }
        if self.word("like") {
            let Token::Literal(Literal::Text(pattern)) = self.here().token else {
                return Err(self.wrong("a pattern in quotes, as in \"t*\""));
            };
            self.at += 1;
            return Ok(condition(Test::Like(pattern)));
        }
        let Token::Comparison(comparison) = self.here().token else {
            return Err(self.wrong("a comparison (= != < <= > >=), in, like or is"));
        };
        self.at += 1;
        let literal = self.literal(comparison)?;
        Ok(condition(Test::Is(comparison, literal)))
    }

    fn literal(&mut self, comparison: Comparison) -> Result<Literal> {
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::Unequal);
        match self.here().token {
            Token::Literal(Literal::Text(_)) if !is_equality => {
                Err(self.wrong("a number: texts are compared by =, != and like"))
            }
            Token::Literal(literal) => {
                self.at += 1;
                Ok(literal)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("nan") => {
                Err(self.wrong("a number; \"is nan\" finds what is not one"))
            }
            _ => Err(self.wrong("a number or a text in quotes")),
        }
    }

    fn number(&mut self) -> Result<Literal> {
        match self.here().token {
            Token::Literal(literal @ (Literal::Integer(_) | Literal::Real(_))) => {
                self.at += 1;
                Ok(literal)
            }
            _ => Err(self.wrong("a number")),
        }
    }
}
