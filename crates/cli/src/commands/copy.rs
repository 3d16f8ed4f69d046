//! `isotach copy` and `isotach move`: fields to another store, or changed to other keys.

use std::time::Instant;

use clap::Args;
use isotach_fields::{Config, CopyReport, FieldStore};
use isotach_grib::Eccodes;
use isotach_mars::{Key, Match, Request};
use serde_json::json;

use crate::{
    context::{self, PlaceFlags, Source, is_same_pool, not_opened, pool_uri, relabel_through_eccodes},
    failure::{Failure, Outcome, say},
    intake::{
        audit::{Noticed, OwnKey},
        change::{Edits, ModifyFlag},
    },
    missing,
    output::{Bytes, Rate, count, outln, print_json, seconds},
    requests::{self, Given, LeastFlag, Requests},
};

/// Copy fields to another store, or, changed, within the store
///
/// A key left out of the request matches every value. Of adopted files the bytes are copied.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach copy class=od,date=-1 --to posix:/archive/fields
  isotach copy class=od,date=-1 --modify class=rd,expver=x001")]
pub(crate) struct CopyFlags {
    #[command(flatten)]
    pub(crate) transfer: TransferFlags,
    /// The other store; it must exist. Without it the changed fields are archived in this one
    #[arg(long, value_name = "URI", required_unless_present = "modify")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) change: ModifyFlag,
    /// With --modify: refuse, before anything is visible, what would replace a field of the store or of this command
    ///
    /// All fields are read and changed twice for that. Fields that other programs archive meanwhile are not known.
    #[arg(long, requires = "modify")]
    pub(crate) no_replace: bool,
}

/// Move datasets, or whole collocations of them, to another store
///
/// Copies, compares counts, lengths and checksums, then wipes. Meanwhile the datasets are locked for archiving.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach move class=od,date=20240101 --to posix:/archive/fields")]
pub(crate) struct MoveFlags {
    #[command(flatten)]
    pub(crate) transfer: TransferFlags,
    /// The other store; it must exist
    #[arg(long, value_name = "URI")]
    pub(crate) to: String,
}

/// What both take.
#[derive(Debug, Args)]
pub(crate) struct TransferFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Copies.
pub(crate) fn copy(place: &PlaceFlags, flags: &CopyFlags) -> Outcome {
    let Some(edits) = &flags.change.modify else {
        return transfer(place, &flags.transfer, flags.to.as_deref(), "copied", |from, to, requests| {
            sum_of(from, requests, |request| Ok(from.copy_to(to, request)?))
        });
    };
    transfer(place, &flags.transfer, flags.to.as_deref(), "copied", |from, to, requests| {
        if flags.no_replace {
            let mut changed = Changed::new(from, to, edits)?;
            requests.for_each(from, Match::Partial, |request| changed.look(request))?;
            changed.noticed.refusal().map_or(Ok(()), |refusal| Err(Failure::failed(refusal)))?;
        }
        let mut changed = Changed::new(from, to, edits)?;
        let sum = sum_of(from, requests, |request| changed.copy(request))?;
        changed.noticed.lines().iter().for_each(say);
        Ok(sum)
    })
}

/// Moves.
pub(crate) fn move_(place: &PlaceFlags, flags: &MoveFlags) -> Outcome {
    transfer(place, &flags.transfer, Some(&flags.to), "moved", |from, to, requests| {
        sum_of(from, requests, |request| Ok(from.move_to(to, request)?))
    })
}

/// Does the requests in turn.
fn sum_of(
    from: &FieldStore,
    requests: &Given,
    mut operation: impl FnMut(&Request) -> Outcome<CopyReport>,
) -> Outcome<CopyReport> {
    let mut sum = CopyReport::default();
    requests.for_each(from, Match::Partial, |request| {
        let report = operation(request)?;
        sum = CopyReport { fields: sum.fields + report.fields, bytes: sum.bytes + report.bytes };
        Ok(())
    })?;
    Ok(sum)
}

fn transfer(
    place: &PlaceFlags,
    flags: &TransferFlags,
    to: Option<&str>,
    done: &str,
    operation: impl FnOnce(&FieldStore, &FieldStore, &Given) -> Outcome<CopyReport>,
) -> Outcome {
    let requests = requests::given(&flags.requests)?.with_least(&flags.least)?;
    let (config, source) = context::configuration(place)?;
    let registry = context::registry();
    let target = |to: &str| -> Outcome<(Config, Source)> {
        let uri = pool_uri(to).map_err(|failure| failure.about("--to"))?;
        if config.spaces.iter().any(|space| is_same_pool(&space.catalogue, &uri)) {
            return Err(Failure::usage(format!(
                "--to {uri}: expected another store than the one copied from"
            )));
        }
        let other = Config { clock: config.clock, ..Config::single(&uri) };
        Ok((other, Source::Store { uri, given_by: "--to" }))
    };
    let target = to.map(target).transpose()?;
    let open = |(config, source): &(Config, Source)| {
        let opened = FieldStore::open(config, &registry).map(relabel_through_eccodes);
        opened.map_err(|error| not_opened(error, config, source))
    };
    let from = open(&(config, source))?;
    let to = target.as_ref().map_or_else(|| Ok(from.clone()), open)?;
    let begin = Instant::now();
    let sum = operation(&from, &to, &requests)?;
    let elapsed = begin.elapsed();
    if sum.fields == 0 {
        missing::note(&from, &requests)?;
    }
    if flags.json {
        let seconds = elapsed.as_secs_f64();
        return print_json(&json!({"fields": sum.fields, "bytes": sum.bytes, "seconds": seconds}));
    }
    let (fields, rate, time) = (count(sum.fields, "field"), Rate(sum.bytes, elapsed), seconds(elapsed));
    outln!("{done} {fields}, {} in {time} ({rate})", Bytes(sum.bytes))
}

/// Fields on their way to a store, with keys of their messages set.
struct Changed<'c> {
    from: &'c FieldStore,
    to: &'c FieldStore,
    edits: &'c Edits,
    eccodes: &'static Eccodes,
    noticed: Noticed,
}

impl<'c> Changed<'c> {
    fn new(from: &'c FieldStore, to: &'c FieldStore, edits: &'c Edits) -> Outcome<Self> {
        Ok(Self { from, to, edits, eccodes: Eccodes::load()?, noticed: Noticed::default() })
    }

    /// Archives the fields of a request, and flushes. What was archived before a failure is not flushed by this.
    fn copy(&mut self, request: &Request) -> Outcome<CopyReport> {
        let mut report = CopyReport::default();
        self.each(request, |this, key, message| {
            this.to.archive(key, message).map_err(|error| Failure::from(error).not_typed())?;
            report.fields += 1;
            report.bytes += message.len() as u64;
            Ok(())
        })?;
        self.to.flush()?;
        Ok(report)
    }

    /// Looks at what would become of the fields of a request.
    fn look(&mut self, request: &Request) -> Outcome {
        self.each(request, |this, key, _| {
            let there = this.to.locate(key).map_err(|error| Failure::from(error).not_typed())?;
            if there.is_some() {
                this.noticed.is_there(this.to.schema(), key);
            }
            Ok(())
        })
    }

    fn each(
        &mut self,
        request: &Request,
        mut take: impl FnMut(&mut Self, &Key, &[u8]) -> Outcome,
    ) -> Outcome {
        self.from.for_each_to_copy(request, |key, message| {
            let refused = |error| Failure::from(error).about(format!("field {key}"));
            let changed = self.eccodes.edit_message(message, self.edits.iter()).map_err(refused)?;
            let before = Key::from(self.eccodes.message_key(message).map_err(refused)?);
            let after = Key::from(self.eccodes.message_key(&changed).map_err(refused)?);
            let key = follow(key, &before, &after);
            take(self, &key, &changed)?;
            self.noticed.field(self.to.schema(), &key, &changed, Some(OwnKey::of(&before)));
            Ok(())
        })
    }
}

/// The key of a field whose message had one key and has another. What was given by hand stays.
fn follow(key: &Key, before: &Key, after: &Key) -> Key {
    let mut followed = key.clone();
    let gone = before.iter().filter(|(name, _)| !after.contains(name)).map(|(name, _)| (name, ""));
    let other = after.iter().filter(|(name, value)| before.get(name) != Some(value));
    gone.chain(other).for_each(|(name, value)| followed.set(name, value));
    followed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_follows_what_changed_in_the_message_and_keeps_what_was_given_by_hand() {
        let key = |text: &str| text.parse::<Key>().unwrap();
        let followed = follow(
            &key("class=rd,expver=hand,type=fc,step=6,domain=g"),
            &key("class=od,expver=0001,type=fc,step=6,domain=g"),
            &key("class=od,expver=0001,type=an,step=0"),
        );
        assert!(followed.same_pairs(&key("class=rd,expver=hand,type=an,step=0")), "{followed}");
    }
}
