//! `isotach copy` and `isotach move`: fields to another store, or to other keys.

use std::time::Instant;

use clap::Args;
use isotach_fields::{Config, CopyReport, FieldStore};
use isotach_grib::Eccodes;
use isotach_mars::{Key, Match, Request};
use serde_json::json;

use crate::{
    context::{self, Source, StoreFlags, is_same_pool, not_opened, pool_uri, with_grib},
    failure::{Failure, Outcome, say},
    intake::{
        audit::{Audit, OwnKey},
        change::{Edits, ModifyFlag},
    },
    missing,
    output::{Bytes, Rate, count, outln, print_json, seconds},
    requests::{MinimumKeysFlag, RequestFlags, Requests},
};

/// Copy fields to another store, or, with other keys, within the store
///
/// A key left out of the request matches every value. The bytes of adopted files are copied.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach copy class=od,date=-1 --to posix:/archive/fields
  isotach copy class=od,date=-1 --modify class=rd,expver=x001")]
pub(crate) struct CopyFlags {
    #[command(flatten)]
    transfer: TransferFlags,
    /// The other store; it must exist. Without it the changed fields are archived in this one
    #[arg(long, value_name = "URI", required_unless_present = "modify")]
    to: Option<String>,
    #[command(flatten)]
    change: ModifyFlag,
    /// With --modify: refuse, before anything is visible, what would replace a field of the store or of this command
    ///
    /// For this, all fields are read and changed twice. Fields that other programs archive at the same time are not noticed.
    #[arg(long, requires = "modify")]
    no_replace: bool,
}

/// Move datasets, or whole collocations of them, to another store
///
/// Copies, compares counts, lengths and checksums, then wipes. During the move the datasets are locked for archiving.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach move class=od,date=20240101 --to posix:/archive/fields")]
pub(crate) struct MoveFlags {
    #[command(flatten)]
    transfer: TransferFlags,
    /// The other store; it must exist
    #[arg(long, value_name = "URI")]
    to: String,
}

/// The flags of both.
#[derive(Debug, Args)]
struct TransferFlags {
    #[command(flatten)]
    requests: RequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Copies fields.
pub(crate) fn copy(target: &StoreFlags, flags: &CopyFlags) -> Outcome {
    transfer(target, &flags.transfer, flags.to.as_deref(), "copied", |from, to, requests| {
        let Some(edits) = &flags.change.modify else {
            return sum_of(from, requests, |request| Ok(from.copy_to(to, request)?));
        };
        if flags.no_replace {
            let mut edited = EditedCopy::new(from, to, edits)?;
            requests.for_each(from, Match::Partial, |request| edited.check(request))?;
            edited.audit.refusal().map_or(Ok(()), |refusal| Err(Failure::failed(refusal)))?;
        }
        let mut edited = EditedCopy::new(from, to, edits)?;
        let sum = sum_of(from, requests, |request| edited.copy(request))?;
        edited.audit.warnings().iter().for_each(say);
        Ok(sum)
    })
}

/// Moves datasets.
pub(crate) fn move_(target: &StoreFlags, flags: &MoveFlags) -> Outcome {
    transfer(target, &flags.transfer, Some(&flags.to), "moved", |from, to, requests| {
        sum_of(from, requests, |request| Ok(from.move_to(to, request)?))
    })
}

/// Performs the operation for each request, and adds up the reports.
fn sum_of(
    from: &FieldStore,
    requests: &Requests,
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
    target: &StoreFlags,
    flags: &TransferFlags,
    to: Option<&str>,
    done: &str,
    operation: impl FnOnce(&FieldStore, &FieldStore, &Requests) -> Outcome<CopyReport>,
) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let (config, source) = context::configuration(target)?;
    let registry = context::registry();
    let other = |to: &str| -> Outcome<(Config, Source)> {
        let uri = pool_uri(to).map_err(|failure| failure.about("--to"))?;
        if config.spaces.iter().any(|space| is_same_pool(&space.catalogue, &uri)) {
            return Err(Failure::usage(format!(
                "--to {uri}: expected another store than the one copied from"
            )));
        }
        let other = Config { clock: config.clock, ..Config::single(&uri) };
        Ok((other, Source::Store { uri, given_by: "--to" }))
    };
    let other = to.map(other).transpose()?;
    let open = |(config, source): &(Config, Source)| {
        let opened = FieldStore::open(config, &registry).map(with_grib);
        opened.map_err(|error| not_opened(error, config, source))
    };
    let from = open(&(config, source))?;
    let to = other.as_ref().map_or_else(|| Ok(from.clone()), open)?;
    let begin = Instant::now();
    let CopyReport { fields, bytes } = operation(&from, &to, &requests)?;
    let elapsed = begin.elapsed();
    if fields == 0 {
        missing::note(&from, &requests)?;
    }
    if flags.json {
        return print_json(&json!({"fields": fields, "bytes": bytes, "seconds": elapsed.as_secs_f64()}));
    }
    let (rate, time) = (Rate(bytes, elapsed), seconds(elapsed));
    outln!("{done} {}, {} in {time} ({rate})", count(fields, "field"), Bytes(bytes))
}

/// A copy that sets keys of the messages.
struct EditedCopy<'c> {
    from: &'c FieldStore,
    to: &'c FieldStore,
    edits: &'c Edits,
    eccodes: &'static Eccodes,
    audit: Audit,
}

impl<'c> EditedCopy<'c> {
    fn new(from: &'c FieldStore, to: &'c FieldStore, edits: &'c Edits) -> Outcome<Self> {
        Ok(Self { from, to, edits, eccodes: Eccodes::load()?, audit: Audit::default() })
    }

    /// Archives the fields of a request, and flushes. After a failure, the fields archived so far are not flushed.
    fn copy(&mut self, request: &Request) -> Outcome<CopyReport> {
        let mut report = CopyReport::default();
        self.for_each(request, |this, key, message| {
            this.to.archive(key, message).map_err(|error| Failure::from(error).into_failed())?;
            report.fields += 1;
            report.bytes += message.len() as u64;
            Ok(())
        })?;
        self.to.flush()?;
        Ok(report)
    }

    /// Checks whether the fields of a request would replace others.
    fn check(&mut self, request: &Request) -> Outcome {
        self.for_each(request, |this, key, _| {
            let stored = this.to.locate(key).map_err(|error| Failure::from(error).into_failed())?;
            if stored.is_some() {
                this.audit.add_stored(this.to.schema(), key);
            }
            Ok(())
        })
    }

    fn for_each(
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
            self.audit.add(self.to.schema(), &key, &changed, Some(OwnKey::of(&before)));
            Ok(())
        })
    }
}

/// The key of a field after its message's key has changed. Values that were set with `--key` stay.
fn follow(key: &Key, before: &Key, after: &Key) -> Key {
    let mut followed = key.clone();
    let removed = before.iter().filter(|(name, _)| !after.contains(name)).map(|(name, _)| (name, ""));
    let changed = after.iter().filter(|(name, value)| before.get(name) != Some(value));
    removed.chain(changed).for_each(|(name, value)| followed.set(name, value));
    followed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_follows_the_changes_of_its_message_and_keeps_values_set_by_flags() {
        let key = |text: &str| text.parse::<Key>().unwrap();
        let followed = follow(
            &key("class=rd,expver=set,type=fc,step=6,domain=g"),
            &key("class=od,expver=0001,type=fc,step=6,domain=g"),
            &key("class=od,expver=0001,type=an,step=0"),
        );
        assert!(followed.same_pairs(&key("class=rd,expver=set,type=an,step=0")), "{followed}");
    }
}
