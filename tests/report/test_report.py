"""The report as its readers see it: made by the program of runs that it made, and shown by a real browser.

The page is loaded with the network off. Where ISOTACH_SCREENSHOTS names a folder, pictures are left there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from browser import Browser, Page
from conftest import Bench

SWEEP = "--pattern a,b --mode full,no-index --contention low,high -n 2,4 --size 4096,65536 --operations 20 --repetitions 2"
NOT_DRAWN = "[...document.querySelectorAll('.canvas')].filter(one => one.dataset.drawn !== 'true').map(one => one.ariaLabel)"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def sweep(bench: Bench) -> Path:
    """A run over most of what can differ."""
    return bench.run("sweep", SWEEP)


@pytest.fixture(scope="module")
def page(bench: Bench, sweep: Path) -> Path:
    """Its report."""
    made = bench.report(sweep)
    assert made.returncode == 0, made.stderr
    assert "report.html: " in made.stdout
    return sweep / "report.html"


def picture(page: Page, name: str) -> None:
    """Leaves a picture, if anyone wants it."""
    if folder := os.environ.get("ISOTACH_SCREENSHOTS"):
        page.screenshot(Path(folder) / f"{name}.png")


def figures(page: Page) -> list[str]:
    """The figures that the page has."""
    return page.ask("report.figures.map(one => one.id)")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_every_plot_is_drawn_without_a_request_or_a_complaint(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    shown = Page(browser, page, width, dark)
    assert figures(shown) == ["processes", "sizes", "contention", "peers", "shares", "times", "starts"]
    assert shown.ask("document.querySelectorAll('.canvas').length") >= 9
    assert shown.ask(NOT_DRAWN) == []
    assert shown.ask(TOO_WIDE) <= 0
    assert (shown.complaints(), shown.requests()) == ([], [])
    picture(shown, f"sweep-{width}-{'dark' if dark else 'light'}")


def test_a_plot_that_shows_nothing_but_its_axes_is_not_drawn(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    before, data, after = re.split(r'(?<=id="figures">)(.*?)(?=</script>)', page.read_text(), flags=re.DOTALL)
    figures = [one for one in json.loads(data) if one["id"] in ("processes", "contention")]
    for plot in (plot for one in figures for panel in one["panels"] for plot in panel["plots"]):
        for series in plot["series"]:
            series |= {"points": []} if "points" in series else {"values": [None] * len(series["values"])}
    (tmp_path / "empty.html").write_text(before + json.dumps(figures) + after)
    shown = Page(browser, tmp_path / "empty.html")
    drawn = "[...document.querySelectorAll('.canvas')].map(one => [one.dataset.drawn, one.querySelector('svg text') !== null])"
    assert {tuple(one) for one in shown.ask(drawn)} == {("false", True)}
    assert shown.complaints() == []


def test_every_choice_of_every_figure_shows_a_plot(browser: Browser, page: Path) -> None:
    shown = Page(browser, page)
    choose = """(() => {
        let count = 0;
        for (const select of document.querySelectorAll('.choices select'))
            for (const option of [...select.options]) {
                select.value = option.value;
                select.dispatchEvent(new Event('change'));
                if (select.value !== option.value) throw new Error(`${option.value} was not taken`);
                count += 1;
            }
        return count;
    })()"""
    assert shown.ask(choose) > 10
    assert shown.ask(NOT_DRAWN) == []
    assert (shown.complaints(), shown.requests()) == ([], [])


def test_plots_have_text_and_tables_and_are_given_out_as_svg_and_csv(browser: Browser, page: Path) -> None:
    shown = Page(browser, page)
    saved = """(() => {
        const files = {}, blobs = new Map();
        URL.createObjectURL = (blob) => { const url = `#${blobs.size}`; blobs.set(url, blob); return url; };
        HTMLAnchorElement.prototype.click = function () { files[this.download] = blobs.get(this.getAttribute('href')); };
        document.querySelectorAll('.figure button, #results button').forEach(one => one.click());
        return Promise.all(Object.entries(files).map(async ([name, blob]) => [name, await blob.text()])).then(Object.fromEntries);
    })()"""
    files = shown.ask(saved)
    svgs = {name: text for name, text in files.items() if name.endswith(".svg")}
    assert {"processes-write.svg", "sizes-read.svg", "contention-write.svg"} <= svgs.keys()
    for name, text in svgs.items():
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg", name
    results = files["results.csv"].splitlines()
    # A and B in two layouts, two contentions, two counts of processes and two sizes; B has a phase more.
    assert len(results) == 1 + 2 * 2 * 2 * 2 * (2 + 3)
    assert {"unit", "mean", "deviation", "median start delay ms", "overlap"} <= set(results[0].split(","))
    assert all(
        float(line.split(",")[results[0].split(",").index("repetitions")]) == 2 for line in results[1:]
    )
    assert files["times-write.csv"].startswith("process,phase,start_ms,end_ms,operations\n0,")
    unnamed = "[...document.querySelectorAll('.canvas')].filter(one => !(one.role === 'img' && one.ariaLabel)).length"
    assert shown.ask(unnamed) == 0
    assert shown.ask("document.querySelectorAll('.figure:not(:has(table tbody tr))').length") == 0


def test_two_runs_of_the_same_cases_are_compared_with_ratios(bench: Bench, browser: Browser) -> None:
    words = "--pattern a --mode no-index --size 4096 -n 2 --operations 10 --repetitions 1"
    runs = [bench.run(name, words) for name in ("before", "after")]
    page = bench.records / "compared.html"
    assert bench.report(*runs, "--out", page).returncode == 0
    shown = Page(browser, page)
    assert "runs" in figures(shown) and shown.ask(NOT_DRAWN) == []
    columns = shown.ask("[...document.querySelectorAll('#runs th')].map(one => one.textContent)")
    assert columns[0] == "phase" and columns[-1] == "after / before"
    picture(shown, "compared")


def test_runs_of_other_numbers_of_nodes_are_one_and_peers_stand_beside_it(
    bench: Bench, browser: Browser
) -> None:
    words = "--pattern a --mode no-index --size 4096 -n 1,2 --operations 10 --repetitions 2"
    one = bench.run("one-node", words)
    two = bench.run("two-nodes", words, "--hosts", "a,b", "--launcher", "env NODE={host}")
    add_peer(one)
    page = bench.records / "nodes.html"
    assert bench.report(one, two, "--out", page).returncode == 0
    shown = Page(browser, page)
    assert {"nodes", "processes", "heat", "peers", "calls"} <= set(figures(shown))
    assert (shown.ask(NOT_DRAWN), shown.complaints()) == ([], [])
    columns = shown.ask("[...document.querySelectorAll('#peers th')].map(one => one.textContent)")
    assert columns[-2:] == ["Isotach / fdb", "Isotach / limit"]
    rows = shown.ask(
        "[...document.querySelectorAll('#peers tbody tr')].map(row => [...row.cells].map(one => one.textContent))"
    )
    units = {row[columns.index("phase")]: row[columns.index("unit")] for row in rows}
    assert set(units.values()) == {"fields/s"}
    # Isotach had twice its limit in one repetition and four times in the other, and was as fast as FDB in both.
    assert {float(row[-2].split()[-1]) for row in rows} == {1}
    assert {row[-1] for row in rows} == {"▲ 3"}
    told = shown.ask("[...document.querySelectorAll('.notice')].map(one => one.textContent).join(' ')")
    assert "parquet" not in told
    assert "<5.25>" in shown.ask("document.querySelector('.run pre').textContent")
    picture(shown, "nodes")


def add_peer(run: Path) -> None:
    """Adds to a record what others did of its first case, beside a limit, as `bench peers` keeps it, and a profile."""
    path = run / "run.json"
    record = json.loads(path.read_text())
    spread = dict.fromkeys(["mean", "deviation", "min", "median", "p95", "p99", "max"], 0)
    first = record["cases"][0]
    number = len(record["cases"])
    kept = {name: first[name] for name in ("size", "processes_per_node", "nodes")}
    record["cases"].append({"number": number, **kept, "peer": "fdb"})
    for result in [result for result in record["results"] if result["case"] == 0]:
        fields_per_s = result["operations"] / result["total_s"]
        mib_per_s = fields_per_s * first["size"] / (1 << 20)
        ratio = 2 + 2 * result["repetition"]
        result["fields_per_s"] = fields_per_s
        result |= {"limit_mib_per_s": mib_per_s / ratio, "ratio_to_limit": ratio}
        result["is_limit_overlap_poor"] = True
        # What is not timed operation by operation has no events.
        record["results"].append({**result, "case": number, "iteration_s": spread, "latency_s": spread})
    for result in record["results"]:
        if result["case"] not in (0, number):
            for name in ("limit_mib_per_s", "ratio_to_limit", "is_limit_overlap_poor"):
                result.pop(name, None)
        result["profile"] = {
            "kv_put": {"count": 7, "seconds": 0.5, "share": 0.25},
            "array_write": {"count": 7, "seconds": 1.5, "share": 0.75},
        }
    record["settings"] = {"fdb": {"version": "<5.25>"}}
    path.write_text(json.dumps(record))


def test_of_iterations_in_turns_the_synchronous_bandwidth_is_shown_and_checks_are_in_no_figure(
    bench: Bench, browser: Browser
) -> None:
    words = "-b 64k -t 64k -s 2 -i 3 -F -w -W -r -n 2 --repetitions 1 -a object,posix"
    run = bench.run("turns", words, workload="ior")
    assert bench.report(run).returncode == 0
    shown = Page(browser, run / "report.html")
    assert figures(shown) == ["rates", "shares", "times", "starts"]
    drawn = shown.ask("JSON.stringify(report.figures)")
    assert "write-check" not in drawn
    rates = "report.figures[0].panels.flatMap(one => one.plots).map(one => [one.title, one.y])"
    assert {(title, unit.split(", ")[1]) for title, unit in shown.ask(rates)} == {
        ("read", "synchronous"),
        ("write", "synchronous"),
    }
    assert (shown.ask(NOT_DRAWN), shown.complaints()) == ([], [])
    picture(shown, "turns")


def test_the_forecast_workloads_have_lists_in_fields_by_time_their_calls_and_how_fresh_readers_were(
    bench: Bench, browser: Browser
) -> None:
    words = "--nsteps 2 --nlevels 2 --nparams 2 --size 4096 -n 2 --repetitions 1"
    hammer = bench.run("hammer", f"--write --read --list {words}", workload="hammer")
    operational = bench.run("operational", words, workload="operational")
    page = bench.records / "forecast.html"
    assert bench.report(hammer, "--out", page).returncode == 0
    shown = Page(browser, page)
    assert figures(shown) == ["rates", "peers", "calls", "shares", "times", "starts"]
    units = shown.ask("Object.fromEntries(report.figures[0].panels[0].plots.map(one => [one.title, one.y]))")
    assert units["list"] == "fields/s" and units["write"] in ("MiB/s", "GiB/s")
    assert (shown.ask(NOT_DRAWN), shown.complaints()) == ([], [])
    assert bench.report(operational, "--out", page).returncode == 0
    shown = Page(browser, page)
    assert "freshness" in figures(shown)
    assert (shown.ask(NOT_DRAWN), shown.complaints()) == ([], [])


def test_a_run_that_was_interrupted_is_shown_and_marked(bench: Bench, browser: Browser, sweep: Path) -> None:
    broken = bench.records / "interrupted"
    shutil.copytree(sweep, broken)
    record = json.loads((broken / "run.json").read_text())
    problem = {"case": 0, "repetition": 0, "what": "node 1 <b>died</b>"}
    record |= {"complete": False, "problems": [problem]}
    record["results"][0]["is_overlap_poor"] = True
    (broken / "run.json").write_text(json.dumps(record))
    events = sorted((broken / "events").iterdir())
    events[0].write_bytes(events[0].read_bytes()[:100])
    events[1].unlink()
    made = bench.report(broken)
    assert made.returncode == 0 and "the run is not complete" in made.stdout and events[0].name in made.stdout
    shown = Page(browser, broken / "report.html")
    assert shown.ask("document.querySelector('.badge').textContent") == "not complete"
    told = shown.ask("[...document.querySelectorAll('.notice')].map(one => one.textContent).join(' ')")
    for expected in [
        "not complete",
        "did not overlap well",
        events[0].name,
        events[1].name,
        "node 1 <b>died</b>",
    ]:
        assert expected in told
    assert shown.ask(NOT_DRAWN) == []
    picture(shown, "interrupted")


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        (None, 2, "run.json does not exist; expected a folder that a study"),
        ("{", 1, "expected the record of a run"),
        ('{"workload": "field-io"}', 1, "missing field `driver`"),
    ],
)
def test_a_folder_without_a_whole_record_is_refused(
    bench: Bench, tmp_path: Path, text: str | None, code: int, expected: str
) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    made = bench.report(tmp_path)
    assert made.returncode == code and expected in made.stderr and "run.json" in made.stderr
    assert not (tmp_path / "report.html").exists()
