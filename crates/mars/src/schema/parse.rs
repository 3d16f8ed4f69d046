//! The grammar of the schema language.
//!
//! ```text
//! schema    := { type } { rule of level 1 }
//! type      := name ":" Type ";"
//! rule      := "[" { type } [ predicate { "," predicate } [","] ] { rule of the next level } "]"
//! predicate := name [ ":" Type ] [ "=" [ "!" ] value { "/" value } | "?" [ default ] | "-" [ default ] ]
//! ```
//!
//! Rules of level 3 hold no others; those of levels 1 and 2 hold at least one. `#` begins a comment.

use super::tree::{Condition, Node, Predicate, Tree};
use crate::error::SchemaError;
use crate::text::Cursor;
use crate::types::KeyType;

pub(super) fn tree(text: &str) -> Result<Tree, SchemaError> {
    let mut reader = Reader(Cursor::new(text));
    let mut tree = Tree::default();
    loop {
        match reader.peek() {
            None => return Ok(tree),
            Some('[') => {
                let rule = reader.rule(1)?;
                tree.datasets.push(rule);
            }
            Some(_) if tree.datasets.is_empty() => {
                let name = reader.name("a type declaration such as 'step: Step;' or a rule in '[ ]'")?;
                reader.expect(':', "':' and the type of the key")?;
                let kind = reader.kind()?;
                reader.declare(&mut tree.types, name, kind)?;
                reader.expect(';', "';' after the type")?;
            }
            Some(_) => return Err(reader.error("a rule in '[ ]' or the end of the schema")),
        }
    }
}

const AFTER_KEY: &str = "one of ',' '=' '?' '-' ':' '[' ']' after the key";

struct Reader<'a>(Cursor<'a>);

impl<'a> Reader<'a> {
    fn error(&self, expected: &str) -> SchemaError {
        self.error_found(expected, self.0.found())
    }

    fn error_found(&self, expected: &str, found: String) -> SchemaError {
        SchemaError { line: self.0.line, column: self.0.column, expected: expected.to_owned(), found }
    }

    /// The next character after blanks and comments, which are passed over.
    fn peek(&mut self) -> Option<char> {
        loop {
            self.0.take_while(char::is_whitespace);
            if self.0.peek() != Some('#') {
                return self.0.peek();
            }
            self.0.take_while(|character| character != '\n');
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.peek();
        self.0.take(wanted)
    }

    fn expect(&mut self, wanted: char, expected: &str) -> Result<(), SchemaError> {
        if self.take(wanted) { Ok(()) } else { Err(self.error(expected)) }
    }

    /// The word that begins here, up to a blank or a character of the grammar. May be empty.
    fn word(&mut self, hyphens: bool) -> &'a str {
        self.peek();
        self.0.take_while(|character| {
            !character.is_whitespace()
                && !matches!(character, '/' | '=' | ',' | ';' | ':' | '[' | ']' | '?' | '#')
                && (character != '-' || hyphens)
        })
    }

    fn name(&mut self, expected: &str) -> Result<String, SchemaError> {
        let word = self.word(false);
        if word.is_empty() { Err(self.error(expected)) } else { Ok(word.to_ascii_lowercase()) }
    }

    /// Adds a type to `types`, where a name may stand only once.
    fn declare(
        &self,
        types: &mut Vec<(String, KeyType)>,
        name: String,
        kind: KeyType,
    ) -> Result<(), SchemaError> {
        if types.iter().any(|(known, _)| *known == name) {
            return Err(self.error_found("one type for each key", format!("a second type for {name:?}")));
        }
        types.push((name, kind));
        Ok(())
    }

    fn kind(&mut self) -> Result<KeyType, SchemaError> {
        self.peek();
        let before = Self(self.0);
        let word = self.word(false);
        word.parse().map_err(|()| {
            let names: Vec<&str> = KeyType::all().map(KeyType::name).collect();
            let found = if word.is_empty() { self.0.found() } else { format!("{word:?}") };
            before.error_found(&format!("a type, one of {}", names.join(", ")), found)
        })
    }

    fn rule(&mut self, level: usize) -> Result<Node, SchemaError> {
        self.peek();
        let mut node = Node { line: self.0.line, ..Node::default() };
        self.expect('[', "'['")?;
        self.predicates(&mut node)?;
        while level < 3 && self.peek() == Some('[') {
            let child = self.rule(level + 1)?;
            node.children.push(child);
        }
        if level < 3 && node.children.is_empty() {
            return Err(self.error(match node.predicates.is_empty() {
                true => "a key, or the rule of the next level in '[ ]'",
                false => "',' and another key, or the rule of the next level in '[ ]'",
            }));
        }
        self.expect(
            ']',
            if level < 3 { "']' or another rule in '[ ]'" } else { "',' and another key, or ']'" },
        )?;
        Ok(node)
    }

    fn predicates(&mut self, node: &mut Node) -> Result<(), SchemaError> {
        if matches!(self.peek(), Some('[' | ']')) {
            return Ok(());
        }
        loop {
            let name = self.name("a key")?;
            let typed = self.take(':');
            let kind = if typed { Some(self.kind()?) } else { None };
            if let Some(kind) = kind.filter(|_| self.take(';')) {
                self.declare(&mut node.types, name, kind)?;
                continue;
            }
            let predicate = self.predicate(name, kind)?;
            let again = node.predicates.iter().any(|known| known.name == predicate.name);
            if again {
                return Err(
                    self.error_found("each key once in a rule", format!("{:?} again", predicate.name))
                );
            }
            node.predicates.push(predicate);
            if !self.take(',') || self.peek() == Some('[') {
                return Ok(());
            }
        }
    }

    fn predicate(&mut self, name: String, kind: Option<KeyType>) -> Result<Predicate, SchemaError> {
        let condition = if self.take('?') {
            Condition::Optional(self.word(true).to_owned())
        } else if self.take('-') {
            Condition::Hidden(self.word(true).to_owned())
        } else if self.take('=') {
            self.values()?
        } else if matches!(self.peek(), Some(',' | '[' | ']')) {
            Condition::Present
        } else {
            return Err(self.error(AFTER_KEY));
        };
        Ok(Predicate { name, kind, condition })
    }

    fn values(&mut self) -> Result<Condition, SchemaError> {
        let negated = self.take('!');
        let mut values: Vec<String> = Vec::new();
        loop {
            let value = self.word(true);
            if value.is_empty() {
                return Err(self.error("a value"));
            }
            if !values.iter().any(|known| known == value) {
                values.push(value.to_owned());
            }
            if !self.take('/') {
                break;
            }
        }
        Ok(if negated { Condition::NoneOf(values) } else { Condition::OneOf(values) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn message(text: &str) -> String {
        tree(text).unwrap_err().to_string()
    }

    #[test]
    fn every_form_of_a_predicate_is_read() {
        let tree =
            tree("[ a, b=1/2, c=!3, d?, e?g-1, f-, h-x, i:Date=2, [ j: Month [ k: Step; k?0 ]] ]").unwrap();
        let shown: Vec<&Condition> =
            tree.datasets[0].predicates.iter().map(|predicate| &predicate.condition).collect();
        let text = |word: &str| word.to_owned();
        assert_eq!(
            shown,
            [
                &Condition::Present,
                &Condition::OneOf(vec![text("1"), text("2")]),
                &Condition::NoneOf(vec![text("3")]),
                &Condition::Optional(text("")),
                &Condition::Optional(text("g-1")),
                &Condition::Hidden(text("")),
                &Condition::Hidden(text("x")),
                &Condition::OneOf(vec![text("2")]),
            ]
        );
        let index = &tree.datasets[0].children[0];
        assert_eq!(index.predicates[0].kind, Some(KeyType::Month));
        assert_eq!(index.children[0].types, [(text("k"), KeyType::Step)]);
    }

    #[test]
    fn each_mistake_is_named_with_its_place() {
        let mistakes = [
            ("x", "line 1, column 2: expected ':' and the type of the key, found the end"),
            ("date: Date", "line 1, column 11: expected ';' after the type, found the end"),
            (
                "step: Step;\nstep: Step;",
                "line 2, column 11: expected one type for each key, found a second type for \"step\"",
            ),
            (
                "[ a",
                "line 1, column 4: expected one of ',' '=' '?' '-' ':' '[' ']' after the key, found the end",
            ),
            (
                "[ a b [ c [ d ]]]",
                "line 1, column 5: expected one of ',' '=' '?' '-' ':' '[' ']' after the key, found 'b'",
            ),
            (
                "[ a ]",
                "line 1, column 5: expected ',' and another key, or the rule of the next level in '[ ]', found ']'",
            ),
            ("[]", "line 1, column 2: expected a key, or the rule of the next level in '[ ]', found ']'"),
            ("[ a [ b [ c [ d ]]]]", "line 1, column 13: expected ',' and another key, or ']', found '['"),
            ("[ a= [ b [ c ]]]", "line 1, column 6: expected a value, found '['"),
            ("[ a=1/ [ b [ c ]]]", "line 1, column 8: expected a value, found '['"),
            ("[ a,, b [ c [ d ]]]", "line 1, column 5: expected a key, found ','"),
            ("[ a, a [ c [ d ]]]", "line 1, column 8: expected each key once in a rule, found \"a\" again"),
            (
                "[ a [ b [ c ]]] date: Date;",
                "line 1, column 17: expected a rule in '[ ]' or the end of the schema, found 'd'",
            ),
            ("[ a [ b [ c ]]", "line 1, column 15: expected ']' or another rule in '[ ]', found the end"),
        ];
        for (text, expected) in mistakes {
            assert_eq!(message(text), expected, "{text}");
        }
        assert!(
            message("# é\n  x: Dat;").starts_with("line 2, column 6: expected a type, one of ClimateDaily, ")
        );
        assert!(message("# é\n  x: Dat;").ends_with("found \"Dat\""));
    }
}
