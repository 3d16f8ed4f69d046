//! `isotach write`: archives the messages of files.

use std::{
    io::{BufRead, IsTerminal, Write, stderr, stdin},
    path::PathBuf,
};

use clap::Args;
use isotach_fields::{Error as FieldsError, FieldStore};
use isotach_mars::Schema;
use isotach_object::Error as ObjectError;

use super::init;
use crate::{
    context::{self, Source, StoreFlags, check_matches, not_opened, with_grib},
    failure::{Failure, Outcome, say},
    input::is_standard,
    intake::{
        self, Intake, IntakeFlags,
        change::{FilterFlags, MessageRules, ModifyFlag},
    },
};

/// Archive the messages of files
///
/// Each GRIB message is archived under the key that it carries. When the command ends, the archived fields are durable and
/// visible to every reader. A bad message ends the command; the good ones before it are archived, unless --atomic is given.
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
    files: Vec<PathBuf>,
    #[command(flatten)]
    intake: IntakeFlags,
    #[command(flatten)]
    change: ModifyFlag,
    #[command(flatten)]
    filter: FilterFlags,
    /// Create the store if it does not exist, with the standard schema or that of the configuration
    ///
    /// Without this flag, a user at a terminal is asked.
    #[arg(long)]
    init: bool,
    /// Also flush after every N fields, so that readers see them before the command ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    flush_every: Option<u64>,
    /// Make all fields visible at once, or none after a bad message; they must be of one dataset
    #[arg(long, conflicts_with = "flush_every")]
    atomic: bool,
}

/// Archives the files.
pub(crate) fn run(target: &StoreFlags, flags: &WriteFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        flags: &flags.intake,
        flush_every: flags.flush_every.unwrap_or(u64::MAX),
        in_place: false,
        atomic: flags.atomic,
        change: MessageRules::new(&flags.change, &flags.filter)?,
    };
    intake::run(|| store(target, flags, &intake), &intake)
}

/// Opens the store. Creates it with `--init`, or if the user agrees.
fn store(target: &StoreFlags, flags: &WriteFlags, intake: &Intake<'_>) -> Outcome<FieldStore> {
    let (config, source) = context::configuration(target)?;
    let error = match FieldStore::open(&config, &context::registry()) {
        Ok(store) => {
            check_matches(&config, &source, &store)?;
            return Ok(with_grib(store));
        }
        Err(error) => error,
    };
    let is_absent =
        matches!(error, FieldsError::NotAStore { .. } | FieldsError::Object(ObjectError::NotFound { .. }));
    // Where only some pools exist, the others may be on a file system that is not mounted.
    if !is_absent || context::is_in_memory(&config) || context::exists_partly(&config) {
        return Err(not_opened(error, &config, &source));
    }
    if !flags.init && !is_agreed(&source, flags)? {
        let failure = not_opened(error, &config, &source);
        return Err(Failure::failed(format!("{}, or give --init", failure.message().unwrap_or_default())));
    }
    // A command with a mistake creates no store.
    let schema = match &config.schema {
        Some(text) => Schema::parse(text).map_err(FieldsError::from)?,
        None => Schema::standard(),
    };
    intake.check(&schema)?;
    intake.check_files()?;
    let store = init::create(&config, &source, false)?;
    say(format!("created store {}", source.name()));
    Ok(store)
}

/// Asks the user whether to create the store, unless the terminal is an input of the command.
fn is_agreed(source: &Source, flags: &WriteFlags) -> Outcome<bool> {
    let may_ask = stdin().is_terminal() && stderr().is_terminal();
    if !may_ask || flags.files.iter().any(|path| is_standard(path)) {
        return Ok(false);
    }
    let failed = |error| Failure::failed(format!("cannot ask on the terminal: {error}"));
    write!(stderr(), "store {} does not exist. Create it? [y/N] ", source.name()).map_err(failed)?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
