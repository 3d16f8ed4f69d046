//! The engine obeys the contract: `scripts/libdaos with cargo test -p isotach-engine-daos --features cluster` runs this over the
//! libdaos of this project; on a DAOS system, where `dmg` may make pools, the same runs without the script.

mod support;

isotach_object_conformance::conformance_suite! { daos => support::daos("") }
// Arrays that lie under many keys, and one operation at a time.
isotach_object_conformance::conformance_suite! { daos_in_parts => support::daos("&chunk=4096&depth=1&oids=1") }
isotach_object_conformance::history_suite! { daos_history => support::daos("") }
isotach_object_conformance::model_suite! { daos_model => support::daos("") }
isotach_object_conformance::model_suite! { daos_in_parts_model => support::daos("&chunk=4096") }
