//! `isotach verify` and `isotach repair`: report damage, and repair it.

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
    context::{self, AtFlag, StoreFlags, quoted},
    failure::{Failure, Outcome},
    missing,
    output::{Bytes, Rate, count, key_object, outln, print_json, seconds},
    progress::Progress,
    requests::OptionalRequestFlags,
};

/// The last line of a repair that changes nothing.
const UNCHANGED: &str = "nothing was changed: add --doit to repair";

/// Report what is damaged
///
/// Checks the files of each dataset of the request (of all datasets without one), its index, and that the bytes of each
/// field exist. With --at checks the datasets of a snapshot, even if they were wiped. Changes nothing; other programs may
/// read and write at the same time. Exit code 1 if anything is damaged.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach verify class=od,date=-1 --data")]
pub(crate) struct VerifyFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    #[command(flatten)]
    at: AtFlag,
    /// Also read the bytes of every field and compare their checksums
    #[arg(long)]
    data: bool,
    /// Print one JSON object for each damaged place, and one for the sum
    #[arg(long)]
    json: bool,
}

/// Repair damage, without deleting anything
///
/// Prints what it would do; --doit does it. A damaged file that can be derived from others is moved into the folder aside of
/// the pool, the quarantine. The entry of a field whose bytes are damaged is written into a note there, and removed from the
/// index: the field is then missing instead of corrupt, and can be archived again. A log that has lost its end is restored
/// as far as other files prove it; stored bytes that no entry names are copied into the quarantine. A wipe of collocations
/// that was killed or failed, and stayed counted, is ended; so is one that is running, which then fails with conflict. Exit
/// code 1 if damage is left.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach repair class=od,date=-1 --data --doit")]
pub(crate) struct RepairFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    /// Also repair fields whose bytes fail their checksum
    #[arg(long)]
    data: bool,
    /// Repair it
    #[arg(long)]
    doit: bool,
    /// Print one JSON object for each damaged place
    #[arg(long)]
    json: bool,
}

/// Reports what is damaged.
pub(crate) fn verify(target: &StoreFlags, flags: &VerifyFlags) -> Outcome {
    let open = || context::open_at(target, &flags.at);
    for_each_report(target, open, &flags.requests, flags.data, |report, took| {
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

/// Repairs what can be repaired.
pub(crate) fn repair(target: &StoreFlags, flags: &RepairFlags) -> Outcome {
    for_each_report(
        target,
        || context::open(target),
        &flags.requests,
        flags.data,
        |report, _| {
            let repair = report.repair(flags.doit)?;
            if flags.json {
                repair.repaired.iter().try_for_each(|repaired| {
                    let mut object = object(&repaired.dataset, &repaired.damage);
                    object["repair"] = repaired.repair.code().into();
                    object["aside"] = repaired.quarantine.clone().into();
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
                print_repair(target, &repair)?;
            }
            let is_left = repair.repaired.iter().any(|repaired| repaired.repair == Repair::Left);
            if is_left { Err(Failure::Reported) } else { Ok(()) }
        },
    )
}

/// Verifies each request. Calls `each` with the report and the time that it took.
fn for_each_report(
    target: &StoreFlags,
    open: impl Fn() -> Outcome<FieldStore>,
    flags: &OptionalRequestFlags,
    data: bool,
    mut each: impl FnMut(&VerifyReport, Duration) -> Outcome,
) -> Outcome {
    let requests = flags.parse()?;
    let options = VerifyOptions { data, ..VerifyOptions::default() };
    let begin = Instant::now();
    let mut damaged = Ok(());
    let store = match open() {
        Ok(store) => store,
        Err(failure) => {
            let outcome = unopened(target, options, failure, |report| each(report, begin.elapsed()));
            // If the repair has restored the store, its datasets are verified, too.
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
        let report = verify_request(&store, request, options)?;
        missing::note_no_dataset(
            &store,
            request,
            report.parts.iter().all(|part| part.key.is_empty() && part.damage.is_empty()),
        );
        match each(&report, begin.elapsed()) {
            // Damage does not end the command before the other requests.
            Err(Failure::Reported) => damaged = Err(Failure::Reported),
            other => other?,
        }
        Ok(())
    })?;
    damaged
}

/// Verifies a store that cannot be opened: its list of datasets may be damaged.
fn unopened(
    target: &StoreFlags,
    options: VerifyOptions,
    failure: Failure,
    each: impl FnOnce(&VerifyReport) -> Outcome,
) -> Outcome {
    let Ok((config, _)) = context::configuration(target) else { return Err(failure) };
    match FieldStore::verify_unopened(&config, &context::registry(), options) {
        Ok(report) if !report.is_sound() => each(&report),
        _ => Err(failure),
    }
}

fn verify_request(store: &FieldStore, request: &Request, options: VerifyOptions) -> Outcome<VerifyReport> {
    let progress = Mutex::new(Progress::new(None));
    let show = |now: VerifyProgress| {
        // A thread that finds the lock taken has nothing newer to show.
        if let Ok(mut progress) = progress.try_lock() {
            progress.set(now.fields, now.bytes, now.total);
        }
    };
    let report = store.verify(request, options, &show);
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
    for part in report.parts.iter().filter(|part| part.unended_wipes > 0) {
        let wipes = count(part.unended_wipes.into(), "wipe");
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
            outln!("{}; {more} of them are not listed", count(damages, "damaged place"))
        }
        _ => outln!("{}: `isotach repair` shows the possible repairs", count(damages, "damaged place")),
    }
}

/// Prints the bytes that no entry names. They are no damage by themselves.
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
        let why = "not flushed (yet), left by a killed command, or the entries are lost; a wipe of the dataset frees them";
        outln!("not named: {fields} of {bytes} in {}: {why}", there.place)
    })
}

/// Prints the results for logs that had lost their ends.
fn print_restored(target: &StoreFlags, report: &RepairReport) -> Outcome {
    for RestoredContainer { dataset, restored } in &report.restored {
        match restored.lost {
            0 => outln!("a log was restored completely")?,
            lost => outln!("a log was restored except for its last {}", Bytes(lost))?,
        }
        for kept in &restored.unnamed {
            outln!(
                "kept: {} that no entry names, from byte {} of {}",
                Bytes(kept.length),
                kept.from,
                kept.place
            )?;
            match dataset.is_empty() {
                true => outln!("    their dataset is unknown")?,
                false => outln!("    {}", rescue(target, dataset, kept)?)?,
            }
        }
    }
    if report.restored.iter().any(|of| !of.dataset.is_empty() && !of.restored.unnamed.is_empty()) {
        outln!(
            "each such command archives the GRIB messages in these bytes in their dataset; existing fields stay"
        )?;
    }
    match report.restored.is_empty() {
        true => Ok(()),
        false => outln!("`isotach verify` checks what was restored"),
    }
}

/// The command that archives the messages in bytes that a repair kept. It works in any folder, writes to the same store and
/// dataset, and replaces nothing.
fn rescue(target: &StoreFlags, dataset: &Key, kept: &Unnamed) -> Outcome<String> {
    let store = context::flag_of(&context::source(target)?.absolute()?);
    let (path, key) = (quoted(&kept.place), quoted(&dataset.to_string()));
    let length = kept.length;
    Ok(format!("tail -c {length} {path} | isotach {store} write --skip-bad --no-replace --key {key} -"))
}

fn print_repair(target: &StoreFlags, report: &RepairReport) -> Outcome {
    for ended in &report.ended_wipes {
        let verb = if report.done { "ended" } else { "would end" };
        outln!("{verb}: {} of collocations of {}", count(ended.wipes.into(), "wipe"), ended.dataset)?;
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
    let mut folders: Vec<_> =
        report.repaired.iter().filter_map(|repaired| repaired.quarantine.as_ref()).collect();
    folders.dedup();
    folders.iter().try_for_each(|folder| outln!("the quarantine is {folder}"))?;
    print_restored(target, report)?;
    let left = report.repaired.iter().filter(|repaired| repaired.repair == Repair::Left);
    let (unknown, left): (Vec<_>, Vec<_>) = left.partition(|repaired| repaired.damage.may_pass());
    let is_hopeless =
        left.iter().any(|repaired| repaired.why.is_none() && repaired.damage.level != Level::Store);
    let (unknown, left) = (unknown.len(), left.len());
    if unknown > 0 {
        let what = count(unknown as u64, "place");
        outln!("{what} could not be checked: verify again when the obstacle is removed")?;
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

/// Prints three lines, because each of them is long.
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
        "unnamed_arrays": sum_of(|part| part.unnamed_fields.as_ref().map_or(0, |unnamed| unnamed.fields)),
        "unended_wipes": sum_of(|part| part.unended_wipes.into()),
        "damages": sum_of(|part| part.damage.len() as u64),
        "more_damages": sum_of(|part| part.more_damage),
    })
}
