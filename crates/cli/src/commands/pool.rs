//! `isotach pool`: pools of the object model.

use std::{collections::BTreeSet, sync::Arc};

use clap::{Args, Subcommand};
use isotach_object::{Pool, PoolUri};
use serde_json::json;

use super::{
    destroy::{self, DestroyFlags, Removal},
    info::names,
};
use crate::{
    context::{self, StoreFlags},
    failure::{Failure, Outcome},
    output::{Bytes, Table, count, outln, print_created, print_json},
};

/// The object model: pools
#[derive(Debug, Args)]
pub(crate) struct PoolFlags {
    #[command(subcommand)]
    action: PoolAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    json: bool,
}

/// An operation on the pool that --store names.
#[derive(Debug, Clone, Copy, Subcommand)]
enum PoolAction {
    /// Create an empty pool; for a field store use `isotach init`
    Create,
    /// List the pools of the configuration
    List,
    /// Show engine, capabilities and space
    Show,
    /// Remove the pool and everything in it
    Destroy {
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}

/// Runs the operation.
pub(crate) fn run(target: &StoreFlags, flags: &PoolFlags) -> Outcome {
    let registry = context::registry();
    match flags.action {
        PoolAction::List => list(target, flags.json),
        PoolAction::Create => {
            let uri = only_uri(target)?;
            let created = registry.engine(uri.scheme())?.create_pool(&uri);
            created.map_err(|error| Failure::from(error).into_failed())?;
            print_created(flags.json, "pool", &uri.to_string())
        }
        PoolAction::Show => show(&*open(target)?, flags.json),
        PoolAction::Destroy { destroy } => {
            let pool = open(target)?;
            destroy::check_pool(&*pool, destroy)?;
            let (uri, name) = (pool.uri(), pool.uri().to_string());
            let containers = format!(" with {}", count(pool.list_containers()?.len() as u64, "container"));
            let removal = Removal { kind: "pool", name: &name, details: &containers };
            removal.run(destroy, flags.json, || Ok(registry.engine(uri.scheme())?.destroy_pool(uri)?))
        }
    }
}

/// Opens the pool of the configuration.
pub(crate) fn open(target: &StoreFlags) -> Outcome<Arc<dyn Pool>> {
    let uri = only_uri(target)?;
    context::registry().open_pool(&uri).map_err(|error| Failure::from(error).into_failed())
}

fn uris(target: &StoreFlags) -> Outcome<BTreeSet<PoolUri>> {
    let (config, _) = context::configuration(target)?;
    Ok(config.spaces.into_iter().flat_map(|space| [space.catalogue, space.store]).collect())
}

/// The one pool of the configuration. Refuses a configuration that forbids an action, because operations below the field
/// store cannot respect that.
fn only_uri(target: &StoreFlags) -> Outcome<PoolUri> {
    let (config, _) = context::configuration(target)?;
    let uris = uris(target)?;
    let forbidden = config.spaces.iter().find_map(|space| {
        let action = space.forbidden.iter().next()?;
        Some((&space.store, space.forbidden.reason(action)?))
    });
    if let Some((pool, reason)) = forbidden {
        return Err(Failure::failed(format!(
            "pools, containers and objects are below the field store, where {reason} has no effect: --store {pool} \
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

fn list(target: &StoreFlags, as_json: bool) -> Outcome {
    let registry = context::registry();
    let mut table = Table::new(["pool", "containers", "used", "free"]).right(&[1, 2, 3]);
    for uri in uris(target)? {
        let pool = registry.open_pool(&uri).map_err(|error| Failure::from(error).into_failed())?;
        let (containers, usage) = (pool.list_containers()?.len(), pool.usage()?);
        let (uri, used, free) = (uri.to_string(), usage.used, usage.free);
        match as_json {
            true => print_json(&json!({"pool": uri, "containers": containers, "used": used, "free": free}))?,
            false => {
                table.row([uri, containers.to_string(), Bytes(used).to_string(), Bytes(free).to_string()]);
            }
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
