//! Kernels: the input and output patterns of the three scientific programs with which HDF5 on DAOS was measured, on the
//! object model. They are a checkpoint of an adaptive mesh (CLAMR), sharded regions (Legion), and decomposed variables (PIO).
//!
//! Source: "DAOS for Extreme-scale Systems in Scientific Applications" (Breitenfeld, Fortner, Henderson, Soumagne, Chaarawi,
//! Lombardi, Koziol, 2017) for the programs; the sizes are our own.
//!
//! What must stay true: an operation is one version, from its start until it is complete; the variable, position and
//! version of every value that is read are checked.

mod clamr;
mod legion;
mod piece;
mod pio;
mod play;
mod store;

use std::io::Write;

use clap::{Args, ValueEnum};
use isotach_object::{ObjectClass, PoolUri, Registry};
use serde_json::json;

pub(crate) use self::play::Run;

use self::{
    clamr::Clamr,
    legion::Legion,
    piece::VERSIONS_MAX,
    pio::{Pio, Rearrangement},
    play::{Action, Layout},
    store::Updates,
};
use crate::{
    Error, Result,
    harness::study::{Case, Study, StudyArgs, Work, labels, print_table},
};

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kernel {
    /// Checkpoints of an adaptive mesh into arrays that all processes share; then a restart by fewer processes
    Clamr,
    /// Regions in shards: half of the processes write a version while the others read the one before
    Legion,
    /// Variables on a grid, rearranged to the processes that do I/O; then they are read
    Pio,
}

/// Options of the kernels. All combinations of their values are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct KernelsArgs {
    /// Programs
    #[arg(long = "kernel", value_name = "KERNEL", value_delimiter = ',', default_value = "clamr,legion,pio")]
    pub(crate) kernels: Vec<Kernel>,
    /// The size of the data, relative to the sizes in the documentation: from 0.001 to 1000
    #[arg(long = "scale", value_name = "FACTOR", value_delimiter = ',', default_value = "1", value_parser = scale)]
    pub(crate) scales: Vec<f64>,
    /// Versions to write: checkpoints, versions of regions, steps of output
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..VERSIONS_MAX))]
    pub(crate) versions: u64,
    /// How a version is written; plain wherever an engine of the run does not let several processes write one transaction
    #[arg(long, value_name = "HOW", value_delimiter = ',', default_value = "transactions")]
    pub(crate) updates: Vec<Updates>,
    /// Object class of arrays
    #[arg(long = "class", value_name = "CLASS", value_delimiter = ',', default_value = "SX")]
    pub(crate) classes: Vec<ObjectClass>,
    /// What an I/O process of pio holds of a variable
    #[arg(long = "rearrangement", value_name = "WHICH", value_delimiter = ',', default_value = "box,subset")]
    pub(crate) rearrangements: Vec<Rearrangement>,
    /// Computing processes of pio for each process of the run
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) ratio: u64,
    /// Processes that clamr restarts with, not more than wrote [default: one fewer than wrote]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) restart: Option<u32>,
    /// The seed of the numbers of cells of the processes of clamr
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where, with how many processes, how often
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

fn scale(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.001..=1000.0).contains(number));
    number.ok_or_else(|| "expected a number from 0.001 to 1000".to_owned())
}

pub(crate) fn run(args: &KernelsArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    check(args)?;
    let cases = cases(args, &updates(args, registry)?);
    let mut study = Study::begin(Run::NAME, &args.study.site, registry)?;
    study.run(&args.study, &cases, store::prepare)?;
    study.finish(&args.study, out, |record, out| print_table(record, false, out))
}

fn check(args: &KernelsArgs) -> Result<()> {
    if args.kernels.contains(&Kernel::Legion) {
        args.study.check_halves("kernel legion")?;
    }
    for processes in args.study.totals() {
        if let Some(restart) = args.restart.filter(|restart| *restart as usize > processes) {
            return Err(Error::invalid(
                format!("a restart with {restart} processes of what {processes} wrote"),
                format!("--restart of at most {processes}"),
            ));
        }
    }
    Ok(())
}

/// How versions are written: the same way on all engines of the run, so that all do the same work.
fn updates(args: &KernelsArgs, registry: &Registry) -> Result<Vec<Updates>> {
    for pool in &args.study.site.pools {
        let uri: PoolUri = pool.parse()?;
        if !registry.engine(uri.scheme())?.capabilities().prepared_transactions {
            return Ok(vec![Updates::Plain]);
        }
    }
    Ok(args.updates.clone())
}

fn cases(args: &KernelsArgs, updates: &[Updates]) -> Vec<Case<Run>> {
    let mut cases = Vec::new();
    for kernel in &args.kernels {
        for scale in &args.scales {
            for (name, layout, actions) in layouts(*kernel, *scale, args) {
                for updates in updates {
                    for class in &args.classes {
                        let (updates, class, versions) = (*updates, class.to_string(), args.versions);
                        let labels = labels([
                            ("kernel", json!(name)),
                            ("scale", json!(scale)),
                            ("updates", json!(updates)),
                            ("class", json!(class)),
                            ("versions", json!(versions)),
                        ]);
                        let run = |action: &Action| Run {
                            layout,
                            updates,
                            class: class.clone(),
                            versions,
                            action: *action,
                        };
                        let runs = actions.iter().map(run).collect();
                        // An operation is a whole version.
                        cases.push(Case { labels, runs, flush_every: Some(1) });
                    }
                }
            }
        }
    }
    cases
}

fn layouts(kernel: Kernel, scale: f64, args: &KernelsArgs) -> Vec<(&'static str, Layout, Vec<Action>)> {
    match kernel {
        Kernel::Clamr => {
            let mesh = Layout::Clamr(Clamr::new(scale, args.seed));
            vec![("clamr", mesh, vec![Action::Write, Action::Restart { readers: args.restart }])]
        }
        Kernel::Legion => vec![("legion", Layout::Legion(Legion::new(scale)), vec![Action::WriteWhileRead])],
        Kernel::Pio => args
            .rearrangements
            .iter()
            .map(|rearrangement| {
                let name = match rearrangement {
                    Rearrangement::Box => "pio box",
                    Rearrangement::Subset => "pio subset",
                };
                let grid = Layout::Pio(Pio::new(*rearrangement, scale, args.ratio));
                (name, grid, vec![Action::Write, Action::Read])
            })
            .collect(),
    }
}
