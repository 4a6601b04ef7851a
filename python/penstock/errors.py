"""What is wrong with an input, and how to put it right.

A :class:`ScenarioError` carries a list of :class:`Problem`. Each problem names the file, the field,
the value and the remedy. :class:`SimulationError` is for a run that started and failed. Where next:
:mod:`penstock.scenario.translation` makes problems from pydantic's errors.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import PydanticCustomError

VALUE_WIDTH = 60
"""Characters of a value that a message shows (our choice: it fits beside the field's name)."""

FIELD_WIDTH = 200
"""Characters of a field's path that a message shows (our choice: twice the longest there is)."""

PATH_WIDTH = 4096
"""Characters of a file's path that a message shows: the longest path of Linux (``PATH_MAX``)."""

TEXT_WIDTH = 6000
"""Characters of a message and of a remedy (our choice: the longest path, and the longest list of
names to choose from, which takes some 1,500)."""

PROBLEMS_MAX = 50
"""Problems that one error lists (our choice: a screen full); the others wait for the next try."""


NAMES_MAX = 16
"""Right names that are all listed beside a wrong one (our choice: two lines)."""

NAMES_NEAR = 3
"""Nearest names that are listed where there are more (our choice: one of them is meant)."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input."""

    field: str
    """Path of the field, e.g. ``traffic[0].load``; empty when the whole input is meant."""
    message: str
    """What is wrong."""
    remedy: str
    """What would be right."""
    value: Any = None
    """What was written; ``None`` when there is nothing to show."""
    file: str | None = None
    """The file that says so, when the input came from one."""

    def __post_init__(self) -> None:
        """Texts come from files and command lines: none of them steers a terminal or fills it."""
        widths = {"field": FIELD_WIDTH, "message": TEXT_WIDTH, "remedy": TEXT_WIDTH}
        for name, width in widths.items():
            object.__setattr__(self, name, printable(getattr(self, name), width))
        if self.file is not None:
            object.__setattr__(self, "file", printable(self.file, PATH_WIDTH))

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.file, self.field) if part)
        shown = f" = {describe(self.value)}" if self.value is not None and self.field else ""
        head = f"{place}{shown}: " if place else ""
        return f"{head}{self.message}; {self.remedy}" if self.remedy else f"{head}{self.message}"


class ScenarioError(Exception):
    """The input cannot be run; nothing was started.

    Examples
    --------
    >>> from penstock import Scenario, ScenarioError
    >>> try:
    ...     Scenario.from_name("quickstart", {"topology.hots": 3})
    ... except ScenarioError as error:
    ...     [problem] = error.problems
    >>> problem.field, problem.value, problem.message
    ('topology.hots', 3, 'no such field')

    Parameters
    ----------
    problems
        Everything that is wrong with it, at least one; the first :data:`PROBLEMS_MAX` are kept.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = tuple(islice(problems, PROBLEMS_MAX + 2))
        if len(found) > PROBLEMS_MAX + 1:
            more = Problem("", "more is wrong than is listed here", "mend this first")
            found = (*found[:PROBLEMS_MAX], more)
        self.problems = found
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Problem, ...]]]:
        """How it comes from one process to another: with its problems, not with its message."""
        return ScenarioError, (self.problems,)

    def within(self, file: str) -> ScenarioError:
        """The same error, with `file` named where no file is named yet."""
        return ScenarioError(
            problem if problem.file else replace(problem, file=file) for problem in self.problems
        )


class SimulationError(Exception):
    """A run failed after it had started: time stood still, or ``check=True`` found a defect."""


class SchemeError(SimulationError):
    """A class of a user's scheme failed in a run, or gave another result the second time.

    Its cause (``__cause__``) is the error that the class raised, if it raised one.
    """


class StorageError(Exception):
    """Results could not be written, e.g. to a full disk; the message says what is kept."""


@contextmanager
def core_refusals(file: str | None) -> Iterator[None]:
    """Turns errors of the core into those of this package; `file` is the scenario's, if it has one.

    Raises
    ------
    ScenarioError, SimulationError
        The core refuses the scenario, or a run failed; a :class:`SchemeError` when a class of the
        user's scheme failed.
    """
    from pydantic_core import PydanticCustomError

    from penstock import _core

    try:
        yield
    except PydanticCustomError as error:  # a user's class that is not the same any more
        raise ScenarioError([problem_of(error, "scheme")]) from None
    except _core.ScenarioError as error:
        raise ScenarioError(
            Problem(path, f"it is {value}", remedy, file=file)
            for path, value, remedy in error.args[0]
        ) from None
    except _core.SchemeError as error:
        raise SchemeError(str(error)) from error.__cause__
    except _core.SimulationError as error:
        raise SimulationError(str(error)) from None
    except _core.CheckpointError as error:
        raise refuse("checkpoint", str(error), "run it anew with --force") from None


def refuse(field: str, message: str, remedy: str, value: Any = None) -> ScenarioError:
    """A :class:`ScenarioError` of one problem."""
    return ScenarioError([Problem(field, message, remedy, value)])


def problem_of(error: PydanticCustomError, field: str = "") -> Problem:
    """What a :func:`penstock.units.refusal` says, as the problem of a field."""
    context = error.context or {}
    return Problem(field, context["problem"], context["remedy"])


def printable(text: str, width: int) -> str:
    """At most `width` characters of `text`; what is no printable character is escaped."""
    shown = text[: width + 1]
    if not shown.isprintable():
        shown = "".join(one if one.isprintable() else repr(one)[1:-1] for one in shown)
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def quoted(text: str) -> str:
    """A word of a file or command line as a message shows it."""
    return f'"{printable(text, VALUE_WIDTH)}"'


def describe(value: Any) -> str:
    """`value` as a message shows it: short, quoted when it is text."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    # Python refuses to write thousands of digits in base 10.
    is_long = isinstance(value, int) and value.bit_length() > 4 * VALUE_WIDTH
    if isinstance(value, tuple):
        value = list(value)  # as the file has it
    return printable(hex(value) if is_long else str(value), VALUE_WIDTH)


def nearest(name: str, names: Iterable[str]) -> str:
    """A remedy for a wrong name: the nearest right one, then all of them, or of many the three
    nearest."""
    listed = sorted(set(names))
    # Letters count as the same in both cases, "DCTCP" is near "dctcp".
    cased = {one.casefold(): one for one in listed}
    written = name[:VALUE_WIDTH].casefold()
    close = difflib.get_close_matches(written, cased, n=1)
    choice = f'did you mean "{cased[close[0]]}"? ' if close else ""
    if len(listed) <= NAMES_MAX:
        return f"{choice}one of {', '.join(listed)}"
    near = difflib.get_close_matches(written, cased, n=NAMES_NEAR, cutoff=0.0)
    return f"{choice}the nearest of {len(listed)} are {', '.join(cased[one] for one in near)}"
