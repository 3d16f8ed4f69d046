//! Surroundings for the conformance suite: pools of ours in a pool of a cluster that `scripts/ceph-dev` has started.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test code: a failure here is a failed test")]

use std::env;

use isotach_engine_rados::{Rados, fault_injection};
use isotach_object_conformance::ClusterFixture;

/// Pools with these options, in the pool of Ceph's that `scripts/ceph-dev` makes and names.
pub(crate) fn rados(options: &'static str) -> ClusterFixture {
    let pool = env::var("ISOTACH_RADOS_POOL").expect("a cluster: run this by `scripts/ceph-dev with`");
    let options = if options.is_empty() { String::new() } else { format!("&{options}") };
    let uri_of = move |name| format!("rados://{pool}/{name}?timeout=60{options}");
    ClusterFixture::new(Rados::new(), uri_of)
        .corrupted_by(|uri, needle| fault_injection::corrupt_stored(uri, needle).unwrap())
}
