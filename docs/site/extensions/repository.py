"""Links from pages to files that are not pages, such as source code: on the site they lead to the repository.

That the files exist is checked by the house rules (`crates/tidy`).
"""

from __future__ import annotations

import re
from os.path import normpath
from posixpath import dirname, join

from sphinx.application import Sphinx

REPOSITORY = "https://github.com/isotach/isotach/"

_LINK = re.compile(r"\]\((\.\./[^)\s]+)\)")


def lead_to_repository(app: Sphinx, page: str, source: list[str]) -> None:
    """Replaces the targets that leave the folder of the pages."""

    def target(link: re.Match[str]) -> str:
        path = normpath(join("docs", dirname(page), link[1]))
        return link[0] if path.startswith("docs/") else f"]({REPOSITORY}blob/main/{path})"

    source[0] = _LINK.sub(target, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", lead_to_repository)
    return {"parallel_read_safe": True}
