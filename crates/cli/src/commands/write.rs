//! `isotach write`: archives the messages of files.

use std::{
    io::{BufRead, IsTerminal, Write, stderr, stdin},
    path::PathBuf,
};

use clap::Args;
use isotach_fields::{Config, Error as FieldsError, FieldStore};
use isotach_mars::Schema;
use isotach_object::Error as ObjectError;

use super::init;
use crate::{
    context::{self, PlaceFlags, Source, check_matches, not_opened},
    failure::{Failure, Outcome, say},
    input::is_standard,
    intake::{
        self, Intake, IntakeFlags,
        change::{Change, FilterFlags, ModifyFlag},
    },
};

/// Archive the messages of files
///
/// Each GRIB message is archived under the key that it carries. What was archived is durable and visible to every reader
/// when the command ends. A bad message ends it; the good ones before it are archived, unless --atomic is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach write forecast.grib
  isotach write --atomic step-6.grib step-6-surface.grib
  isotach write --key class=rd,expver=x001 unlabelled.grib
  isotach write --modify class=rd,expver=x001 forecast.grib
  isotach write --key class=rd,expver=x001,date=20240101,time=0,levtype=sfc,step=0,param=t image.raw")]
pub(crate) struct WriteFlags {
    /// Files to archive; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) intake: IntakeFlags,
    #[command(flatten)]
    pub(crate) change: ModifyFlag,
    #[command(flatten)]
    pub(crate) filter: FilterFlags,
    /// Make the store if it is not there, with the standard schema or that of the configuration
    ///
    /// Without it a person at a terminal is asked.
    #[arg(long)]
    pub(crate) init: bool,
    /// Also flush after every N fields, so that readers see them while the command goes on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush_every: Option<u64>,
    /// Let all fields become visible at once, or none if something is bad; they must be of one dataset
    #[arg(long, conflicts_with = "flush_every")]
    pub(crate) atomic: bool,
}

/// Archives.
pub(crate) fn run(place: &PlaceFlags, flags: &WriteFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        how: &flags.intake,
        flush_every: flags.flush_every.unwrap_or(u64::MAX),
        in_place: false,
        atomic: flags.atomic,
        change: Change::new(&flags.change, &flags.filter)?,
    };
    intake::run(|| store(place, flags, &intake), &intake)
}

/// The store; if it is not there, it is made where that was asked for or is agreed to.
fn store(place: &PlaceFlags, flags: &WriteFlags, intake: &Intake<'_>) -> Outcome<FieldStore> {
    let (config, source) = context::configuration(place)?;
    let is_absent = |error: &FieldsError| {
        let is_absent = matches!(
            error,
            FieldsError::NotAStore { .. } | FieldsError::Object(ObjectError::NotFound { .. })
        );
        is_absent && !context::is_in_memory(&config)
    };
    match FieldStore::open(&config, &context::registry()) {
        // Where some pools are there, one is missing: a file system that is not mounted, and no place for a new store.
        Err(error) if is_absent(&error) && !context::is_partly_there(&config) => {
            if flags.init || is_agreed(&source, flags)? {
                // A store is not made for a command that cannot write anything.
                intake.check(&schema_of(&config)?)?;
                intake.check_files()?;
                let made = init::make(&config, &source)?;
                say(format!("made store {}", source.name()));
                return Ok(made);
            }
            let failure = not_opened(error, &config, &source);
            Err(Failure::failed(format!("{}, or give --init", failure.message().unwrap_or_default())))
        }
        Err(error) => Err(not_opened(error, &config, &source)),
        Ok(store) => {
            check_matches(&config, &source, &store)?;
            Ok(store)
        }
    }
}

/// The schema that a store made with this configuration has.
fn schema_of(config: &Config) -> Outcome<Schema> {
    match &config.schema {
        Some(text) => Ok(Schema::parse(text).map_err(FieldsError::from)?),
        None => Ok(Schema::standard()),
    }
}

/// Asks a person whether to make the store. A terminal that is to be archived from is not asked.
fn is_agreed(source: &Source, flags: &WriteFlags) -> Outcome<bool> {
    let may_ask = stdin().is_terminal() && stderr().is_terminal();
    if !may_ask || flags.files.iter().any(|path| is_standard(path)) {
        return Ok(false);
    }
    let failed = |error| Failure::failed(format!("cannot ask on the terminal: {error}"));
    write!(stderr(), "store {} does not exist. Make it? [y/N] ", source.name()).map_err(failed)?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
