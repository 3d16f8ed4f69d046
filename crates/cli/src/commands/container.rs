//! `isotach container`: containers of the object model.

mod daos;

use clap::{Args, Subcommand};
use isotach_object::{
    Anchor, Container, ContainerOptions, Error as ObjectError, Label, NewRights, Pool, Property, Rights,
    RightsChange, Snapshot,
};
use serde_json::{Value, json};

use super::{
    acl::{self, ListFlag, OwnerFlags},
    destroy::{self, DestroyFlags, Victim},
    pool,
};
use crate::{
    context::PlaceFlags,
    failure::{Failure, Outcome},
    output::{Bytes, Table, outln, print_done, print_json},
};

/// The object model: containers of the pool that --store names
#[derive(Debug, Args)]
pub(crate) struct ContainerFlags {
    #[command(subcommand)]
    pub(crate) action: ContainerAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with containers.
#[derive(Debug, Subcommand)]
pub(crate) enum ContainerAction {
    /// Make an empty container
    Create {
        /// Its name: letters, digits and . _ : -
        label: String,
        /// What programs written for DAOS keep in it: POSIX, PYTHON, HDF5 and so on
        #[arg(long = "type", value_name = "TYPE")]
        layout: Option<String>,
        /// Properties as such programs see them: NAME:VALUE, several with a comma or semicolon between, as in rd_fac:0,cksum:crc32
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
    /// Put another access control list in the place of the one that is there
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
    /// Show properties that the storage has for a container beyond what is shown of all (DAOS: what `daos container get-prop` shows)
    GetProp {
        /// Its name
        label: String,
    },
    /// Change properties, as far as the storage lets them be changed
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
    /// Remove a snapshot, and what only it kept
    DestroySnap {
        /// The container
        label: String,
        /// The snapshot's name
        name: String,
        #[command(flatten)]
        destroy: DestroyFlags,
    },
    /// List the containers and what they take
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

/// How many objects are asked for at once.
const PAGE: usize = 4096;

/// Makes, lists, shows or removes.
pub(crate) fn run(place: &PlaceFlags, flags: &ContainerFlags) -> Outcome {
    let pool = pool::open(place)?;
    match &flags.action {
        ContainerAction::Create { label, layout, properties, list, owner } => {
            let (label, rights) = (parse(label)?, acl::asked(list, owner)?);
            if layout.is_some() || properties.is_some() {
                let (layout, properties) = (layout.as_deref(), properties.as_deref());
                daos::create(&*pool, &label, layout, properties, rights)?;
            } else {
                pool.create_container(&label, &ContainerOptions::with_rights(NewRights::Asked(rights)))?;
            }
            print_done(flags.json, "made", "container", label.as_str())
        }
        ContainerAction::GetAcl { label } => {
            let label = parse(label)?;
            tell_rights(&label, &pool.access_control()?.rights(&label)?, flags.json)
        }
        ContainerAction::SetAcl { label, list } => {
            let acl = acl::typed_list(list)?.ok_or_else(|| Failure::usage("expected --acl or --mode"))?;
            change(
                &*pool,
                &parse(label)?,
                &RightsChange { acl: Some(acl), ..RightsChange::default() },
                flags.json,
            )
        }
        ContainerAction::SetOwner { label, owner: OwnerFlags { owner, group } } => {
            if owner.is_none() && group.is_none() {
                return Err(Failure::usage("expected --owner or --group"));
            }
            let (owner, group) = (owner.clone(), group.clone());
            change(&*pool, &parse(label)?, &RightsChange { owner, group, acl: None }, flags.json)
        }
        ContainerAction::GetProp { label } => tell_properties(&*pool, &parse(label)?, flags.json),
        ContainerAction::SetProp { label, properties } => {
            let label = parse(label)?;
            let properties = properties.iter().map(|text| property(text)).collect::<Outcome<Vec<_>>>()?;
            pool.storage_properties()?.set_properties(&label, &properties)?;
            tell_properties(&*pool, &label, flags.json)
        }
        ContainerAction::CreateSnap { label, name } => {
            let (container, name) = (pool.open_container(&parse(label)?)?, parse(name)?);
            container.snapshots()?.create(&name)?;
            container.flush()?;
            print_done(flags.json, "made", "snapshot", name.as_str())
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
            let victim = Victim { what: "snapshot", name: name.as_str(), more: "" };
            victim.destroy(*destroy, flags.json, || {
                container.snapshots()?.destroy(&name)?;
                Ok(container.flush()?)
            })
        }
        ContainerAction::List => list(&*pool, flags.json),
        ContainerAction::Show { label } => show(&*pool, &parse(label)?, flags.json),
        ContainerAction::Destroy { label, destroy } => remove(&*pool, &parse(label)?, *destroy, flags.json),
    }
}

fn remove(pool: &dyn Pool, label: &Label, flags: DestroyFlags, as_json: bool) -> Outcome {
    destroy::check_container(pool, label, flags)?;
    // Measuring may take long, and may be refused to whoever is allowed to remove it.
    let size = if flags.doit { String::new() } else { size_of(pool, label)? };
    let victim = Victim { what: "container", name: label.as_str(), more: &size };
    victim.destroy(flags, as_json, || Ok(pool.destroy_container(label)?))
}

fn change(pool: &dyn Pool, label: &Label, change: &RightsChange, as_json: bool) -> Outcome {
    tell_rights(label, &pool.access_control()?.set_rights(label, change)?, as_json)
}

fn tell_rights(label: &Label, rights: &Rights, as_json: bool) -> Outcome {
    match as_json {
        true => print_json(&acl::rights_object(json!({"container": label.as_str()}), rights)),
        false => acl::print_rights(rights),
    }
}

/// A property as typed.
fn property(text: &str) -> Outcome<Property> {
    let expected = || Failure::usage(format!("property {text:?}: expected NAME=VALUE, as in status=healthy"));
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    Ok(Property { name: name.to_owned(), value: value.to_owned() })
}

fn tell_properties(pool: &dyn Pool, label: &Label, as_json: bool) -> Outcome {
    let properties = match pool.facets().properties {
        Some(of_storage) => of_storage.properties(label)?,
        None => pool.open_container(label).map(|_| Vec::new())?,
    };
    if as_json {
        let told = properties.into_iter().map(|Property { name, value }| (name, json!(value)));
        return print_json(
            &json!({"container": label.as_str(), "properties": Value::Object(told.collect())}),
        );
    }
    if properties.is_empty() {
        return outln!("containers of {} have no properties of the storage's", pool.uri());
    }
    let mut table = Table::new(["property", "value"]);
    properties.into_iter().for_each(|Property { name, value }| table.row([name, value]));
    table.print()
}

/// A label as typed.
pub(crate) fn parse(label: &str) -> Outcome<Label> {
    label.parse().map_err(Failure::from)
}

/// Calls `each` with every object that holds something.
pub(crate) fn for_each_object(
    container: &dyn Container,
    mut each: impl FnMut(isotach_object::ObjectId) -> Outcome,
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

/// How much a container has, as far as this user can know.
fn size_of(pool: &dyn Pool, label: &Label) -> Outcome<String> {
    match pool.container_size(label) {
        Ok(size) => Ok(format!(" of {}", Bytes(size))),
        Err(error @ ObjectError::NotFound { .. }) => Err(error.into()),
        Err(ObjectError::InvalidInput { .. }) => Ok(", which is another program's".to_owned()),
        Err(error) => Ok(format!(", whose size is not known ({error})")),
    }
}

/// One that cannot be measured is named all the same, and does not hide the others.
fn list(pool: &dyn Pool, as_json: bool) -> Outcome {
    let mut table = Table::new(["container", "size"]).right(&[1]);
    let mut failed = None;
    for label in pool.list_containers()? {
        let size = match pool.container_size(&label) {
            Ok(size) => Ok(size),
            Err(ObjectError::PermissionDenied { .. }) => Err("no permission"),
            Err(ObjectError::InvalidInput { .. }) => Err("not of Isotach"),
            // Removed meanwhile.
            Err(ObjectError::NotFound { .. }) if !pool.list_containers()?.contains(&label) => continue,
            Err(error) => {
                failed.get_or_insert(error);
                Err("unreadable")
            }
        };
        if as_json {
            print_json(&json!({"container": label.as_str(), "bytes": size.ok()}))?;
        } else {
            let told = size.map_or_else(str::to_owned, |size| Bytes(size).to_string());
            table.row([label.to_string(), told]);
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
    if as_json {
        return snapshots.iter().try_for_each(|Snapshot { name, epoch }| {
            print_json(&json!({"snapshot": name.as_str(), "epoch": epoch.0}))
        });
    }
    let mut table = Table::new(["snapshot", "epoch"]).right(&[1]);
    snapshots
        .into_iter()
        .for_each(|Snapshot { name, epoch }| table.row([name.to_string(), epoch.0.to_string()]));
    table.print()
}

fn show(pool: &dyn Pool, label: &Label, as_json: bool) -> Outcome {
    let container = pool.open_container(label)?;
    let size = pool.container_size(label)?;
    let mut objects = 0_u64;
    for_each_object(&*container, |_| {
        objects += 1;
        Ok(())
    })?;
    let epoch = container.epoch()?;
    if as_json {
        let label = label.as_str();
        return print_json(&json!({"container": label, "epoch": epoch.0, "objects": objects, "bytes": size}));
    }
    outln!("container  {label}")?;
    outln!("epoch      {}", epoch.0)?;
    outln!("objects    {objects}")?;
    outln!("size       {}", Bytes(size))
}
