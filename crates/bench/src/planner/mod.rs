//! The capacity planner: predicts from a site's hardware and measured costs whether fields fit in a window of time.
//!
//! - `units`: sizes, rates, times and counts as text; `site`: a site in YAML; `examples`: those built in.
//! - `demand`: what a field asks of each resource; `model`: the throughput that follows.
//! - `window`, `need`, `curve`: the questions; `show`: their answers as tables; `measure`: the costs on this machine.
//!
//! `docs/scaling.md` describes the model, its error and what it leaves out. Nothing here runs a benchmark but `--measure`.

mod curve;
mod demand;
mod examples;
mod measure;
#[cfg(test)]
mod measured;
mod model;
mod need;
#[cfg(test)]
mod published;
mod show;
mod site;
mod units;
mod window;

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use clap::Args;
use tempfile::NamedTempFile;

use self::{
    curve::Curve,
    need::Needed,
    site::{Costs, Site},
    units::{Count, Size, Span},
    window::{Outlook, Window},
};
use crate::{
    Error, Result,
    harness::output::{json, print_line},
};

/// The value of `--example` without a name.
const LIST: &str = "list";

/// `plan`: the capacity planner.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// The name of an example (nextgenio-daos, lustre, ceph, two-cpus), or else a site as a YAML file
    #[arg(value_name = "SITE", required_unless_present_any = ["example", "measure"])]
    site: Option<String>,
    /// Volumes of all fields, as in 70TiB
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "70TiB,180TiB,700TiB")]
    volume: Vec<Size>,
    /// The number of fields, as in 25M or 40000
    #[arg(long, value_name = "COUNT", default_value = "25M")]
    fields: Count,
    /// The time in which all of it must be done, as in 1h or 30min
    #[arg(long, value_name = "TIME", default_value = "1h")]
    window: Span,
    /// The part of the fields that is read back while others are written
    #[arg(long, value_name = "PART", default_value_t = 0.7, value_parser = read_back)]
    read_back: f64,
    /// Answer how many servers and client nodes of this hardware each volume needs
    #[arg(long, conflicts_with = "curve")]
    need: bool,
    /// Show the bandwidth of writing and of reading by servers, by clients per server, or by processes
    #[arg(long, value_name = "BY", conflicts_with_all = ["volume", "fields", "window", "read_back"])]
    curve: Option<Curve>,
    /// The points of the curve
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', requires = "curve", value_parser = above_zero)]
    at: Vec<f64>,
    /// The size of a field on the curve
    #[arg(long, value_name = "SIZE", default_value = "1MiB", requires = "curve")]
    size: Size,
    /// Take what a field costs from this file, as --measure writes it, instead of the site
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// One JSON object per line instead of tables
    #[arg(long)]
    json: bool,
    /// Print an example as YAML, to begin a site of your own; without a name list them
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = LIST,
          conflicts_with_all = ["site", "measure", "need", "curve", "costs", "json"])]
    example: Option<String>,
    /// Measure with one process what a field costs here, and print it as a site of this machine
    #[arg(long, conflicts_with_all = ["site", "need", "curve", "costs", "json"])]
    measure: bool,
    /// Where --measure works, in a temporary folder [default: /dev/shm, or the current folder without it]
    #[arg(long, value_name = "FOLDER", requires = "measure")]
    folder: Option<PathBuf>,
    /// How often --measure measures; medians count
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..), requires = "measure")]
    repetitions: u32,
    /// Write what --measure finds to this file, which must not exist, instead of standard output
    #[arg(long, value_name = "FILE", requires = "measure")]
    out: Option<PathBuf>,
}

fn read_back(text: &str) -> std::result::Result<f64, String> {
    let part = text.parse().ok().filter(|part: &f64| (0.0..=1000.0).contains(part));
    part.ok_or_else(|| {
        "expected a part of the fields, as in 0.7; more than 1 if each is read several times".to_owned()
    })
}

fn above_zero(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= 1e6);
    number.ok_or_else(|| "expected a number above zero, at most a million".to_owned())
}

/// Runs the command. Answers go to standard output, progress of `--measure` to standard error.
///
/// The program must offer `bench` as well, because `--measure` starts it again for its processes.
///
/// # Errors
/// [`Error`]: a site or a cost that cannot be read, a question that a site has no answer for, or a measurement that failed.
pub fn plan(args: &PlanArgs, out: &mut impl Write) -> Result<()> {
    if let Some(name) = &args.example {
        return example(name, out);
    }
    if args.measure {
        return calibrate(args, out);
    }
    let mut site = read_site(args.site.as_deref().unwrap_or_default())?;
    if let Some(path) = &args.costs {
        site.costs = Costs::parse(&read(path)?, path)?;
    }
    if let Some(curve) = args.curve {
        return show_curve(args, &site, curve, out);
    }
    let windows = args.windows()?;
    if args.need {
        return show_needs(args, &site, windows, out);
    }
    let outlooks: Vec<Outlook> = windows.into_iter().map(|window| Outlook::of(&site, window)).collect();
    match args.json {
        true => outlooks.iter().try_for_each(|outlook| print_line(&json(&outlook.json(&site))?, out)),
        false => show::windows(&site, &outlooks, out),
    }
}

impl PlanArgs {
    fn windows(&self) -> Result<Vec<Window>> {
        let seconds = self.window.seconds();
        if seconds == 0.0 {
            return Err(Error::invalid(format!("--window {}", self.window), "a time above zero, as in 1h"));
        }
        let (fields, read_back) = (self.fields.0 as f64, self.read_back);
        Ok(self.volume.iter().map(|volume| Window { fields, bytes: volume.0, seconds, read_back }).collect())
    }
}

fn example(name: &str, out: &mut impl Write) -> Result<()> {
    if name != LIST {
        return write!(out, "{}", examples::text(name)?).map_err(Error::Output);
    }
    for name in examples::NAMES {
        print_line(&format!("{name:<16}{}", examples::site(name)?.name), out)?;
    }
    Ok(())
}

/// An example; a file if no example has this name. So what an example's name means does not depend on the current folder.
fn read_site(name: &str) -> Result<Site> {
    if examples::NAMES.contains(&name) {
        return examples::site(name);
    }
    match fs::read_to_string(name) {
        Ok(text) => Site::parse(&text, name),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("read", Path::new(name))(error))
        }
        Err(_) => Err(Error::invalid(
            format!("there is no file {name:?} and no example of this name"),
            format!("a site as a YAML file, or one of {}", examples::NAMES.join(", ")),
        )),
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Error::io("read", path))
}

fn show_curve(args: &PlanArgs, site: &Site, curve: Curve, out: &mut impl Write) -> Result<()> {
    let at = if args.at.is_empty() { curve.usual() } else { &args.at };
    let points = curve::points(site, curve, at, args.size.0)?;
    match args.json {
        true => {
            let knee = curve::knee(curve, &points).map(|point| point.at);
            points.iter().try_for_each(|point| {
                let is_knee = knee == Some(point.at);
                print_line(&json(&point.json(curve, args.size.0, site, is_knee))?, out)
            })
        }
        false => show::curve(site, curve, &points, args.size.0, out),
    }
}

fn show_needs(args: &PlanArgs, site: &Site, windows: Vec<Window>, out: &mut impl Write) -> Result<()> {
    let needs =
        windows.into_iter().map(|window| need::need(site, window)).collect::<Result<Vec<Needed>>>()?;
    if !args.json {
        return show::needs(site, &needs, out);
    }
    let mut answers =
        needs.iter().flat_map(|needed| needed.answers.iter().map(move |answer| answer.json(needed)));
    answers.try_for_each(|answer| print_line(&json(&answer)?, out))
}

/// A temporary file beside `path`, which gets this name when it is complete: a measurement that fails leaves none.
fn create_hidden(path: &Path) -> io::Result<NamedTempFile> {
    if path.symlink_metadata().is_ok() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file exists"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Less the umask, as for any other new file.
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Measures, and writes a site of this machine.
fn calibrate(args: &PlanArgs, out: &mut impl Write) -> Result<()> {
    let memory = Path::new("/dev/shm");
    let folder = args.folder.as_deref().unwrap_or(if memory.is_dir() { memory } else { Path::new(".") });
    // Created first: a file that exists is reported before anything is measured.
    let file = args.out.as_deref().map(|path| create_hidden(path).map_err(Error::io("create", path)));
    let file = file.transpose()?;
    let site = measure::measure(folder, args.repetitions, &mut io::stderr())?;
    let text = serde_yaml_ng::to_string(&site);
    let text = text.map_err(io::Error::other).map_err(Error::pipe("encode the site"))?;
    let Some((mut file, path)) = file.zip(args.out.as_deref()) else {
        return write!(out, "{text}").map_err(Error::Output);
    };
    file.write_all(text.as_bytes()).map_err(Error::io("write", path))?;
    file.persist_noclobber(path).map_err(|error| Error::io("create", path)(error.error))?;
    print_line(
        &format!(
            "{}: costs of this machine; isotach plan SITE --costs {} uses them",
            path.display(),
            path.display()
        ),
        out,
    )
}
