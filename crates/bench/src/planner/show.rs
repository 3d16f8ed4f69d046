//! The output of the planner: tables for people. The lines of JSON have all their figures, with more digits.

use std::io::Write;

use super::{
    curve::{Curve, Point, knee},
    demand::Kind,
    need::{Answer, Needed},
    site::Site,
    units::{Count, Span},
    window::Outlook,
};
use crate::{
    Error, Result,
    harness::{
        output::{print_table, short, table},
        spread::{GIB, MIB},
    },
};

/// Bytes, or bytes in a second, with three digits.
fn bytes_text(bytes: f64) -> String {
    let units = [(1024.0 * GIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (1024.0, "KiB")];
    let (factor, unit) = units.into_iter().find(|(factor, _)| bytes >= *factor).unwrap_or((1.0, "B"));
    format!("{} {unit}", short(bytes / factor))
}

/// A volume as people give it: a whole number has no decimals.
fn volume_text(bytes: f64) -> String {
    bytes_text(bytes).replace(".00 ", " ").replace(".0 ", " ")
}

fn time_text(seconds: f64) -> String {
    match seconds {
        minutes if (120.0..7200.0).contains(&minutes) => format!("{} min", short(minutes / 60.0)),
        hours if hours >= 7200.0 => format!("{} h", short(hours / 3600.0)),
        seconds => format!("{} s", short(seconds)),
    }
}

fn percent(part: f64) -> String {
    match part * 100.0 {
        0.0 => "0 %".to_owned(),
        small if small < 1.0 => "< 1 %".to_owned(),
        part => format!("{part:.0} %"),
    }
}

fn counted(number: f64, noun: &str) -> String {
    match (number, noun) {
        (1.0, "processes") => "1 process".to_owned(),
        (1.0, noun) => format!("1 {}", noun.trim_end_matches('s')),
        _ => format!("{number} {noun}"),
    }
}

/// What a site is, in one line.
fn summary(site: &Site) -> String {
    let of = |count: std::num::NonZeroU32| f64::from(count.get());
    let mut parts = Vec::new();
    let nodes = site.servers.as_ref().map_or(of(site.clients.nodes), |servers| of(servers.nodes));
    if let Some(servers) = &site.servers {
        parts.push(counted(of(servers.nodes), "servers"));
    }
    if let Some(services) = &site.services {
        parts.push(counted(nodes * of(services.per_node), site.engine.service()));
    }
    if let Some(devices) = &site.devices {
        parts.push(counted(nodes * of(devices.per_node), "devices"));
    }
    if let Some(metadata) = &site.metadata {
        parts.push(counted(of(metadata.servers), "metadata servers"));
    }
    let clients = counted(of(site.clients.nodes), "client nodes");
    parts.push(format!("{clients} with {}", counted(site.processes(), "processes")));
    format!("{} (engine {})\n{}", site.name, site.engine, parts.join(", "))
}

/// The windows beside each other: what each takes, and of which resource.
pub(super) fn windows(site: &Site, outlooks: &[Outlook], out: &mut impl Write) -> Result<()> {
    let Some(first) = outlooks.first() else { return Ok(()) };
    let window = first.window;
    let read_back = percent(window.read_back);
    let header = ["", "units"].map(str::to_owned).into_iter();
    let header = header.chain(outlooks.iter().map(|outlook| volume_text(outlook.window.bytes)));
    let row = |title: &str, units: String, cell: &dyn Fn(&Outlook) -> String| -> Vec<String> {
        [title.to_owned(), units].into_iter().chain(outlooks.iter().map(cell)).collect()
    };
    let none = String::new;
    let mut rows = vec![
        row("a field", none(), &|one| bytes_text(one.window.bytes / one.window.fields)),
        row("needed bandwidth", none(), &|one| {
            format!("{}/s", bytes_text(one.window.moved() / one.window.seconds))
        }),
        row("predicted bandwidth", none(), &|one| format!("{}/s", bytes_text(one.bandwidth()))),
        row("time needed", none(), &|one| time_text(one.seconds())),
        row("fits", none(), &fits),
        row("limited by", none(), &|one| one.limit(site).to_owned()),
    ];
    if first.space.is_some() {
        rows.push(row("space used", none(), &|one| one.space.map_or_else(String::new, percent)));
    }
    rows.push(row("needed of:", none(), &|_| String::new()));
    for (index, resource) in first.demands.resources.iter().enumerate() {
        let name = format!("  {}", resource.kind.name(site.engine));
        rows.push(row(&name, resource.units.to_string(), &|one| {
            one.demands.resources.get(index).map_or_else(String::new, |found| percent(one.needed(found)))
        }));
    }
    let heading = format!(
        "{}\n{} fields written and {read_back} of them read back in {}, by volume:",
        summary(site),
        Count(window.fields as u64),
        Span::of_seconds(window.seconds),
    );
    print(&heading, &table(header, rows, 1), out)?;
    sources(site, out)
}

fn fits(outlook: &Outlook) -> String {
    match (outlook.is_in_time(), outlook.has_space()) {
        (true, true) => "yes",
        (false, true) => "no: speed",
        (true, false) => "no: space",
        (false, false) => "no: speed, space",
    }
    .to_owned()
}

/// Where the figures come from.
fn sources(site: &Site, out: &mut impl Write) -> Result<()> {
    let mut all = vec![("clients", &site.clients.source)];
    all.extend(site.servers.as_ref().map(|part| ("servers", &part.source)));
    all.extend(site.services.as_ref().map(|part| (site.engine.service(), &part.source)));
    all.extend(site.devices.as_ref().map(|part| ("devices", &part.source)));
    all.extend(site.metadata.as_ref().map(|part| ("metadata", &part.source)));
    all.extend(site.access.as_ref().map(|part| ("access", &part.source)));
    all.push(("costs", &site.costs.source));
    writeln!(out, "\nWhere the figures come from:").map_err(Error::Output)?;
    for (section, source) in all {
        writeln!(out, "  {section}: {source}").map_err(Error::Output)?;
    }
    Ok(())
}

/// Sites on which each window fits.
pub(super) fn needs(site: &Site, all: &[Needed], out: &mut impl Write) -> Result<()> {
    for (index, needed) in all.iter().enumerate() {
        if index > 0 {
            writeln!(out).map_err(Error::Output)?;
        }
        need(site, needed, out)?;
    }
    sources(site, out)
}

/// Sites on which a window fits.
fn need(site: &Site, needed: &Needed, out: &mut impl Write) -> Result<()> {
    let window = needed.window;
    let header = [
        "servers",
        site.engine.service(),
        "devices",
        "metadata",
        "client nodes",
        "processes",
        "time needed",
        "space used",
        "limited by",
        "",
    ];
    let row = |answer: &Answer| {
        let units = |kind| match answer.units(kind) {
            0.0 => "-".to_owned(),
            units => units.to_string(),
        };
        [
            answer.servers().to_string(),
            units(Kind::Services),
            units(Kind::Devices),
            units(Kind::Metadata),
            answer.site.clients.nodes.to_string(),
            answer.site.processes().to_string(),
            time_text(answer.outlook.seconds()),
            answer.outlook.space.map_or_else(|| "-".to_owned(), percent),
            answer.outlook.limit(&answer.site).to_owned(),
            if answer.is_smallest { "<- fewest nodes" } else { "" }.to_owned(),
        ]
    };
    let for_space = needed.for_space.map_or_else(String::new, |count| format!(" and {count} for the space"));
    let heading = format!(
        "{} in {} fields, of which {} are read back, in {}, on hardware as in {} (engine {}).\n\
         At least {} for the speed{for_space}. Each line fits; more servers need fewer clients:",
        volume_text(window.bytes),
        Count(window.fields as u64),
        percent(window.read_back),
        Span::of_seconds(window.seconds),
        site.name,
        site.engine,
        counted(f64::from(needed.for_speed), "servers"),
    );
    let header = header.map(str::to_owned);
    print(&heading, &table(header, needed.answers.iter().map(row), 0), out)
}

/// Bandwidth along a curve.
pub(super) fn curve(
    site: &Site,
    curve: Curve,
    points: &[Point],
    bytes: f64,
    out: &mut impl Write,
) -> Result<()> {
    let title = match curve {
        Curve::Servers => "servers",
        Curve::Ratio => "clients per server",
        Curve::Processes => "processes",
    };
    let header = [title, "client nodes", "processes", "write /s", "limited by", "read /s", "limited by", ""];
    let found = knee(curve, points).map(|point| point.at);
    let row = |point: &Point| {
        [
            point.at.to_string(),
            point.client_nodes.to_string(),
            point.processes.to_string(),
            bytes_text(point.write.0),
            point.write.1.name(site.engine).to_owned(),
            bytes_text(point.read.0),
            point.read.1.name(site.engine).to_owned(),
            if found == Some(point.at) { "<- knee" } else { "" }.to_owned(),
        ]
    };
    let heading = format!("{}\nFields of {}, all written or all read:", summary(site), bytes_text(bytes));
    print(&heading, &table(header, points.iter().map(row), 0), out)?;
    if curve != Curve::Servers {
        let note = "Knee: the first with 95 % of the best, by the geometric mean of writing and reading.";
        writeln!(out, "{note}").map_err(Error::Output)?;
    }
    sources(site, out)
}

fn print(heading: &str, table: &comfy_table::Table, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{heading}").and_then(|()| print_table(table, out)).map_err(Error::Output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_units_and_few_digits() {
        assert_eq!(
            [70.0 * 1024.0 * GIB, 2.94 * MIB, 100.0].map(bytes_text),
            ["70.0 TiB", "2.94 MiB", "100 B"]
        );
        assert_eq!([45.0, 3600.0, 9000.0].map(time_text), ["45.0 s", "60.0 min", "2.50 h"]);
        assert_eq!([0.0, 0.001, 0.574, 1.94].map(percent), ["0 %", "< 1 %", "57 %", "194 %"]);
        assert_eq!(counted(1.0, "client nodes") + &counted(2.0, "OSDs"), "1 client node2 OSDs");
        let nouns = ["processes", "storage targets", "OSDs", "metadata servers"];
        let one = nouns.map(|noun| counted(1.0, noun));
        assert_eq!(one, ["1 process", "1 storage target", "1 OSD", "1 metadata server"]);
        let volumes = [70.0 * 1024.0 * GIB, 100e12, 3.5 * GIB, 700.0 * 1024.0 * GIB].map(volume_text);
        assert_eq!(volumes, ["70 TiB", "90.9 TiB", "3.50 GiB", "700 TiB"]);
    }
}
