//! `isotach object`: objects of the object model.

use std::{
    fs,
    io::{Read, Write, stdin},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand, ValueEnum};
use isotach_object::{
    Anchor, Array, Cell, Container, Error as ObjectError, ObjectClass, ObjectId, ObjectType, Page, Update,
};

use super::{
    container,
    destroy::{self, DestroyFlags, Victim},
    pool,
};
use crate::{
    context::PlaceFlags,
    failure::{Failure, Outcome},
    input::is_standard,
    output::{Bytes, count, json_text, print_done, sink::Sink, standard_output},
};

/// The object model: objects of a container of the pool that --store names
#[derive(Debug, Args)]
pub(crate) struct ObjectFlags {
    #[command(subcommand)]
    pub(crate) action: ObjectAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with objects.
#[derive(Debug, Subcommand)]
pub(crate) enum ObjectAction {
    /// Take a new object id, and print it
    Create {
        /// The container
        container: String,
        /// What the object is
        #[arg(long = "type", value_name = "TYPE", default_value = "key-value")]
        kind: ObjectKind,
        /// Its object class: S1, SX, RP_2G1 ...
        #[arg(long, default_value = "S1")]
        class: String,
    },
    /// List the objects that hold something
    List {
        /// The container
        container: String,
        /// Show it as it was when this snapshot of the container was made
        #[arg(long, value_name = "SNAPSHOT")]
        at: Option<String>,
    },
    /// Show an object: entries of a key-value object, size of an array, keys of a general one
    Show {
        #[command(flatten)]
        object: ObjectName,
        /// Show it as it was when this snapshot of the container was made
        #[arg(long, value_name = "SNAPSHOT")]
        at: Option<String>,
    },
    /// Write a value or the bytes of an array to a file
    Get {
        #[command(flatten)]
        object: ObjectName,
        /// The key; for a general object distribution key and attribute key; for an array none
        keys: Vec<String>,
        /// Where it goes; - is standard output
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: PathBuf,
        /// Show it as it was when this snapshot of the container was made
        #[arg(long, value_name = "SNAPSHOT")]
        at: Option<String>,
    },
    /// Put a value, or the bytes of an array, from a file
    Put {
        #[command(flatten)]
        object: ObjectName,
        /// The key; for a general object distribution key and attribute key; for an array none
        keys: Vec<String>,
        /// Where it comes from; - is standard input
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

/// An object of a container.
#[derive(Debug, Args)]
pub(crate) struct ObjectName {
    /// The container
    pub(crate) container: String,
    /// The object id: 32 hexadecimal digits
    pub(crate) id: String,
}

/// Types of objects.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ObjectKind {
    /// A map from keys to values
    KeyValue,
    /// An array of bytes
    Array,
    /// Values under a distribution key and an attribute key
    General,
}

/// How many keys are asked for at once.
const PAGE: usize = 4096;
/// How much of an array is read at once.
const CHUNK: usize = 4 << 20;

/// Makes, lists, shows, gets, puts or removes.
pub(crate) fn run(place: &PlaceFlags, flags: &ObjectFlags) -> Outcome {
    match &flags.action {
        ObjectAction::Create { container, kind, class } => {
            let class: ObjectClass = class.parse()?;
            let container = open(place, container)?;
            let lo = container.allocate_ids(1)?.next().unwrap_or_default();
            let object = ObjectId::new(object_type(*kind), class, 0, lo);
            let redundancy = container.capabilities().redundancy;
            // Refuses a class that the engine cannot honour, before the id is in anyone's hands.
            Update::Destroy { object }.check_for("pool's", redundancy)?;
            let created = created(&*container, object)?;
            container.flush()?;
            print_done(flags.json, created, "object", &object.to_string())
        }
        ObjectAction::List { container, at } => {
            list(&*in_state(open(place, container)?, at.as_deref())?, flags.json)
        }
        ObjectAction::Show { object, at } => {
            let (container, object) = named(place, object)?;
            show(&*in_state(container, at.as_deref())?, object, flags.json)
        }
        ObjectAction::Get { object, keys, output, at } => {
            let (container, object) = named(place, object)?;
            get(&*in_state(container, at.as_deref())?, object, keys, output)
        }
        ObjectAction::Put { object, keys, input } => {
            let (container, object) = named(place, object)?;
            put(&*container, object, keys, input)?;
            container.flush()?;
            Ok(())
        }
        ObjectAction::Destroy { object, destroy } => {
            let (label, pool) = (container::parse(&object.container)?, pool::open(place)?);
            let (object, container) = (object.id.parse::<ObjectId>()?, pool.open_container(&label)?);
            destroy::check_container(&*pool, &label, *destroy)?;
            if !is_there(&*container, object)? {
                return Err(ObjectError::not_found(format!("object {object} in container {label}")).into());
            }
            let victim = Victim { what: "object", name: &object.to_string(), more: "" };
            victim.destroy(*destroy, flags.json, || {
                container.update(&[Update::Destroy { object }])?;
                container.flush()?;
                Ok(())
            })
        }
    }
}

/// A container as it is now, or as a snapshot of it shows it.
fn in_state(container: Arc<dyn Container>, snapshot: Option<&str>) -> Outcome<Arc<dyn Container>> {
    match snapshot {
        None => Ok(container),
        Some(name) => Ok(container.snapshots()?.open(&container::parse(name)?)?),
    }
}

/// Whether an object holds something. Destroying one that does not is no error to an engine, which does not look.
fn is_there(container: &dyn Container, object: ObjectId) -> Outcome<bool> {
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

fn object_type(kind: ObjectKind) -> ObjectType {
    match kind {
        ObjectKind::KeyValue => ObjectType::KeyValue,
        ObjectKind::Array => ObjectType::Array,
        ObjectKind::General => ObjectType::General,
    }
}

/// An array begins empty and is there; the others are there when something is put.
fn created(container: &dyn Container, object: ObjectId) -> Outcome<&'static str> {
    match object.otype() {
        ObjectType::Array => {
            Array::new(container, object)?.set_size(0)?;
            Ok("made")
        }
        _ => Ok("new"),
    }
}

fn open(place: &PlaceFlags, label: &str) -> Outcome<Arc<dyn Container>> {
    Ok(pool::open(place)?.open_container(&container::parse(label)?)?)
}

fn named(place: &PlaceFlags, name: &ObjectName) -> Outcome<(Arc<dyn Container>, ObjectId)> {
    let object = name.id.parse()?;
    Ok((open(place, &name.container)?, object))
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
    container::for_each_object(container, |object| {
        let (kind, class) = (type_name(object), object.class());
        match as_json {
            true => writeln!(out, "{{\"object\":\"{object}\",\"type\":\"{kind}\",\"class\":\"{class}\"}}")?,
            false => writeln!(out, "{object}  {kind:<9}  {class}")?,
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(())
}

fn show(container: &dyn Container, object: ObjectId, as_json: bool) -> Outcome {
    let mut out = standard_output();
    match object.otype() {
        ObjectType::Array => {
            let size = Array::new(container, object)?.size()?.ok_or_else(|| not_there(object))?;
            match as_json {
                true => writeln!(out, "{{\"object\":\"{object}\",\"type\":\"array\",\"bytes\":{size}}}")?,
                false => writeln!(out, "array of {size} bytes ({})", Bytes(size))?,
            }
        }
        ObjectType::KeyValue => {
            let page = |anchor: &Anchor| container.list_entries(object, anchor, PAGE, true);
            for_each(page, |key, value| {
                let (key, size) = (key.escape_ascii().to_string(), value.len() as u64);
                match as_json {
                    true => writeln!(out, "{{\"key\":{},\"bytes\":{size}}}", json_text(&key))?,
                    false => writeln!(out, "{key}  {}", count(size, "byte"))?,
                }
                Ok(())
            })?;
        }
        ObjectType::General | ObjectType::System => {
            for_each(
                |anchor| container.list_dkeys(object, anchor, PAGE),
                |dkey, _| {
                    for_each(
                        |anchor| container.list_akeys(object, dkey, anchor, PAGE),
                        |akey, _| {
                            let (dkey, akey) =
                                (dkey.escape_ascii().to_string(), akey.escape_ascii().to_string());
                            match as_json {
                                true => {
                                    writeln!(
                                        out,
                                        "{{\"dkey\":{},\"akey\":{}}}",
                                        json_text(&dkey),
                                        json_text(&akey)
                                    )?;
                                }
                                false => writeln!(out, "{dkey}  {akey}")?,
                            }
                            Ok(())
                        },
                    )
                },
            )?;
        }
    }
    out.flush()?;
    Ok(())
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
    let cell = match (object.otype(), keys) {
        (ObjectType::Array, []) => Cell::array(object),
        (ObjectType::KeyValue, [key]) => Cell::kv(object, key.as_bytes()),
        (ObjectType::General, [dkey, akey]) => Cell::general(object, dkey.as_bytes(), akey.as_bytes()),
        (ObjectType::Array, _) => return Err(Failure::usage("keys: expected none for an array")),
        (ObjectType::KeyValue, _) => return Err(Failure::usage("keys: expected one for a key-value object")),
        (ObjectType::General, _) => {
            return Err(Failure::usage("keys: expected a distribution key and an attribute key"));
        }
        (ObjectType::System, _) => {
            return Err(Failure::usage("an object: expected one that is not the engine's"));
        }
    };
    Ok(cell)
}

fn get(container: &dyn Container, object: ObjectId, keys: &[String], output: &Path) -> Outcome {
    let cell = cell(object, keys)?;
    if object.otype() != ObjectType::Array {
        let value = container.get_many(&[cell])?.pop().flatten().ok_or_else(|| not_there(object))?;
        let mut sink = Sink::open(output)?;
        sink.write(&value)?;
        return sink.finish();
    }
    let array = Array::new(container, object)?;
    array.size()?.ok_or_else(|| not_there(object))?;
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
    let mut bytes = Vec::new();
    let read = if is_standard(input) {
        stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(input).map(|read| bytes = read)
    };
    read.map_err(Failure::file("read", input))?;
    if object.otype() == ObjectType::Array {
        let size = bytes.len() as u64;
        let updates = [Update::SetSize { cell, size }, Update::Write { cell, offset: 0, data: &bytes }];
        return Ok(container.update(&updates)?);
    }
    Ok(container.update(&[Update::Put { cell, value: &bytes }])?)
}

fn not_there(object: ObjectId) -> Failure {
    ObjectError::not_found(format!("object {object}, or that key of it,")).into()
}
