"""Finds users' classes by the names that schemes give them: ``module:Class``, ``./file.py:Class``.

A class is code of the user: naming it runs its module, with all the rights of the user. A module
is imported from the working directory, or from where Python finds it; a file is read by its path.
What it is not: the base classes (:mod:`penstock.own_scheme`). Invariant: a class that a scheme
names by a SHA-256 is of the file with that SHA-256, so that no process runs other code under its
name.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import itertools
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from penstock.errors import nearest, printable, quoted
from penstock.own_scheme import Controller, Marking, Scheduler
from penstock.units import refusal

KINDS: dict[str, type] = {
    "Controller": Controller,
    "Marking": Marking,
    "Scheduler": Scheduler,
}
"""What a class may derive from, by the name of that class."""

LINE_WIDTH = 200
"""Characters of a line of the user's code that a message shows (our choice: two lines)."""

_NAME = re.compile(r"(?P<module>[^:]+):(?P<name>[^:/\s]+)")

NEEDS = ("feedback", "losses", "marks", "telemetry", "timestamp")
"""What a controller may need."""

_given: dict[str, type] = {}
"""Classes that this process was given as objects, by their names; nobody else can find them."""
_digests: dict[str, str] = {}
"""The digest of each when it was given, empty where it has no source."""


def is_class(text: str) -> bool:
    """Whether the name of a scheme means a class."""
    found = _NAME.fullmatch(text)
    return bool(found) and not text.endswith(".toml")


def name_of(given: type) -> str:
    """The name of a class that is given as an object, under which this process finds it.

    Another class of the same name that is given later, by a function that makes classes or by a
    cell of a notebook, gets a number behind its name, so that each scenario keeps its own class.
    """
    digest = _own_digest(given)
    for number in itertools.count(1):
        name = f"{given.__module__}:{given.__qualname__}{f'#{number}' if number > 1 else ''}"
        known = _given.setdefault(name, given)
        if known is given or (digest and digest == _digests[name]):
            break
    _given[name], _digests[name] = given, digest
    return name


def own_attributes(found: type) -> dict[tuple[type, str], Any]:
    """What a user has written into a class and its bases: class and name -> value."""
    theirs = (one for one in found.__mro__ if one is not object and one not in KINDS.values())
    return {
        (owner, name): value
        for owner in theirs
        for name, value in vars(owner).items()
        if not (name.startswith("__") and name.endswith("__")) or name == "__init__"
    }


def _own_digest(given: type) -> str:
    """SHA-256 of the code of a class, of what its functions enclose and of its other attributes.

    It is empty where that cannot be told: without source, or where an object is only an address.
    """
    told = [f"{given.__module__}:{given.__qualname__}"]
    for (owner, name), value in own_attributes(given).items():
        if not inspect.isfunction(value):
            told.append(f"{owner.__qualname__}.{name} = {value!r}")
            continue
        with suppress(OSError, TypeError):
            told.append(inspect.getsource(value))
            enclosed = inspect.getclosurevars(value).nonlocals
            told.append(repr({key: one for key, one in enclosed.items() if one is not given}))
            continue
        return ""
    text = "\n".join(told)
    return "" if " at 0x" in text else hashlib.sha256(text.encode()).hexdigest()


def absolute_class(text: str, directory: Path) -> str:
    """The name of a class; a file in it, which is relative to a directory, in full."""
    module, _, name = text.rpartition(":")
    if not module.endswith(".py"):
        return text
    path = Path(module)
    with suppress(RuntimeError):
        path = path.expanduser()
    return f"{(directory / path).resolve()}:{name}"


def find(text: str, kind: str = "", sha256: str = "") -> type[Any]:
    """The class of a name.

    Parameters
    ----------
    text
        ``module:Class``, or ``file.py:Class`` with an absolute path or one relative to the working
        directory.
    kind
        What it has to derive from, of `KINDS`; nothing: one of them.
    sha256
        What the file of the class must have, if anything.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that says what is missing or wrong.
    """
    found = _given.get(text) or _imported(text)
    if not isinstance(found, type) or not issubclass(found, tuple(KINDS.values())):
        listed = " or ".join(f"penstock.{name}" for name in KINDS)
        raise refusal(f"{text} is no class for a scheme", f"derive it from {listed}")
    if kind and not issubclass(found, KINDS[kind]):
        raise refusal(f"{text} is no penstock.{kind}", f"derive it from penstock.{kind}")
    _check_members(found, text)
    if sha256 and sha256 != sha256_of(text):
        message = f"{text} is not the code that the scheme was made of: its code has changed since"
        raise refusal(message, "use the same file everywhere, or leave out sha256")
    return found


def _check_members(found: type[Any], text: str) -> None:
    """Refuses a method that looks like a hook and is none, a hook that cannot be called, and an
    unknown need."""
    hooks = [name for name in dir(KINDS[kind_of(found)]) if name.startswith("on_")]
    for (_, name), value in own_attributes(found).items():
        if name.startswith("on_") and callable(value) and name not in hooks:
            message = f"{text} has a method {quoted(name)}, which is no hook of {kind_of(found)}"
            raise refusal(message, nearest(name, hooks))
    _check_parameters(found, text)
    needs = getattr(found, "needs", ())
    if isinstance(needs, str) or not all(isinstance(one, str) for one in needs):
        raise refusal(f"{text}: needs is no list of words", f'write needs = ["{NEEDS[0]}"]')
    for one in needs:
        if one not in NEEDS:
            raise refusal(f"{text} needs {quoted(one)}, which there is not", nearest(one, NEEDS))


def _check_parameters(found: type[Any], text: str) -> None:
    """Refuses a hook, or ``__init__``, that does not take what it is called with.

    What wraps a function is asked for its own parameters, and what is no function is not asked.
    """
    for name, hook in vars(KINDS[kind_of(found)]).items():
        own = inspect.getattr_static(found, name)
        is_dunder = name.startswith("__") and name != "__init__"
        if is_dunder or not (inspect.isfunction(hook) and inspect.isfunction(own)):
            continue
        wanted = inspect.signature(hook).parameters
        taken = inspect.signature(own, follow_wrapped=False)
        try:
            taken.bind(*wanted)
        except TypeError:
            call = f"{name}({', '.join(taken.parameters)})"
            message = f"{text} has {printable(call, LINE_WIDTH)}, which does not fit its calls"
            raise refusal(message, f"write {name}({', '.join(wanted)})") from None


def kind_of(found: type) -> str:
    """Which of `KINDS` a class derives from."""
    return next(name for name, base in KINDS.items() if issubclass(found, base))


def sha256_of(text: str) -> str:
    """SHA-256 of the code of a class: of its file, or of its own text where it was given."""
    if text in _given:
        return _digests[text]
    module = text.rpartition(":")[0]
    if module.endswith(".py"):
        return _digest(Path(module))
    file = getattr(sys.modules.get(module), "__file__", None)
    return _module_digest(module, file) if file else ""


def where_raised(error: BaseException, found: type) -> str:
    """An error in words, with the line of the user's code that raised it."""
    words = f"{type(error).__name__}: {printable(str(error), LINE_WIDTH)}"
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return words
    file = getattr(sys.modules.get(found.__module__), "__file__", None)
    frame = next((one for one in reversed(frames) if one.filename == file), frames[-1])
    line = f": {printable(frame.line, LINE_WIDTH)}" if frame.line else ""
    return f"{words} ({frame.filename}, line {frame.lineno}{line})"


def _imported(text: str) -> Any:
    found = _NAME.fullmatch(text)
    if not found:
        raise refusal(f"{quoted(text)} names no class", "write module:Class, or ./file.py:Class")
    module, name = _module(found["module"]), found["name"]
    if not hasattr(module, name):
        own = [key for key, one in vars(module).items() if _is_own(one)]
        remedy = (
            nearest(name, own) if own else "write a class that derives from penstock.Controller"
        )
        raise refusal(f"{found['module']} has no class {quoted(name)}", remedy)
    return getattr(module, name)


def _is_own(one: Any) -> bool:
    bases = tuple(KINDS.values())
    return isinstance(one, type) and issubclass(one, bases) and one not in bases


def _module(name: str) -> ModuleType:
    if not name.endswith(".py"):
        return _by_name(name)
    path = Path(name)
    if not path.is_file():
        raise refusal(
            f"there is no file {printable(name, LINE_WIDTH)}", "write the path of your file"
        )
    return _of_file(path.resolve(), _digest(path))


def _by_name(name: str) -> ModuleType:
    try:
        with _first(Path.cwd()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            remedy = "write the name of a module in this directory, or ./file.py:Class"
            raise refusal(f"there is no module {quoted(name)}", remedy) from None
        raise _failed(name, error) from error
    except (Exception, SystemExit) as error:
        raise _failed(name, error) from error


@cache
def _of_file(path: Path, digest: str) -> ModuleType:
    """The module in a file, read once for each text that the file has."""
    name = f"penstock_own_{path.stem}_{digest[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise refusal(f"{path} cannot be read as Python", "name a file that ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _first(path.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failed(str(path), error) from error
    return module


def _failed(name: str, error: BaseException) -> Exception:
    """The refusal of a module that raises an error while it is imported, with its own line."""
    frames = [
        one for one in traceback.extract_tb(error.__traceback__) if "importlib" not in one.filename
    ]
    place = ""
    if isinstance(error, SyntaxError):
        place = f" (line {error.lineno}: {printable((error.text or '').strip(), LINE_WIDTH)})"
    elif frames:
        last = frames[-1]
        place = f" ({last.filename}, line {last.lineno}: {printable(last.line or '', LINE_WIDTH)})"
    words = printable(str(error), LINE_WIDTH)
    return refusal(f"{name} cannot be imported: {type(error).__name__}: {words}{place}", "mend it")


@contextmanager
def _first(directory: Path) -> Iterator[None]:
    """Lets modules beside a user's module be imported, too."""
    entry = str(directory)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(entry)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _module_digest(module: str, file: str) -> str:
    """That of an imported module's file; asked once, because a module is imported once."""
    return _digest(Path(file))
