"""The frame that all pages share: style, scripts, data, theme switch; one file without network.

Invariant: a page has its data once, and everything that draws them.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from penstock.look import bar_colours, looks, looks_as_json
from penstock.report.columns import embed

Figure = Mapping[str, Any]
"""A figure as the page reads it, see `ReportFigure.as_json`, and its own `looks`, if it has any."""

LONG_FROM = 60
"""Rows of a table above which the table is scrolled by itself; our choice: two screens."""

Looks = dict[str, dict[str, str]]
"""By name: colours, marker and dash, as the page reads them."""


def render(
    template: str, figures: Sequence[Figure], note: str, *, legend_from: int = 1, **fields: Any
) -> bytes:
    """A page.

    Parameters
    ----------
    template:
        Name of its template, which extends `page.html.j2`.
    figures:
        Its figures. The legend has the names of schemes that are in at least `legend_from` of them.
    note:
        Small letters under a figure that leaves the page: scenario, runs, seeds.
    fields:
        What the template shows besides.
    """
    page = _environment().get_template(template)
    return page.render(
        figures=figures,
        data=embed(_data(figures, note, legend_from)),
        vendor=_vendor(),
        modules=_modules(),
        long=LONG_FROM,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **fields,
    ).encode()


def looks_of(names: Sequence[str]) -> Looks:
    """The looks of names, as the page reads them."""
    return looks_as_json(looks(names))


def line_names(figure: Figure) -> list[str]:
    """The names of the lines of a figure, in their order."""
    return list(figure["table"][figure["line"]]["words"])


def _data(figures: Sequence[Figure], note: str, legend_from: int) -> dict[str, Any]:
    """What the scripts of the page read."""
    schemes = Counter(
        name
        for figure in figures
        if "name" in (figure["line"], *figure.get("panels", ()))
        for name in figure["table"]["name"]["words"]
    )
    lines = [name for figure in figures if "looks" not in figure for name in line_names(figure)]
    own = {
        name: look
        for figure in figures
        if figure["line"] == "name"
        for name, look in figure.get("looks", {}).items()
    }
    page_looks = looks_of([*dict.fromkeys([*schemes, *lines])]) | own
    return {
        "names": [name for name, count in schemes.items() if count >= legend_from],
        "looks": page_looks,
        "note": note,
        "figures": [_shaded(figure, page_looks) for figure in figures],
    }


def _shaded(figure: Figure, page_looks: Looks) -> Figure:
    """A figure whose bars have looks of their own, where some of its names have one colour."""
    if figure["form"] != "bars":
        return figure
    named = {name: figure.get("looks", page_looks)[name] for name in line_names(figure)}
    colours = {name: (one["light"], one["dark"]) for name, one in named.items()}
    if len(set(colours.values())) == len(colours):
        return figure
    shades = {
        name: {**named[name], "light": light, "dark": dark}
        for name, (light, dark) in bar_colours(colours).items()
    }
    return {**figure, "barLooks": shades}


@cache
def _environment() -> Environment:
    """The templates of the pages; a name that is not filled in is an error."""
    made = Environment(
        loader=PackageLoader("penstock.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["whole_options"] = whole_options
    return made


def whole_options(words: str) -> Markup:
    """Words for a page, in which no line ends inside an option such as "--trace"."""
    whole = r'<span class="whole">\g<0></span>'
    return Markup(re.sub("--[a-z][a-z-]*", whole, str(escape(words))))


@cache
def _vendor() -> dict[str, Markup]:
    """uPlot's script, style and licence (`tools/vendor` brings them)."""
    folder = files("penstock.report") / "vendor" / "uplot"
    names = {"script": "uPlot.iife.min.js", "style": "uPlot.min.css", "licence": "LICENSE"}
    # Files of the package, whose hashes a test knows; they are no input.
    return {key: Markup((folder / name).read_text("utf-8")) for key, name in names.items()}


@cache
def _modules() -> Markup:
    """Our scripts as an import map: module `penstock/text` is `script/text.js`."""
    sources = {
        f"penstock/{file.name.removesuffix('.js')}": file.read_bytes()
        for file in (files("penstock.report") / "script").iterdir()
        if file.name.endswith(".js")
    }
    imports = {
        name: f"data:text/javascript;base64,{base64.b64encode(sources[name]).decode()}"
        for name in sorted(sources)
    }
    return Markup(json.dumps({"imports": imports}))
