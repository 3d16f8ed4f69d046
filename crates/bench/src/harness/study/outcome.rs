//! What a run adds to a record: the events of its processes, the figures that follow from them, and its problems.

use serde_json::Map;

use super::{Extras, Record, ResultRecord};
use crate::{
    Result,
    harness::{
        events::{EventsFile, LogEntry, ProcessLog},
        launcher::{Phase, RunOutcome},
        metrics::{self, ReleasedTogether},
    },
};

impl Record {
    /// Adds the outcome of a repetition of a case, with the figures of each iteration if wanted.
    pub(crate) fn add_outcome(
        &mut self,
        (case, repetition): (u32, u32),
        outcome: &RunOutcome,
        with_iterations: bool,
    ) -> Result<()> {
        for phase in &outcome.phases {
            self.write_events((case, repetition), phase)?;
            let logs: Vec<&ProcessLog> = phase.all().collect();
            let together = outcome.phases.iter().filter(|other| other.released == phase.released);
            let together: Vec<&ProcessLog> = together.flat_map(Phase::all).collect();
            let together = ReleasedTogether { released: phase.released, logs: &together };
            if let Some(figures) = metrics::figures(&logs, together) {
                let extras = Extras::of(phase, outcome, &figures);
                let iterations = if with_iterations { metrics::iterations(&logs) } else { Vec::new() };
                let (phase, more) = (phase.name.clone(), Map::new());
                let result = ResultRecord { case, repetition, phase, figures, iterations, extras, more };
                self.add_result(result)?;
            }
        }
        outcome.problems.iter().try_for_each(|problem| self.add_problem(case, repetition, problem))
    }

    fn write_events(&self, (case, repetition): (u32, u32), phase: &Phase) -> Result<()> {
        let mut file = EventsFile::create(&self.events(case, repetition, &phase.name))?;
        for (node, process, log) in &phase.logs {
            let (phase, node, process) = (phase.name.clone(), *node, *process);
            file.add(&LogEntry { case, repetition, phase, node, process, log })?;
        }
        file.finish()
    }
}
