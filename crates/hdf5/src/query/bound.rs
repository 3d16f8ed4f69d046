//! [`Bound`]: a condition on elements of one datatype.

use isotach_hdf5_types::{Class, Datatype, Value};

use super::{
    bits::Bits,
    column::Column,
    condition::{Comparison, Condition, Literal, Test, member_text},
    number::{KeyRange, Number, Place},
};
use crate::{BlobId, Error, File, Result};

/// A condition on elements of one datatype.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    /// The bytes of an element.
    pub(crate) element: usize,
    /// The members that it tests.
    pub(crate) columns: Vec<Column>,
    pub(crate) formula: Formula,
}

/// Tests of columns, and what combines them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Formula {
    Constant(bool),
    All(Vec<Formula>),
    Any(Vec<Formula>),
    Not(Box<Formula>),
    /// The number's key is in the range.
    Number {
        column: usize,
        keys: KeyRange,
    },
    Text {
        column: usize,
        test: TextTest,
    },
}

/// A test of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextTest {
    Equal(String),
    Like(String),
}

impl TextTest {
    /// The test of a text, and whether it is passed by those that fail it instead. `None` for a test that is none of texts.
    pub(crate) fn of(test: &Test) -> Option<(Self, bool)> {
        match test {
            Test::Is(Comparison::Equal, Literal::Text(text)) => Some((Self::Equal(text.clone()), false)),
            Test::Is(Comparison::Unequal, Literal::Text(text)) => Some((Self::Equal(text.clone()), true)),
            Test::Like(pattern) => Some((Self::Like(pattern.clone()), false)),
            _ => None,
        }
    }

    pub(crate) fn passes(&self, text: &str) -> bool {
        match self {
            Self::Equal(other) => text == other,
            Self::Like(pattern) => is_like(text, pattern),
        }
    }
}

/// Whether a text fits a pattern with `*` and `?`.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut of, mut star) = (0, 0, None);
    while at < text.len() {
        match pattern.get(of) {
            Some('*') => {
                star = Some((at, of));
                of += 1;
            }
            Some(character) if *character == '?' || Some(character) == text.get(at) => {
                at += 1;
                of += 1;
            }
            // The last star stands for one character more.
            _ => match star {
                Some((from, star_at)) => {
                    star = Some((from + 1, star_at));
                    (at, of) = (from + 1, star_at + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(of..).unwrap_or_default().iter().all(|character| *character == '*')
}

/// Where scanned elements are.
pub(crate) struct Source<'s> {
    pub(crate) file: &'s File,
    /// Names one of them in errors.
    pub(crate) place: &'s dyn Fn(usize) -> String,
}

impl Source<'_> {
    /// The error of an element whose text cannot be read. What the store says stays what it is.
    fn failed(&self, at: usize, failure: Option<Error>, what: &str) -> Error {
        let place = (self.place)(at);
        match failure {
            None => Error::corrupt(what, place),
            Some(Error::Corrupt { what, place: inner }) => {
                Error::corrupt(what, format!("{inner}, which {place} names"))
            }
            Some(Error::NotFound { what }) => Error::not_found(format!("{what}, which {place} names,")),
            Some(error) => error,
        }
    }
}

/// What tells whether a condition on names or attributes holds.
pub(crate) type Outside<'o> = dyn FnMut(&Condition) -> Result<bool> + 'o;

impl Bound {
    /// Binds a condition to a datatype in the form of a file. `outside` answers conditions on names and attributes.
    ///
    /// # Errors
    /// `InvalidInput` for a member that there is not, or a test that is none for the type of its member; those of `outside`.
    pub(crate) fn strictly(
        condition: &Condition,
        datatype: &Datatype,
        outside: &mut Outside<'_>,
    ) -> Result<Self> {
        let mut binder = Binder { datatype: Some(datatype), is_lenient: false, outside, columns: Vec::new() };
        binder.bound(condition)
    }

    /// The same, but what would be an error is a test that no element passes. Without a datatype, all tests of elements are.
    pub(crate) fn leniently(
        condition: &Condition,
        datatype: Option<&Datatype>,
        outside: &mut Outside<'_>,
    ) -> Result<Self> {
        let mut binder = Binder { datatype, is_lenient: true, outside, columns: Vec::new() };
        binder.bound(condition)
    }

    /// The elements that pass a formula, whose columns are those of this condition.
    pub(crate) fn scan(&self, formula: &Formula, bytes: &[u8], source: &Source<'_>) -> Result<Bits> {
        let count = bytes.len() / self.element;
        formula.bits(count, &mut |leaf| match leaf {
            Formula::Number { column, keys } => {
                let Some((column, number)) = self.number(*column) else { return Ok(Bits::none(count)) };
                Ok(number.scan(bytes, self.place(column), *keys))
            }
            Formula::Text { column, test } => match self.columns.get(*column) {
                Some(column) => self.scan_texts(column, test, bytes, source),
                None => Ok(Bits::none(count)),
            },
            _ => Ok(Bits::none(count)),
        })
    }

    /// The condition that the other elements pass.
    pub(crate) fn negated(&self) -> Self {
        Self { formula: Formula::Not(Box::new(self.formula.clone())).reduced(&|_, _| None), ..self.clone() }
    }

    pub(crate) fn number(&self, column: usize) -> Option<(&Column, &Number)> {
        let column = self.columns.get(column)?;
        Some((column, column.number.as_ref()?))
    }

    fn place(&self, column: &Column) -> Place {
        Place { offset: column.offset, element: self.element }
    }

    fn scan_texts(
        &self,
        column: &Column,
        test: &TextTest,
        bytes: &[u8],
        source: &Source<'_>,
    ) -> Result<Bits> {
        let mut found = Bits::none(bytes.len() / self.element);

        for (at, element) in bytes.chunks_exact(self.element).enumerate() {
            let part = element.get(column.offset..).unwrap_or_default();
            let mut failure = None;
            let value = column.datatype.value(part, &mut |id| {
                source.file.blob(&BlobId(*id)).map_err(|error| {
                    failure = Some(error);
                    "it cannot be read".into()
                })
            });
            let value = value.map_err(|error| source.failed(at, failure, &error.to_string()))?;
            if let Value::Text(text) | Value::Name(text) = value
                && test.passes(&text)
            {
                found.insert(at);
            }
        }
        Ok(found)
    }
}

struct Binder<'b, 'o> {
    datatype: Option<&'b Datatype>,
    is_lenient: bool,
    outside: &'b mut Outside<'o>,
    columns: Vec<Column>,
}

impl Binder<'_, '_> {
    fn bound(&mut self, condition: &Condition) -> Result<Bound> {
        let formula = self.formula(condition)?;
        let element = self.datatype.map_or(1, |datatype| datatype.size as usize);
        let columns = std::mem::take(&mut self.columns);
        Ok(Bound { element, columns, formula: formula.reduced(&|_, _| None) })
    }

    fn formula(&mut self, condition: &Condition) -> Result<Formula> {
        Ok(match condition {
            Condition::All(parts) => Formula::All(self.formulas(parts)?),
            Condition::Any(parts) => Formula::Any(self.formulas(parts)?),
            Condition::Not(part) => Formula::Not(Box::new(self.formula(part)?)),
            Condition::Value { member, test } => match self.value(member, test) {
                Err(Error::InvalidInput { .. }) if self.is_lenient => Formula::Constant(false),
                formula => formula?,
            },
            Condition::Attribute { .. } | Condition::HasAttribute(_) | Condition::Name(_) => {
                Formula::Constant((self.outside)(condition)?)
            }
        })
    }

    fn formulas(&mut self, parts: &[Condition]) -> Result<Vec<Formula>> {
        parts.iter().map(|part| self.formula(part)).collect()
    }

    fn value(&mut self, member: &[String], test: &Test) -> Result<Formula> {
        let Some(datatype) = self.datatype else { return Ok(Formula::Constant(false)) };
        let found = Column::find(datatype, member)?;
        let (column, datatype) = match self.columns.iter().position(|column| column.member == member) {
            Some(at) => (at, found.datatype),
            None => {
                let datatype = found.datatype.clone();
                self.columns.push(found);
                (self.columns.len() - 1, datatype)
            }
        };
        let number = Number::of(&datatype);
        let (formula, is_negated) = match (&number, named(&datatype, member, test)?) {
            (Some(number), Some((element, is_negated))) => {
                let key = number.key(&element);
                (Formula::Number { column, keys: KeyRange { low: key, high: key } }, is_negated)
            }
            (Some(number), None) if number.keys(test).is_some() => {
                let (keys, is_negated) = number.keys(test).unwrap_or((number.all(), false));
                (Formula::Number { column, keys }, is_negated)
            }
            _ => match TextTest::of(test).filter(|_| holds_texts(&datatype)) {
                Some((test, is_negated)) => (Formula::Text { column, test }, is_negated),
                None => return Err(mismatch(&datatype, member, test, number.is_some())),
            },
        };
        Ok(if is_negated { Formula::Not(Box::new(formula)) } else { formula })
    }
}

fn holds_texts(datatype: &Datatype) -> bool {
    matches!(datatype.class, Class::Text { .. } | Class::VariableText { .. } | Class::Enumeration { .. })
}

fn mismatch(datatype: &Datatype, member: &[String], test: &Test, is_number: bool) -> Error {
    let member = member_text(member);
    let expected = match (is_number, holds_texts(datatype)) {
        (true, true) => "a number, or =, != or like with a name in quotes",
        (true, false) => "a number",
        (false, true) => "=, != or like with a text in quotes",
        (false, false) => "a member or dataset of numbers or texts",
    };
    Error::invalid(format!("condition \"{member} {test}\""), format!("{expected}: {member} is {datatype}"))
}

/// The bytes of the number that a test names, and whether others pass it instead. `None` if it names none.
fn named(datatype: &Datatype, member: &[String], test: &Test) -> Result<Option<(Vec<u8>, bool)>> {
    let (Class::Enumeration { members, .. }, Test::Is(comparison, Literal::Text(name))) =
        (&datatype.class, test)
    else {
        return Ok(None);
    };
    let is_negated = match comparison {
        Comparison::Equal => false,
        Comparison::Unequal => true,
        // Names have no order.
        _ => return Ok(None),
    };
    match members.iter().find(|(other, _)| other == name) {
        Some((_, number)) => Ok(Some((number.clone(), is_negated))),
        None => {
            let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            let what = format!("condition \"{} {test}\"", member_text(member));
            Err(Error::invalid(what, format!("one of the names {}", names.join(", "))))
        }
    }
}

impl Formula {
    /// The same without the tests that are decided.
    pub(crate) fn reduced(&self, decide: &dyn Fn(usize, KeyRange) -> Option<bool>) -> Self {
        let combined = |parts: &[Self], absorbing: bool| {
            let mut left = Vec::new();
            for part in parts {
                match part.reduced(decide) {
                    Self::Constant(constant) if constant == absorbing => return Err(()),
                    Self::Constant(_) => {}
                    part => left.push(part),
                }
            }
            Ok(left)
        };
        match self {
            Self::All(parts) => match combined(parts, false) {
                Err(()) => Self::Constant(false),
                Ok(left) if left.is_empty() => Self::Constant(true),
                Ok(left) => Self::All(left),
            },
            Self::Any(parts) => match combined(parts, true) {
                Err(()) => Self::Constant(true),
                Ok(left) if left.is_empty() => Self::Constant(false),
                Ok(left) => Self::Any(left),
            },
            Self::Not(part) => match part.reduced(decide) {
                Self::Constant(constant) => Self::Constant(!constant),
                part => Self::Not(Box::new(part)),
            },
            Self::Number { column, keys } => match decide(*column, *keys) {
                Some(constant) => Self::Constant(constant),
                None => self.clone(),
            },
            Self::Constant(_) | Self::Text { .. } => self.clone(),
        }
    }

    /// The tests in it.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::leaves).collect(),
            Self::Not(part) => part.leaves(),
            Self::Number { .. } | Self::Text { .. } => vec![self],
        }
    }

    /// The positions below a length that pass, of which `leaf` knows which pass a test.
    pub(crate) fn bits(&self, length: usize, leaf: &mut dyn FnMut(&Self) -> Result<Bits>) -> Result<Bits> {
        match self {
            Self::Constant(true) => Ok(Bits::all(length)),
            Self::Constant(false) => Ok(Bits::none(length)),
            Self::All(parts) => {
                let mut found = Bits::all(length);
                for part in parts {
                    found.and(&part.bits(length, leaf)?);
                }
                Ok(found)
            }
            Self::Any(parts) => {
                let mut found = Bits::none(length);
                for part in parts {
                    found.or(&part.bits(length, leaf)?);
                }
                Ok(found)
            }
            Self::Not(part) => {
                let mut found = part.bits(length, leaf)?;
                found.invert();
                Ok(found)
            }
            Self::Number { .. } | Self::Text { .. } => leaf(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn patterns_stand_for_texts() {
        for (text, pattern, fits) in [
            ("temperature", "temp*", true),
            ("temperature", "*p*r*", true),
            ("temperature", "t?mp", false),
            ("temp", "t?mp", true),
            ("", "*", true),
            ("", "?", false),
            ("aab", "*ab", true),
            ("abc", "abc", true),
            ("abc", "ab", false),
        ] {
            assert_eq!(is_like(text, pattern), fits, "{text:?} like {pattern:?}");
        }
    }
}
