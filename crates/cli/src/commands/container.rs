//! `isotach container`: containers of the object model.

use isotach_object::{Anchor, Container, Error as ObjectError, Label, NewRights, Pool, Rights, RightsChange};
use serde_json::json;

use super::{
    acl,
    destroy::{self, Victim},
    pool,
};
use crate::{
    failure::{Failure, Outcome},
    flags::{ContainerAction, ContainerFlags, OwnerFlags, PlaceFlags},
    output::{Bytes, Table, outln, print_json},
};

/// How many objects are asked for at once.
const PAGE: usize = 4096;

/// Makes, lists, shows or removes.
pub(crate) fn run(place: &PlaceFlags, flags: &ContainerFlags) -> Outcome {
    let pool = pool::open(place)?;
    match &flags.action {
        ContainerAction::Create { label, list, owner } => {
            let label = parse(label)?;
            pool.create_container_with(&label, &NewRights::Asked(acl::asked(list, owner)?))?;
            pool::told(flags.json, "made", "container", label.as_str())
        }
        ContainerAction::GetAcl { label } => {
            let label = parse(label)?;
            tell_rights(&label, &pool.rights(&label)?, flags.json)
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
        ContainerAction::List => list(&*pool, flags.json),
        ContainerAction::Show { label } => show(&*pool, &parse(label)?, flags.json),
        ContainerAction::Destroy { label, destroy } => {
            let label = parse(label)?;
            let size = format!(" of {}", Bytes(pool.container_size(&label)?));
            destroy::check_container(&*pool, &label, *destroy)?;
            let victim = Victim { what: "container", name: label.as_str(), more: &size };
            victim.destroy(*destroy, flags.json, || Ok(pool.destroy_container(&label)?))
        }
    }
}

fn change(pool: &dyn Pool, label: &Label, change: &RightsChange, as_json: bool) -> Outcome {
    tell_rights(label, &pool.set_rights(label, change)?, as_json)
}

fn tell_rights(label: &Label, rights: &Rights, as_json: bool) -> Outcome {
    match as_json {
        true => print_json(&acl::rights_object(json!({"container": label.as_str()}), rights)),
        false => acl::print_rights(rights),
    }
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

fn list(pool: &dyn Pool, as_json: bool) -> Outcome {
    let mut table = Table::new(["container", "size"]).right(&[1]);
    for label in pool.list_containers()? {
        let size = match pool.container_size(&label) {
            // One that is closed to this user is named all the same.
            Err(ObjectError::PermissionDenied { .. }) => None,
            size => Some(size?),
        };
        if as_json {
            print_json(&json!({"container": label.as_str(), "bytes": size}))?;
        } else {
            table.row([
                label.to_string(),
                size.map_or_else(|| "no permission".to_owned(), |size| Bytes(size).to_string()),
            ]);
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
