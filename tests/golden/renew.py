"""Brings builds.json up to date after an intended change of results or of the scenario's fields.

Run it as ``.venv/bin/python tests/golden/renew.py`` and say in the commit why results changed. A
case is named after its preset: fields that a policy has gained get the preset's values, fields that
it has lost go, and all others stay as they are in the file. A policy of another kind is the
preset's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock import Scenario, _core

FILE = Path(__file__).with_name("builds.json")


def brought_up_to_date(old: Any, today: Any) -> Any:
    """The shape of `today` with the values of `old`."""
    if isinstance(old, dict) and isinstance(today, dict) and old.get("kind") == today.get("kind"):
        return {key: brought_up_to_date(old.get(key, value), value) for key, value in today.items()}
    return old if type(old) is type(today) and not isinstance(old, dict) else today


def renewed(case: dict[str, Any]) -> dict[str, Any]:
    """The case in today's form, with the digest of today's core."""
    old = case["scenario"]
    parts = {part: old[part] for part in ("topology", "traffic", "duration")}
    today = json.loads(Scenario(**parts, scheme=case["name"]).to_json())
    scenario = brought_up_to_date(old, today) | {"traffic": today["traffic"]}
    digest = json.loads(_core.run(json.dumps(scenario))["summary"])["digest"]
    return {"name": case["name"], "digest": digest, "scenario": scenario}


if __name__ == "__main__":
    cases = [json.dumps(renewed(case)) for case in json.loads(FILE.read_text())]
    FILE.write_text("[\n" + ",\n".join(cases) + "\n]\n")
