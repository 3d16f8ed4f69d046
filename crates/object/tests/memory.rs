//! The memory engine obeys the contract.

use isotach_object::conformance::MemoryFixture;

isotach_object::conformance_suite! { memory => MemoryFixture::new() }
isotach_object::model_suite! { memory_model => MemoryFixture::new() }
