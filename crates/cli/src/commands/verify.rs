//! `isotach verify` and `isotach repair`: what is damaged, and what can be done about it.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use clap::Args;
use isotach_fields::{
    Damage, FieldStore, Level, Repair, RepairReport, RestoredContainer, VerifiedPart, VerifyOptions,
    VerifyProgress, VerifyReport,
};
use isotach_mars::{Key, Match, Request};
use isotach_object::Unnamed;
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, PlaceFlags, quoted},
    failure::{Failure, Outcome},
    output::{Bytes, Rate, count, key_object, outln, print_json, seconds},
    progress::Progress,
    requests::{self, OneRequest},
};

/// How a repair ends that changes nothing.
const UNCHANGED: &str = "nothing was changed: add --doit to repair";

/// Look whether everything is as it was stored, and say what is not
///
/// Looks at the files of each dataset of the request (of all datasets without one), at its index, and whether the bytes
/// of each field are there. With --at at those of a snapshot, though they were wiped. Changes nothing; others may read and write meanwhile. Exit code 1 if anything is damaged.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach verify class=od,date=-1 --data")]
pub(crate) struct VerifyFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Also read the bytes of every field and compare their checksums
    #[arg(long)]
    pub(crate) data: bool,
    /// Print one JSON object for each damage, and one for the sum
    #[arg(long)]
    pub(crate) json: bool,
}

/// Set aside what verify finds damaged, as far as nothing is lost by it
///
/// Says what it would do; --doit does it. Nothing is deleted. A damaged file that can be made anew is moved into the
/// folder aside of the pool. The entry of a field whose bytes are damaged is written into a note there, and taken out of the index: it is
/// then missing instead of corrupt, and can be archived again. A log that has lost its end is restored as far as other files prove
/// it; stored bytes that no entry names are copied into the folder aside. Exit code 1 if damage is left.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach repair class=od,date=-1 --data --doit")]
pub(crate) struct RepairFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Also repair fields whose bytes do not have their checksum
    #[arg(long)]
    pub(crate) data: bool,
    /// Do it
    #[arg(long)]
    pub(crate) doit: bool,
    /// Print one JSON object for each damage
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reports what is damaged.
pub(crate) fn verify(place: &PlaceFlags, flags: &VerifyFlags) -> Outcome {
    let open = || context::open_at(place, &flags.at);
    each_report(place, open, &flags.requests, flags.data, |report, took| {
        if flags.json {
            report
                .parts
                .iter()
                .flat_map(|part| part.damage.iter().map(move |damage| (part, damage)))
                .try_for_each(|(part, damage)| print_json(&object(&part.key, damage)))?;
            print_json(&sum(report))?;
        } else {
            print(report, took)?;
        }
        if report.is_sound() { Ok(()) } else { Err(Failure::Reported) }
    })
}

/// Looks, and repairs what can be.
pub(crate) fn repair(place: &PlaceFlags, flags: &RepairFlags) -> Outcome {
    each_report(
        place,
        || context::open(place),
        &flags.requests,
        flags.data,
        |report, _| {
            let repair = report.repair(flags.doit)?;
            if flags.json {
                repair.repaired.iter().try_for_each(|repaired| {
                    let mut object = object(&repaired.dataset, &repaired.damage);
                    object["repair"] = repaired.repair.code().into();
                    object["aside"] = repaired.aside.clone().into();
                    object["why"] = repaired.why.clone().into();
                    object["done"] = repair.done.into();
                    print_json(&object)
                })?;
                repair.restored.iter().try_for_each(|container| {
                    let restored = &container.restored;
                    let lost = restored.lost;
                    let unnamed: Vec<_> = restored
                        .unnamed
                        .iter()
                        .map(|kept| json!({ "place": kept.place, "from": kept.from, "bytes": kept.length }))
                        .collect();
                    print_json(&json!({ "restored": true, "lost_bytes": lost, "unnamed": unnamed }))
                })?;
                repair.ended_wipes.iter().try_for_each(|ended| {
                    let dataset = key_object(&ended.dataset);
                    print_json(
                        &json!({ "dataset": dataset, "ended_wipes": ended.wipes, "done": repair.done }),
                    )
                })?;
            } else {
                print_repair(place, &repair)?;
            }
            let is_left = repair.repaired.iter().any(|repaired| repaired.repair == Repair::Left);
            if is_left { Err(Failure::Reported) } else { Ok(()) }
        },
    )
}

/// Calls `each` with what verifying each request finds and how long that took.
fn each_report(
    place: &PlaceFlags,
    open: impl Fn() -> Outcome<FieldStore>,
    flags: &OneRequest,
    data: bool,
    mut each: impl FnMut(&VerifyReport, Duration) -> Outcome,
) -> Outcome {
    let requests = requests::given_or_all(flags)?;
    let options = VerifyOptions { data, ..VerifyOptions::default() };
    let begin = Instant::now();
    let mut damaged = Ok(());
    let store = match open() {
        Ok(store) => store,
        Err(failure) => {
            let outcome = unopened(place, options, failure, |report| each(report, begin.elapsed()));
            // A repair may have made a store of it again. What its list names now is looked at, too.
            match (outcome, open()) {
                (outcome @ (Ok(()) | Err(Failure::Reported)), Ok(store)) => {
                    damaged = outcome;
                    store
                }
                (outcome, _) => return outcome,
            }
        }
    };
    requests.for_each(&store, Match::Partial, |request| {
        let begin = Instant::now();
        let report = look(&store, request, options)?;
        match each(&report, begin.elapsed()) {
            // The other requests are answered all the same.
            Err(Failure::Reported) => damaged = Err(Failure::Reported),
            other => other?,
        }
        Ok(())
    })?;
    damaged
}

/// A store that cannot be opened may have a list of datasets that is damaged.
fn unopened(
    place: &PlaceFlags,
    options: VerifyOptions,
    failure: Failure,
    each: impl FnOnce(&VerifyReport) -> Outcome,
) -> Outcome {
    let Ok((config, _)) = context::configuration(place) else { return Err(failure) };
    match FieldStore::verify_unopened(&config, &context::registry(), options) {
        Ok(report) if !report.is_sound() => each(&report),
        _ => Err(failure),
    }
}

fn look(store: &FieldStore, request: &Request, options: VerifyOptions) -> Outcome<VerifyReport> {
    let progress = Mutex::new(Progress::new(None));
    let tell = |now: VerifyProgress| {
        // Who comes while another tells has nothing newer to say.
        if let Ok(mut progress) = progress.try_lock() {
            progress.reach(now.fields, now.bytes, now.total);
        }
    };
    let report = store.verify(request, options, &tell);
    if let Ok(mut progress) = progress.lock() {
        progress.finish();
    }
    Ok(report?)
}

fn print(report: &VerifyReport, elapsed: Duration) -> Outcome {
    report
        .parts
        .iter()
        .flat_map(|part| &part.damage)
        .try_for_each(|damage| print_damage("damaged", damage))?;
    let datasets = report.parts.iter().filter(|part| !part.key.is_empty()).count() as u64;
    let sum_of = |of: fn(&VerifiedPart) -> u64| report.parts.iter().map(of).sum::<u64>();
    let (fields, replaced) = (sum_of(|part| part.fields), sum_of(|part| part.replaced_fields));
    outln!(
        "verified {}, {} and {} in {} ({}, {})",
        count(datasets, "dataset"),
        count(fields, "field"),
        count(replaced, "replaced field"),
        seconds(elapsed),
        Bytes(report.bytes),
        Rate(report.bytes, elapsed)
    )?;
    print_unnamed(report)?;
    for part in report.parts.iter().filter(|part| part.unended_wipes() > 0) {
        let wipes = count(part.unended_wipes().into(), "wipe");
        outln!(
            "not ended: {wipes} of collocations of {}; if none is running, `isotach repair --doit` ends it",
            part.key
        )?;
    }
    let more = sum_of(|part| part.more_damage);
    let damages = sum_of(|part| part.damage.len() as u64) + more;
    match damages {
        0 => outln!("nothing is damaged"),
        _ if more > 0 => {
            outln!("{}, of which {more} are not told one by one", count(damages, "damaged place"))
        }
        _ => outln!("{}: `isotach repair` says what can be done", count(damages, "damaged place")),
    }
}

/// Bytes that no entry names, which are no damage by themselves.
fn print_unnamed(report: &VerifyReport) -> Outcome {
    let unnamed: Vec<_> = report.parts.iter().flat_map(|part| &part.unnamed).collect();
    for there in &unnamed {
        outln!("not named: {} from byte {} of {}", Bytes(there.length), there.from, there.place)?;
    }
    if !unnamed.is_empty() {
        outln!(
            "no entry names the last bytes of {}: fields that were never flushed, or whose entries are lost",
            count(unnamed.len() as u64, "data file")
        )?;
    }
    report.parts.iter().filter_map(|part| part.unnamed_fields.as_ref()).try_for_each(|there| {
        let (fields, bytes) = (count(there.fields, "array"), Bytes(there.bytes));
        outln!("not named: {fields} of {bytes} in {}: never flushed, or the entries are lost", there.place)
    })
}

/// What came of logs that had lost their ends.
fn print_restored(place: &PlaceFlags, report: &RepairReport) -> Outcome {
    for RestoredContainer { dataset, restored } in &report.restored {
        match restored.lost {
            0 => outln!("a log was restored whole")?,
            lost => outln!("a log was restored but for its last {}", Bytes(lost))?,
        }
        for kept in &restored.unnamed {
            outln!(
                "kept: {} that no entry names, from byte {} of {}",
                Bytes(kept.length),
                kept.from,
                kept.place
            )?;
            match dataset.is_empty() {
                true => outln!("    which dataset had them is not known")?,
                false => outln!("    {}", rescue(place, dataset, kept)?)?,
            }
        }
    }
    if report.restored.iter().any(|of| !of.dataset.is_empty() && !of.restored.unnamed.is_empty()) {
        outln!(
            "each such command archives the GRIB messages in these bytes in their dataset; fields that are there stay"
        )?;
    }
    match report.restored.is_empty() {
        true => Ok(()),
        false => outln!("`isotach verify` says whether what was restored is whole"),
    }
}

/// The command that archives the messages in bytes that a repair kept: in the same store and dataset, wherever it is typed, and in
/// the place of nothing.
fn rescue(place: &PlaceFlags, dataset: &Key, kept: &Unnamed) -> Outcome<String> {
    let store = context::source(place)?.absolute()?.as_flag();
    let (path, key) = (quoted(&kept.place), quoted(&dataset.to_string()));
    let length = kept.length;
    Ok(format!("tail -c {length} {path} | isotach {store} write --skip-bad --no-replace --key {key} -"))
}

fn print_repair(place: &PlaceFlags, report: &RepairReport) -> Outcome {
    for ended in &report.ended_wipes {
        let doing = if report.done { "ended" } else { "would end" };
        outln!("{doing}: {} of collocations of {}", count(ended.wipes.into(), "wipe"), ended.dataset)?;
    }
    if report.repaired.is_empty() {
        outln!("nothing is damaged")?;
        return match report.done || report.ended_wipes.is_empty() {
            true => Ok(()),
            false => outln!("{UNCHANGED}"),
        };
    }
    for repaired in &report.repaired {
        print_damage(repaired.repair.code(), &repaired.damage)?;
        repaired.why.as_ref().map_or(Ok(()), |why| outln!("    not repaired: {why}"))?;
    }
    let mut asides: Vec<_> = report.repaired.iter().filter_map(|repaired| repaired.aside.as_ref()).collect();
    asides.dedup();
    asides.iter().try_for_each(|aside| outln!("what was set aside is in {aside}"))?;
    print_restored(place, report)?;
    let left = report.repaired.iter().filter(|repaired| repaired.repair == Repair::Left);
    let (unknown, left): (Vec<_>, Vec<_>) = left.partition(|repaired| repaired.damage.may_pass());
    let is_hopeless =
        left.iter().any(|repaired| repaired.why.is_none() && repaired.damage.level != Level::Store);
    let (unknown, left) = (unknown.len(), left.len());
    if unknown > 0 {
        let what = count(unknown as u64, "place");
        outln!("{what} could not be looked at: verify again when what stood in the way is gone")?;
    }
    if left > 0 {
        let advice = if is_hopeless { ": `isotach wipe` removes damaged datasets" } else { "" };
        outln!("{} left{advice}", count(left as u64, "damaged place"))?;
    }
    match report.done {
        true => Ok(()),
        false => outln!("{UNCHANGED}"),
    }
}

/// Three lines, because each of them is long.
fn print_damage(what: &str, damage: &Damage) -> Outcome {
    outln!("{what}: {} {}", damage.level.code(), name(&damage.key))?;
    outln!("    {}", damage.what)?;
    outln!("    {}", place_of(damage))
}

fn name(key: &Key) -> String {
    if key.is_empty() { "list of datasets".to_owned() } else { key.to_string() }
}

fn place_of(damage: &Damage) -> String {
    match damage.byte {
        Some(byte) => format!("{} at byte {byte}", damage.place),
        None => damage.place.clone(),
    }
}

fn object(dataset: &Key, damage: &Damage) -> Value {
    json!({
        "dataset": key_object(dataset),
        "damaged": damage.level.code(),
        "key": key_object(&damage.key),
        "what": damage.what,
        "place": damage.place,
        "byte": damage.byte,
    })
}

fn unnamed_bytes(part: &VerifiedPart) -> u64 {
    let ends: u64 = part.unnamed.iter().map(|unnamed| unnamed.length).sum();
    ends + part.unnamed_fields.as_ref().map_or(0, |unnamed| unnamed.bytes)
}

fn sum(report: &VerifyReport) -> Value {
    let sum_of = |of: fn(&VerifiedPart) -> u64| report.parts.iter().map(of).sum::<u64>();
    json!({
        "datasets": report.parts.iter().filter(|part| !part.key.is_empty()).count(),
        "fields": sum_of(|part| part.fields),
        "replaced_fields": sum_of(|part| part.replaced_fields),
        "bytes": report.bytes,
        "unnamed_bytes": sum_of(unnamed_bytes),
        "unended_wipes": sum_of(|part| part.unended_wipes().into()),
        "damages": sum_of(|part| part.damage.len() as u64),
        "more_damages": sum_of(|part| part.more_damage),
    })
}
