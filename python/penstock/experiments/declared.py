"""What all parts of an experiment's file have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

Table = dict[str, Any]
"""A table of TOML."""


class Declared(BaseModel):
    """Base of all parts: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
