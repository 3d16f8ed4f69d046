//! The command line of IOR, and its tests.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use isotach_object::{ObjectClass, PoolUri};

use super::{
    api::ApiName,
    layout::Shape,
    play::{Steps, Test},
};
use crate::{
    Error, Result,
    harness::study::{Retention, StudyArgs},
};

/// The largest transfer: each process has two buffers of it.
const TRANSFER_MAX: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// The two settings of the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// One file or object for each process, of 100 parts: -s 100 -i 1 -F -C -e
    Segments,
    /// 100 files or objects for each process, of one part, all processes in step: -s 1 -i 100 -F -C -e -m
    Repetitions,
}

/// Options of IOR, with IOR's letters. Sizes are bytes, or end in k, m or g: 1m is 1 MiB.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("repetitions", |option| option.default_value("1").help("Repetitions of each test, each in a new pool: -i repeats within one")))]
pub(crate) struct IorArgs {
    /// What is written and read: arrays of the object model, plain files, or both, one after the other
    #[arg(short = 'a', long = "api", value_name = "API", value_delimiter = ',', default_value = "object")]
    pub(crate) apis: Vec<ApiName>,
    /// One of the papers' settings; other options override it. With it, sizes are 1m, and -b is the same as -t
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,
    /// Bytes that a process has of each segment; several values go with those of -t in pairs [default: 1m]
    #[arg(short = 'b', long = "block", value_name = "SIZE", value_delimiter = ',', value_parser = size)]
    pub(crate) blocks: Vec<u64>,
    /// Bytes of one transfer, of which -b is a multiple [default: 256k]
    #[arg(short = 't', long = "transfer", value_name = "SIZE", value_delimiter = ',', value_parser = size)]
    pub(crate) transfers: Vec<u64>,
    /// Segments [default: 1]
    #[arg(short = 's', long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) segments: Option<u64>,
    /// Iterations of writing and reading [default: 1]
    #[arg(short = 'i', long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) iterations: Option<u64>,
    /// A file or object for each process, instead of one that all share
    #[arg(short = 'F', long)]
    pub(crate) file_per_process: bool,
    /// What each process does
    #[command(flatten)]
    pub(crate) steps: Steps,
    /// Object classes of the arrays
    #[arg(long = "class", value_name = "CLASS", value_delimiter = ',', default_value = "S1")]
    pub(crate) classes: Vec<ObjectClass>,
    /// The folder for plain files, which must not exist, with one --pool [default: POOL-files beside a posix pool]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,
    /// One line of comma-separated values for each iteration, instead of tables
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Where, with how many processes, how often
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

fn size(text: &str) -> std::result::Result<u64, String> {
    let expected = || "expected a size, at least 1, such as 47008, 256k, 1m or 2g".to_owned();
    let (digits, unit) = match text.as_bytes().last().map(u8::to_ascii_lowercase) {
        Some(b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm') => (&text[..text.len() - 1], MIB),
        Some(b'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number = digits.parse::<u64>().ok().filter(|number| *number > 0);
    number.and_then(|number| number.checked_mul(unit)).ok_or_else(expected)
}

impl IorArgs {
    /// What happens to pools and folders: those of other runs are kept.
    pub(super) fn retention(&self) -> Retention {
        match (self.writes(), self.steps.keep) {
            (false, _) => Retention::Existing,
            (true, true) => Retention::Keep,
            (true, false) => Retention::Remove,
        }
    }

    fn is_any_named(&self) -> bool {
        let Steps { write, read, check_write, check_read, .. } = self.steps;
        write || read || check_write || check_read
    }

    fn writes(&self) -> bool {
        self.steps.write || !self.is_any_named()
    }

    /// All tests. Refuses options that exclude each other.
    pub(super) fn tests(&self) -> Result<Vec<Test>> {
        self.check_locations()?;
        let mut tests = Vec::new();
        for (block, transfer) in self.sizes()? {
            let shape = self.shape(block, transfer)?;
            for class in &self.classes {
                for api in &self.apis {
                    // Plain files have no class, so they are measured once.
                    if *api == ApiName::Object || Some(class) == self.classes.first() {
                        tests.push(self.test(*api, *class, shape));
                    }
                }
            }
        }
        self.check_kept(&tests)?;
        Ok(tests)
    }

    fn test(&self, api: ApiName, class: ObjectClass, shape: Shape) -> Test {
        let (is_preset, repeats) = (self.preset.is_some(), self.preset == Some(Preset::Repetitions));
        let given = self.steps;
        let steps = Steps {
            write: self.writes(),
            read: given.read || given.check_read || !self.is_any_named(),
            reorder: given.reorder || is_preset,
            fsync: given.fsync || is_preset,
            multi_file: given.multi_file || repeats,
            ..given
        };
        let iterations = self.iterations.unwrap_or(if repeats { 100 } else { 1 });
        Test { api, shape, class: class.to_string(), iterations, steps, files: self.files.clone() }
    }

    /// Pairs of block and transfer.
    fn sizes(&self) -> Result<Vec<(u64, u64)>> {
        let given = |sizes: &[u64], or: &[u64]| if sizes.is_empty() { or.to_vec() } else { sizes.to_vec() };
        let (blocks, transfers) = match self.preset {
            Some(_) => (given(&self.blocks, &self.transfers), given(&self.transfers, &self.blocks)),
            None => (self.blocks.clone(), given(&self.transfers, &[MIB / 4])),
        };
        let [blocks, transfers] = [blocks, transfers].map(|sizes| given(&sizes, &[MIB]));
        let count = blocks.len().max(transfers.len());
        if [&blocks, &transfers].iter().any(|sizes| ![1, count].contains(&sizes.len())) {
            let what = format!("{} values of -b and {} of -t", blocks.len(), transfers.len());
            return Err(Error::invalid(what, "as many of both, or one of one of them"));
        }
        let of = |sizes: &[u64], at: usize| sizes[at % sizes.len()];
        Ok((0..count).map(|at| (of(&blocks, at), of(&transfers, at))).collect())
    }

    fn shape(&self, block: u64, transfer: u64) -> Result<Shape> {
        if transfer > TRANSFER_MAX {
            return Err(Error::invalid(format!("-t of {transfer} bytes"), "at most 1g"));
        }
        if !block.is_multiple_of(transfer) {
            let what = format!("-b of {block} bytes and -t of {transfer}");
            return Err(Error::invalid(what, "a -b that is a multiple of -t"));
        }
        let segments = match self.preset {
            Some(Preset::Segments) => 100,
            Some(Preset::Repetitions) | None => 1,
        };
        let segments = self.segments.unwrap_or(segments);
        let file_per_process = self.file_per_process || self.preset.is_some();
        let shape = Shape { block, transfer, segments, file_per_process };
        let most = self.study.totals().max().unwrap_or(1);
        let all = shape.bytes().and_then(|bytes| bytes.checked_mul(most as u64));
        match all.filter(|all| i64::try_from(*all).is_ok()) {
            Some(_) => Ok(shape),
            None => Err(Error::invalid(
                format!("{segments} segments with {block} bytes of each of {most} processes"),
                "less than 8 EiB in all",
            )),
        }
    }

    fn check_locations(&self) -> Result<()> {
        let retention = self.retention();
        if self.study.site.pools.is_empty() && retention != Retention::Remove {
            let (what, expected) = match retention {
                Retention::Existing => ("nothing to read: no -w", "-w, or --pool URI of what a run has kept"),
                Retention::Keep | Retention::Remove => ("-k without a place", "--pool URI, which says where"),
            };
            return Err(Error::invalid(what, expected));
        }
        let (files, pools) = (&self.files, self.study.site.pools.len());
        if let Some(files) = files.as_ref().filter(|_| pools != 1 && self.apis.contains(&ApiName::Posix)) {
            let what = format!("--files {} for {pools} values of --pool", files.display());
            return Err(Error::invalid(what, "one --pool; without --files each has a folder beside it"));
        }
        for pool in &self.study.site.pools {
            let is_elsewhere = pool.parse::<PoolUri>()?.scheme() != "posix";
            if is_elsewhere && self.files.is_none() && self.apis.contains(&ApiName::Posix) {
                let what = format!("-a posix beside pool {pool}");
                return Err(Error::invalid(what, "--files FOLDER, which says where plain files go"));
            }
        }
        Ok(())
    }

    /// Refuses to keep more than one test in a pool.
    fn check_kept(&self, tests: &[Test]) -> Result<()> {
        let per_api = |api| tests.iter().filter(|test| test.api == api).count();
        let tests = per_api(ApiName::Object).max(per_api(ApiName::Posix));
        let all = tests * self.study.processes.len() * self.study.repetitions as usize;
        if self.retention() == Retention::Keep && all > 1 {
            let what = format!("-k with {all} tests in one pool");
            return Err(Error::invalid(
                what,
                "one size, one class, one number of processes and --repetitions 1",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: IorArgs,
    }

    fn tests(words: &str) -> Result<Vec<Test>> {
        let program = Program::try_parse_from(std::iter::once("ior").chain(words.split_whitespace()));
        program.unwrap().args.tests()
    }

    fn shapes(words: &str) -> Vec<(u64, u64, u64)> {
        let tests = tests(words).unwrap();
        tests.iter().map(|test| (test.shape.block, test.shape.transfer, test.shape.segments)).collect()
    }

    #[test]
    fn sizes_have_the_suffixes_of_ior() {
        let sizes = ["47008", "4k", "2M", "1g"].map(|text| size(text).unwrap());
        assert_eq!(sizes, [47008, 4096, 2 << 20, 1 << 30]);
        for wrong in ["", "k", "0", "-1", "1.5m", "1 m", "4t", "99999999999999g", "\u{e9}"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_options_the_defaults_are_those_of_ior() {
        let one = &tests("").unwrap()[0];
        assert_eq!(shapes(""), [(1 << 20, 256 << 10, 1)]);
        let Steps { write, read, check_read, check_write, reorder, fsync, .. } = one.steps;
        assert!(write && read && !check_read && !check_write && one.iterations == 1);
        assert!(!one.shape.file_per_process && !reorder && !fsync);
    }

    #[test]
    fn presets_are_the_settings_of_the_papers_and_options_override_them() {
        let segments = &tests("--preset segments -t 5m").unwrap()[0];
        assert_eq!(shapes("--preset segments -t 5m"), [(5 << 20, 5 << 20, 100)]);
        assert!(segments.shape.file_per_process && segments.steps.reorder && segments.steps.fsync);
        assert!(segments.iterations == 1 && !segments.steps.multi_file);
        let repetitions = &tests("--preset repetitions").unwrap()[0];
        assert_eq!(shapes("--preset repetitions"), [(1 << 20, 1 << 20, 1)]);
        assert!(repetitions.iterations == 100 && repetitions.steps.multi_file);
        assert_eq!(shapes("--preset segments -s 7 -b 2m,4k"), [(2 << 20, 2 << 20, 7), (4096, 4096, 7)]);
        assert_eq!(tests("--preset repetitions -i 3").unwrap()[0].iterations, 3);
    }

    #[test]
    fn sizes_go_in_pairs_and_plain_files_are_measured_once_for_all_classes() {
        assert_eq!(shapes("-b 8m,4m -t 1m,2m"), [(8 << 20, 1 << 20, 1), (4 << 20, 2 << 20, 1)]);
        assert_eq!(shapes("-b 8m -t 1m,2m"), [(8 << 20, 1 << 20, 1), (8 << 20, 2 << 20, 1)]);
        let all = tests("-a object,posix --class S1,S2,SX").unwrap();
        let of = |api| all.iter().filter(|test| test.api == api).count();
        assert_eq!((of(ApiName::Object), of(ApiName::Posix)), (3, 1));
    }

    #[test]
    fn options_that_exclude_each_other_are_refused_with_a_remedy() {
        for (words, expected) in [
            ("-b 1m -t 300k", "multiple of -t"),
            ("-b 1k -t 1m", "multiple of -t"),
            ("-t 2g -b 2g", "at most 1g"),
            ("-b 1m,2m -t 1k,2k,4k", "as many of both"),
            ("-b 8589934591g -t 1m", "less than 8 EiB"),
            ("-k", "--pool"),
            ("-r", "no -w"),
            ("-k --pool posix:/data/pool --class S1,S2", "one class"),
            ("-k --pool posix:/data/pool --repetitions 2", "--repetitions 1"),
            ("-a object,posix --pool daos:tank", "--files"),
            ("-a posix --files /data/files --pool posix:/data/a,posix:/data/b", "one --pool"),
            ("-a posix --files /data/files", "one --pool"),
        ] {
            let error = tests(words).unwrap_err().to_string();
            assert!(error.contains(expected), "{words}: {error}");
        }
        assert!(tests("-r --repetitions 2 --pool posix:/data/pool").is_ok());
    }
}
