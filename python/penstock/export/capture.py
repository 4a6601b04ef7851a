"""The packet trace of a run as a pcapng file, which Wireshark reads.

The core makes frames of rows (crate `penstock-wire`). This module takes the rows a chunk at a time
and writes the file, which is whole or absent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from penstock import _core
from penstock.errors import refuse
from penstock.export.frames import frame_rows, interfaces, traced_nodes
from penstock.results import Run
from penstock.storage.draft import whole_file
from penstock.storage.new_file import check_file

KEPT_LEAST = 60
"""Fewest bytes of a frame that are kept [B]: addresses and header; the rest are zeros."""

CHUNK_ROWS = 200_000
"""Rows of the trace that are taken at a time (our choice: 50 MB)."""


def write_capture(
    run: Run,
    file: str | Path,
    *,
    nodes: Sequence[str] | None = None,
    kept: int = KEPT_LEAST,
    force: bool = False,
    progress: Callable[[float, str], None] | None = None,
) -> int:
    """Writes every frame of a traced run into a pcapng file; returns the number of frames.

    Parameters
    ----------
    nodes
        Switches whose frames are written; none for all that were traced.
    kept
        Bytes of a frame that are in the file [B], at least 60. The file says how long the frame is.
    force
        A file that stands there is replaced.
    progress
        Is told the share of the trace that was written, and the number of frames in words.

    Raises
    ------
    ScenarioError
        The run has no packet trace, or a switch was not traced, or a file stands there.
    StorageError
        The disk does not take the file.
    """
    target = Path(file)
    if kept < KEPT_LEAST:
        remedy = f"write {KEPT_LEAST} or more: headers take so many"
        raise refuse("--keep", "it would cut the headers", remedy, kept)
    wanted = traced_nodes(run, nodes)
    check_file(target, force, "--pcapng")
    ports = interfaces(run, wanted)
    rows = run.rows("packets")
    hosts = run.scenario.topology.host_count()
    frames = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as draft, draft.open("wb") as sink:
        sink.write(_core.capture_head(ports.names))
        for start in range(0, rows, CHUNK_ROWS):
            if progress:
                progress(start / rows, f"{frames:,} frames")
            chunk = frame_rows(run, wanted, ports, start, CHUNK_ROWS).collect()
            columns = {name: chunk[name].to_numpy() for name in chunk.columns}
            sink.write(_core.capture_frames(columns, hosts, kept))
            frames += chunk.height
    return frames
