//! `isotach h5 index`: the index of the values of a dataset.

use clap::Args;
use isotach_hdf5::{IndexInfo, parse_member};
use serde_json::json;

use super::site::{Rights, object};
use crate::{
    failure::{Failure, Outcome},
    output::{count, outln, print_json},
};

/// Index the numbers of a dataset, so that queries need not read all of it
///
/// Chunks that have an index are left as they are; those that programs store from then on get theirs as they are stored. The index has the
/// least and the greatest number of each chunk, and with --bins also where each number is, which takes about as much space as the numbers.
///
/// Bins and members stay as they were chosen before unless options say otherwise: --bins adds bins, and --member replaces the members. What is
/// indexed otherwise is removed then, and built anew. Bins are removed with the index only.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach h5 index run.h5 fields/t
  isotach h5 index run.h5 stations --member wind.speed --bins
  isotach h5 index run.h5 fields/t --show")]
pub(crate) struct IndexFlags {
    /// The file
    file: String,
    /// The dataset in it
    #[arg(value_name = "PATH")]
    path: String,
    /// Also index where each number is
    #[arg(long)]
    bins: bool,
    /// A member to index; may be repeated [default: those that are indexed, or all numbers]
    #[arg(long, value_name = "NAME.NAME")]
    member: Vec<String>,
    /// Only show what is indexed
    #[arg(long, conflicts_with_all = ["bins", "member", "remove"])]
    show: bool,
    /// Remove the index
    #[arg(long, conflicts_with_all = ["bins", "member"])]
    remove: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Builds, removes or shows the index.
pub(crate) fn run(flags: &IndexFlags) -> Outcome {
    let dataset = object(&flags.file, &flags.path, if flags.show { Rights::Read } else { Rights::Write })?;
    if flags.show {
        return show(flags, dataset.index()?.as_ref());
    }
    if flags.remove {
        if !dataset.remove_index()? {
            return Err(Failure::failed(format!("{}: it has no index", flags.path)));
        }
        dataset.file().commit()?;
        return Ok(());
    }
    let members: Result<Vec<_>, _> = flags.member.iter().map(|member| parse_member(member)).collect();
    let members = members.map_err(Failure::usage)?;
    let mut options = dataset.index()?.map(|info| info.options).unwrap_or_default();
    options.has_bins |= flags.bins;
    if !members.is_empty() {
        options.members = members;
    }
    let info = dataset.build_index(&options)?;
    dataset.file().commit()?;
    show(flags, Some(&info))
}

fn show(flags: &IndexFlags, info: Option<&IndexInfo>) -> Outcome {
    let Some(info) = info else {
        return if flags.json { print_json(&json!(null)) } else { outln!("no index") };
    };
    let member = |member: &Vec<String>| if member.is_empty() { "value".to_owned() } else { member.join(".") };
    let members: Vec<String> = info.options.members.iter().map(member).collect();
    if flags.json {
        return print_json(&json!({
            "members": members,
            "bins": info.options.has_bins,
            "chunks": info.chunks,
            "indexed": info.indexed,
            "without": info.without,
        }));
    }
    let bins = if info.options.has_bins { ", with bins" } else { "" };
    let chunks = count(info.chunks, "chunk");
    outln!("index of {}{bins}: {} of {chunks}", members.join(", "), info.indexed)
}
