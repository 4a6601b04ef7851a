"""Every reader of what a user writes: good inputs, and how an input is handed to it.

To add a reader, add an entry to `READERS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import run_directory
import seeds

from penstock import Scenario
from penstock.cli.options import read_scenario, read_settings
from penstock.experiments import catalogue
from penstock.hpcc.case import case_of_config, case_of_files
from penstock.hpcc.output import read_fct, read_pfc


@dataclass(frozen=True)
class Reader:
    """A reader under test."""

    name: str
    seeds: Sequence[bytes]
    """Good inputs."""
    read: Callable[[Any], Any]
    """Reads the file at a path; or an argument of the command line, where `file` is None."""
    file: str | None = "input"
    """What the file is called; a gzipped one has ``.gz`` behind it."""
    share: float = 1
    """Its inputs, as a share of those of other readers; less where one takes long."""
    is_first: bool = False
    """Whether it is the first of those that share the reading of a file."""


def checked(scenario: Scenario) -> None:
    """A scenario that is accepted can be handed to the core, and written."""
    scenario.to_json()
    scenario.to_toml()


def _scenario(path: Path) -> None:
    checked(Scenario.from_toml(path))


def _scenario_of(text: str) -> Callable[[Path], None]:
    """Reads a file that a scenario names."""

    def read(path: Path) -> None:
        scenario = path.with_name("scenario.toml")
        scenario.write_text(text.replace("FILE", path.name))
        checked(Scenario.from_toml(scenario))

    return read


def _config(path: Path) -> None:
    path.with_name("topology.txt").write_bytes(seeds.TOPOLOGY)
    path.with_name("flows.txt").write_bytes(seeds.FLOWS)
    checked(case_of_config(path, "ns3-hpcc", {}).scenario)


def _topology(path: Path) -> None:
    flows = path.with_name("flows.txt")
    flows.write_bytes(seeds.FLOWS)
    checked(case_of_files(path, flows, "hpcc", "ns3-hpcc", {}).scenario)


def _flows(path: Path) -> None:
    topology = path.with_name("topology.txt")
    topology.write_bytes(seeds.TOPOLOGY)
    checked(case_of_files(topology, path, "hpcc", "ns3-hpcc", {}).scenario)


def _set(text: str) -> None:
    checked(Scenario.from_name("quickstart", read_settings([text])))


def _set_twice(text: str) -> None:
    """Two settings, of which the second enters what the first has made."""
    first, _, second = text.partition("\n")
    checked(Scenario.from_name("quickstart", read_settings([first, second or "load=0.2"])))


def _traced(text: str) -> None:
    checked(read_scenario("quickstart", trace=text))


def _named(text: str) -> None:
    checked(Scenario.load(text))


SWITCH = '[topology]\nkind = "single-switch"\nhosts = 8\n'
TRACE = f'duration = "1 s"\n{SWITCH}[[traffic]]\nkind = "trace"\nfile = "FILE"\n'
SIZES = (
    f'{SWITCH}[[traffic]]\nkind = "open-loop"\nload = 0.5\nload_on = {{kind = "edge"}}\n'
    'sizes = {kind = "cdf", file = "FILE"}\n'
)
GRAPH = (
    '[topology]\nkind = "graph"\nfile = "FILE"\n'
    '[[traffic]]\nkind = "listed"\nflows = [[0, 1, 1000, 0]]\n'
)

READERS = (
    Reader("scenario", seeds.SCENARIOS, _scenario, "a.toml", is_first=True),
    Reader("experiment", seeds.EXPERIMENTS, catalogue.read, "a.toml"),
    Reader("trace csv", (seeds.CSV, seeds.CSV_OTHER), _scenario_of(TRACE), is_first=True),
    Reader("trace hpcc", (seeds.FLOWS,), _scenario_of(TRACE)),
    Reader("trace htsim", (seeds.HTSIM,), _scenario_of(TRACE)),
    Reader("sizes", seeds.CDFS, _scenario_of(SIZES)),
    Reader("graph", (seeds.TOPOLOGY, seeds.SIMAI), _scenario_of(GRAPH)),
    Reader("hpcc config", (seeds.CONFIG, seeds.HPCC, seeds.DCQCN), _config),
    Reader("hpcc topology", (seeds.TOPOLOGY, seeds.SIMAI), _topology),
    Reader("hpcc flows", (seeds.FLOWS,), _flows),
    Reader("fct", (seeds.FCT,), read_fct),
    Reader("pfc", (seeds.PFC,), read_pfc),
    Reader("run directory", run_directory.seeds(), run_directory.read, None, share=0.2),
    Reader("set", seeds.SETTINGS, _set, None),
    Reader("set twice", seeds.SETTINGS, _set_twice, None),
    Reader("trace option", seeds.TRACES, _traced, None),
    Reader("scenario name", seeds.NAMES, _named, None),
    Reader("experiment name", seeds.NAMES, catalogue.load, None, share=0.005),
)
"""Files are written to disk; arguments are decoded as those of a command line."""


def hand_over(reader: Reader, data: bytes, is_zipped: bool, directory: Path) -> None:
    """Gives an input to a reader."""
    if reader.file is None:
        reader.read(os.fsdecode(data))
        return
    path = directory / (f"{reader.file}.gz" if is_zipped else reader.file)
    path.write_bytes(data)
    reader.read(path)
