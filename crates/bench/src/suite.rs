//! x
use crate::{Result, SuiteArgs};
use std::io::Write;
pub(crate) fn run(_args: &SuiteArgs, _out: &mut impl Write) -> Result<()> {
    Ok(())
}
