//! `isotach pool`: pools of the object model.

use std::{collections::BTreeSet, sync::Arc};

use clap::{Args, Subcommand};
use isotach_object::{Pool, PoolUri};
use serde_json::json;

use super::{
    destroy::{self, DestroyFlags, Victim},
    info::names,
};
use crate::{
    context::{self, PlaceFlags},
    failure::{Failure, Outcome},
    output::{Bytes, Table, count, outln, print_done, print_json},
};

/// The object model: pools
#[derive(Debug, Args)]
pub(crate) struct PoolFlags {
    #[command(subcommand)]
    pub(crate) action: PoolAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with the pool that --store names.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum PoolAction {
    /// Make an empty pool; for a field store use `isotach init`
    Create,
    /// List the pools of the configuration
    List,
    /// Show engine, capabilities and room
    Show,
    /// Remove the pool and everything in it
    Destroy {
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}

/// Makes, lists, shows or removes.
pub(crate) fn run(place: &PlaceFlags, flags: &PoolFlags) -> Outcome {
    let registry = context::registry();
    match flags.action {
        PoolAction::List => list(place, flags.json),
        PoolAction::Create => {
            let uri = only_uri(place)?;
            registry
                .engine(uri.scheme())?
                .create_pool(&uri)
                .map_err(|error| Failure::from(error).not_typed())?;
            print_done(flags.json, "made", "pool", &uri.to_string())
        }
        PoolAction::Show => show(&*open(place)?, flags.json),
        PoolAction::Destroy { destroy } => {
            let pool = open(place)?;
            destroy::check_pool(&*pool, destroy)?;
            let (uri, name) = (pool.uri(), pool.uri().to_string());
            let containers = format!(" with {}", count(pool.list_containers()?.len() as u64, "container"));
            let victim = Victim { what: "pool", name: &name, more: &containers };
            victim.destroy(destroy, flags.json, || Ok(registry.engine(uri.scheme())?.destroy_pool(uri)?))
        }
    }
}

/// The pool that the configuration leads to.
pub(crate) fn open(place: &PlaceFlags) -> Outcome<Arc<dyn Pool>> {
    let uri = only_uri(place)?;
    context::registry().open_pool(&uri).map_err(|error| Failure::from(error).not_typed())
}

fn uris(place: &PlaceFlags) -> Outcome<BTreeSet<PoolUri>> {
    let (config, _) = context::configuration(place)?;
    Ok(config.spaces.into_iter().flat_map(|space| [space.catalogue, space.store]).collect())
}

/// The one pool, unless something is forbidden there: what works below the field store cannot keep to that.
fn only_uri(place: &PlaceFlags) -> Outcome<PoolUri> {
    let (config, _) = context::configuration(place)?;
    let uris = uris(place)?;
    let forbidden = config.spaces.iter().find_map(|space| {
        let action = space.forbidden.iter().next()?;
        Some((&space.store, space.forbidden.reason(action)?))
    });
    if let Some((pool, reason)) = forbidden {
        return Err(Failure::failed(format!(
            "pools, containers and objects are below the field store, where {reason} cannot be kept: --store {pool} \
             names the pool without it"
        )));
    }
    let mut pools = uris.iter();
    match (pools.next(), pools.next()) {
        (Some(uri), None) => Ok(uri.clone()),
        _ => {
            let names: Vec<String> = uris.iter().map(ToString::to_string).collect();
            Err(Failure::usage(format!("several pools: expected --store with one of {}", names.join(", "))))
        }
    }
}

fn list(place: &PlaceFlags, as_json: bool) -> Outcome {
    let registry = context::registry();
    let mut table = Table::new(["pool", "containers", "used", "free"]).right(&[1, 2, 3]);
    for uri in uris(place)? {
        let pool = registry.open_pool(&uri).map_err(|error| Failure::from(error).not_typed())?;
        let (containers, usage) = (pool.list_containers()?.len(), pool.usage()?);
        if as_json {
            let (used, free) = (usage.used, usage.free);
            print_json(
                &json!({"pool": uri.to_string(), "containers": containers, "used": used, "free": free}),
            )?;
        } else {
            let (used, free) = (Bytes(usage.used).to_string(), Bytes(usage.free).to_string());
            table.row([uri.to_string(), containers.to_string(), used, free]);
        }
    }
    if as_json { Ok(()) } else { table.print() }
}

fn show(pool: &dyn Pool, as_json: bool) -> Outcome {
    let (containers, usage) = (pool.list_containers()?.len(), pool.usage()?);
    let can = names(pool.capabilities());
    if as_json {
        return print_json(&json!({
            "pool": pool.uri().to_string(),
            "engine": pool.uri().scheme(),
            "capabilities": can,
            "containers": containers,
            "total": usage.total,
            "free": usage.free,
            "used": usage.used,
        }));
    }
    outln!("pool          {}", pool.uri())?;
    outln!("engine        {}", pool.uri().scheme())?;
    outln!("capabilities  {}", can.join(", "))?;
    outln!("containers    {containers}")?;
    outln!("used          {}", Bytes(usage.used))?;
    outln!("free          {} of {}", Bytes(usage.free), Bytes(usage.total))
}
