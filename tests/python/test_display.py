"""Progress on a terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

from penstock import Progress
from penstock.cli.display import Terminal

SO_FAR = Progress(10**9, 10**10, 2 * 10**10, 10**6, 100, 2.0)


def lines(width: int, names: list[str], patched: pytest.MonkeyPatch) -> list[str]:
    """What a terminal of so many columns shows of runs that are on their way."""
    patched.setenv("COLUMNS", str(width))
    shown = Terminal(names)
    for name in names:
        shown.update(name, SO_FAR)
    console = Console(width=width)
    with console.capture() as captured:
        console.print(shown._bars)
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_name_of_a_run_stays_in_a_narrow_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = lines(width, ["bfc", "dctcp-with-pauses"], monkeypatch)
    assert first.startswith("bfc ") and second.startswith("dctcp-with-pauses ")
    assert "1.000 ms" in first and len(first.rstrip()) <= width
    assert ("eta  0:18" in first) == (width > 80)
    assert ("━" in first) == (width > 80)


def test_a_long_name_leaves_half_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = lines(40, ["n" * 60], monkeypatch)
    assert line.startswith("n" * 15) and "1.000 ms" in line
