"""What every part of a scenario shares: frozen models, described fields, plain number types.

A field is declared once, in Rust; ``make models`` writes the models of
:mod:`penstock.scenario.declared` from the declaration. The models check what Python and the
hand-over to the core rely on: names, types, integers that fit. The core checks whether a value is
in its range.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    Strict,
    ValidationInfo,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from penstock.errors import printable
from penstock.text_file import check_regular
from penstock.units import Quantity, Size, refusal


class Part(BaseModel):
    """A part of a scenario: immutable, every key known, every default checked like an input."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        validate_by_name=True,
        defer_build=True,  # a part is compiled when it is first read, most of them never alone
    )


def field(
    description: str,
    default: Any = PydanticUndefined,
    *,
    source: str = "",
    unit: str = "",
    range: str = "",
    **more: Any,
) -> Any:
    """A described field of a :class:`Part`.

    Parameters
    ----------
    description
        What it means, for ``penstock show``.
    default
        Its default, written as a user would; none makes the field required.
    source
        Where the default comes from.
    unit
        The unit of a plain number; quantities know theirs.
    range
        What the core accepts, in words.
    more
        `alias`, `repr`, `max_length` and `fail_fast` of pydantic.
    """
    extra: dict[str, Any] = {"source": source, "unit": unit, "range": range}
    return Field(default, description=description, json_schema_extra=extra, **more)


def inherited(model: type[BaseModel], name: str) -> Any:
    """The field of a `model`, for one that derives from it and reads the field in its own way."""
    info = model.model_fields[name]
    return Field(
        info.default,
        description=info.description,
        json_schema_extra=info.json_schema_extra,
        alias=info.alias,
    )


def note(info: FieldInfo, name: str) -> str:
    """The `source`, `unit` or `range` of a field; empty where it has none."""
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return str(extra.get(name, ""))


def quantity_of(info: FieldInfo) -> Quantity | None:
    """The kind of quantity that a field holds, if it holds one; it may be optional."""
    marks, options = [*info.metadata], get_args(info.annotation)
    for option in options if type(None) in options else ():
        marks += getattr(option, "__metadata__", ())
    return next((one for one in marks if isinstance(one, Quantity)), None)


def is_default(value: Any, info: FieldInfo) -> bool:
    """Whether a field has its default, however that is written."""
    default, quantity = info.default, quantity_of(info)
    if quantity is not None and default not in (None, PydanticUndefined):
        return bool(value == quantity.validate(default))
    return bool(value == default)


Entry = TypeVar("Entry")

Many = Annotated[tuple[Entry, ...], FailFast()]
"""A list of any length. Only its first wrong entry is reported: of a million, each costs memory.
A list that may be missing says ``fail_fast`` in its field."""

Count = Annotated[int, Strict(), Field(ge=0, le=2**32 - 1)]
"""A whole number that the core keeps in 32 bits; texts, floats and true/false are refused."""

Count8 = Annotated[int, Strict(), Field(ge=0, le=2**8 - 1)]
"""A whole number that the core keeps in 8 bits."""

Count16 = Annotated[int, Strict(), Field(ge=0, le=2**16 - 1)]
"""A whole number that the core keeps in 16 bits."""

Count64 = Annotated[int, Strict(), Field(ge=0, le=2**64 - 1)]
"""A whole number that the core keeps in 64 bits."""

Size32 = Annotated[Size, Field(le=2**32 - 1)]
"""An amount of data [B] that the core keeps in 32 bits."""

Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
"""A finite number; texts and true/false are refused."""

Flag = Annotated[bool, Strict()]
"""True or false, and nothing that merely looks like it."""

LABEL_WIDTH = 200
"""Most characters of a label; our choice: more fits neither a table nor a figure."""


def _shown(value: str) -> str:
    if not value.translate({ord("\n"): None, ord("\t"): None}).isprintable():
        raise refusal("it has characters that cannot be shown", "leave out control characters")
    return value


def _label(value: str) -> str:
    if not value.isprintable() or len(value) > LABEL_WIDTH:
        remedy = f"write at most {LABEL_WIDTH} characters, none of them a control character"
        raise refusal("it is no name for a table or figure", remedy)
    return value


def label_of(text: str) -> str:
    """A :data:`Label` that is `text`, or as near to it as can be shown."""
    return printable(text, LABEL_WIDTH) or "unnamed"


Text = Annotated[str, Strict(), AfterValidator(_shown)]
"""A text, of several lines perhaps."""

Label = Annotated[str, Strict(), Field(min_length=1), AfterValidator(_label)]
"""A name in results, not empty."""


def working_directory() -> Path:
    """The working directory of now: a scenario that is changed later keeps it. When it has been
    removed, paths lead nowhere anyway."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


def directory_of(info: ValidationInfo) -> Path:
    """The directory that the paths in a scenario are relative to."""
    context = info.context if isinstance(info.context, dict) else {}
    return Path(context.get("directory", "."))


def is_recorded(info: ValidationInfo) -> bool:
    """Whether a scenario is read from the record of a run, which needs none of the user's code."""
    context = info.context if isinstance(info.context, dict) else {}
    return bool(context.get("is_recorded"))


def resolve_path(written: str, info: ValidationInfo) -> Path:
    """The file that a scenario names, relative to the scenario's own directory."""
    remedy = "write a path relative to the scenario's file"
    return path_beside(written, directory_of(info), remedy)


def path_beside(written: str, directory: Path, remedy: str) -> Path:
    """The file that a user names, relative to a directory; `remedy` says what to write instead."""
    try:
        path = directory / Path(written).expanduser()
    except RuntimeError:
        raise refusal("nobody has such a home directory", remedy) from None
    check_regular(path, remedy)
    return path.resolve()
