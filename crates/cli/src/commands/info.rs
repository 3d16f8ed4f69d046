//! `isotach info`: the program, its configuration and its libraries.

use clap::Args;
use isotach_grib::Eccodes;
use isotach_object::Capabilities;
use serde_json::{Map, Value, json};

use crate::{
    context::{self, Source, StoreFlags},
    failure::Outcome,
    output::{outln, print_json},
};

/// Show the program: version, configuration, engines, ecCodes
#[derive(Debug, Args)]
pub(crate) struct InfoFlags {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the information. The store need not exist.
pub(crate) fn run(target: &StoreFlags, flags: &InfoFlags) -> Outcome {
    let source = context::source(target);
    // Commands that use the configuration report its mistakes.
    let notes = context::configuration(target).map(|(config, _)| config.notes).unwrap_or_default();
    let eccodes = Eccodes::load();
    if flags.json {
        let engines = engines().map(|(scheme, can)| (scheme.to_owned(), Value::from(names(can))));
        return print_json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "store": source.as_ref().ok().map(Source::name),
            "given_by": source.as_ref().ok().map(Source::given_by),
            "notes": notes,
            "engines": engines.collect::<Map<_, _>>(),
            "eccodes": eccodes.ok().map(|found| json!({
                "version": found.version(),
                "path": found.path().display().to_string(),
                "why": found.why(),
            })),
        }));
    }
    outln!("isotach   {}", env!("CARGO_PKG_VERSION"))?;
    match &source {
        Ok(source) => outln!("store     {}, given by {}", source.name(), source.given_by())?,
        Err(_) => outln!("store     none")?,
    }
    for note in &notes {
        outln!("note      {note}")?;
    }
    for (scheme, can) in engines() {
        outln!("engine    {scheme}: {}", names(can).join(", "))?;
    }
    match eccodes {
        Ok(found) => {
            outln!("ecCodes   {} from {}: {}", found.version(), found.path().display(), found.why())
        }
        Err(error) => outln!("ecCodes   none: {error}"),
    }
}

fn engines() -> impl Iterator<Item = (&'static str, Capabilities)> {
    let registry = context::registry();
    ["posix", "rados", "daos", "memory"]
        .into_iter()
        .filter_map(move |scheme| Some((scheme, registry.engine(scheme).ok()?.capabilities())))
}

/// The names of an engine's capabilities.
pub(crate) fn names(can: Capabilities) -> Vec<&'static str> {
    let Capabilities {
        transactions,
        history,
        prepared_transactions,
        holes,
        snapshots,
        redundancy,
        ordered_listing,
        ordered_updates,
        pending_reads,
        lent_reads,
        multi_process,
        permissions,
        persistent,
    } = can;
    let all = [
        (transactions, "transactions"),
        (history, "history of cells"),
        (prepared_transactions, "prepared transactions"),
        (holes, "holes distinct from zeros"),
        (snapshots, "snapshots"),
        (redundancy, "redundancy"),
        (ordered_listing, "ordered listing"),
        (ordered_updates, "ordered updates"),
        (pending_reads, "pending reads"),
        (lent_reads, "lent reads"),
        (multi_process, "many processes"),
        (permissions, "permissions"),
        (persistent, "persistent"),
    ];
    all.into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
}
