"""Takes pictures of reports: `PYTHONPATH=tests python tests/report/screenshots.py REPORT.html OUT [FIGURE ...]`.

Without figures, one picture of the whole page; with them, one of each (`overview` is one, too), named
`report-FIGURE.png`. Pictures are 1400 points wide unless `--width` says otherwise.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from browser import Browser, Page
from browser import program as browser_program


def main() -> None:
    """Does it."""
    parser = argparse.ArgumentParser(description="Takes pictures of a report.")
    parser.add_argument("report", type=Path, help="the page")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument(
        "figures", nargs="*", help="the figures to take, by their ids in the page; none: the whole page"
    )
    parser.add_argument("--width", type=int, default=1400, help="of the window, in points")
    parser.add_argument("--dark", action="store_true", help="as the page looks where the system is dark")
    asked = parser.parse_args()
    found = browser_program()
    if found is None:
        parser.error("no Chromium is installed; scripts/setup test installs it where it can be root")
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(found, Path(profile))
        try:
            page = Page(browser, asked.report, asked.width, asked.dark)
            for complaint in page.complaints():
                print(complaint)
            if not asked.figures:
                page.screenshot(asked.out / f"{asked.report.stem}.png")
            for figure in asked.figures:
                page.screenshot(asked.out / f"report-{figure}.png", f"#{figure}")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
