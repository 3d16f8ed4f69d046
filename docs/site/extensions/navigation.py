"""The tree of pages beside every page, which comes from the lists on two of them.

What must stay true: a page is listed once, on the page that a reader of the forge sees, too. Sphinx warns of a page that is not listed.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

LISTS = ("index", "decisions/README")
"""The pages whose lists of links are the tree: each section is a part of it."""

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([\w/.-]+)\.md\)", re.MULTILINE)


def add_tree(app: Sphinx, page: str, source: list[str]) -> None:
    """Appends what Sphinx builds the tree from to a page with lists."""
    if page not in LISTS:
        return
    parts = _SECTION.split(source[0])
    captions = ["", *parts[1::2]]
    for caption, text in zip(captions, parts[0::2], strict=True):
        if entries := _ENTRY.findall(text):
            source[0] += _toctree(caption, entries)


def _toctree(caption: str, entries: list[tuple[str, str]]) -> str:
    lines = [f"{title} <{page}>" for title, page in entries]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *lines, "```", ""])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", add_tree)
    return {"parallel_read_safe": True}
