//! The processes of hammer.

use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    harness::{events::Recorder, launcher::Process},
    workloads::forecast::{self, Forecast, Pace, Reader, Writer},
};

pub(crate) const NAME: &str = "hammer";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) pool: String,
    pub(crate) forecast: Forecast,
    pub(crate) action: Action,
    pub(crate) one_by_one: bool,
    pub(crate) full_check: bool,
    /// The pace; none for as fast as possible.
    pub(crate) pace: Option<Pace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Action {
    Write,
    Read,
    List,
}

pub(crate) fn run_process(task: &Task, process: &mut Process, registry: &Registry) -> Result<()> {
    let store = forecast::open(&task.pool, registry)?;
    let rank = process.rank;
    if task.action == Action::Write {
        let writer = Writer::new(store, &task.forecast, task.pace.unwrap_or(Pace::NONE))?;
        return process.phase("write", |recorder| writer.write(rank, recorder));
    }
    let members = task.forecast.shape.members(rank.neighbour(), 1);
    let reader = Reader::new(store, &task.forecast, task.full_check)?;
    match task.action {
        Action::List => process.phase("list", |recorder| {
            reader.reads(recorder, |reader, recorder| reader.list(members, recorder))
        }),
        _ => process.phase("read", |recorder| {
            reader.reads(recorder, |reader, recorder| read(task, reader, members, recorder))
        }),
    }
}

/// Reads all steps of some members.
fn read(
    task: &Task,
    reader: &mut Reader,
    members: std::ops::Range<u32>,
    recorder: &mut Recorder,
) -> Result<()> {
    for step in task.forecast.shape.steps() {
        match (&task.pace, task.one_by_one) {
            (Some(pace), _) => reader.follow(members.clone().collect(), step, pace, recorder)?,
            (None, true) => {
                members.clone().try_for_each(|member| reader.one_by_one(member, step, recorder))?;
            }
            (None, false) => {
                members.clone().try_for_each(|member| reader.request([member], step, recorder))?;
            }
        }
    }
    Ok(())
}
