"""Settings of the documentation: `make docs` builds it. Nothing in the built pages is requested from elsewhere."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as _version
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parent))

import reference  # beside this file

from allmodes import hints

project = "allmodes"
author = "the allmodes developers"
project_copyright = "2026, the allmodes developers"
version = release = _version("allmodes")
language = "en"
smartquotes = False  # in docstrings quotes belong to code

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "generated/equation-map.md"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3

# Docstrings are plain words with `names` in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Array", "Floats", *hints.__all__)}  # not written out
python_maximum_signature_line_length = 88  # longer signatures have a line for each argument
autodoc_inherit_docstrings = False  # what a base class says is said once
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # names that share a sentence stay together
napoleon_custom_sections = [("Attributes", "params_style")]  # as plain lists: no targets that could clash
viewcode_line_numbers = True

html_theme = "furo"
html_title = f"allmodes {release}"
html_static_path = ["static"]
html_css_files = ["allmodes.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"


def _mathml(node: Any, *, as_block: bool) -> str:
    """A formula as MathML, which browsers draw themselves."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        raise ValueError(f"the formula {node.astext()!r} cannot be written as MathML: {error}") from error


def _inline(self: Any, node: Any) -> None:
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="formula">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _tag_lines(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """`Paper: LABEL` in a docstring becomes a paragraph of its own, labels as code."""
    for i, line in enumerate(lines):
        if line.startswith("Paper: "):
            labels, _, remark = line.removeprefix("Paper: ").partition(" (")
            shown = ", ".join(f"``{label.strip()}``" for label in labels.split(","))
            lines[i] = f"*Paper:* {shown}" + (f" ({remark}" if remark else "")
        elif not line.lstrip().startswith((">>>", "...")):
            lines[i] = line.replace("|", r"\|")  # |x| is a length, not a substitution


def _plain_names(_app: Any, _what: str, _name: str, _object: Any, _options: Any, signature: Any, returns: Any) -> Any:
    """Names of types as they are, where Sphinx shows how it stands in for them."""

    def plain(text: str | None) -> str | None:
        return re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) if text else text

    return plain(signature), plain(returns)


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.connect("autodoc-process-docstring", _tag_lines)
    app.connect("autodoc-process-signature", _plain_names)
    app.connect("builder-inited", lambda app: reference.write(Path(app.srcdir)))


html_math_renderer = "mathml"
