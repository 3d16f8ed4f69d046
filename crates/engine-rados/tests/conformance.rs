//! The engine obeys the contract on a real cluster: `scripts/ceph-dev with cargo test -p isotach-engine-rados --features cluster`.

mod support;

isotach_object_conformance::conformance_suite! { rados => support::rados("") }
// Omaps that are split all the time, arrays of many small objects, and bytes in another pool of Ceph's.
isotach_object_conformance::conformance_suite! { rados_in_parts => support::rados("entries=4&chunk=65536&data=isotach-data") }
isotach_object_conformance::history_suite! {
    rados_history => support::rados(""),
    rados_in_parts_history => support::rados("entries=4")
}
// A sequence takes a tenth of a second on a cluster.
isotach_object_conformance::model_suite! {
    100;
    rados_model => support::rados(""),
    rados_in_parts_model => support::rados("entries=2&chunk=65536")
}
