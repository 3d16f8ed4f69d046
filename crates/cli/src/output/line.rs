//! One line for each field, plain or JSON. A listing may have millions, so the text that lines share is formatted once.

use std::{io::Write, ptr, sync::Arc};

use isotach_fields::{ContainerUri, Inspected, Listed, Location, Place};
use isotach_mars::Key;

use super::Bytes;
use crate::failure::Outcome;

/// Writes lines, and remembers what the last line shared with those before.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The field that `head` was formatted for. Keeping it makes a comparison of collocations by address safe.
    last: Option<Listed>,
    /// The beginning of each line of the collocation.
    head: Vec<u8>,
    container: Option<ContainerText>,
    line: Vec<u8>,
}

/// What a plain line shows besides the key.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineOptions {
    /// Omit the mark on replaced fields.
    pub(crate) porcelain: bool,
    /// The length of the field.
    pub(crate) length: bool,
    /// The location of the field, with its length and checksum.
    pub(crate) location: bool,
}

/// The JSON text of a container's URI, before and after the object's id.
#[derive(Debug)]
struct ContainerText {
    container: Arc<ContainerUri>,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Lines {
    /// `{"key":{...},"location":...,"offset":...,"length":...,"checksum":...}`
    pub(crate) fn json(&mut self, out: &mut impl Write, listed: &Listed, duplicates: bool) -> Outcome {
        if !self.is_same_collocation(listed) {
            self.head = b"{\"key\":{".to_vec();
            push_json_pairs(&mut self.head, listed.dataset());
            push_json_pairs(&mut self.head, listed.collocation());
            self.last = Some(listed.clone());
        }
        self.line.clone_from(&self.head);
        push_json_pairs(&mut self.line, &listed.element());
        self.push_json_location(listed.location())?;
        if duplicates {
            write!(self.line, ",\"replaced\":{}", listed.is_replaced())?;
        }
        self.line.extend(b"}\n");
        Ok(out.write_all(&self.line)?)
    }

    /// As `json`, for an inspected field.
    pub(crate) fn json_inspected(&mut self, out: &mut impl Write, field: &Inspected) -> Outcome {
        self.line = b"{\"key\":{".to_vec();
        push_json_pairs(&mut self.line, &field.key);
        self.push_json_location(&field.location)?;
        self.line.extend(b"}\n");
        Ok(out.write_all(&self.line)?)
    }

    /// `{dataset}` or `{dataset}{collocation}`, once for all fields in it.
    pub(crate) fn level(&mut self, out: &mut impl Write, listed: &Listed, depth: u8) -> Outcome {
        let is_printed = match (depth, &self.last) {
            (_, None) => false,
            (1, Some(last)) => last.dataset() == listed.dataset(),
            (_, Some(_)) => self.is_same_collocation(listed),
        };
        if !is_printed {
            write!(out, "{{{}}}", listed.dataset())?;
            if depth > 1 {
                write!(out, "{{{}}}", listed.collocation())?;
            }
            writeln!(out)?;
            self.last = Some(listed.clone());
        }
        Ok(())
    }

    /// `{dataset}{collocation}{element}`, and what the options add.
    pub(crate) fn plain(&mut self, out: &mut impl Write, listed: &Listed, options: LineOptions) -> Outcome {
        if !self.is_same_collocation(listed) {
            self.head = format!("{{{}}}{{{}}}", listed.dataset(), listed.collocation()).into();
            self.last = Some(listed.clone());
        }
        self.line.clone_from(&self.head);
        write!(self.line, "{{{}}}", listed.element())?;
        if listed.is_replaced() && !options.porcelain {
            self.line.extend(b" (replaced)");
        }
        if options.length {
            write!(self.line, ", length={}", listed.location().length)?;
        }
        if options.location {
            push_location(&mut self.line, listed.location())?;
        }
        self.line.push(b'\n');
        Ok(out.write_all(&self.line)?)
    }

    /// The key and the location of an inspected field.
    pub(crate) fn plain_inspected(&mut self, out: &mut impl Write, field: &Inspected) -> Outcome {
        self.line = field.key.to_string().into();
        push_location(&mut self.line, &field.location)?;
        self.line.push(b'\n');
        Ok(out.write_all(&self.line)?)
    }

    fn is_same_collocation(&self, listed: &Listed) -> bool {
        self.last.as_ref().is_some_and(|last| {
            ptr::eq(last.collocation(), listed.collocation()) && ptr::eq(last.dataset(), listed.dataset())
        })
    }

    /// Closes the key and appends the location.
    fn push_json_location(&mut self, location: &Location) -> Outcome {
        self.line.extend(b"},\"location\":");
        match &location.place {
            Place::Object { container, object } => {
                let text = container_text(&mut self.container, container);
                self.line.extend(&text.before);
                write!(self.line, "{object}")?;
                self.line.extend(&text.after);
            }
            Place::File(_) => push_json_text(&mut self.line, &location.to_string()),
        }
        let Location { offset, length, checksum, .. } = location;
        write!(self.line, ",\"offset\":{offset},\"length\":{length},\"checksum\":\"crc32c:{checksum:08x}\"")?;
        Ok(())
    }
}

/// The text of a container, formatted again only if the container differs from the last one.
fn container_text<'c>(
    known: &'c mut Option<ContainerText>,
    container: &Arc<ContainerUri>,
) -> &'c ContainerText {
    if known.as_ref().is_some_and(|known| !Arc::ptr_eq(&known.container, container)) {
        *known = None;
    }
    known.get_or_insert_with(|| {
        let uri = container.to_string();
        let (path, options) = uri.split_at(uri.find('?').unwrap_or(uri.len()));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        push_json_text(&mut before, &format!("{path}/"));
        before.pop();
        push_json_text(&mut after, options);
        after.remove(0);
        ContainerText { container: Arc::clone(container), before, after }
    })
}

/// Appends the pairs that have a value, with a comma before each but the first of the object.
fn push_json_pairs(line: &mut Vec<u8>, key: &Key) {
    for (name, value) in key.iter() {
        if !line.ends_with(b"{") {
            line.push(b',');
        }
        push_json_text(line, name);
        line.push(b':');
        push_json_text(line, value);
    }
}

/// Appends a JSON string. Writing text to memory cannot fail.
fn push_json_text(line: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(line, text);
}

fn push_location(line: &mut Vec<u8>, location: &Location) -> Outcome {
    let Location { offset, length, checksum, .. } = location;
    let size = Bytes(*length);
    write!(line, "  {location} offset={offset} length={length} ({size}) crc32c:{checksum:08x}")?;
    Ok(())
}
