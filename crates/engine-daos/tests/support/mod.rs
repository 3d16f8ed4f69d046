//! Surroundings for the conformance suite: pools that `dmg` makes.

use std::env;

use isotach_engine_daos::Daos;
use isotach_object_conformance::ClusterFixture;

/// Pools with these options. On a DAOS system the pools of tests share it: ISOTACH_DAOS_POOL_SIZE says how large each is, as `dmg` takes it.
pub(crate) fn daos(options: &'static str) -> ClusterFixture {
    let size = env::var("ISOTACH_DAOS_POOL_SIZE").unwrap_or_default();
    ClusterFixture::new(Daos::new(), move |name| format!("daos://{name}?size={size}{options}"))
}
