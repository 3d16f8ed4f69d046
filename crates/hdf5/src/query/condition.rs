//! [`Condition`]: what is asked of elements, names and attributes.

use std::fmt;

/// A condition on the values of elements, on the names of links, and on attributes, combined by *and*, *or* and *not*.
///
/// [`Condition::parse`] reads one from text, and its `Display` writes that text.
///
/// ```
/// use isotach_hdf5::Condition;
/// let text = "temperature > 280 and not (pressure in 100..500 or @units = \"K\")";
/// assert_eq!(Condition::parse(text)?.to_string(), text);
/// # Ok::<(), isotach_hdf5::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All of them hold.
    All(Vec<Condition>),
    /// One of them holds, or more.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// The element, or a member of it, passes a test.
    Value {
        /// The names of the member and of those that hold it, the outermost first. Empty for the element itself.
        member: Vec<String>,
        /// The test.
        test: Test,
    },
    /// An element of the attribute passes a test. False where there is no such attribute, or where the test is none for its type.
    Attribute {
        /// The name.
        name: String,
        /// The test.
        test: Test,
    },
    /// The object has the attribute.
    HasAttribute(String),
    /// The name of the link passes a test.
    Name(Test),
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// A comparison. A number that is not a number (NaN) is only unequal.
    Is(Comparison, Literal),
    /// In a range with both ends.
    In(Literal, Literal),
    /// A text that fits a pattern: `*` stands for any text, `?` for one character.
    Like(String),
    /// Not a number (NaN).
    IsNan,
    /// A number, and not NaN.
    IsNumber,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A value that a condition names.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// An integer.
    Integer(i128),
    /// A number. It is rounded to the type of the elements where they are floating-point numbers.
    Real(f64),
    /// A text, or the name of a number in an enumeration.
    Text(String),
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        })
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(&quoted(text)),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(comparison, literal) => write!(f, "{comparison} {literal}"),
            Self::In(low, high) => write!(f, "in {low}..{high}"),
            Self::Like(pattern) => write!(f, "like {}", quoted(pattern)),
            Self::IsNan => f.write_str("is nan"),
            Self::IsNumber => f.write_str("is not nan"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(parts) => joined(f, parts, " and ", |part| matches!(part, Self::Any(_) | Self::All(_))),
            Self::Any(parts) => joined(f, parts, " or ", |part| matches!(part, Self::Any(_))),
            Self::Not(part) if matches!(**part, Self::All(_) | Self::Any(_)) => write!(f, "not ({part})"),
            Self::Not(part) => write!(f, "not {part}"),
            Self::Value { member, test } => write!(f, "{} {test}", member_text(member)),
            Self::Attribute { name, test } => write!(f, "@{} {test}", name_text(name)),
            Self::HasAttribute(name) => write!(f, "has @{}", name_text(name)),
            Self::Name(test) => write!(f, "name {test}"),
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Condition],
    word: &str,
    is_in_brackets: impl Fn(&Condition) -> bool,
) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { word })?;
        if is_in_brackets(part) { write!(f, "({part})")? } else { write!(f, "{part}")? }
    }
    Ok(())
}

/// The words that mean something in a condition, so that a member or attribute of this name is quoted.
pub(super) const WORDS: [&str; 9] = ["and", "or", "not", "in", "is", "has", "like", "value", "name"];

/// Whether a character may be in a name that is not quoted.
pub(super) fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// A member as a condition names it.
pub(crate) fn member_text(member: &[String]) -> String {
    let path = member.iter().map(|name| name_text(name)).collect::<Vec<_>>().join(".");
    match member.first() {
        None => "value".to_owned(),
        Some(first) if name_text(first).starts_with('"') => format!("value.{path}"),
        Some(_) => path,
    }
}

fn name_text(name: &str) -> String {
    let begins = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_word = WORDS.contains(&name.to_lowercase().as_str());
    if begins && !is_word && name.chars().all(is_plain) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
