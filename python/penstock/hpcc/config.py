"""The simulator's ``config.txt``: a key and its values on each line.

Keys, defaults and meanings are those of ``scratch/third.cc``. The effect of a value was read there
and in ``rdma-hw.cc``, ``switch-node.cc``, ``switch-mmu.cc`` and ``qbb-net-device.cc``. A key is
read (`KEYS`), or it changes no flow (`IGNORED`, with the reason), or it is refused. That simulator
itself ignores unknown keys. Where next: :mod:`penstock.hpcc.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from penstock.errors import nearest, quoted
from penstock.hpcc.quantity import rate_bps, seconds_ns
from penstock.lines import Line, read_lines
from penstock.text_file import exists
from penstock.units import TIME, refusal

DCQCN, HPCC, TIMELY, DCTCP = 1, 3, 7, 8
"""Values of CC_MODE."""

IGNORED = {
    "USE_DYNAMIC_PFC_THRESHOLD": "the threshold is always dynamic",
    "DATA_RATE": "never used: each cable has its rate",
    "LINK_DELAY": "never used: each cable has its delay",
    "L2_CHUNK_SIZE": "only go-back-0 and ACKs less often than per packet use it",
    "TRACE_FILE": "names nodes for a binary trace; use --trace",
    "TRACE_OUTPUT_FILE": "binary trace",
    "ENABLE_TRACE": "binary trace",
    "FCT_OUTPUT_FILE": "fct.txt is written into the run directory",
    "PFC_OUTPUT_FILE": "pfc.txt is written into the run directory",
    "QLEN_MON_FILE": "queue monitor; see buffers.parquet",
    "QLEN_MON_START": "queue monitor; see buffers.parquet",
    "QLEN_MON_END": "queue monitor; see buffers.parquet",
    "PINT_LOG_BASE": "only CC_MODE 10 uses it",
    "PINT_PROB": "only CC_MODE 10 uses it",
}
"""Keys that change no flow, and why."""


@dataclass(frozen=True)
class Config:
    """A config file; the defaults are those of the simulator, None where it has no usable one."""

    path: Path
    lines: Mapping[str, Line] = field(repr=False)
    """The line of each key that is written."""
    topology: Path | None = None
    flows: Path | None = None
    stop_ns: int = 3_010_000_000
    """When the simulation ends [ns]."""
    mode: int = DCQCN
    """Congestion control, see :data:`DCQCN`."""
    payload: int = 1000
    """Of a full packet [B]."""
    marks: bool = True
    """Whether switches mark (ECN)."""
    minimum_rate: int = 100_000_000
    """No flow sends slower [bit/s]."""
    has_window: bool = True
    scales_window: bool = False
    """Whether the window shrinks with the rate."""
    is_global: bool = True
    """Whether all flows have the largest base RTT and BDP of the network."""
    # DCQCN
    gain: float | None = None
    """Weight of a new estimate, DCTCP's too."""
    alpha_interval: int = 55 * TIME.units["us"]
    """[ps]."""
    decrease_interval: int = 4 * TIME.units["us"]
    """[ps]."""
    increase_interval: int | None = None
    """[ps]."""
    fast_recovery_rounds: int = 5
    clamps_target: bool = False
    additive_increase: int | None = None
    """[bit/s], HPCC's and TIMELY's too."""
    hyper_increase: int | None = None
    """[bit/s], TIMELY's too."""
    # HPCC
    target_utilization: float = 0.95
    maximum_stage: int = 5
    reacts_per_ack: bool = True
    rate_per_hop: bool = True
    samples_feedback: bool = False
    telemetry_multiplier: int = 1
    # DCTCP
    dctcp_increase: int = 1_000_000_000
    """[bit/s]."""
    # switches and hosts
    buffer: int = 16
    """Of a switch [MiB]."""
    kmin: Mapping[int, int] = field(default_factory=dict)
    """By port rate [bit/s], in units of 1000 B."""
    kmax: Mapping[int, int] = field(default_factory=dict)
    pmax: Mapping[int, float] = field(default_factory=dict)
    acks_first: bool = False
    """Whether ACKs have a queue of their own that is served first and never paused."""
    ack_interval: int = 0
    """[B]."""
    goes_back_to_zero: bool = False
    is_rate_bound: bool = True
    error_rate: float = 0.0
    pause_time: float = 5.0
    """[us]; only whether a pause frame has one matters."""
    link_down: tuple[int, int, int] = (0, 0, 0)
    """Time [us] and ends of a cable that fails; time 0: none does."""

    def refuse(self, key: str, problem: str, remedy: str) -> PydanticCustomError:
        """An error about a key, with its line if it has one."""
        if key in self.lines:
            line = self.lines[key]
            return line.refuse(problem, remedy, " ".join(line.text.split()))
        default = getattr(self, KEYS[key][0])
        written = "" if default is None or default == {} else f", whose default {_plain(default)}"
        return refusal(f"{self.path} has no {key}{written} {problem}", remedy)


Reader = Callable[[Line, list[str]], Any]


def _one(line: Line, words: list[str]) -> str:
    if len(words) != 1:
        raise line.refuse(f"has {len(words)} values", "write one value behind the key")
    return words[0]


def _whole(line: Line, words: list[str]) -> int:
    return line.whole(_one(line, words), "the value")


def _positive(line: Line, words: list[str]) -> int:
    value = _whole(line, words)
    if value == 0:
        raise line.refuse("has 0 for the value", "write a whole number above 0")
    return value


def _flag(line: Line, words: list[str]) -> bool:
    return _whole(line, words) != 0


def _number(line: Line, words: list[str]) -> float:
    return line.decimal(_one(line, words), "the value")


def _rate(line: Line, words: list[str]) -> int:
    return line.read(rate_bps, _one(line, words))


def _seconds(line: Line, words: list[str]) -> int:
    return line.read(seconds_ns, _one(line, words))


def _microseconds(line: Line, words: list[str]) -> int:
    """Picoseconds; that simulator cuts the number to whole microseconds."""
    whole = int(_number(line, words))
    if whole == 0:
        raise line.refuse("has no whole microsecond", "write a number of at least 1")
    return whole * TIME.units["us"]


def _path(line: Line, words: list[str]) -> Path:
    """The nearest such file, of those that begin at the config's folder and at the ones above it.

    In that simulator a path begins where the simulator was started: `mix/config.txt` says
    `mix/flow.txt`.
    """
    name = _one(line, words)
    for folder in (line.path.parent, *line.path.absolute().parents):
        if exists(folder / name):
            return folder / name
    remedy = "paths begin at the config's folder, or at one above it"
    raise line.refuse("is no file", remedy, words[0])


def _link_down(line: Line, words: list[str]) -> tuple[int, ...]:
    if len(words) != 3:
        raise line.refuse(f"has {len(words)} values", "write a time and two nodes, or 0 0 0")
    return tuple(line.whole(word, "a value") for word in words)


def _by_rate(read: Reader) -> Reader:
    """A count, then a rate in bit/s and a value for each."""

    def pairs(line: Line, words: list[str]) -> dict[int, Any]:
        count = line.whole(words[0], "the number of rates") if words else 0
        if not words or len(words) != 1 + 2 * count:
            raise line.refuse(
                f"announces {count} rates and has {len(words)} words",
                "write their number, then a rate in b/s and a value for each",
            )
        rates = (line.whole(word, "a rate") for word in words[1::2])
        return {rate: read(line, [word]) for rate, word in zip(rates, words[2::2], strict=True)}

    return pairs


KEYS: dict[str, tuple[str, Reader]] = {
    "TOPOLOGY_FILE": ("topology", _path),
    "FLOW_FILE": ("flows", _path),
    "SIMULATOR_STOP_TIME": ("stop_ns", _seconds),
    "CC_MODE": ("mode", _whole),
    "PACKET_PAYLOAD_SIZE": ("payload", _positive),
    "ENABLE_QCN": ("marks", _flag),
    "MIN_RATE": ("minimum_rate", _rate),
    "HAS_WIN": ("has_window", _flag),
    "VAR_WIN": ("scales_window", _flag),
    "GLOBAL_T": ("is_global", _flag),
    "EWMA_GAIN": ("gain", _number),
    "ALPHA_RESUME_INTERVAL": ("alpha_interval", _microseconds),
    "RATE_DECREASE_INTERVAL": ("decrease_interval", _microseconds),
    "RP_TIMER": ("increase_interval", _microseconds),
    "FAST_RECOVERY_TIMES": ("fast_recovery_rounds", _whole),
    "CLAMP_TARGET_RATE": ("clamps_target", _flag),
    "RATE_AI": ("additive_increase", _rate),
    "RATE_HAI": ("hyper_increase", _rate),
    "U_TARGET": ("target_utilization", _number),
    "MI_THRESH": ("maximum_stage", _whole),
    "FAST_REACT": ("reacts_per_ack", _flag),
    "MULTI_RATE": ("rate_per_hop", _flag),
    "SAMPLE_FEEDBACK": ("samples_feedback", _flag),
    "INT_MULTI": ("telemetry_multiplier", _positive),
    "DCTCP_RATE_AI": ("dctcp_increase", _rate),
    "BUFFER_SIZE": ("buffer", _positive),
    "KMIN_MAP": ("kmin", _by_rate(_whole)),
    "KMAX_MAP": ("kmax", _by_rate(_whole)),
    "PMAX_MAP": ("pmax", _by_rate(_number)),
    "ACK_HIGH_PRIO": ("acks_first", _flag),
    "L2_ACK_INTERVAL": ("ack_interval", _whole),
    "L2_BACK_TO_ZERO": ("goes_back_to_zero", _flag),
    "RATE_BOUND": ("is_rate_bound", _flag),
    "ERROR_RATE_PER_LINK": ("error_rate", _number),
    "PAUSE_TIME": ("pause_time", _number),
    "LINK_DOWN": ("link_down", _link_down),
}
"""Field of :class:`Config` and reader of each key that is read."""


def read_config(path: Path) -> Config:
    """The config of a file; :func:`penstock.hpcc.rules.check` says whether it can be followed.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names file, line, key and remedy.
    """
    written: dict[str, Any] = {}
    places: dict[str, Line] = {}
    for line in read_lines(path):
        key, *words = line.text.split()
        if key in IGNORED:
            continue
        if key not in KEYS:
            raise line.refuse(f"has an unknown key {quoted(key)}", nearest(key, [*KEYS, *IGNORED]))
        if key in places:
            raise line.refuse(f"repeats line {places[key].number}", "keep one of them")
        name, read = KEYS[key]
        places[key], written[name] = line, read(line, words)
    return Config(path, places, **written)


def _plain(value: Any) -> str:
    """A default as the file would write it."""
    return str(int(value)) if isinstance(value, bool) else str(value)
