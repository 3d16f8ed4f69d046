"""The reference of the Python package, from its docstrings and the stub of its native module.

What must stay true: every public name of the modules in `PUBLIC` has an entry. Classes of the native module are shown as their stub declares
them, with types, which the module itself does not have; `stubtest` compares the two.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import isotach
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util import logging
from sphinx.util.inspect import TypeAliasForwardRef

PUBLIC = (
    "isotach",
    "isotach.xarray",
    "isotach.zarr",
    "isotach.pyfdb",
    "isotach.pygribjump",
    "isotach.z3fdb",
    "isotach.hdf5",
)
"""The public modules of the package."""

SECTIONS = Config(napoleon_use_rtype=False)
"""How the sections of docstrings are shown."""

logger = logging.getLogger(__name__)


def show_stub() -> None:
    """Puts the classes of the stub in the place of those of the native module."""
    path = Path(isotach.__file__).with_name("_isotach.pyi")
    stub = ModuleType("isotach._isotach")
    text = f"from __future__ import annotations\n{path.read_text()}"
    exec(compile(text, path, "exec"), stub.__dict__)
    for name in stub.__dict__["__all__"]:
        if getattr(isotach, name, None) is getattr(isotach._isotach, name):
            setattr(isotach, name, getattr(stub, name))


def names() -> Iterator[str]:
    """Every public name of the package."""
    for module in PUBLIC:
        for name in importlib.import_module(module).__all__:
            yield f"{module}.{name}"


def check_complete(app: Sphinx, environment: BuildEnvironment) -> None:
    """Warns of public names without an entry."""
    entries = environment.domains.python_domain.objects
    for name in names():
        if name not in entries:
            logger.warning("the reference has no entry for %s: expected one in docs/reference", name)


def signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, arguments: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """The signature. A class that users do not construct is shown without arguments."""
    if what == "class" and (is_dataclass(thing) or (thing.__init__.__doc__ or "").startswith("Called by")):
        return "", None
    return arguments, returns


def docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Reads the sections of a docstring. Those of attributes are one sentence, which may have a colon."""
    if what not in ("attribute", "property", "data"):
        lines[:] = NumpyDocstring(list(lines), SECTIONS, app, what, name, thing, options).lines()


def match_exactly(app: Sphinx, page: nodes.document) -> None:
    """Has types looked up by their whole names. Sphinx would also take an attribute ``bytes`` for the type."""
    for reference in page.findall(pending_xref):
        if not reference.get("refspecific"):
            reference.attributes.pop("refspecific", None)


def to_public_name(
    app: Sphinx, environment: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Element | None:
    """A reference by the name in a private module, or in another public one."""
    name = node["reftarget"].rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in isotach.__all__:
        return None
    python = environment.domains.python_domain
    return python.resolve_xref(
        environment, node["refdoc"], app.builder, node["reftype"], f"isotach.{name}", node, content
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    # All modules are imported first: what they check of the classes holds for those of the native module.
    list(names())
    show_stub()
    # Sphinx shows an alias within another type by this.
    TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("doctree-read", match_exactly)
    app.connect("missing-reference", to_public_name)
    app.connect("env-check-consistency", check_complete)
    return {"parallel_read_safe": True}
