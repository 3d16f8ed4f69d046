//! The head of the page: runs and machines, the best results, and warnings.

use std::fmt::Write;

use time::{OffsetDateTime, macros::format_description};

use super::{
    axes::{phases, title, varying},
    html::{escape, number},
    measured::{Measured, Row, is_measured, starts_of},
    runs::Run,
    transfer,
};
use crate::harness::{groups::grouped, launcher::Host, study::LIMIT_ERROR};

/// A time in UTC, as text.
pub(crate) fn time_text(seconds: u64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(seconds as i64).ok();
    let form = format_description!("[year]-[month]-[day] [hour]:[minute] UTC");
    time.and_then(|time| time.format(form).ok()).unwrap_or_else(|| format!("{seconds} s after 1970"))
}

/// The best mean of each phase, with its case.
pub(crate) fn best(measured: &Measured) -> String {
    let mut html = String::from("<div class=\"tiles\">");
    let mut rows = measured.own();
    rows.extend(transfer::with_bandwidth(measured));
    let names = varying(&rows, &[]);
    for phase in phases(&rows, measured.unit) {
        let mean = |row: &&&Row| row.spread(measured.unit).mean;
        let Some(best) = phase.rows.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))) else { continue };
        // Writing to a string cannot fail.
        let _ = write!(
            html,
            "<div class=\"tile\"><p class=\"what\">highest mean, {}</p><p class=\"value\">{} <small>{}</small></p>\
             <p class=\"with\">{}</p></div>",
            escape(&best.phase),
            number(mean(&best)),
            phase.unit,
            escape(&title(best, &names))
        );
    }
    html.push_str("</div>");
    html
}

pub(crate) fn run(run: &Run) -> String {
    let record = &run.record;
    let (badge, word) = if record.complete { ("good", "complete") } else { ("bad", "not complete") };
    let mut html = format!(
        "<article class=\"run\"><h3>{} <span class=\"badge {badge}\">{word}</span></h3><dl>",
        escape(&run.name)
    );
    let repetitions = record.results.iter().map(|result| result.repetition + 1).max().unwrap_or(0);
    let facts = [
        ("workload", record.workload.clone()),
        ("began", time_text(record.began)),
        ("command", record.command.join(" ")),
        ("driver", record.driver.clone()),
        (
            "measured",
            format!(
                "{} cases, {repetitions} repetitions, {} results",
                record.cases.len(),
                record.results.len()
            ),
        ),
    ];
    let measured = record.results.iter().filter(|result| is_measured(&result.phase));
    let starts = starts_of(measured.map(|result| &result.figures)).map(|seconds| {
        let [median, _, longest] = seconds.map(|seconds| format!("{:.2} ms", seconds * 1e3));
        ("start-up delay", format!("median {median}, longest {longest}"))
    });
    for (name, text) in facts.into_iter().chain(starts) {
        let text = escape(&text);
        let text = if name == "command" { format!("<code>{text}</code>") } else { text };
        let _ = write!(html, "<dt>{name}</dt><dd>{text}</dd>");
    }
    for (text, names) in machines(run) {
        let word = if names.len() == 1 { "node" } else { "nodes" };
        let _ = write!(html, "<dt>{word}</dt><dd>{}: {}</dd>", escape(&names.join(", ")), escape(&text));
    }
    html.push_str("</dl>");
    html.push_str(&settings(run));
    html.push_str(&list("warn", "Beware", &run.notices()));
    let no_limit = record.results.iter().filter_map(|result| {
        let why = result.more.get(LIMIT_ERROR)?.as_str()?;
        Some(format!("case {}, repetition {}, {}: {why}", result.case, result.repetition, result.phase))
    });
    html.push_str(&list("warn", "No limit beside", &no_limit.collect::<Vec<_>>()));
    let problems = record
        .problems
        .iter()
        .map(|problem| format!("case {}, repetition {}: {}", problem.case, problem.repetition, problem.what));
    html.push_str(&list("bad", "Problems", &problems.collect::<Vec<_>>()));
    html.push_str("</article>");
    html
}

/// The settings of a run, collapsed.
fn settings(run: &Run) -> String {
    let settings = &run.record.settings;
    match serde_json::to_string_pretty(settings) {
        Ok(text) if !settings.is_empty() => {
            format!(
                "<details><summary>Settings</summary><pre class=\"scroll\">{}</pre></details>",
                escape(&text)
            )
        }
        _ => String::new(),
    }
}

/// The machines of a run, with the names of their nodes. Equal machines are combined.
fn machines(run: &Run) -> Vec<(String, Vec<&str>)> {
    let text = |host: &&Host| {
        let processors: usize = host.sockets.iter().map(|socket| socket.cpus.len()).sum();
        let sockets = format!("{processors} processors to run on, sockets: {}", host.sockets.len());
        let is_driver = host.machine == run.record.driver;
        if is_driver { sockets } else { format!("{}; {sockets}", host.machine) }
    };
    let machines = grouped(&run.record.hosts, text).into_iter();
    machines.map(|(text, hosts)| (text, hosts.iter().map(|host| host.name.as_str()).collect())).collect()
}

fn list(kind: &str, heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
    format!("<div class=\"notice {kind}\" role=\"note\"><strong>{heading}</strong><ul>{items}</ul></div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_calendar_times_in_utc() {
        assert_eq!(time_text(1_795_307_551), "2026-11-22 00:32 UTC");
        assert_eq!(time_text(u64::MAX), "1969-12-31 23:59 UTC");
    }
}
