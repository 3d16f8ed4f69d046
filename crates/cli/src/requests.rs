//! Requests from the command line or a file, and the flags for them.
//!
//! What must stay true: all requests are checked before the first is answered.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_fields::{Error, FieldStore};
use isotach_grib::{Eccodes, MessageScanner};
use isotach_mars::{Key, Level, Match, Request, RequestError, Rule, Schema};

use crate::{
    failure::{Failure, Outcome, say},
    input,
};

/// One or more requests, required.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct RequestFlags {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u
    #[arg(value_name = "REQUEST", required_unless_present = "file", conflicts_with = "file")]
    request: Option<String>,
    #[command(flatten)]
    source: SourceFlags,
}

/// One or more requests. Without one, everything.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct OptionalRequestFlags {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6. A name left out matches everything
    #[arg(value_name = "REQUEST", conflicts_with = "file")]
    request: Option<String>,
    #[command(flatten)]
    source: SourceFlags,
}

/// Where requests come from, and how strictly they are read.
#[derive(Debug, Default, Args)]
#[group(skip)]
struct SourceFlags {
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Refuse keywords of MARS that have no effect here, such as area, format and target
    #[arg(long)]
    strict_request: bool,
}

/// The keys that a request must name.
#[derive(Debug, Default, Args)]
pub(crate) struct MinimumKeysFlag {
    /// Refuse a request that does not name all of these keys, as class,expver
    ///
    /// Guards a script against a request that means more than it should, as FDB's programs do by default.
    #[arg(long, value_name = "KEY,...")]
    minimum_keys: Option<String>,
}

/// The items of a list separated by commas, without the blanks around them.
pub(crate) fn name_list(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).collect()
}

/// At least one request.
#[derive(Debug)]
pub(crate) struct Requests {
    items: Vec<Item>,
    /// Whether keywords without effect are refused.
    is_strict: bool,
}

/// A request and its position in a file, if it comes from one.
#[derive(Debug)]
struct Item {
    request: Request,
    position: Option<String>,
}

impl RequestFlags {
    /// Parses the requests.
    pub(crate) fn parse(&self) -> Outcome<Requests> {
        Requests::parse(self.request.as_deref(), &self.source)
    }
}

impl OptionalRequestFlags {
    /// Parses the requests. Returns the request for everything if there is none.
    pub(crate) fn parse(&self) -> Outcome<Requests> {
        Requests::parse(self.request.as_deref(), &self.source)
    }

    /// Whether there is no request at all.
    pub(crate) fn is_absent(&self) -> bool {
        self.request.is_none() && self.source.file.is_none()
    }
}

impl Requests {
    /// Parses one request from the command line. The empty request means everything.
    pub(crate) fn one(text: &str) -> Outcome<Self> {
        Self::parse(Some(text), &SourceFlags::default())
    }

    fn parse(text: Option<&str>, source: &SourceFlags) -> Outcome<Self> {
        let is_strict = source.strict_request;
        let Some(path) = source.file.as_deref() else {
            let request = text.unwrap_or_default().parse()?;
            return Ok(Self { items: vec![Item { request, position: None }], is_strict });
        };
        let text = input::read_text(path)?;
        let name = input::name_of(path);
        let requests = Request::parse_many(&text).map_err(|error| match error {
            RequestError::Syntax { line, column, expected, found } => {
                Failure::usage(format!("{name}:{line}:{column}: expected {expected}, found {found}"))
            }
            other => Failure::from(other).about(&name),
        })?;
        if requests.is_empty() {
            return Err(Failure::usage(format!("{name}: expected a request, found none")));
        }
        let item = |(line, request)| Item { request, position: Some(format!("{name}:{line}")) };
        Ok(Self { items: requests.into_iter().map(item).collect(), is_strict })
    }

    /// One request for each distinct key of a file's messages.
    pub(crate) fn of_messages(path: &Path) -> Outcome<Self> {
        let name = input::name_of(path);
        let file = input::open(path).map_err(Failure::file("read", path))?;
        let eccodes = Eccodes::load()?;
        let mut items = Vec::new();
        let mut known = HashSet::new();
        for message in MessageScanner::new(file) {
            let message = message.map_err(|error| Failure::failed(error).about(&name))?;
            let position = format!("{name}: message {} at byte {}", message.number, message.offset);
            let key = eccodes.message_key(&message.bytes);
            let key = key.map_err(|error| Failure::from(error).about(&position))?;
            let request = Request::from(&Key::from(key));
            if known.insert(request.to_string()) {
                items.push(Item { request, position: Some(position) });
            }
        }
        Ok(Self { items, is_strict: false })
    }

    /// Refuses a request that lacks one of the minimum keys.
    pub(crate) fn with_minimum(self, minimum: &MinimumKeysFlag) -> Outcome<Self> {
        let text = minimum.minimum_keys.as_deref().unwrap_or_default();
        let names: Vec<&str> = name_list(text).into_iter().filter(|name| !name.is_empty()).collect();
        for item in &self.items {
            let missing = item.request.missing_from(names.clone());
            if !missing.is_empty() {
                let names = missing.join(", ");
                let failure = format!("the request lacks {names}, which --minimum-keys requires");
                return Err(item.locate(Failure::usage(failure)));
            }
        }
        Ok(self)
    }

    /// Calls `each` with every request in turn, after all of them were checked against the store's schema. An error in a
    /// request names its file and line.
    pub(crate) fn for_each(
        &self,
        store: &FieldStore,
        how: Match,
        each: impl FnMut(&Request) -> Outcome,
    ) -> Outcome {
        if self.are_many() || self.is_strict {
            self.try_each(|request| {
                let without_effect = store.schema().without_effect(request, how)?;
                let refused = without_effect.first().filter(|_| self.is_strict);
                let refuse = |name: &&str| Err(RequestError::NoEffect { name: (*name).to_owned() }.into());
                refused.map_or(Ok(()), refuse)
            })?;
        }
        self.try_each(each)
    }

    /// Whether there is more than one request.
    pub(crate) fn are_many(&self) -> bool {
        self.items.len() > 1
    }

    fn try_each(&self, mut each: impl FnMut(&Request) -> Outcome) -> Outcome {
        self.items.iter().try_for_each(|item| each(&item.request).map_err(|failure| item.locate(failure)))
    }
}

impl Item {
    /// Adds the request's position to a usage error. The request is not the cause of any other failure.
    fn locate(&self, failure: Failure) -> Failure {
        match (&self.position, failure) {
            (Some(position), failure @ Failure::Usage(_)) => failure.about(position),
            (_, failure) => failure,
        }
    }
}

/// Fails if some datasets are unusable, and reports each of them.
pub(crate) fn report_unusable(mut unusable: Vec<Error>) -> Outcome {
    let Some(last) = unusable.pop() else { return Ok(()) };
    unusable.iter().for_each(say);
    Err(last.into())
}

/// Refuses a request that names a part of datasets where only whole datasets are possible. `subject` begins the reason.
pub(crate) fn check_whole_datasets(schema: &Schema, request: &Request, subject: &str) -> Outcome {
    let plans = schema.plans(request, Match::Partial)?;
    let rules: Vec<&Rule> = plans.iter().filter_map(|plan| schema.rule(plan.rule)).collect();
    let has = |level: &Level, name: &str| level.names().any(|known| known == name);
    let is_below = |name: &str| {
        let in_datasets = rules.iter().any(|rule| has(&rule.dataset, name));
        !in_datasets && rules.iter().any(|rule| has(&rule.collocation, name) || has(&rule.element, name))
    };
    let below: Vec<&str> = request.iter().map(|(name, _)| name).filter(|name| is_below(name)).collect();
    if below.is_empty() {
        return Ok(());
    }
    let names = below.join(", ");
    Err(Failure::usage(format!("the request names {names}, below the dataset; {subject} whole datasets")))
}
