//! The posix engine in the conformance suite, with distant and with constant checkpoints.

mod support;

isotach_object_conformance::conformance_suite! { posix => crate::support::PosixFixture::new() }
isotach_object_conformance::conformance_suite! { posix_small_checkpoints => crate::support::PosixFixture::with_small_checkpoints() }
isotach_object_conformance::history_suite! {
    posix_history => crate::support::PosixFixture::new(),
    posix_small_checkpoints_history => crate::support::PosixFixture::with_small_checkpoints()
}
isotach_object_conformance::model_suite! { posix_model => crate::support::PosixFixture::new() }
isotach_object_conformance::model_suite! {
    posix_small_checkpoints_model => crate::support::PosixFixture::with_small_checkpoints(),
    posix_constant_checkpoints_model => crate::support::PosixFixture::with_constant_checkpoints()
}
