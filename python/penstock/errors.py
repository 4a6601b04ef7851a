"""What is wrong with an input, said so that it can be put right.

A :class:`ScenarioError` carries a list of :class:`Problem`; each names the file, the field, the
value and the remedy. :class:`SimulationError` is for a run that started and failed. Where next:
:mod:`penstock.scenario.translation` makes these from pydantic's errors.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from penstock import _core

VALUE_WIDTH = 60
"""Characters of a value that a message shows (our choice: it fits beside the field's name)."""


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

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.file, self.field) if part)
        shown = f" = {describe(self.value)}" if self.value is not None and self.field else ""
        head = f"{place}{shown}: " if place else ""
        return f"{head}{self.message}; {self.remedy}" if self.remedy else f"{head}{self.message}"


class ScenarioError(Exception):
    """The input cannot be run; nothing was started.

    Parameters
    ----------
    problems
        Everything that is wrong with it, at least one.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def within(self, file: str) -> ScenarioError:
        """The same error, with `file` named where no file is named yet."""
        return ScenarioError(
            problem if problem.file else replace(problem, file=file) for problem in self.problems
        )


class SimulationError(Exception):
    """A run failed after it had started: time stood still, or ``check=True`` found a defect."""


@contextmanager
def core_refusals(file: str | None) -> Iterator[None]:
    """Turns errors of the core into those of this package; `file` is the scenario's, if it has one.

    Raises
    ------
    ScenarioError, SimulationError
        The core refuses the scenario, or a run failed.
    """
    try:
        yield
    except _core.ScenarioError as error:
        raise ScenarioError([Problem("", str(error), "", file=file)]) from None
    except _core.SimulationError as error:
        raise SimulationError(str(error)) from None


def refuse(field: str, message: str, remedy: str, value: Any = None) -> ScenarioError:
    """A :class:`ScenarioError` of one problem."""
    return ScenarioError([Problem(field, message, remedy, value)])


def describe(value: Any) -> str:
    """`value` as a message shows it: short, quoted when it is text."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 3] + "..."


def nearest(name: str, names: Iterable[str]) -> str:
    """A remedy for a wrong name: the nearest right one first, then all of them."""
    listed = sorted(names)
    close = difflib.get_close_matches(name, listed, n=1)
    choice = f'did you mean "{close[0]}"? ' if close else ""
    return f"{choice}one of {', '.join(listed)}"
