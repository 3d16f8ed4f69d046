//! Requests from the command line or a file.
//!
//! What must stay true: a mistake in any of several requests is found before the first of them is answered.

use std::{
    collections::HashSet,
    fs,
    io::{Read, stdin},
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_fields::{Error, FieldStore};
use isotach_grib::{Eccodes, MessageScanner};
use isotach_mars::{Key, Level, Match, Request, RequestError, Rule, Schema};

use crate::failure::{Failure, Outcome, say};
use crate::input::{is_standard, name_of, text_of};

/// One or more requests.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Requests {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u
    #[arg(value_name = "REQUEST", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) request: Option<String>,
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) language: Language,
}

/// Requests where none means everything.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct OneRequest {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6. A name left out matches everything
    #[arg(value_name = "REQUEST", conflicts_with = "file")]
    pub(crate) request: Option<String>,
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) language: Language,
}

/// What is taken of the MARS language.
#[derive(Debug, Default, Args)]
pub(crate) struct Language {
    /// Refuse keywords of MARS that have no effect here, such as area, format and target
    #[arg(long)]
    pub(crate) strict_request: bool,
}

/// What a request must say at least.
#[derive(Debug, Default, Args)]
pub(crate) struct LeastFlag {
    /// Refuse a request that does not name all of these keys, as class,expver
    ///
    /// Guards a script against a request that means more than it should, as FDB's programs do by default.
    #[arg(long, value_name = "KEY,...")]
    pub(crate) minimum_keys: Option<String>,
}

impl LeastFlag {
    /// The keys.
    pub(crate) fn names(&self) -> Vec<&str> {
        let text = self.minimum_keys.as_deref().unwrap_or_default();
        name_list(text).into_iter().filter(|name| !name.is_empty()).collect()
    }
}

/// The parts of a list with commas, blanks around them dropped.
pub(crate) fn name_list(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).collect()
}

/// The requests that were given; there is at least one.
#[derive(Debug)]
pub(crate) struct Given {
    asked: Vec<Asked>,
    /// Whether keywords without effect are refused.
    is_strict: bool,
}

/// A request, and where it stands if that is in a file.
#[derive(Debug)]
struct Asked {
    request: Request,
    place: Option<String>,
}

impl Given {
    /// Calls `each` with every request in turn, once all of them have a meaning under the store's schema. A mistake in
    /// one is told with its file and line.
    pub(crate) fn for_each(
        &self,
        store: &FieldStore,
        how: Match,
        each: impl FnMut(&Request) -> Outcome,
    ) -> Outcome {
        if self.are_many() || self.is_strict {
            self.try_each(|request| {
                let idle = store.schema().without_effect(request, how)?;
                let refused = idle.first().filter(|_| self.is_strict);
                let refuse = |name: &&str| Err(RequestError::NoEffect { name: (*name).to_owned() }.into());
                refused.map_or(Ok(()), refuse)
            })?;
        }
        self.try_each(each)
    }

    /// Refuses a request that lacks a key of those that each must name.
    pub(crate) fn with_least(self, least: &LeastFlag) -> Outcome<Self> {
        for asked in &self.asked {
            let absent = asked.request.missing_from(least.names());
            if !absent.is_empty() {
                let names = absent.join(", ");
                let failure =
                    Failure::usage(format!("the request lacks {names}, which --minimum-keys asks for"));
                return Err(asked.told(failure));
            }
        }
        Ok(self)
    }

    /// Whether there are several.
    pub(crate) fn are_many(&self) -> bool {
        self.asked.len() > 1
    }

    fn try_each(&self, mut each: impl FnMut(&Request) -> Outcome) -> Outcome {
        self.asked.iter().try_for_each(|asked| each(&asked.request).map_err(|failure| asked.told(failure)))
    }
}

impl Asked {
    /// A failure that is the request's fault names its place; of any other the request is not the cause.
    fn told(&self, failure: Failure) -> Failure {
        match (&self.place, failure) {
            (Some(place), failure @ Failure::Usage(_)) => failure.about(place),
            (_, failure) => failure,
        }
    }
}

/// The requests that were given.
pub(crate) fn given(flags: &Requests) -> Outcome<Given> {
    read(flags.request.as_deref(), flags.file.as_deref(), &flags.language)
}

/// The requests that were given; the request for everything if none was.
pub(crate) fn given_or_all(flags: &OneRequest) -> Outcome<Given> {
    read(flags.request.as_deref(), flags.file.as_deref(), &flags.language)
}

/// A request for each field that has the key of one of a file's messages.
pub(crate) fn of_messages(path: &Path) -> Outcome<Given> {
    let name = name_of(path);
    let input: Box<dyn Read> = match is_standard(path) {
        true => Box::new(stdin().lock()),
        false => Box::new(fs::File::open(path).map_err(Failure::file("read", path))?),
    };
    let eccodes = Eccodes::load()?;
    let mut asked = Vec::new();
    let mut known = HashSet::new();
    for message in MessageScanner::new(input) {
        let message = message.map_err(|error| Failure::failed(error).about(&name))?;
        let place = format!("{name}: message {} at byte {}", message.number, message.offset);
        let key = eccodes.message_key(&message.bytes).map_err(|error| Failure::from(error).about(&place))?;
        let request = Request::from(&Key::from(key));
        if known.insert(request.to_string()) {
            asked.push(Asked { request, place: Some(place) });
        }
    }
    Ok(Given { asked, is_strict: false })
}

/// The request that was typed; the one for everything if none was.
pub(crate) fn typed(text: Option<&str>) -> Outcome<Given> {
    read(text, None, &Language::default())
}

fn read(text: Option<&str>, file: Option<&Path>, language: &Language) -> Outcome<Given> {
    let is_strict = language.strict_request;
    let Some(path) = file else {
        let request = text.unwrap_or_default().parse()?;
        return Ok(Given { asked: vec![Asked { request, place: None }], is_strict });
    };
    let text = text_of(path)?;
    let name = name_of(path);
    let requests = Request::parse_many(&text).map_err(|error| match error {
        RequestError::Syntax { line, column, expected, found } => {
            Failure::usage(format!("{name}:{line}:{column}: expected {expected}, found {found}"))
        }
        other => Failure::from(other).about(&name),
    })?;
    if requests.is_empty() {
        return Err(Failure::usage(format!("{name}: expected a request, found none")));
    }
    let asked = |(line, request)| Asked { request, place: Some(format!("{name}:{line}")) };
    Ok(Given { asked: requests.into_iter().map(asked).collect(), is_strict })
}

/// Fails if some datasets cannot be used, and tells each.
pub(crate) fn tell_unusable(mut unusable: Vec<Error>) -> Outcome {
    let Some(last) = unusable.pop() else { return Ok(()) };
    unusable.iter().for_each(say);
    Err(last.into())
}

/// Refuses a request that names a part of datasets, where all of each would be meant: `what` says so.
pub(crate) fn check_whole_datasets(schema: &Schema, request: &Request, what: &str) -> Outcome {
    let plans = schema.plans(request, Match::Partial)?;
    let rules: Vec<&Rule> = plans.iter().filter_map(|plan| schema.rule(plan.rule)).collect();
    let keeps = |level: &Level, name: &str| level.names().any(|kept| kept == name);
    let is_below = |name: &str| {
        let in_datasets = rules.iter().any(|rule| keeps(&rule.dataset, name));
        !in_datasets && rules.iter().any(|rule| keeps(&rule.collocation, name) || keeps(&rule.element, name))
    };
    let below: Vec<&str> = request.iter().map(|(name, _)| name).filter(|name| is_below(name)).collect();
    if below.is_empty() {
        return Ok(());
    }
    let names = below.join(", ");
    Err(Failure::usage(format!("the request names {names}, below the dataset; {what} whole datasets")))
}
