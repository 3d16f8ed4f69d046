//! The fields of a forecast on the field API, made from a GRIB template, for hammer and the operational pattern.
//!
//! What must stay true: a message is made by writing a few bytes into an existing one, so the store is measured and not a
//! codec; and every field that is read is compared with the message that was written.

mod message;
mod offsets;
mod pace;
mod params;
mod reader;
mod shape;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_fields::{Config, FieldStore};
use isotach_grib::SliceScanner;
use isotach_mars::Key;
use isotach_object::{Pool, Registry};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::{
    pace::{Pace, PaceArgs},
    reader::Reader,
    writer::Writer,
};

use self::{
    message::{Message, Template},
    shape::{Field, Keys, Shape},
};
use crate::{
    Error, Result,
    harness::study::{Location, labels},
};

/// The default template: an ensemble member on pressure levels in GRIB 2, made by ecCodes.
const TEMPLATE: &[u8] = include_bytes!("template.grib2");
/// Its key without the pairs that differ between fields.
const TEMPLATE_KEY: &str =
    "class=rd,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl";
const SIZE: usize = 1 << 20;

/// The options of the fields, with the names of fdb-hammer.
#[derive(Debug, Clone, Args)]
pub(crate) struct ForecastArgs {
    /// A file with one GRIB message of an ensemble member, as template [default: a built-in one]
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: Option<PathBuf>,
    /// Number of steps
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) nsteps: u32,
    /// The first step, in hours; the others follow hour by hour
    #[arg(long, value_name = "STEP", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) step: u32,
    /// Number of ensemble members of each process
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) nensembles: u32,
    /// The first ensemble member of the first process; the other processes have the following ones
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) number: u32,
    /// Number of levels
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) nlevels: u32,
    /// The first level; the others follow one by one
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=20_000))]
    pub(crate) level: u32,
    /// The levels, instead of --level and --nlevels
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', conflicts_with_all = ["level", "nlevels"])]
    pub(crate) levels: Vec<u32>,
    /// Number of parameters
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) nparams: usize,
    /// MARS class of the fields [default: the template's]
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: Option<String>,
    /// MARS experiment version of the fields, four characters [default: the template's]
    #[arg(long, value_name = "EXPVER")]
    pub(crate) expver: Option<String>,
    /// Bytes of a message: the values are cut or padded [default: the template's, or 1048576 for the built-in one]
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',')]
    pub(crate) sizes: Vec<usize>,
}

/// A forecast, as its processes need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forecast {
    pub(crate) template: Template,
    /// The common part of all keys.
    pub(crate) key: String,
    pub(crate) shape: Shape,
}

impl Forecast {
    /// The forecasts of the command line, one for each size.
    pub(crate) fn all(args: &ForecastArgs) -> Result<Vec<Self>> {
        let (template, mut key, size) = match &args.template {
            None => (Template::of(TEMPLATE)?, parse(TEMPLATE_KEY)?, SIZE),
            Some(path) => read_template(path)?,
        };
        if let Some(class) = &args.class {
            key.set("class", class);
        }
        if let Some(expver) = &args.expver {
            if expver.len() != 4 || !expver.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Err(Error::invalid(format!("expver {expver}"), "four letters or digits"));
            }
            key.set("expver", expver);
        }
        let template = labelled(template, &key)?;
        let shape = shape(args, &template)?;
        let sizes = if args.sizes.is_empty() { vec![size] } else { args.sizes.clone() };
        let sized = |size| {
            Ok(Self { template: template.clone().sized(size)?, key: key.to_string(), shape: shape.clone() })
        };
        sizes.into_iter().map(sized).collect()
    }

    /// The bytes of so many writers.
    pub(crate) fn bytes(&self, writers: u64) -> u64 {
        let Shape { steps, members, .. } = self.shape;
        let blocks = writers.saturating_mul(u64::from(steps) * u64::from(members));
        blocks.saturating_mul((self.shape.block() * self.template.size()) as u64)
    }

    pub(crate) fn labels(&self) -> Map<String, Value> {
        let Shape { steps, members, levels, params, .. } = &self.shape;
        labels([
            ("size", self.template.size().into()),
            ("steps", (*steps).into()),
            ("members", (*members).into()),
            ("levels", levels.len().into()),
            ("params", (*params).into()),
        ])
    }
}

/// A message of so many bytes from the built-in template.
pub(crate) fn message(size: usize) -> Result<Vec<u8>> {
    let template = labelled(Template::of(TEMPLATE)?, &parse(TEMPLATE_KEY)?)?.sized(size)?;
    let field = Field { number: 1, step: 0, level: 1, param: params::all()[0] };
    Ok(Message::new(&template).of(&field).to_vec())
}

/// Creates a field store in a new pool.
pub(crate) fn prepare(pool: &dyn Pool, registry: &Registry) -> Result<()> {
    FieldStore::create(&Config::single(pool.uri()), registry)?;
    Ok(())
}

pub(crate) fn open(location: &Location, registry: &Registry) -> Result<FieldStore> {
    Ok(FieldStore::open(&Config::single(location.pool()?), registry)?)
}

fn parse(key: &str) -> Result<Key> {
    key.parse().map_err(|error| Error::invalid(format!("key {key} ({error})"), "a key"))
}

/// The template with the class and expver of its key.
fn labelled(template: Template, key: &Key) -> Result<Template> {
    match (key.get("class"), key.get("expver")) {
        (Some(class), Some(expver)) if expver.len() == 4 => template.labelled(class, expver),
        _ => Err(Error::invalid(
            format!("a template with key {key}"),
            "class, and expver of four characters; give them with --class and --expver",
        )),
    }
}

/// The template, the key and the size of the only message of a file.
fn read_template(path: &Path) -> Result<(Template, Key, usize)> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    let refused =
        |what: &str| Error::invalid(format!("{}: {what}", path.display()), "a file with one GRIB message");
    let mut messages = SliceScanner::new(&bytes);
    let message = messages.next().ok_or_else(|| refused("no message"))?;
    let message = message.map_err(|error| refused(&error.to_string()))?.bytes;
    if messages.next().is_some() {
        return Err(refused("more than one message"));
    }
    let template = Template::of(message)?;
    let pairs = isotach_grib::message_key(message).map_err(|error| refused(&error.to_string()))?;
    let of_field = ["step", "number", "levelist", "param"];
    let mut key = Key::new();
    let common = pairs.iter().filter(|(name, _)| !of_field.contains(&&**name));
    common.for_each(|(name, value)| key.set(name, value));
    Ok((template, key, message.len()))
}

/// The fields of the command line. Refuses fields that the template cannot hold.
fn shape(args: &ForecastArgs, template: &Template) -> Result<Shape> {
    let levels = match args.levels.is_empty() {
        true => (args.level..args.level + args.nlevels).collect(),
        false => args.levels.clone(),
    };
    let params = params::all().len();
    if !(1..=params).contains(&args.nparams) {
        return Err(Error::invalid(format!("--nparams {}", args.nparams), format!("1 to {params}")));
    }
    let (has_levels, most) = (template.has_levels(), template.number_max());
    if !has_levels && levels.len() > 1 {
        let what = format!("{} levels of a template for the surface", levels.len());
        return Err(Error::invalid(what, "--nlevels 1"));
    }
    let largest = levels.iter().copied().max().unwrap_or(0).max(args.step + args.nsteps);
    if largest > most {
        return Err(Error::invalid(format!("a level or step of {largest}"), format!("at most {most}")));
    }
    if levels.iter().collect::<BTreeSet<_>>().len() != levels.len() {
        return Err(Error::invalid(format!("--levels {levels:?}"), "each level once"));
    }
    Ok(Shape {
        first_step: args.step,
        steps: args.nsteps,
        first_member: args.number,
        members: args.nensembles,
        levels,
        params: args.nparams,
        has_levels,
    })
}
