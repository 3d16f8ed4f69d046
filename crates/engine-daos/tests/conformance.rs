//! The engine obeys the contract: `scripts/libdaos with cargo test -p isotach-engine-daos --features cluster` runs this over the
//! libdaos of this project; on a DAOS system, where `dmg` may make pools, the same runs without the script.

mod support;

use support::DaosFixture;

isotach_object_conformance::conformance_suite! { daos => DaosFixture::new("") }
// Arrays that lie under many keys, and one operation at a time.
isotach_object_conformance::conformance_suite! { daos_in_parts => DaosFixture::new("&chunk=4096&depth=1&oids=1") }
isotach_object_conformance::history_suite! { daos_history => DaosFixture::new("") }
isotach_object_conformance::model_suite! { daos_model => DaosFixture::new("") }
isotach_object_conformance::model_suite! { daos_in_parts_model => DaosFixture::new("&chunk=4096") }
