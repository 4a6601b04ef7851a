"""The directory of a search: ``search.json``, its cells, and the runs that failed.

Cells are those of a sweep over the same fields (:mod:`penstock.sweep.dataset`): a hive-partitioned
Parquet dataset with the values of the fields and the seed as columns. A run that failed is a text
file in ``failed/``, so that a search that goes on knows what the search before it knew. Remove the
file to try that run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.provenance import code_digest, package_version
from penstock.storage.claim import refuse_out
from penstock.storage.draft import write_whole
from penstock.sweep.dataset import Dataset, named_text, settled
from penstock.sweep.executor import Failure
from penstock.tune.plan import Plan
from penstock.tune.sampler import versions

SEARCH_FILE, FAILED, FAILURE_FILE = "search.json", "failed", "message.txt"
"""What a search's directory holds, beside the cells."""

_FIXED = {
    "scenario": "another scenario",
    "constants": "other fields with --set",
    "fields": "other fields or values",
    "objective": "another objective",
    "requirements": "other requirements",
    "seeds": "other seeds",
    "seed": "another seed of the search",
    "ahead": "another --ahead",
    "version": "another version of Penstock",
    "code": "other code of Penstock",
    "libraries": "other versions of libraries",
}
"""What decides about the points, and what is said of a command that differs in it."""


@dataclass(frozen=True)
class Store:
    """The directory of a search, open for its cells."""

    dataset: Dataset

    def read_failure(self, key: str) -> Failure | None:
        """Why the run of a cell failed; none where it did not.

        Raises
        ------
        ScenarioError
            The file that says so cannot be read.
        """
        path = self._failure(key)
        try:
            return Failure(key, path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            remedy = "remove it, and run the same command"
            raise refuse_out(path, f"it cannot be read: {error}", remedy) from None

    def write_failure(self, failure: Failure) -> None:
        """Keeps that the run of a cell failed.

        Raises
        ------
        StorageError
            The disk does not take it.
        """
        path = self._failure(failure.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, failure.message.encode())

    def _failure(self, key: str) -> Path:
        return self.dataset.directory / FAILED / key / FAILURE_FILE


def open_store(directory: Path, plan: Plan, scenario_text: str, command: str) -> Store:
    """The store of a search, new or to go on with; the directory is claimed already.

    A command with a larger budget goes on: its first trials are the same ones.

    Parameters
    ----------
    scenario_text
        The scenario as its file has it.

    Raises
    ------
    ScenarioError
        The directory holds something else, or another search.
    """
    mine = {
        "scenario": named_text(plan.reference, scenario_text),
        "constants": dict(plan.constants),
        "fields": [
            {
                "key": one.key,
                "choices": [value.label for value in one.choices],
                "low": one.low,
                "high": one.high,
                "log": one.is_log,
            }
            for one in plan.fields
        ],
        "objective": str(plan.objective),
        "requirements": [str(one) for one in plan.requirements],
        "seeds": list(plan.seeds),
        "seed": plan.seed,
        "ahead": plan.ahead,
        "version": package_version(),
        "code": code_digest(),
        "libraries": versions(),
    }
    settled(directory, SEARCH_FILE, mine, _FIXED, "more trials", command, {})
    keys = [one.key for one in plan.fields]
    return Store(Dataset(directory, keys, keeps_flows=False))
