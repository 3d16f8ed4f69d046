"""The site of the documentation, as `make docs` leaves it, in a browser without a network and without a server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from needs import skip

from browser import Browser, Page

ROOT = Path(__file__).parents[2]

NOT_SHOWN = "[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PLOTS = "document.querySelectorAll('.cell_output img').length"
FOUND = """new Promise((resolve) => {
    Search.performSearch('wipe');
    const end = Date.now() + 20000;
    const found = () => [...document.querySelectorAll('#search-results li a')].map(one => one.textContent);
    const is_done = () => found().some(one => one.includes('Store.wipe')) || Date.now() > end;
    const look = () => is_done() ? resolve(found()) : setTimeout(look, 20);
    look();
})"""
"""The titles that a search finds, which the page adds one by one."""


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the site."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "site"
    if not (folder / "index.html").is_file():
        skip("site", f"no site in {folder}: `make docs` builds it")
    return folder


def problems(browser: Browser, path: Path, width: int, dark: bool) -> list[object]:
    """What is wrong with a page."""
    page = Page(browser, path, width, dark)
    asked = [url for url in page.requests() if not url.startswith(("file:", "data:"))]
    wide = page.ask(TOO_WIDE)
    found = [*page.complaints(), *asked, *page.ask(NOT_SHOWN), *([f"{wide} too wide"] if wide > 0 else [])]
    page.close()
    return found


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_page_is_shown_whole_without_the_network(
    browser: Browser, site: Path, width: int, dark: bool
) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    found = {path.name: problems(browser, path, width, dark) for path in pages}
    assert {page: wrong for page, wrong in found.items() if wrong} == {}


def test_every_tutorial_that_draws_has_its_plots(browser: Browser, site: Path) -> None:
    counts = {}
    for name in ("map", "ensemble-spread", "point-series"):
        page = Page(browser, site / "tutorials" / f"{name}.html")
        counts[name] = page.ask(PLOTS)
        page.close()
    assert counts == {"map": 3, "ensemble-spread": 4, "point-series": 1}


def test_the_search_works_without_a_server(browser: Browser, site: Path) -> None:
    page = Page(browser, site / "search.html")
    titles = page.ask(FOUND)
    page.close()
    assert any("Store.wipe" in title for title in titles), titles
