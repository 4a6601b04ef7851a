"""The optimised core and the debug build give the same digests, on the scenarios of one file.

`crates/penstock-sim/tests/integration/determinism.rs` runs the same file in a debug build.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import _core

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "builds.json").read_text()
)


@pytest.mark.parametrize("case", GOLDEN, ids=[case["name"] for case in GOLDEN])
def test_the_digest_is_that_of_the_debug_build(case: dict[str, Any]) -> None:
    scenario = json.dumps(case["scenario"])
    digests = {json.loads(_core.run(scenario)["summary"])["digest"] for _ in range(2)}
    assert digests == {case["digest"]}, "results changed: say why in the commit"
