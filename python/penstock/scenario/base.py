"""What every part of a scenario shares: frozen models, described fields, plain number types.

A field is declared once, with its default, what it means and where the default comes from;
validation, ``penstock show`` and the documentation read it from here. A default without a source
is a bug, as is a constant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeVar

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
from penstock.units import Quantity, refusal

OUR_CHOICE = "our choice"
"""How the source of a default begins that no paper gives; the reason follows."""

HPCC_SIMULATOR = "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)"
"""Where numbers come from that papers built on it leave out."""

BFC_SIMULATOR = "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control)"
"""Its fork, with which BFC was evaluated."""


class Part(BaseModel):
    """A part of a scenario: immutable, every key known, every default checked like an input."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, validate_by_name=True
    )


def field(
    description: str,
    default: Any = PydanticUndefined,
    *,
    source: str = "",
    unit: str = "",
    **bounds: Any,
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
    bounds
        `ge`, `gt`, `le`, `lt`, `min_length`, `max_length`, `fail_fast`, `alias`, `discriminator`
        and `repr` of pydantic.
    """
    extra: dict[str, Any] = {"source": source, "unit": unit}
    return Field(default, description=description, json_schema_extra=extra, **bounds)


def source_of(info: FieldInfo) -> str:
    """Where the default of a field comes from; empty for names and titles."""
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return str(extra.get("source", ""))


def quantity_of(info: FieldInfo) -> Quantity | None:
    """The kind of quantity that a field holds, if it holds one."""
    return next((one for one in info.metadata if isinstance(one, Quantity)), None)


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

Integer = Annotated[int, Strict()]
"""A whole number; texts, floats and true/false are refused."""

COUNT_MAX = 2**32 - 1
"""Largest count: the Rust core keeps counts in unsigned 32-bit integers."""


def _counted(value: int) -> int:
    if value > COUNT_MAX:
        raise refusal("no count is that large", f"write at most {COUNT_MAX}")
    return value


Count = Annotated[int, Strict(), AfterValidator(_counted)]
"""A number of things, at most :data:`COUNT_MAX`."""

Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
"""A finite number; texts and true/false are refused."""

Weight = Annotated[Number, Field(gt=0, le=1)]
"""A weight or a share above 0 and at most 1."""

Switch = Annotated[bool, Strict()]
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

Node = Annotated[int, Strict(), Field(ge=0, le=COUNT_MAX)]
"""A node's number: hosts 0 to H-1 first, then the switches."""


def resolve_path(written: str, info: ValidationInfo) -> Path:
    """The file that a scenario names, relative to the scenario's own directory."""
    remedy = "write a path relative to the scenario's file"
    context = info.context if isinstance(info.context, dict) else {}
    try:
        path = Path(context.get("directory", ".")) / Path(written).expanduser()
    except RuntimeError:
        raise refusal("nobody has such a home directory", remedy) from None
    check_regular(path, remedy)
    return path.resolve()
