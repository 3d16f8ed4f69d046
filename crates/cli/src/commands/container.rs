//! `isotach container`: containers of the object model.

mod daos;

use clap::{Args, Subcommand};
use isotach_object::{
    Anchor, Container, ContainerOptions, Error as ObjectError, Label, NewRights, ObjectId, Pool, Property,
    Rights, RightsChange, Snapshot,
};
use serde_json::{Value, json};

use super::{
    acl::{ListFlag, OwnerFlags, print_rights, rights_object},
    destroy::{self, DestroyFlags, Removal},
    pool,
};
use crate::{
    context::StoreFlags,
    failure::{Failure, Outcome},
    output::{Bytes, Table, outln, print_created, print_json},
};

/// The object model: containers of the pool that --store names
#[derive(Debug, Args)]
pub(crate) struct ContainerFlags {
    #[command(subcommand)]
    action: ContainerAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    json: bool,
}

/// An operation on containers.
#[derive(Debug, Subcommand)]
enum ContainerAction {
    /// Create an empty container
    Create {
        /// Its name: letters, digits and . _ : -
        label: String,
        /// The type, for programs written for DAOS: POSIX, PYTHON, HDF5 and so on
        #[arg(long = "type", value_name = "TYPE")]
        layout: Option<String>,
        /// Properties for such programs: NAME:VALUE, separated by commas or semicolons, as in rd_fac:0,cksum:crc32
        #[arg(long, value_name = "PROPERTIES")]
        properties: Option<String>,
        #[command(flatten)]
        list: ListFlag,
        #[command(flatten)]
        owner: OwnerFlags,
    },
    /// Show owner, group and access control list
    GetAcl {
        /// Its name
        label: String,
    },
    /// Replace the access control list
    SetAcl {
        /// Its name
        label: String,
        #[command(flatten)]
        list: ListFlag,
    },
    /// Give a container to another user or group
    SetOwner {
        /// Its name
        label: String,
        #[command(flatten)]
        owner: OwnerFlags,
    },
    /// Show the storage's own properties of a container (DAOS: as `daos container get-prop` shows them)
    GetProp {
        /// Its name
        label: String,
    },
    /// Change properties that the storage allows to be changed
    SetProp {
        /// Its name
        label: String,
        /// NAME=VALUE, as in status=healthy
        #[arg(required = true, value_name = "NAME=VALUE")]
        properties: Vec<String>,
    },
    /// Name the present state, so that it stays readable: `isotach object get --at NAME`
    CreateSnap {
        /// The container
        label: String,
        /// The snapshot's name: letters, digits and . _ : -
        name: String,
    },
    /// List the snapshots and their epochs
    ListSnaps {
        /// The container
        label: String,
    },
    /// Remove a snapshot, and the data that only it needs
    DestroySnap {
        /// The container
        label: String,
        /// The snapshot's name
        name: String,
        #[command(flatten)]
        destroy: DestroyFlags,
    },
    /// List the containers and their sizes
    List,
    /// Show epoch, objects and size
    Show {
        /// Its name
        label: String,
    },
    /// Remove a container and everything in it
    Destroy {
        /// Its name
        label: String,
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}

/// The number of objects in a page of a listing.
const PAGE: usize = 4096;

/// Runs the operation.
pub(crate) fn run(target: &StoreFlags, flags: &ContainerFlags) -> Outcome {
    let pool = pool::open(target)?;
    match &flags.action {
        ContainerAction::Create { label, layout, properties, list, owner } => {
            let (label, rights) = (parse(label)?, owner.change(list.parse()?));
            if layout.is_some() || properties.is_some() {
                let (layout, properties) = (layout.as_deref(), properties.as_deref());
                daos::create(&*pool, &label, layout, properties, rights)?;
            } else {
                pool.create_container(&label, &ContainerOptions::with_rights(NewRights::Asked(rights)))?;
            }
            print_created(flags.json, "container", label.as_str())
        }
        ContainerAction::GetAcl { label } => {
            let label = parse(label)?;
            show_rights(&label, &pool.access_control()?.rights(&label)?, flags.json)
        }
        ContainerAction::SetAcl { label, list } => {
            let acl = list.parse()?.ok_or_else(|| Failure::usage("expected --acl or --mode"))?;
            let change = RightsChange { acl: Some(acl), ..RightsChange::default() };
            set_rights(&*pool, &parse(label)?, &change, flags.json)
        }
        ContainerAction::SetOwner { label, owner } => {
            let change = owner.change(None);
            if change == RightsChange::default() {
                return Err(Failure::usage("expected --owner or --group"));
            }
            set_rights(&*pool, &parse(label)?, &change, flags.json)
        }
        ContainerAction::GetProp { label } => show_properties(&*pool, &parse(label)?, flags.json),
        ContainerAction::SetProp { label, properties } => {
            let label = parse(label)?;
            let properties = properties.iter().map(|text| property(text)).collect::<Outcome<Vec<_>>>()?;
            pool.storage_properties()?.set_properties(&label, &properties)?;
            show_properties(&*pool, &label, flags.json)
        }
        ContainerAction::CreateSnap { label, name } => {
            let (container, name) = (pool.open_container(&parse(label)?)?, parse(name)?);
            container.snapshots()?.create(&name)?;
            container.flush()?;
            print_created(flags.json, "snapshot", name.as_str())
        }
        ContainerAction::ListSnaps { label } => {
            list_snapshots(&*pool.open_container(&parse(label)?)?, flags.json)
        }
        ContainerAction::DestroySnap { label, name, destroy } => {
            let (label, name) = (parse(label)?, parse(name)?);
            let container = pool.open_container(&label)?;
            if !container.snapshots()?.list()?.iter().any(|snapshot| snapshot.name == name) {
                return Err(ObjectError::not_found(format!("snapshot {name} of container {label}")).into());
            }
            destroy::check_container(&*pool, &label, *destroy)?;
            let removal = Removal { kind: "snapshot", name: name.as_str(), details: "" };
            removal.run(*destroy, flags.json, || {
                container.snapshots()?.destroy(&name)?;
                Ok(container.flush()?)
            })
        }
        ContainerAction::List => list(&*pool, flags.json),
        ContainerAction::Show { label } => show(&*pool, &parse(label)?, flags.json),
        ContainerAction::Destroy { label, destroy } => {
            let label = parse(label)?;
            destroy::check_container(&*pool, &label, *destroy)?;
            // Measuring may take long, and may be forbidden to a user who may remove the container.
            let size = if destroy.doit { String::new() } else { size_of(&*pool, &label)? };
            let removal = Removal { kind: "container", name: label.as_str(), details: &size };
            removal.run(*destroy, flags.json, || Ok(pool.destroy_container(&label)?))
        }
    }
}

fn set_rights(pool: &dyn Pool, label: &Label, change: &RightsChange, as_json: bool) -> Outcome {
    show_rights(label, &pool.access_control()?.set_rights(label, change)?, as_json)
}

fn show_rights(label: &Label, rights: &Rights, as_json: bool) -> Outcome {
    match as_json {
        true => print_json(&rights_object(json!({"container": label.as_str()}), rights)),
        false => print_rights(rights),
    }
}

fn property(text: &str) -> Outcome<Property> {
    let expected = || Failure::usage(format!("property {text:?}: expected NAME=VALUE, as in status=healthy"));
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    Ok(Property { name: name.to_owned(), value: value.to_owned() })
}

fn show_properties(pool: &dyn Pool, label: &Label, as_json: bool) -> Outcome {
    let properties = match pool.facets().properties {
        Some(of_storage) => of_storage.properties(label)?,
        None => pool.open_container(label).map(|_| Vec::new())?,
    };
    if as_json {
        let members = properties.into_iter().map(|Property { name, value }| (name, json!(value)));
        let members = Value::Object(members.collect());
        return print_json(&json!({"container": label.as_str(), "properties": members}));
    }
    if properties.is_empty() {
        return outln!("the storage of {} has no properties of containers", pool.uri());
    }
    let mut table = Table::new(["property", "value"]);
    properties.into_iter().for_each(|Property { name, value }| table.row([name, value]));
    table.print()
}

/// Parses a label.
pub(crate) fn parse(label: &str) -> Outcome<Label> {
    label.parse().map_err(Failure::from)
}

/// Calls `each` for every object that is not empty.
pub(crate) fn for_each_object(
    container: &dyn Container,
    mut each: impl FnMut(ObjectId) -> Outcome,
) -> Outcome {
    let mut anchor = Anchor::start();
    loop {
        let (objects, next) = container.list_objects(&anchor, PAGE)?;
        objects.into_iter().try_for_each(&mut each)?;
        match next {
            Some(next) => anchor = next,
            None => return Ok(()),
        }
    }
}

/// The size of a container in words, as far as this user may know it.
fn size_of(pool: &dyn Pool, label: &Label) -> Outcome<String> {
    match pool.container_size(label) {
        Ok(size) => Ok(format!(" of {}", Bytes(size))),
        Err(error @ ObjectError::NotFound { .. }) => Err(error.into()),
        Err(ObjectError::InvalidInput { .. }) => Ok(", which belongs to another program".to_owned()),
        Err(error) => Ok(format!(", whose size is unknown ({error})")),
    }
}

/// Lists all containers, also those whose size is unknown.
fn list(pool: &dyn Pool, as_json: bool) -> Outcome {
    let mut table = Table::new(["container", "size"]).right(&[1]);
    let mut failed = None;
    for label in pool.list_containers()? {
        let size = match pool.container_size(&label) {
            Ok(size) => Ok(size),
            Err(ObjectError::PermissionDenied { .. }) => Err("no permission"),
            Err(ObjectError::InvalidInput { .. }) => Err("not of Isotach"),
            // Another process has removed it.
            Err(ObjectError::NotFound { .. }) if !pool.list_containers()?.contains(&label) => continue,
            Err(error) => {
                failed.get_or_insert(error);
                Err("unreadable")
            }
        };
        if as_json {
            print_json(&json!({"container": label.as_str(), "bytes": size.ok()}))?;
        } else {
            let shown = size.map_or_else(str::to_owned, |size| Bytes(size).to_string());
            table.row([label.to_string(), shown]);
        }
    }
    if !as_json {
        table.print()?;
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn list_snapshots(container: &dyn Container, as_json: bool) -> Outcome {
    let mut snapshots = container.snapshots()?.list()?;
    snapshots.sort_by_key(|snapshot| snapshot.epoch);
    let mut table = Table::new(["snapshot", "epoch"]).right(&[1]);
    for Snapshot { name, epoch } in snapshots {
        match as_json {
            true => print_json(&json!({"snapshot": name.as_str(), "epoch": epoch.0}))?,
            false => table.row([name.to_string(), epoch.0.to_string()]),
        }
    }
    if as_json { Ok(()) } else { table.print() }
}

fn show(pool: &dyn Pool, label: &Label, as_json: bool) -> Outcome {
    let container = pool.open_container(label)?;
    let size = pool.container_size(label)?;
    let mut objects = 0_u64;
    for_each_object(&*container, |_| {
        objects += 1;
        Ok(())
    })?;
    let epoch = container.epoch()?.0;
    if as_json {
        let label = label.as_str();
        return print_json(&json!({"container": label, "epoch": epoch, "objects": objects, "bytes": size}));
    }
    outln!("container  {label}\nepoch      {epoch}\nobjects    {objects}\nsize       {}", Bytes(size))
}
