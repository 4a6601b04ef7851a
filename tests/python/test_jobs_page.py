"""The part of a report about jobs in a real browser, and the question why a flow was slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Watched

from penstock import Scenario, report, run

pytestmark = pytest.mark.slow

Open = Callable[..., Any]
SCHEMES = ("bfc", "pfc")
TRAFFIC = [
    {"kind": "collective", "operation": "ring-all-reduce", "bytes": "400 kB", "iterations": 2},
    {"kind": "incast", "degree": 3, "size": "600 kB", "period": "60 us", "receiver": 2},
    {
        "kind": "rpc",
        "clients": [0],
        "request": {"kind": "fixed", "size": 300},
        "response": {"kind": "fixed", "size": 9_000},
    },
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two schemes with a ring and requests beside incasts."""
    scenario = Scenario(
        name="job",
        duration="200 us",
        topology={"kind": "single-switch", "hosts": 4},
        traffic=TRAFFIC,
        measure={"events": True},
    )
    runs = {name: run(scenario.with_overrides({"scheme": name})) for name in SCHEMES}
    return report.write(runs, tmp_path_factory.mktemp("page"), title="Job")


@pytest.fixture
def show(browser: Any, file: Path) -> Iterator[Open]:
    """Opens the report; at the end nothing may have gone wrong."""
    opened: list[Watched] = []

    def one(**context: Any) -> Any:
        opened.append(Watched(browser, file, **context))
        return opened[-1].page

    yield one
    for watched in opened:
        watched.close()


def over(page: Any, figure: str) -> Any:
    """The part of a figure's first plot that knows the pointer, in the window."""
    found = page.locator(f"#{figure} .u-over").first
    found.scroll_into_view_if_needed()
    return found


def panels(page: Any, figure: str) -> Any:
    """What the panels of a figure show now: titles, names of lines, ends of the y axis."""
    return page.evaluate(
        "name => window.penstock.figures.find(one => one.chart.name === name).current.map(sheet =>"
        " ({title: sheet.title, y: sheet.yRange, ends: sheet.lines.flatMap(line => line.points.map("
        "point => [point.px, point.pend ?? null, point.pbase ?? null, point.py])),"
        " lines: sheet.lines.map(line => line.name)}))",
        figure,
    )


def test_a_gantt_chart_has_a_row_per_rank_and_tells_what_each_does(show: Open) -> None:
    page = show()
    shown = panels(page, "gantt")
    assert [one["title"] for one in shown] == list(SCHEMES)
    for one in shown:
        assert one["y"] == [-0.5, 3.5]
        assert set(one["lines"]) == {"critical path", "other messages"}
        assert all(begin < end for begin, end, _, _ in one["ends"])
    over(page, "gantt").hover(position={"x": 60, "y": 100})
    words = page.locator("#gantt .hover").first.inner_text()
    assert words.startswith("Time since the iteration began")
    assert "rank 0: step " in words and " to H1, lost " in words
    page.locator("#gantt .canvas").first.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator('#gantt [aria-live="polite"]').inner_text()
    assert "rank 1: step 0, flow " in said
    whole = panels(page, "gantt")[0]["ends"]
    page.keyboard.press("+")
    page.keyboard.press("0")
    assert panels(page, "gantt")[0]["ends"] == whole


def test_causes_are_stacked_and_leave_no_room(show: Open) -> None:
    page = show()
    jobs, requests = panels(page, "time-lost")
    assert jobs["lines"][0] == requests["lines"][0] == "alone on an idle network"
    for place in (0, 1):
        bars = [(base, top) for at, _, base, top in jobs["ends"] if at == place]
        assert bars[0][0] == 0
        assert [top for _, top in bars[:-1]] == [base for base, _ in bars[1:]]
        assert bars[-1][1] <= jobs["y"][1]
    over(page, "time-lost").hover(position={"x": 60, "y": 60})
    assert "alone on an idle network " in page.locator("#time-lost .hover").first.inner_text()


def test_the_legend_hides_a_scheme_among_jobs_too(show: Open) -> None:
    page = show()
    page.locator('#page-legend button[data-name="bfc"]').click()
    assert [one["title"] for one in panels(page, "gantt")] == ["pfc"]
    assert panels(page, "job-time")[0]["lines"] == ["pfc"]


def test_why_a_flow_was_slow_is_read_without_a_click(show: Open) -> None:
    page = show()
    table = page.get_by_role("region", name="Slowest flows").locator("table")
    reasons = table.locator("tbody td:last-child").all_inner_texts()
    assert len(reasons) >= 4
    assert any("S0 paused H0→S0" in why for why in reasons)
    assert any("S0→H2 had the longest queue of its path" in why for why in reasons)
    assert all(" µs " in why or " ns " in why or why == "as fast as alone" for why in reasons)
    table.get_by_role("button", name="Slowdown").click()
    assert table.locator('[aria-sort="ascending"]').count() == 1


@pytest.mark.parametrize("width", [360, 1280])
def test_jobs_fit_the_page_and_are_printed(show: Open, width: int) -> None:
    page = show(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for figure in ("job-time", "job-bandwidth", "time-lost", "gantt"):
        drawing = page.locator(f"#{figure} .print-only").inner_html()
        assert drawing.startswith("<svg") and "NaN" not in drawing and "undefined" not in drawing
        assert drawing.count("<path") > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_those_who_cannot_see_jobs_can_use_them(show: Open, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(show(color_scheme=scheme)).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []


def test_of_many_jobs_the_slowest_are_told_and_drawn(browser: Any, tmp_path: Path) -> None:
    rings = [
        {**TRAFFIC[0], "label": f"job {number:03}", "bytes": f"{number + 4} kB", "iterations": 1}
        for number in range(70)
    ]
    clients = [{**TRAFFIC[2], "label": f"ask {number}"} for number in range(3)]
    star = {"kind": "single-switch", "hosts": 4}
    made = run(Scenario(name="many", duration="200 us", topology=star, traffic=[*rings, *clients]))
    watched = Watched(browser, report.write({"bfc": made}, tmp_path))
    page = watched.page
    assert page.get_by_text("6 of 70 jobs are told and drawn").is_visible()
    told = page.locator("section", has=page.locator("#gantt")).locator("ul > li > strong")
    kept = told.all_text_contents()
    assert len(kept) == 6 and "bfc · job 069" in kept
    assert sorted(one["title"] for one in panels(page, "gantt")) == sorted(kept)
    assert len(panels(page, "time-lost")) == 6 + 3
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    widths = page.locator("#time-lost .canvas").evaluate_all("all => all.map(a => a.clientWidth)")
    assert min(widths) > 200
    # The table has all jobs, and is scrolled by itself; paper has all of its rows.
    table = page.get_by_role("region", name="Iterations")
    assert table.locator("tbody tr").count() == 70
    heights = "one => [one.clientHeight, one.scrollHeight]"
    shown, whole = table.evaluate(heights)
    assert shown < 900 < whole
    page.emulate_media(media="print")
    shown, whole = table.evaluate(heights)
    assert shown == whole
    assert page.get_by_role("heading", name="Iterations").is_visible()
    button = table.locator("th button").first  # with a box of its own, no page repeats the titles
    assert button.evaluate("one => getComputedStyle(one).display") == "contents"
    watched.close()
