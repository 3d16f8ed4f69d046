//! The whole page: overview, figures, all results, and the script that draws.

use std::collections::BTreeSet;

use super::{
    html::{Table, escape},
    measured::Measured,
    overview,
    plot::Figure,
    runs::Run,
};

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
/// Apache ECharts as released. `docs/decisions/017-one-page-with-its-own-plots.md` says why.
const ECHARTS: &str = include_str!("echarts/echarts.min.js");
const FOOT: &str = "Drawn by <a href=\"https://echarts.apache.org\">Apache ECharts</a> 6.1.0, which is part of this page: copyright \
    2017-2026 The Apache Software Foundation, Apache License 2.0; it contains parts of d3, copyright 2010-2016 Mike Bostock, \
    BSD 3-Clause.";

/// Figures with an open table, because only the table has their ratios.
const OPEN: [&str; 3] = ["ceiling", "peers", "runs"];

/// The page. Its security policy forbids all requests.
pub(crate) fn page(runs: &[Run], measured: &Measured, figures: &[Figure]) -> String {
    let workloads: BTreeSet<&str> = runs.iter().map(|run| run.record.workload.as_str()).collect();
    let title = format!("Isotach bench: {}", workloads.into_iter().collect::<Vec<_>>().join(", "));
    let links: String = figures
        .iter()
        .map(|figure| format!("<a href=\"#{}\">{}</a>", figure.id, escape(figure.title)))
        .chain(["<a href=\"#results\">All results</a>".to_owned()])
        .collect();
    let all = measured.all();
    let parts = [
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">",
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
        "<meta name=\"color-scheme\" content=\"light dark\">",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">",
        &format!("<title>{}</title><style>{STYLE}</style></head><body>", escape(&title)),
        &format!(
            "<header><h1>{}</h1><nav aria-label=\"Figures\">{links}</nav></header><main>",
            escape(&title)
        ),
        "<section id=\"overview\"><h2>Overview</h2>",
        &overview::best(measured),
        &runs.iter().map(overview::run).collect::<String>(),
        "</section>",
        &figures.iter().map(section).collect::<String>(),
        "<section id=\"results\"><h2>All results</h2><p class=\"caption\">Every phase of every case.</p>",
        &numbers("results", &Table::of(&all.iter().collect::<Vec<_>>(), measured.unit)),
        &format!("</section></main><footer><p>{FOOT}</p></footer>"),
        &format!("<script type=\"application/json\" id=\"figures\">{}</script>", data(figures)),
        &format!("<script>{ECHARTS}</script><script>{SCRIPT}</script></body></html>\n"),
    ];
    parts.concat()
}

fn section(figure: &Figure) -> String {
    format!(
        "<section id=\"{}\" class=\"figure\"><h2>{}</h2><p class=\"caption\">{}</p><div class=\"choices\"></div>\
         <div class=\"plots\"></div>{}</section>",
        figure.id,
        escape(figure.title),
        escape(&figure.caption),
        numbers(figure.id, &figure.table)
    )
}

/// A table, collapsed unless it is one of the open ones.
fn numbers(id: &str, table: &Table) -> String {
    let open = if OPEN.contains(&id) { " open" } else { "" };
    format!(
        "<details{open}><summary>Numbers ({} rows)</summary><p><button type=\"button\" class=\"csv\" data-of=\"{id}\">CSV</button></p>{}</details>",
        table.rows.len(),
        table.html()
    )
}

/// The data of the script, escaped so that no text can end its element.
fn data(figures: &[Figure]) -> String {
    serde_json::to_string(figures).unwrap_or_else(|_| "[]".to_owned()).replace('<', "\\u003c")
}
