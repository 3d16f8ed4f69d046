//! `isotach acl`: who may read and write a store and its datasets. And how rights are typed and printed.

use clap::{Args, Subcommand};
use isotach_fields::ContainerRights;
use isotach_mars::{Match, Request};
use isotach_object::{Acl, Rights, RightsChange};
use serde_json::{Value, json};

use crate::{
    context::{self, PlaceFlags},
    failure::{Failure, Outcome},
    output::{key_object, outln, print_json},
    requests,
};

/// An access control list, as DAOS writes it or as the mode of a file.
#[derive(Debug, Args)]
pub(crate) struct ListFlag {
    /// Who may do what: entries A:FLAGS:WHO:LETTERS with commas between, as in A::alice@:rw,A:G:GROUP@:r. Who is
    /// OWNER@, GROUP@, EVERYONE@ or a name with @, G marks groups; r reads, w writes
    #[arg(long, value_name = "LIST")]
    pub(crate) acl: Option<String>,
    /// Who may do what, as a file's mode: 750
    #[arg(long, value_name = "MODE", conflicts_with = "acl")]
    pub(crate) mode: Option<String>,
}

/// Whose something is to be.
#[derive(Debug, Args)]
pub(crate) struct OwnerFlags {
    /// The user who owns it. In a file system root alone gives what is his to others
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<String>,
    /// Its group
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
}

/// Show or set who may read and write a store and its datasets
///
/// Without a request it is the store itself, whose list every new dataset comes to have.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach acl set --acl A:G:writers@:rw,A::EVERYONE@:r")]
pub(crate) struct AclFlags {
    #[command(subcommand)]
    pub(crate) action: AclAction,
    /// Print one JSON object for each container
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with lists.
#[derive(Debug, Subcommand)]
pub(crate) enum AclAction {
    /// Show owner, group and list
    Get {
        /// Which datasets, as in class=od,date=20240101; without it the store itself
        request: Option<String>,
    },
    /// Put another list, owner or group in the place of what was there
    Set {
        /// Which datasets, as in class=od,date=20240101; without it the store itself, and new datasets
        request: Option<String>,
        #[command(flatten)]
        list: ListFlag,
        #[command(flatten)]
        owner: OwnerFlags,
    },
}

/// Shows, or sets and shows.
pub(crate) fn run(place: &PlaceFlags, flags: &AclFlags) -> Outcome {
    let (request, change) = match &flags.action {
        AclAction::Get { request } => (request, None),
        AclAction::Set { request, list, owner } => (request, Some(asked(list, owner)?)),
    };
    if change.as_ref().is_some_and(|change| *change == RightsChange::default()) {
        return Err(Failure::usage("nothing to set: expected --acl, --mode, --owner or --group"));
    }
    let typed = request.as_deref().map(|text| requests::typed(Some(text))).transpose()?;
    let store = context::open(place)?;
    let Some(typed) = typed else {
        let rights = change.map_or_else(|| store.rights(), |change| store.set_rights(&change))?;
        return print(&rights, flags.json);
    };
    typed.for_each(&store, Match::Partial, |request: &Request| {
        requests::check_whole_datasets(store.schema(), request, "rights are of")?;
        let rights = match &change {
            Some(change) => store.set_dataset_rights(request, change)?,
            None => store.dataset_rights(request)?,
        };
        if rights.is_empty() && !flags.json {
            return outln!("the request matches no dataset");
        }
        print(&rights, flags.json)
    })
}

/// The list that was typed, if one was.
pub(crate) fn typed_list(flag: &ListFlag) -> Outcome<Option<Acl>> {
    if let Some(text) = &flag.acl {
        return text.parse().map(Some).map_err(|error| Failure::from(error).about("--acl"));
    }
    let Some(text) = &flag.mode else { return Ok(None) };
    let digits = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..b'8').contains(&byte));
    let mode = u32::from_str_radix(text, 8).ok().filter(|_| digits);
    let mode =
        mode.ok_or_else(|| Failure::usage(format!("--mode: {text:?}: expected three octal digits, as 750")))?;
    Acl::of_mode(mode).map(Some).map_err(|error| Failure::from(error).about("--mode"))
}

/// What was typed of rights.
pub(crate) fn asked(list: &ListFlag, owner: &OwnerFlags) -> Outcome<RightsChange> {
    let OwnerFlags { owner, group } = owner;
    Ok(RightsChange { acl: typed_list(list)?, owner: owner.clone(), group: group.clone() })
}

/// Prints rights, in a form that `--acl` takes again.
pub(crate) fn print_rights(rights: &Rights) -> Outcome {
    outln!("# owner: {}", rights.owner)?;
    outln!("# group: {}", rights.group)?;
    rights.acl.texts().try_for_each(|entry| outln!("{entry}"))
}

/// Rights as a JSON object, after what says whose they are.
pub(crate) fn rights_object(mut whose: Value, rights: &Rights) -> Value {
    whose["owner"] = json!(rights.owner);
    whose["group"] = json!(rights.group);
    whose["acl"] = rights.acl.texts().collect();
    whose
}

fn print(all: &[ContainerRights], as_json: bool) -> Outcome {
    for (at, found) in all.iter().enumerate() {
        let ContainerRights { dataset, pool, label, rights } = found;
        if as_json {
            let key = dataset.as_ref().map(key_object);
            let whose = json!({"key": key, "pool": pool.to_string(), "container": label.as_str()});
            print_json(&rights_object(whose, rights))?;
            continue;
        }
        if at > 0 {
            outln!("")?;
        }
        match dataset {
            Some(key) => outln!("# dataset: {key}")?,
            None => outln!("# store: {pool}")?,
        }
        print_rights(rights)?;
    }
    Ok(())
}
