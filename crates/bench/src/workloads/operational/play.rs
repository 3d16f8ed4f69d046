//! What each process of the operational pattern does.

use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    harness::launcher::Stage,
    workloads::forecast::{self, Forecast, Pace, Reader, Writer},
};

/// The task of all processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) pool: String,
    pub(crate) forecast: Forecast,
    pub(crate) full_check: bool,
    pub(crate) pace: Pace,
}

/// Does the task: the first half of the processes writes, the second half reads.
pub(crate) fn play(task: &Task, stage: &mut Stage, registry: &Registry) -> Result<()> {
    let store = forecast::open(&task.pool, registry)?;
    let (seat, shape) = (stage.seat, &task.forecast.shape);
    let writers = seat.processes / 2;
    if seat.process < writers {
        let writer = Writer::new(store, &task.forecast, task.pace)?;
        return stage.phase("write", |recorder| writer.write(seat, recorder));
    }
    let reader = Reader::new(store, &task.forecast, task.full_check)?;
    stage.phase("read", |recorder| {
        reader.reads(recorder, |reader, recorder| {
            // Readers take turns, so that each has a step of its own.
            let steps = shape.steps().skip((seat.process - writers) as usize).step_by(writers as usize);
            for step in steps {
                let members = shape.members(0, writers).collect();
                reader.follow(members, step, &task.pace, recorder)?;
            }
            Ok(())
        })
    })
}
