//! The tables of the suite: one for each folder, and the goals.

use std::io::{self, Write};

use crate::harness::{
    groups::grouped,
    machine::Machine,
    measurement::{Measurement, Repetitions},
    output::{self, short, size_text},
    spread::MIB,
};

const HEADER: [&str; 9] =
    ["", "field", "procs", "MiB/s", "of plain", "fields/s", "CPU us/field", "in kernel", "peak MiB"];

/// A goal of a figure. `reached` returns the figure and whether it reaches the goal.
struct Goal {
    what: &'static str,
    size: usize,
    text: &'static str,
    reached: fn(&Repetitions<'_>) -> Option<(f64, bool)>,
}

/// The goals, each of one process.
const GOALS: [Goal; 5] = [
    Goal {
        what: "archive",
        size: 1 << 20,
        text: "at least 0.70 of plain write",
        reached: |r| at_least(r.ratio()?, 0.70),
    },
    Goal {
        what: "retrieve",
        size: 1 << 20,
        text: "at least 0.80 of plain read",
        reached: |r| at_least(r.ratio()?, 0.80),
    },
    Goal {
        what: "archive",
        size: 4096,
        text: "at least 100000 fields/s",
        reached: |r| at_least(r.median(|one| one.fields_per_s), 100_000.0),
    },
    Goal {
        what: "list",
        size: 100,
        text: "1000000 fields in less than 2 s",
        reached: |r| {
            (r.first().total.fields >= 1_000_000)
                .then(|| less_than(r.median(|one| one.total.seconds), 2.0))?
        },
    },
    Goal {
        what: "list",
        size: 100,
        text: "with less than 300 MB",
        reached: |r| {
            (r.first().total.fields >= 1_000_000)
                .then(|| less_than(r.median(|one| one.rss_mib), 300e6 / MIB))?
        },
    },
];

fn at_least(figure: f64, goal: f64) -> Option<(f64, bool)> {
    Some((figure, figure >= goal))
}

fn less_than(figure: f64, goal: f64) -> Option<(f64, bool)> {
    Some((figure, figure < goal))
}

pub(crate) fn print(machine: &Machine, all: &[Measurement], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", machine.text())?;
    let groups = Repetitions::group(all);
    let repetitions = all.iter().map(|one| one.case.repetition).max().unwrap_or_default();
    writeln!(
        out,
        "Medians of {repetitions}; \"of plain\" is the median of ratios to the plain write or read just before."
    )?;
    for (place, here) in grouped(&groups, |group| group.first().case.place.as_str()) {
        let table = output::table(HEADER, here.iter().map(|group| row(group)), 1);
        writeln!(out, "\n{place}\n{table}")?;
        for goal in &GOALS {
            print_goal(goal, &here, out)?;
        }
    }
    Ok(())
}

fn print_goal(goal: &Goal, here: &[&Repetitions<'_>], out: &mut impl Write) -> io::Result<()> {
    let is_meant = |group: &&&Repetitions<'_>| {
        let first = group.first();
        (first.what, first.case.size, first.total.procs) == (goal.what, goal.size, 1)
    };
    let Some((figure, is_reached)) = here.iter().find(is_meant).and_then(|group| (goal.reached)(group))
    else {
        return Ok(());
    };
    let verdict = if is_reached { "reached" } else { "missed" };
    writeln!(
        out,
        "goal {verdict}: {} of {}: {}: {}",
        goal.what,
        size_text(goal.size),
        goal.text,
        short(figure)
    )
}

fn row(group: &Repetitions<'_>) -> [String; 9] {
    let first = group.first();
    let sync = if first.case.sync && first.what.contains("rchive") { ", synced" } else { "" };
    [
        format!("{}{sync}", first.what),
        size_text(first.case.size),
        first.total.procs.to_string(),
        short(group.median(|one| one.mib_per_s)),
        group.ratio().map_or(String::new(), |ratio| format!("{ratio:.2}")),
        short(group.median(|one| one.fields_per_s)),
        short(group.median(|one| one.cpu_us_per_field)),
        group.median_of_some(|one| one.system_us_per_field).map_or(String::new(), short),
        short(group.median(|one| one.rss_mib)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::measurement::tests::measurement;

    #[test]
    fn a_table_shows_the_figure_beside_its_limit_and_the_goal() {
        let limit = measurement("plain write", 0.5, None);
        let own = measurement("archive", 0.625, Some(&limit));
        let mut text = Vec::new();
        print(&Machine::this(), &[limit, own], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("0.80") && text.contains("1600"), "{text}");
        assert!(
            text.contains("goal reached: archive of 1 MiB: at least 0.70 of plain write: 0.80"),
            "{text}"
        );
    }
}
