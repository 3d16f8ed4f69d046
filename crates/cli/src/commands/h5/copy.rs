//! `isotach h5 copy`: a file to a new one of either kind.

use std::time::Instant;

use clap::{Args, ValueEnum};
use isotach_hdf5_tools::{CopyOptions, Error, Kind, copy, kind_of, open};
use serde_json::json;

use super::site::site;
use crate::{
    failure::{Failure, Outcome, say},
    output::{Bytes, Rate, count, outln, print_json, seconds},
    progress::Progress,
};

/// Copy an HDF5 file: a native one to one of the connector, one of the connector to a native one, or either to its own kind
///
/// Chunks with filters are copied as they are stored. The copy is compared with the source, and appears when it is complete and equal. Native
/// files need an HDF5 library (1.12 or newer): that of h5py or netCDF4 in an active environment, the system's, or the one that ISOTACH_HDF5 names.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach h5 copy old.h5 new.h5
  isotach h5 copy new.h5 export.h5 --to native")]
pub(crate) struct CopyFlags {
    /// The file to copy
    source: String,
    /// The new file; it must not exist
    target: String,
    /// The kind of the new file [default: the other one than that of the source]
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// Do not compare the copy with the source
    #[arg(long)]
    no_check: bool,
    /// Leave out what cannot be copied, and name it, instead of refusing the file
    #[arg(long)]
    skip_unsupported: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Kinds of files.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum To {
    /// A file of the connector
    Isotach,
    /// A file of the HDF5 library
    Native,
}

/// Copies, and prints what was copied.
pub(crate) fn run(flags: &CopyFlags) -> Outcome {
    let site = site()?;
    let kind = match (flags.to, kind_of(&site, &flags.source)?) {
        (Some(To::Isotach), _) | (None, Kind::Native) => Kind::Isotach,
        (Some(To::Native), _) | (None, Kind::Isotach) => Kind::Native,
    };
    let source = open(&site, &flags.source)?;
    let options = CopyOptions { kind, check: !flags.no_check, skip_unsupported: flags.skip_unsupported };
    let begin = Instant::now();
    let mut progress = Progress::new(None).of("dataset");
    let copied = copy(&site, &*source, &flags.target, options, &mut |step| {
        progress.set(step.datasets, step.bytes, Some(step.bytes_total));
    });
    progress.finish();
    let copied = copied.map_err(|error| match error {
        Error::Refused { .. } => Failure::failed(format!("{error}; --skip-unsupported leaves them out")),
        error => error.into(),
    })?;
    let time = begin.elapsed();
    for refusal in &copied.left_out {
        say(format_args!("left out: {} ({})", refusal.path, refusal.why));
    }
    if copied.lost_references > 0 {
        let lost = count(copied.lost_references, "reference");
        say(format_args!("{lost} to no object of the copy: null in the copy"));
    }
    if flags.json {
        let left_out: Vec<_> =
            copied.left_out.iter().map(|left| json!({"path": left.path, "why": left.why})).collect();
        return print_json(&json!({
            "objects": copied.objects,
            "datasets": copied.datasets,
            "attributes": copied.attributes,
            "bytes": copied.bytes,
            "checked": options.check,
            "left_out": left_out,
            "lost_references": copied.lost_references,
            "seconds": time.as_secs_f64(),
        }));
    }
    let checked = if options.check { ", and checked" } else { "" };
    let (objects, attributes) = (count(copied.objects, "object"), count(copied.attributes, "attribute"));
    let (bytes, rate) = (Bytes(copied.bytes), Rate(copied.bytes, time));
    outln!("copied {objects} with {attributes}, {bytes} in {} ({rate}){checked}", seconds(time))
}
