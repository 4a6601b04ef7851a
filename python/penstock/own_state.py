"""Sees that a run changes no attribute of a user's class, which would reach into the next run.

A run depends on its scenario and seed alone, whatever ran before it in the process. What a hook
changes belongs into its object, which lives as long as its flow or port. What it is not: a guard of
modules and of other objects, of which only the second run tells (:mod:`penstock.own_run`).
Invariant: after a run that changed a class the class is as it was.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.errors import SchemeError
from penstock.own_class import own_attributes, where_raised

_CONTAINERS = (list, dict, set, bytearray)
"""What a hook may change without setting an attribute."""

_lock = threading.Lock()
_begun: dict[type, tuple[int, dict[tuple[type, str], Any]]] = {}
"""Classes in runs under way: in how many, and their attributes when the first of these began."""


@contextmanager
def guarded(classes: Iterable[type]) -> Iterator[None]:
    """Refuses a run, which is what is done meanwhile, that changes its classes or ends the program.

    Raises
    ------
    SchemeError
        A hook changed an attribute of a class, which is named and has its old value again; or it
        raised `SystemExit`, which would end the command as if all was well.
    """
    watched = list(classes)
    for one in watched:
        with _lock:
            count, before = _begun.get(one) or (0, _attributes(one))
            _begun[one] = count + 1, before
    changed: list[str] = []
    try:
        yield
    except SystemExit as error:
        if not watched:
            raise
        names = ", ".join(one.__name__ for one in watched)
        words = where_raised(error, watched[0])
        raise SchemeError(f"{names} failed: a hook ends the program: {words}") from error
    finally:
        for one in watched:
            with _lock:
                changed += _restored(one)
    if changed:
        message = f"a hook changes {', '.join(changed)}, which the next run would find so"
        raise SchemeError(f"{message}; set it in __init__ as an attribute of self")


def _attributes(found: type) -> dict[tuple[type, str], Any]:
    """Class and name -> value; what can be changed in place is copied."""
    return {
        place: copy.deepcopy(value) if isinstance(value, _CONTAINERS) else value
        for place, value in own_attributes(found).items()
    }


def _restored(found: type) -> list[str]:
    """Ends a run of a class: gives attributes their old values, and names those that had others."""
    count, before = _begun.pop(found)
    if count > 1:
        _begun[found] = count - 1, before
    now = own_attributes(found)
    changed = [place for place in before | now if not _is_same(before, now, place)]
    for owner, name in changed:
        if (owner, name) in before:
            value = before[owner, name]
            setattr(owner, name, copy.deepcopy(value) if isinstance(value, _CONTAINERS) else value)
        else:
            delattr(owner, name)
    return [f"{owner.__name__}.{name}" for owner, name in changed]


def _is_same(
    before: dict[tuple[type, str], Any], now: dict[tuple[type, str], Any], place: tuple[type, str]
) -> bool:
    if place not in before or place not in now:
        return False
    old, new = before[place], now[place]
    return old is new or (isinstance(old, _CONTAINERS) and type(old) is type(new) and old == new)
