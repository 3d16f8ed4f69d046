//! What each process of hammer does.

use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    harness::{events::Recorder, launcher::Stage},
    workloads::forecast::{self, Forecast, Pace, Reader, Writer},
};

/// The task of all processes in one play.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) pool: String,
    pub(crate) forecast: Forecast,
    pub(crate) act: Act,
    pub(crate) one_by_one: bool,
    pub(crate) full_check: bool,
    /// The rhythm, if there is one.
    pub(crate) pace: Option<Pace>,
}

/// What there is to do in a play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Act {
    Write,
    Read,
    List,
}

/// Does the task.
pub(crate) fn play(task: &Task, stage: &mut Stage, registry: &Registry) -> Result<()> {
    let store = forecast::open(&task.pool, registry)?;
    let seat = stage.seat;
    if task.act == Act::Write {
        let writer = Writer::new(store, &task.forecast, task.pace.unwrap_or(Pace::NONE))?;
        return stage.phase("write", |recorder| writer.write(seat, recorder));
    }
    let members = task.forecast.shape.members(seat.neighbour(), 1);
    let reader = Reader::new(store, &task.forecast, task.full_check)?;
    match task.act {
        Act::List => stage.phase("list", |recorder| {
            reader.reads(recorder, |reader, recorder| reader.list(members, recorder))
        }),
        _ => stage.phase("read", |recorder| {
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
