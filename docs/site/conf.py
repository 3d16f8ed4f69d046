"""The settings of Sphinx for the site: `scripts/docs` builds it, and docs/decisions/029 says why with these tools.

What must stay true: a page asks the network for nothing, and whatever leads nowhere is a warning, which fails the build.
"""

from __future__ import annotations

import importlib.metadata
import logging
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from extensions.repository import REPOSITORY  # noqa: E402

project = "Isotach"
release = importlib.metadata.version("isotach")
html_title = "Isotach"
html_show_copyright = False

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "extensions.navigation",
    "extensions.repository",
    "extensions.reference",
]
root_doc = "index"
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["site"]

# Markdown: the anchors of headings are those of the forge.
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Notebooks are run for every build, in a folder that is removed at the end.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_output_stderr = "warn"
# Without it, each notebook says on standard error that it runs.
logging.getLogger("traitlets").setLevel(logging.WARNING)

# Reference: types are shown in signatures.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: f"isotach.{name}" for name in ("RequestLike", "KeyLike", "Key")}
autodoc_type_aliases["MarsSelection"] = "isotach.pyfdb.MarsSelection"
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
add_module_names = False
nitpicky = True
# What has its pages elsewhere.
nitpick_ignore_regex = [
    ("py:.*", r"(builtins|collections|datetime|os|pathlib|np|numpy|xarray|zarr)(\..*)?|NDArray")
]
# Classes that have no public name in pyfdb and z3fdb either.
nitpick_ignore = [
    ("py:class", "isotach.pyfdb.pyfdb_iterator.WipeElementType"),
    ("py:class", "isotach.z3fdb._store.FdbZarrStore"),
]

html_theme = "furo"
pygments_dark_style = "github-dark"
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False

# Code is copied without prompts. Outputs have no button.
copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.output) > div.highlight > pre"
