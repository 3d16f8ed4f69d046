//! One line for one field, plain or JSON. A listing may have millions, so what lines share is put together once.

use std::{fmt::Write as _, io::Write, sync::Arc};

use isotach_fields::{ContainerUri, Inspected, Listed, Location, Place};
use isotach_mars::Key;

use super::{Bytes, json_text, push_json_text};
use crate::failure::Outcome;

/// Writes lines; remembers what the last one shared with those before.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The field that `head` was made for. Held, so that its address means its collocation as long as it is compared.
    last: Option<Listed>,
    /// The beginning of each line of the collocation.
    head: String,
    container: Option<ContainerText>,
    line: String,
}

/// What a line shows beside the key.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// Nothing but what was asked for: no mark on fields that were replaced.
    pub(crate) porcelain: bool,
    /// How long the field is.
    pub(crate) length: bool,
    /// Where it is, with its length and checksum.
    pub(crate) place: bool,
}

/// A container's URI as it stands in lines, in front of the object's id and behind it.
#[derive(Debug)]
struct ContainerText {
    container: Arc<ContainerUri>,
    before: String,
    after: String,
}

impl Lines {
    /// `{"key":{...},"location":...,"offset":...,"length":...,"checksum":...}`
    pub(crate) fn json(&mut self, out: &mut impl Write, listed: &Listed, duplicates: bool) -> Outcome {
        if !self.is_same_collocation(listed) {
            self.head = String::from("{\"key\":{");
            push_json_pairs(&mut self.head, listed.dataset());
            push_json_pairs(&mut self.head, listed.collocation());
            self.last = Some(listed.clone());
        }
        self.line.clear();
        self.line.push_str(&self.head);
        push_json_pairs(&mut self.line, &listed.element());
        self.push_json_location(listed.location());
        if duplicates {
            let _ = write!(self.line, ",\"replaced\":{}", listed.is_replaced());
        }
        self.line.push_str("}\n");
        out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    /// As `json`, of a field that was inspected.
    pub(crate) fn json_of(&mut self, out: &mut impl Write, field: &Inspected) -> Outcome {
        self.line.clear();
        self.line.push_str("{\"key\":{");
        push_json_pairs(&mut self.line, &field.key);
        self.push_json_location(&field.location);
        self.line.push_str("}\n");
        out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    /// `{dataset}` or `{dataset}{collocation}`, once for all its fields.
    pub(crate) fn level(&mut self, out: &mut impl Write, listed: &Listed, depth: u8) -> Outcome {
        let is_known = match (depth, &self.last) {
            (_, None) => false,
            (1, Some(last)) => last.dataset() == listed.dataset(),
            (_, Some(_)) => self.is_same_collocation(listed),
        };
        if !is_known {
            write!(out, "{{{}}}", listed.dataset())?;
            if depth > 1 {
                write!(out, "{{{}}}", listed.collocation())?;
            }
            writeln!(out)?;
            self.last = Some(listed.clone());
        }
        Ok(())
    }

    /// `{dataset}{collocation}{element}`, and what else is to be shown.
    pub(crate) fn plain(&mut self, out: &mut impl Write, listed: &Listed, shown: Shown) -> Outcome {
        if !self.is_same_collocation(listed) {
            self.head = format!("{{{}}}{{{}}}", listed.dataset(), listed.collocation());
            self.last = Some(listed.clone());
        }
        self.line.clear();
        let _ = write!(self.line, "{}{{{}}}", self.head, listed.element());
        if listed.is_replaced() && !shown.porcelain {
            self.line.push_str(" (replaced)");
        }
        if shown.length {
            let _ = write!(self.line, ", length={}", listed.location().length);
        }
        if shown.place {
            push_place(&mut self.line, listed.location());
        }
        self.line.push('\n');
        out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    /// The key and the place of a field that was inspected.
    pub(crate) fn plain_of(&mut self, out: &mut impl Write, field: &Inspected) -> Outcome {
        self.line.clear();
        let _ = write!(self.line, "{}", field.key);
        push_place(&mut self.line, &field.location);
        self.line.push('\n');
        out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    fn is_same_collocation(&self, listed: &Listed) -> bool {
        self.last.as_ref().is_some_and(|last| {
            std::ptr::eq(last.collocation(), listed.collocation())
                && std::ptr::eq(last.dataset(), listed.dataset())
        })
    }

    /// Closes the key and adds the place.
    fn push_json_location(&mut self, location: &Location) {
        self.line.push_str("},\"location\":");
        match &location.place {
            Place::Object { container, object } => {
                let text = container_text(&mut self.container, container);
                let _ = write!(self.line, "{}{object}{}", text.before, text.after);
            }
            Place::File(_) => {
                push_json_text(&mut self.line, &location.to_string());
            }
        }
        let Location { offset, length, checksum, .. } = location;
        let _ = write!(
            self.line,
            ",\"offset\":{offset},\"length\":{length},\"checksum\":\"crc32c:{checksum:08x}\""
        );
    }
}

/// The text of a container, made when it is another one than before.
fn container_text<'c>(
    known: &'c mut Option<ContainerText>,
    container: &Arc<ContainerUri>,
) -> &'c ContainerText {
    let is_known = known.as_ref().is_some_and(|known| Arc::ptr_eq(&known.container, container));
    if !is_known {
        *known = None;
    }
    known.get_or_insert_with(|| {
        let uri = container.to_string();
        let (path, options) = uri.split_at(uri.find('?').unwrap_or(uri.len()));
        let (before, after) = (json_text(&format!("{path}/")), json_text(options));
        ContainerText {
            container: Arc::clone(container),
            before: before[..before.len() - 1].to_owned(),
            after: after[1..].to_owned(),
        }
    })
}

/// Appends the pairs that have a value, with a comma in front unless the object begins here.
fn push_json_pairs(line: &mut String, key: &Key) {
    for (name, value) in key.iter() {
        if !line.ends_with('{') {
            line.push(',');
        }
        push_json_text(line, name);
        line.push(':');
        push_json_text(line, value);
    }
}

fn push_place(line: &mut String, location: &Location) {
    let Location { offset, length, checksum, .. } = location;
    let _ = write!(
        line,
        "  {location} offset={offset} length={length} ({}) crc32c:{checksum:08x}",
        Bytes(*length)
    );
}
