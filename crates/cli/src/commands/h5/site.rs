//! Where files are.

use isotach_hdf5::Site;

use crate::failure::{Failure, Outcome};

/// Where files are: in the pool that the environment names, or beside their paths.
pub(super) fn site() -> Outcome<Site> {
    Site::from_environment(None).map_err(Failure::usage)
}
