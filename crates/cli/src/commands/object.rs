//! `isotach object`: objects of the object model.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand, ValueEnum};
use isotach_object::{
    Anchor, Array, Cell, Container, Error as ObjectError, ObjectClass, ObjectId, ObjectType, Page, Update,
};

use super::{
    container::{for_each_object, parse},
    destroy::{self, DestroyFlags, Removal},
    pool,
};
use crate::{
    context::StoreFlags,
    failure::{Failure, Outcome},
    input::read_bytes,
    output::{Bytes, count, print_created, print_done, sink::Sink, standard_output},
};

/// The object model: objects of a container of the pool that --store names
#[derive(Debug, Args)]
pub(crate) struct ObjectFlags {
    #[command(subcommand)]
    action: ObjectAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    json: bool,
}

/// An operation on objects.
#[derive(Debug, Subcommand)]
enum ObjectAction {
    /// Allocate a new object id, and print it
    Create {
        /// The container
        container: String,
        /// The type of the object
        #[arg(long = "type", value_name = "TYPE", default_value = "key-value")]
        kind: ObjectKind,
        /// Its object class: S1, SX, RP_2G1 ...
        #[arg(long, default_value = "S1")]
        class: String,
    },
    /// List the objects that are not empty
    List {
        /// The container
        container: String,
        #[command(flatten)]
        at: SnapshotFlag,
    },
    /// Show an object: entries of a key-value object, size of an array, keys of a general one
    Show {
        #[command(flatten)]
        object: ObjectName,
        #[command(flatten)]
        at: SnapshotFlag,
    },
    /// Write a value or the bytes of an array to a file
    Get {
        #[command(flatten)]
        object: ObjectName,
        /// The key; for a general object distribution key and attribute key; for an array none
        keys: Vec<String>,
        /// The output; - is standard output
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: PathBuf,
        #[command(flatten)]
        at: SnapshotFlag,
    },
    /// Put a value, or the bytes of an array, from a file
    Put {
        #[command(flatten)]
        object: ObjectName,
        /// The key; for a general object distribution key and attribute key; for an array none
        keys: Vec<String>,
        /// The input; - is standard input
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        input: PathBuf,
    },
    /// Remove an object and everything in it
    Destroy {
        #[command(flatten)]
        object: ObjectName,
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}

/// The snapshot of the container to read.
#[derive(Debug, Args)]
struct SnapshotFlag {
    /// Show it as it was when this snapshot of the container was created
    #[arg(long, value_name = "SNAPSHOT")]
    at: Option<String>,
}

/// An object of a container.
#[derive(Debug, Args)]
struct ObjectName {
    /// The container
    container: String,
    /// The object id: 32 hexadecimal digits
    id: String,
}

/// Types of objects.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ObjectKind {
    /// A map from keys to values
    KeyValue,
    /// An array of bytes
    Array,
    /// Values under a distribution key and an attribute key
    General,
}

/// The number of keys in a page of a listing.
const PAGE: usize = 4096;
/// The bytes of an array that are read at a time.
const CHUNK: usize = 4 << 20;

/// Runs the operation.
pub(crate) fn run(target: &StoreFlags, flags: &ObjectFlags) -> Outcome {
    let open = |label: &str, SnapshotFlag { at }: &SnapshotFlag| -> Outcome<Arc<dyn Container>> {
        let container = pool::open(target)?.open_container(&parse(label)?)?;
        match at {
            None => Ok(container),
            Some(name) => Ok(container.snapshots()?.open(&parse(name)?)?),
        }
    };
    let now = &SnapshotFlag { at: None };
    match &flags.action {
        ObjectAction::Create { container, kind, class } => {
            let class: ObjectClass = class.parse()?;
            create(&*open(container, now)?, *kind, class, flags.json)
        }
        ObjectAction::List { container, at } => list(&*open(container, at)?, flags.json),
        ObjectAction::Show { object: ObjectName { container, id }, at } => {
            let object = id.parse()?;
            show(&*open(container, at)?, object, flags.json)
        }
        ObjectAction::Get { object: ObjectName { container, id }, keys, output, at } => {
            let object = id.parse()?;
            get(&*open(container, at)?, object, keys, output)
        }
        ObjectAction::Put { object: ObjectName { container, id }, keys, input } => {
            let object = id.parse()?;
            let container = open(container, now)?;
            put(&*container, object, keys, input)?;
            Ok(container.flush()?)
        }
        ObjectAction::Destroy { object, destroy } => {
            let (label, pool) = (parse(&object.container)?, pool::open(target)?);
            let (object, container) = (object.id.parse::<ObjectId>()?, pool.open_container(&label)?);
            destroy::check_container(&*pool, &label, *destroy)?;
            if !exists(&*container, object)? {
                return Err(ObjectError::not_found(format!("object {object} in container {label}")).into());
            }
            let removal = Removal { kind: "object", name: &object.to_string(), details: "" };
            removal.run(*destroy, flags.json, || {
                container.update(&[Update::Destroy { object }])?;
                Ok(container.flush()?)
            })
        }
    }
}

/// Whether an object is not empty. Engines do not report the destruction of an empty object as an error.
fn exists(container: &dyn Container, object: ObjectId) -> Outcome<bool> {
    if object.otype() == ObjectType::Array {
        return Ok(Array::new(container, object)?.size()?.is_some());
    }
    let mut anchor = Anchor::start();
    loop {
        let page = match object.otype() {
            ObjectType::KeyValue => container.list_entries(object, &anchor, 1, false)?,
            _ => container.list_dkeys(object, &anchor, 1)?,
        };
        match (page.iter().next(), page.next()) {
            (Some(_), _) => return Ok(true),
            (None, Some(next)) => anchor = next.clone(),
            (None, None) => return Ok(false),
        }
    }
}

/// Allocates an id. An array exists from then on; other objects exist when they get a value.
fn create(container: &dyn Container, kind: ObjectKind, class: ObjectClass, as_json: bool) -> Outcome {
    let kind = match kind {
        ObjectKind::KeyValue => ObjectType::KeyValue,
        ObjectKind::Array => ObjectType::Array,
        ObjectKind::General => ObjectType::General,
    };
    let lo = container.allocate_ids(1)?.next().unwrap_or_default();
    let object = ObjectId::new(kind, class, 0, lo);
    // Refuses a class that the engine does not support before the id is printed.
    Update::Destroy { object }.check_for("pool's", container.capabilities().redundancy)?;
    if kind == ObjectType::Array {
        Array::new(container, object)?.set_size(0)?;
    }
    container.flush()?;
    match kind {
        ObjectType::Array => print_created(as_json, "object", &object.to_string()),
        _ => print_done(as_json, "new", "object", &object.to_string()),
    }
}

fn type_name(object: ObjectId) -> &'static str {
    match object.otype() {
        ObjectType::KeyValue => "key-value",
        ObjectType::Array => "array",
        ObjectType::General => "general",
        ObjectType::System => "system",
    }
}

fn list(container: &dyn Container, as_json: bool) -> Outcome {
    let mut out = standard_output();
    for_each_object(container, |object| {
        let (kind, class) = (type_name(object), object.class());
        match as_json {
            true => writeln!(out, "{{\"object\":\"{object}\",\"type\":\"{kind}\",\"class\":\"{class}\"}}")?,
            false => writeln!(out, "{object}  {kind:<9}  {class}")?,
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}

fn show(container: &dyn Container, object: ObjectId, as_json: bool) -> Outcome {
    let mut out = standard_output();
    match object.otype() {
        ObjectType::Array => {
            let size = Array::new(container, object)?.size()?.ok_or_else(|| absent(object))?;
            match as_json {
                true => writeln!(out, "{{\"object\":\"{object}\",\"type\":\"array\",\"bytes\":{size}}}")?,
                false => writeln!(out, "array of {size} bytes ({})", Bytes(size))?,
            }
        }
        ObjectType::KeyValue => {
            let page = |anchor: &Anchor| container.list_entries(object, anchor, PAGE, true);
            for_each(page, |key, value| {
                let (key, size) = (shown(key, as_json)?, value.len() as u64);
                match as_json {
                    true => writeln!(out, "{{\"key\":{key},\"bytes\":{size}}}")?,
                    false => writeln!(out, "{key}  {}", count(size, "byte"))?,
                }
                Ok(())
            })?;
        }
        ObjectType::General | ObjectType::System => {
            let dkeys = |anchor: &Anchor| container.list_dkeys(object, anchor, PAGE);
            for_each(dkeys, |dkey, _| {
                let akeys = |anchor: &Anchor| container.list_akeys(object, dkey, anchor, PAGE);
                for_each(akeys, |akey, _| {
                    let (dkey, akey) = (shown(dkey, as_json)?, shown(akey, as_json)?);
                    match as_json {
                        true => writeln!(out, "{{\"dkey\":{dkey},\"akey\":{akey}}}")?,
                        false => writeln!(out, "{dkey}  {akey}")?,
                    }
                    Ok(())
                })
            })?;
        }
    }
    Ok(out.flush()?)
}

/// A key with escapes for bytes that are not ASCII, plain or as a JSON string.
fn shown(key: &[u8], as_json: bool) -> Outcome<String> {
    let text = key.escape_ascii().to_string();
    if as_json { Ok(serde_json::to_string(&text)?) } else { Ok(text) }
}

fn for_each(
    page: impl Fn(&Anchor) -> isotach_object::Result<Page>,
    mut each: impl FnMut(&[u8], &[u8]) -> Outcome,
) -> Outcome {
    let mut anchor = Anchor::start();
    loop {
        let page = page(&anchor)?;
        page.iter().try_for_each(|(key, value)| each(key, value))?;
        match page.next() {
            Some(next) => anchor = next.clone(),
            None => return Ok(()),
        }
    }
}

/// The cell that an object and its keys name.
fn cell(object: ObjectId, keys: &[String]) -> Outcome<Cell<'_>> {
    let expected = match (object.otype(), keys) {
        (ObjectType::Array, []) => return Ok(Cell::array(object)),
        (ObjectType::KeyValue, [key]) => return Ok(Cell::kv(object, key.as_bytes())),
        (ObjectType::General, [dkey, akey]) => {
            return Ok(Cell::general(object, dkey.as_bytes(), akey.as_bytes()));
        }
        (ObjectType::Array, _) => "keys: expected none for an array",
        (ObjectType::KeyValue, _) => "keys: expected one for a key-value object",
        (ObjectType::General, _) => "keys: expected a distribution key and an attribute key",
        (ObjectType::System, _) => "an object: expected one that is not the engine's",
    };
    Err(Failure::usage(expected))
}

fn get(container: &dyn Container, object: ObjectId, keys: &[String], output: &Path) -> Outcome {
    let cell = cell(object, keys)?;
    if object.otype() != ObjectType::Array {
        let value = container.get_many(&[cell])?.pop().flatten().ok_or_else(|| absent(object))?;
        let mut sink = Sink::open(output)?;
        sink.write(&value)?;
        return sink.finish();
    }
    let array = Array::new(container, object)?;
    array.size()?.ok_or_else(|| absent(object))?;
    let mut sink = Sink::open(output)?;
    let mut offset = 0;
    loop {
        let bytes = array.read(offset, CHUNK)?;
        if bytes.is_empty() {
            return sink.finish();
        }
        sink.write(&bytes)?;
        offset += bytes.len() as u64;
    }
}

fn put(container: &dyn Container, object: ObjectId, keys: &[String], input: &Path) -> Outcome {
    let cell = cell(object, keys)?;
    let bytes = read_bytes(input)?;
    if object.otype() == ObjectType::Array {
        let size = bytes.len() as u64;
        let updates = [Update::SetSize { cell, size }, Update::Write { cell, offset: 0, data: &bytes }];
        return Ok(container.update(&updates)?);
    }
    Ok(container.update(&[Update::Put { cell, value: &bytes }])?)
}

fn absent(object: ObjectId) -> Failure {
    ObjectError::not_found(format!("object {object}, or that key of it,")).into()
}
