"""The parts of a scenario and their defaults.

Each part has been read, and the core has not been asked yet whether it accepts them.
:class:`penstock.scenario.Scenario` has the same parts, checked as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from penstock.errors import Problem, ScenarioError, problem_of
from penstock.scenario.base import Many, Text, directory_of, field, inherited, is_recorded
from penstock.scenario.declared import scenario as declared
from penstock.scenario.declared.traffic import IncastTraffic
from penstock.scenario.emulation import Emulation
from penstock.scenario.scheme import Scheme, expand_scheme
from penstock.scenario.table import DEFAULT_PRESET
from penstock.scenario.topology import Topology
from penstock.scenario.traffic import LongLived, OnOff, OpenLoop, Rpc, Trace, Traffic
from penstock.trace import flow_lines

_FLOWS = re.compile(
    r"traffic\[(?P<entry>\d+)\]\.(?P<list>flows|delay|needed)"
    r"(\[(?P<flow>\d+)\](\[(?P<column>\d)\])?)?"
)
_TIMES = re.compile(r"traffic\[[0-9]+\]\.(start|stop)")
"""The places of times that the duration bounds."""
_COLUMNS = ("source", "destination", "size", "start")
"""What the columns of `flows` are."""


def _own_keys(written: Any, info: ValidationInfo) -> Any:
    return expand_scheme(written, directory_of(info), is_recorded=is_recorded(info))[0]


class ScenarioParts(declared.Scenario):
    """Network, scheme, traffic and measurement of one run, each read by itself."""

    description: Text = field("What it is for", "")
    topology: Topology = inherited(declared.Scenario, "topology")
    scheme: Annotated[Scheme, BeforeValidator(_own_keys)] = field(
        "How switches and hosts control the flows", DEFAULT_PRESET, source="BFC"
    )
    # A user may write more kinds than the core has.
    traffic: Many[Traffic] = inherited(declared.Scenario, "traffic")  # type: ignore[assignment]
    emulation: Emulation | None = field(
        "How it runs with real frames", None, source="our choice: the defaults of its fields"
    )

    def resolve(self) -> Self:
        """This scenario with every default and every file in place.

        Raises
        ------
        ScenarioError
            A file of flows has gone, or changed, since the scenario was checked.
        """
        entries = []
        for index, entry in enumerate(self.traffic):
            try:
                entries.append(_resolved(entry, self.duration))
            except PydanticCustomError as error:
                raise ScenarioError([problem_of(error, f"traffic[{index}].file")]) from None
        return self.model_copy(update={"traffic": tuple(entries)})

    def as_written(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Problems of the resolved scenario, at the places where a user wrote what is wrong.

        Where the duration is refused, what is said of times of traffic comes from it and is left
        out.
        """
        lines, told = cache(flow_lines), tuple(problems)
        is_timeless = any(problem.field == "duration" for problem in told)
        for problem in told:
            if is_timeless and _TIMES.fullmatch(problem.field):
                continue
            found = _FLOWS.match(problem.field)
            entry = self.traffic[int(found["entry"])] if found else None
            if found and isinstance(entry, Trace) and found["flow"]:
                line = lines(Path(entry.file))[int(found["flow"])]
                what = _COLUMNS[int(found["column"])] if found["column"] else found["list"]
                error = line.refuse(f"has a wrong {what}: {problem.message}", problem.remedy)
                yield problem_of(error, f"traffic[{found['entry']}].file")
            elif found and isinstance(entry, LongLived):
                place = f"traffic[{found['entry']}]"
                pairs = problem.field.replace(f"{place}.flows", f"{place}.pairs", 1)
                yield replace(problem, field=f"{place}.start" if found["column"] == "3" else pairs)
            else:
                yield problem


def _resolved(entry: Any, duration: int) -> Any:
    match entry:
        case Trace() | LongLived():
            return entry.listed()
        case OpenLoop() | IncastTraffic() | Rpc() | OnOff() if entry.stop is None:
            return entry.model_copy(update={"stop": duration})
        case _:
            return entry
