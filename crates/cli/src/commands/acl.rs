//! `isotach acl`: shows or sets permissions of a store and its datasets. Also the permission flags of other commands.

use clap::{Args, Subcommand};
use isotach_fields::ContainerRights;
use isotach_mars::Match;
use isotach_object::{Acl, Rights, RightsChange};
use serde_json::{Value, json};

use crate::{
    context::{self, StoreFlags},
    failure::{Failure, Outcome},
    output::{key_object, outln, print_json},
    requests::{Requests, check_whole_datasets},
};

/// An access control list, in DAOS's text form or as the mode of a file.
#[derive(Debug, Args)]
pub(crate) struct ListFlag {
    /// Permissions: entries A:FLAGS:PRINCIPAL:LETTERS separated by commas, as in A::alice@:rw,A:G:GROUP@:r. A principal is
    /// OWNER@, GROUP@, EVERYONE@ or a name with @; G marks groups; r reads, w writes
    #[arg(long, value_name = "LIST")]
    acl: Option<String>,
    /// Permissions as a file's mode: 750
    #[arg(long, value_name = "MODE", conflicts_with = "acl")]
    mode: Option<String>,
}

/// The owner.
#[derive(Debug, Args)]
pub(crate) struct OwnerFlags {
    /// The user who owns it. On a file system only root can change the owner
    #[arg(long, value_name = "USER")]
    owner: Option<String>,
    /// Its group
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
}

/// Show or set the permissions of a store and its datasets
///
/// Without a request they are those of the store itself, which every new dataset inherits.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach acl set --acl A:G:writers@:rw,A::EVERYONE@:r")]
pub(crate) struct AclFlags {
    #[command(subcommand)]
    action: AclAction,
    /// Print one JSON object for each container
    #[arg(long, global = true)]
    json: bool,
}

/// An operation on permissions.
#[derive(Debug, Subcommand)]
enum AclAction {
    /// Show owner, group and list
    Get {
        /// Which datasets, as in class=od,date=20240101; without it the store itself
        request: Option<String>,
    },
    /// Replace list, owner or group
    Set {
        /// Which datasets, as in class=od,date=20240101; without it the store itself, and new datasets
        request: Option<String>,
        #[command(flatten)]
        list: ListFlag,
        #[command(flatten)]
        owner: OwnerFlags,
    },
}

/// Shows permissions, or sets and shows them.
pub(crate) fn run(target: &StoreFlags, flags: &AclFlags) -> Outcome {
    let (request, change) = match &flags.action {
        AclAction::Get { request } => (request, None),
        AclAction::Set { request, list, owner } => (request, Some(owner.change(list.parse()?))),
    };
    if change.as_ref().is_some_and(|change| *change == RightsChange::default()) {
        return Err(Failure::usage("nothing to set: expected --acl, --mode, --owner or --group"));
    }
    let requests = request.as_deref().map(Requests::one).transpose()?;
    let store = context::open(target)?;
    let Some(requests) = requests else {
        let rights = change.map_or_else(|| store.rights(), |change| store.set_rights(&change))?;
        return print(&rights, flags.json);
    };
    requests.for_each(&store, Match::Partial, |request| {
        check_whole_datasets(store.schema(), request, "permissions are of")?;
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

impl ListFlag {
    /// Parses the list, if there is one.
    pub(crate) fn parse(&self) -> Outcome<Option<Acl>> {
        if let Some(text) = &self.acl {
            return text.parse().map(Some).map_err(|error| Failure::from(error).about("--acl"));
        }
        let Some(text) = &self.mode else { return Ok(None) };
        let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..b'8').contains(&byte));
        let mode = u32::from_str_radix(text, 8).ok().filter(|_| is_octal).ok_or_else(|| {
            Failure::usage(format!("--mode: {text:?}: expected three octal digits, as 750"))
        })?;
        Acl::of_mode(mode).map(Some).map_err(|error| Failure::from(error).about("--mode"))
    }
}

impl OwnerFlags {
    /// A change to this owner and group, and to a list.
    pub(crate) fn change(&self, acl: Option<Acl>) -> RightsChange {
        RightsChange { acl, owner: self.owner.clone(), group: self.group.clone() }
    }
}

/// Prints permissions in a form that `--acl` accepts.
pub(crate) fn print_rights(rights: &Rights) -> Outcome {
    outln!("# owner: {}", rights.owner)?;
    outln!("# group: {}", rights.group)?;
    rights.acl.texts().try_for_each(|entry| outln!("{entry}"))
}

/// Adds permissions to a JSON object that names their container.
pub(crate) fn rights_object(mut object: Value, rights: &Rights) -> Value {
    object["owner"] = json!(rights.owner);
    object["group"] = json!(rights.group);
    object["acl"] = rights.acl.texts().collect();
    object
}

fn print(all: &[ContainerRights], as_json: bool) -> Outcome {
    for (at, ContainerRights { dataset, pool, label, rights }) in all.iter().enumerate() {
        if as_json {
            let key = dataset.as_ref().map(key_object);
            let object = json!({"key": key, "pool": pool.to_string(), "container": label.as_str()});
            print_json(&rights_object(object, rights))?;
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
