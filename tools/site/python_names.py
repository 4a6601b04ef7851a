"""The page of the public Python names: all of ``penstock.__all__``, from their docstrings.

The page has headings and a directive for each name. mkdocstrings reads the sources and writes the
rest. A public name of a module that has no heading here stops the build.
"""

from __future__ import annotations

import re
from pathlib import Path

import penstock

HEAD = """# Python

What `import penstock` offers. A [`Scenario`][penstock.Scenario] goes in,
[`run`][penstock.run] simulates it, a [`Run`][penstock.Run] comes out. Names that are not on this
page may change without notice.

```python
from penstock import Scenario, run

result = run(Scenario.from_name("quickstart", {"load": 0.5}))
print(result.summary["flows_finished"])
```
"""
HEADINGS = {
    "scenario": "Scenarios",
    "runner": "One run",
    "several": "Many runs",
    "results": "Results",
    "own_scheme": "Schemes of your own",
    "errors": "Errors",
}
"""The heading of the names of each module, in the order of the page."""
VERSION = "__version__"
"""The one public name that is neither a class nor a function."""

_ROLE = re.compile(r":(?:class|func|meth|mod|attr):(?=<code>|`)")


def page(root: Path) -> str:
    """The page in Markdown; `root` is that of the repository, and not needed."""
    del root
    names: dict[str, list[str]] = {module: [] for module in HEADINGS}
    for name in penstock.__all__:
        if name != VERSION:
            names[penstock._MODULES[name]].append(name)
    parts = [
        f"\n## {heading}\n\n" + "\n".join(f"::: penstock.{name}\n" for name in names[module])
        for module, heading in HEADINGS.items()
    ]
    return HEAD + "".join(parts)


def without_roles(html: str) -> str:
    """The page without Sphinx's roles: ``:class:`Run` `` becomes ``Run`` as code."""
    return _ROLE.sub("", html)
