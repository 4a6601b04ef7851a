"""SimAI's workload text: a head, a number of layers, and a line for each layer.

The format is that of ``Workload::initialize_workload`` in aliyun/SimAI, and that of ASTRA-sim 1.0
before. What it is: the text as it stands. What it is not: who talks to whom
(:mod:`penstock.simai.groups`). Invariant: what cannot be simulated as it is meant is refused with
its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.errors import quoted
from penstock.lines import Line, read_lines
from penstock.topology_file import HOSTS_MAX

Group = Literal["tp", "dp", "ep", "dp_ep"]
"""Ranks that talk to each other: tensor, data, expert parallel, and data parallel of experts."""

Operation = Literal["ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"]
"""A collective, in SimAI's word."""

POLICIES = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER")
"""Policies that are simulated. They differ only in recomputation, which is refused."""

OTHER_POLICIES = (
    "DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED", "HYBRID_CUSTOMIZED", "MICRO", "DISTRIBUTED_INFERENCE",
)  # fmt: skip
"""Policies that SimAI knows and that are not simulated."""

OPERATIONS: tuple[Operation, ...] = ("ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")

SUFFIXES: dict[str, Group] = {"_EP": "ep", "_DP_EP": "dp_ep"}
"""What follows an operation whose group is not the usual one of its phase."""

FIELDS = 12
"""Words of a layer: a name, a dependency, three phases of three words, and the update."""

NAME_WIDTH = 150
"""Most characters of a layer's name; our choice: a step's name, which has more, has 200."""

REMEDY = (
    "write name, dependency, then compute time, operation and bytes of the forward pass, the input "
    "gradient and the weight gradient, and the update time"
)

_COUNTS = ("model_parallel_NPU_group", "all_gpus", "ep", "pp", "vpp", "ga")
_RECOMPUTED = ("checkpoints", "checkpoint_initiates")
_BETWEEN_STAGES = "pp_comm"


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a layer's work: computation, then perhaps a collective."""

    compute_ns: int
    """How long a rank computes first [ns]."""
    operation: Operation | None
    """The collective; none when nothing is sent."""
    group: Group
    """Who takes part."""
    size: int
    """The largest buffer of a rank [B]."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A line of the text."""

    line: Line
    name: str
    forward: Phase
    input_gradient: Phase
    weight_gradient: Phase
    update_ns: int
    """How long a rank works on the result of each of the layer's collectives [ns]."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What the ranks of a training job do in an iteration."""

    head: Line
    ranks: int
    tensor_parallel: int
    expert_parallel: int
    layers: tuple[Layer, ...]

    @property
    def data_parallel(self) -> int:
        """Ranks that have the same part of the model, and other data."""
        return self.ranks // self.tensor_parallel


def read_workload(path: Path) -> Workload:
    """The workload of a file, gzipped or not.

    Raises
    ------
    PydanticCustomError
        A `ValueError` that names the line and the remedy.
    """
    lines = read_lines(path)
    head = _head(lines[0])
    if len(lines) < 2:
        raise lines[0].refuse("has nothing below it", "write the number of layers, and the layers")
    announced = lines[1].whole(lines[1].text, "the number of layers")
    if announced != len(lines) - 2:
        raise lines[1].refuse(
            f"announces {announced} layers, but {len(lines) - 2} follow",
            "the file is truncated, or this line is wrong",
        )
    if not announced:
        raise lines[1].refuse("announces no layers", "write some")
    layers = tuple(_layer(line) for line in lines[2:])
    ranks, tensor = head["all_gpus"], head["model_parallel_NPU_group"]
    return Workload(lines[0], ranks, tensor, head.get("ep", 1), layers)


def _head(line: Line) -> dict[str, int]:
    """The numbers of the first line, checked."""
    policy, *words = line.text.split()
    if policy in OTHER_POLICIES:
        raise line.refuse(
            "is a policy of SimAI that is not simulated", f"write {' or '.join(POLICIES)}", policy
        )
    if policy not in POLICIES:
        raise line.refuse("is no policy of SimAI", f"write {' or '.join(POLICIES)}", policy)
    found: dict[str, int] = {}
    for word, number in zip(words[::2], words[1::2], strict=False):
        key = word.removesuffix(":")
        if key not in (*_COUNTS, *_RECOMPUTED, _BETWEEN_STAGES):
            known = ", ".join((*_COUNTS, *_RECOMPUTED, _BETWEEN_STAGES))
            raise line.refuse("is no key of the first line", f"known are {known}", word)
        if key in found:
            raise line.refuse(f"has {key} twice", "write it once")
        found[key] = line.whole(number, key)
        if key in _RECOMPUTED and found[key]:
            # SimAI writes the layers behind the count, so what follows are no pairs.
            raise line.refuse(f"has {key}: {found[key]}", "recomputation is not simulated; write 0")
    if len(words) % 2:
        raise line.refuse("has a key without a number", "write pairs such as ep: 1", words[-1])
    _check_head(line, found)
    return found


def _check_head(line: Line, found: dict[str, int]) -> None:
    for key in _COUNTS[:2]:
        if key not in found:
            raise line.refuse(f"has no {key}", f"write {key}: and a number")
    for key in _COUNTS:
        if found.get(key, 1) < 1:
            raise line.refuse(f"has {key}: 0", "write 1 or more")
    if found.get("pp", 1) > 1:
        raise line.refuse(
            f"has pp: {found['pp']}", "pipeline parallelism is not simulated; write pp: 1"
        )
    if found.get(_BETWEEN_STAGES, 0):
        raise line.refuse(
            f"has {_BETWEEN_STAGES} {found[_BETWEEN_STAGES]} without stages", "leave it out"
        )
    ranks, tensor, expert = found["all_gpus"], found["model_parallel_NPU_group"], found.get("ep", 1)
    if ranks > HOSTS_MAX:
        raise line.refuse(f"has all_gpus: {ranks}", f"write at most {HOSTS_MAX}")
    if ranks % tensor:
        raise line.refuse(
            f"has {ranks} ranks in groups of model_parallel_NPU_group: {tensor}",
            "write a number that divides all_gpus",
        )
    if ranks // tensor % expert:
        raise line.refuse(
            f"has ep: {expert} among {ranks // tensor} groups of {tensor} ranks",
            "write a number that divides all_gpus / model_parallel_NPU_group",
        )


def _layer(line: Line) -> Layer:
    words = line.text.split()
    if len(words) != FIELDS:
        raise line.refuse(f"has {len(words)} words of {FIELDS}", REMEDY)
    name = words[0]
    if "," in name or not name.isprintable() or len(name) > NAME_WIDTH:
        raise line.refuse(
            "is no name for a table",
            f"write at most {NAME_WIDTH} characters that can be shown, none of them a comma",
            name,
        )
    # Which layer a layer depends on is read and not used, as in SimAI.
    line.whole(words[1].removeprefix("-"), "the dependency")
    return Layer(
        line,
        name,
        _phase(line, words[2:5], "tp", "the forward pass"),
        _phase(line, words[5:8], "tp", "the input gradient"),
        _phase(line, words[8:11], "dp", "the weight gradient"),
        line.whole(words[11], "the update time"),
    )


def _phase(line: Line, words: list[str], usual: Group, what: str) -> Phase:
    compute, word, size = words
    compute_ns = line.whole(compute, f"the compute time of {what}")
    count = line.whole(size, f"the bytes of {what}")
    operation: Operation | None = None
    group = usual
    if word != "NONE":
        operation = next((one for one in OPERATIONS if word.startswith(one)), None)
        suffix = word.removeprefix(operation or "")
        if operation is None or suffix not in ("", *SUFFIXES):
            raise line.refuse(
                f"is no operation of {what}",
                f"write NONE or one of {', '.join(OPERATIONS)}, perhaps with "
                f"{' or '.join(SUFFIXES)}",
                word,
            )
        group = SUFFIXES.get(suffix, usual)
    elif count:
        raise line.refuse(
            f"has {quoted('NONE')} and {count} B for {what}", "write 0, or the operation"
        )
    # Texts of AICB have operations of 0 B, which send nothing.
    return Phase(compute_ns, operation if count else None, group, count)
