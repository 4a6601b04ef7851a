"""The pages in a real browser: what a reader sees, clicks, hears and prints."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import Watched
from synthetic_runs import synthetic_run

from penstock import report
from penstock.analysis import slowdown_by_size
from penstock.experiments import catalogue
from penstock.experiments.campaign import Campaign
from penstock.experiments.outcome import Outcome
from penstock.experiments.overview import write_overview
from penstock.look import looks
from penstock.readable import number_text
from penstock.report import kinds
from penstock.report.chart import Axis, Chart, View
from penstock.report.columns import COMPRESSED_FROM
from penstock.report.figure import ReportFigure
from penstock.sweep.axis import axis_of
from penstock.sweep.page import write_page
from penstock.sweep.pooled import Pooled

pytestmark = pytest.mark.slow

SCHEMES = {"bfc": 1.0, "hpcc": 3.0, "pfc": 6.0}
Open = Callable[..., Any]
NARROW = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with three schemes, one of them with two seeds, and a claim."""
    runs: dict[str, Any] = {
        name: [synthetic_run(name, seed=seed, badness=badness, flows=3_000) for seed in (1, 2)]
        for name, badness in SCHEMES.items()
    }
    claim = report.ClaimRow(
        claim="BFC is fast.", reported="fast", measured="1", tolerance="≤ 2", verdict="holds"
    )
    claim = claim.model_copy(update={"figure": "slowdown"})
    folder = tmp_path_factory.mktemp("page")
    return report.write(runs, folder, command="penstock compare x", title="Three", claims=[claim])


@pytest.fixture
def show(browser: Any, file: Path) -> Iterator[Open]:
    """Opens a report; at the end nothing may have gone wrong in any."""
    opened: list[Watched] = []

    def one(path: Path = file, **context: Any) -> Any:
        opened.append(Watched(browser, path, **context))
        return opened[-1].page

    yield one
    for watched in opened:
        watched.close()


def drawn(page: Any, figure: str = "slowdown") -> Any:
    """The sheets that a figure shows now, as its scripts made them."""
    return page.evaluate(
        "name => window.penstock.figures.find(one => one.chart.name === name).current.map(sheet =>"
        " ({lines: sheet.lines.map(line => ({name: line.name, y: line.points.map(p => p.y)})),"
        " xRange: sheet.xRange, yRange: sheet.yRange, x: sheet.xScale.kind, y: sheet.yScale.kind,"
        " title: sheet.title, yTitle: sheet.yAxis.title}))",
        figure,
    )


def over(page: Any, figure: str = "slowdown") -> Any:
    """The part of a figure's first plot that knows the pointer, in the window."""
    found = page.locator(f"#{figure} .u-over").first
    found.scroll_into_view_if_needed()
    return found


def test_hovering_tells_the_values_of_all_schemes(show: Open) -> None:
    page = show()
    over(page).hover(position={"x": 300, "y": 100})
    words = page.locator("#slowdown .hover").first.inner_text()
    assert words.startswith("Flow size: ")
    assert all(f"{name} " in words for name in SCHEMES)
    values = [float(line.split()[1].replace(",", "")) for line in words.splitlines()[1:]]
    assert values == sorted(values, reverse=True)
    assert "[" in words  # two seeds: from the smallest to the largest
    page.mouse.move(5, 5)
    assert page.locator("#slowdown .hover").first.is_hidden()


@pytest.mark.parametrize("width", [240, 390, 1280])
def test_no_value_is_outside_of_its_panel(show: Open, width: int) -> None:
    page = show(viewport={"width": width, "height": 800})
    for figure in ("slowdown", "utilization"):
        plot = page.locator(f"#{figure} .canvas").first
        plot.focus()
        box, panel = page.locator(f"#{figure} .hover").first, plot.bounding_box()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
            found = box.bounding_box()
            assert found["x"] >= panel["x"] - 1
            assert found["x"] + found["width"] <= panel["x"] + panel["width"] + 1


def test_one_legend_hides_a_scheme_in_every_figure(show: Open) -> None:
    page = show()
    hpcc = page.locator('#page-legend button[data-name="hpcc"]')
    assert hpcc.get_attribute("aria-pressed") == "true"
    hpcc.click()
    assert hpcc.get_attribute("aria-pressed") == "false"
    for figure in ("slowdown", "buffer", "utilization", "throughput"):
        assert [line["name"] for line in drawn(page, figure)[0]["lines"]] == ["bfc", "pfc"]
    hpcc.click(modifiers=["Shift"])
    assert [line["name"] for line in drawn(page, "buffer")[0]["lines"]] == ["hpcc"]
    page.get_by_role("button", name="show all").click()
    assert len(drawn(page)[0]["lines"]) == 3


def test_dragging_zooms_and_a_double_click_shows_all(show: Open) -> None:
    page = show()
    whole = drawn(page)[0]["xRange"]
    plot = over(page)
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 102, steps=3)
    page.mouse.up()
    low, high = drawn(page)[0]["xRange"]
    assert whole[0] < low < high < whole[1]
    assert high - low == pytest.approx((whole[1] - whole[0]) * 200 / box["width"], rel=0.02)
    over(page).dblclick(position={"x": 100, "y": 100})
    assert drawn(page)[0]["xRange"] == whole


def test_a_reader_chooses_percentile_and_division_of_the_axes(show: Open) -> None:
    page = show()
    p99 = drawn(page)[0]["lines"][0]["y"]
    page.locator("#slowdown").get_by_role("button", name="Median").click()
    median = drawn(page)[0]["lines"][0]["y"]
    assert all(one <= other for one, other in zip(median, p99, strict=True)) and median != p99
    assert drawn(page)[0]["y"] == "log"
    page.locator('#slowdown [data-scale="y"]').click()
    assert drawn(page)[0]["y"] == "linear"
    page.locator('#buffer [data-scale="y"]').click()
    assert drawn(page, "buffer")[0]["y"] == "linear"
    assert drawn(page, "buffer")[0]["yRange"][1] <= 1.1
    page.locator("#throughput").get_by_role("button", name="Queue").click()
    assert drawn(page, "throughput")[0]["lines"]


def test_figures_and_data_can_be_taken_away(show: Open) -> None:
    page = show()
    kept = {}
    for kind in ("CSV", "SVG", "PNG"):
        with page.expect_download() as found:
            page.locator("#slowdown").get_by_role("button", name=kind).click()
        kept[found.value.suggested_filename] = Path(found.value.path()).read_bytes()
    assert set(kept) == {"slowdown.csv", "slowdown.svg", "slowdown.png"}
    lines = kept["slowdown.csv"].decode().splitlines()
    assert lines[0].startswith("name,size_from,size_to,size_typical,flows,unfinished,mean,p50")
    assert {line.partition(",")[0] for line in lines[1:]} == set(SCHEMES)
    svg = kept["slowdown.svg"].decode()
    assert svg.startswith("<svg") and "How much slower" in svg and ">bfc</text>" in svg
    assert looks(["bfc"])["bfc"].colour in svg
    assert kept["slowdown.png"].startswith(b"\x89PNG")


def test_tables_are_sorted_and_stand_behind_figures(show: Open) -> None:
    page = show()
    table = page.get_by_role("region", name="Results").locator("table")
    column = table.get_by_role("button", name="Short flows p99")
    for order, wanted in (
        ("ascending", ["bfc", "hpcc", "pfc"]),
        ("descending", ["pfc", "hpcc", "bfc"]),
    ):
        column.click()
        assert table.locator("tbody th").all_inner_texts() == wanted
        assert table.locator(f'[aria-sort="{order}"]').count() == 1
    behind = page.locator("#slowdown .behind")
    behind.locator("summary").click()
    behind.locator("tbody tr").first.wait_for()
    assert behind.locator("tbody tr").count() > 10
    cells = ["1,234", "2.4 µs", "8.85 MB", "unstable, +12 %", "–", "40 Gb/s", "bfc", "1.2 [1 to 3]"]
    cells += ["1 min 50 s", "11.4 s", "8 kB"]
    read = "async cells => cells.map((await import('penstock/table')).cellNumber)"
    numbers = [1234, 2400, 8_850_000, 12, None, 40e9, None, 1.2, 110e9, 11.4e9, 8_000]
    assert page.evaluate(read, cells) == numbers
    text = "(await import('penstock/text')).numberText"
    write = f"async all => {{ const text = {text}; return all.map((one) => text(one)); }}"
    written = [999.4, 999.6, 0.25, 0.0]
    assert page.evaluate(write, written) == [number_text(n) for n in written]
    ends = "Promise.all([Infinity, -Infinity].map(" + f"async (one) => ({text})(one)))"
    assert page.evaluate(ends) == [number_text(n) for n in (float("inf"), float("-inf"))]


@pytest.mark.parametrize(
    ("most", "count", "ticks"),
    [
        (85, 7, [0, 5, 10, 20, 50]),
        (400, 7, [0, 5, 10, 20, 50, 100, 200]),
        (2_000, 7, [0, 5, 10, 100, 1_000]),
        (85, 12, [0, 2, 4, 6, 8, 10, 20, 50]),
    ],
)
def test_an_axis_near_zero_has_ticks_beyond_ten(
    show: Open, most: int, count: int, ticks: list[int]
) -> None:
    read = """async ([most, count]) => {
      const scale = (await import('penstock/scale')).scaleOf({ scale: 'near-zero', unit: '' });
      return scale.ticks(0, scale.to(most), count).map((place) => Math.round(scale.from(place)));
    }"""
    assert show().evaluate(read, [most, count]) == ticks


@pytest.mark.parametrize("kind", ["linear", "log"])
def test_what_is_counted_has_ticks_at_whole_numbers(show: Open, kind: str) -> None:
    read = """async (kind) => {
      const scale = (await import('penstock/scale')).scaleOf({ scale: kind, unit: 'count' });
      return scale.ticks(scale.to(1), scale.to(4), 8).map((place) => scale.text(place));
    }"""
    assert show().evaluate(read, kind) == ["1", "2", "3", "4"]


def test_zeros_have_a_place_of_their_own_on_a_logarithmic_axis(show: Open) -> None:
    read = """async (least) => {
      const { scaleOf } = await import('penstock/scale');
      const scale = scaleOf({ scale: 'log', unit: 'number', least });
      const places = [0, 0.001, 0.1].map(scale.to);
      const ticks = scale.ticks(places[0], places[2], 4).map((place) => scale.text(place));
      return [places, places.map(scale.from).map((one) => Math.round(one * 1e6)), ticks];
    }"""
    places, back, ticks = show().evaluate(read, 0.001)
    assert places == pytest.approx([-3.7, -3, -1])
    assert back == [0, 1_000, 100_000]
    assert (ticks[:2], ticks[-1]) == (["0", "0.001"], "0.1")


def test_a_line_goes_to_the_end_of_a_logarithmic_axis_where_it_is_zero(
    show: Open, tmp_path: Path
) -> None:
    table = pl.DataFrame({"name": ["a"] * 4, "x": [0.0, 1, 2, 3], "y": [5.0, 1, 0, 4]})
    chart = Chart(
        title="t", table=table, x=Axis("x"), y=Axis("y"), along="x", views=[View("y", "y")]
    )
    runs = {"a": synthetic_run("bfc", flows=50)}
    page = show(report.write(runs, tmp_path, figures=[ReportFigure("c", "w", chart)]))
    for side in ("x", "y"):
        page.locator(f'#c [data-scale="{side}"]').click()
    xs, heights = page.evaluate("window.penstock.figures[0].plots[0].data")
    sheet = drawn(page, "c")[0]
    assert xs[0] == sheet["xRange"][0] and heights[2] == sheet["yRange"][0]
    assert xs[1:] == pytest.approx([0, 0.30103, 0.47712], abs=1e-5)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert "Infinity" not in page.locator("#c .print-only").inner_html()


def test_words_of_ticks_on_a_logarithmic_axis_do_not_touch(show: Open) -> None:
    read = """async ([decades, width]) => {
      const scale = (await import('penstock/scale')).scaleOf({ scale: 'log', unit: 'bytes' });
      const places = scale.ticks(3, 3 + decades, Math.floor(width / 60));
      return places.map((place) => (place - 3) / decades * width);
    }"""
    page = show()
    for decades in (1, 1.5, 2, 3, 4, 4.4, 6, 8):
        for width in (330, 430, 860):
            ticks = page.evaluate(read, [decades, width])
            assert len(ticks) > 1
            room = min(after - before for before, after in pairwise(ticks))
            assert room > 42, (decades, width)  # "500 KB" in 11 px


def test_keys_read_and_zoom_a_figure(show: Open) -> None:
    page = show()
    plot = page.locator("#slowdown .canvas").first
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    said = page.locator('#slowdown [aria-live="polite"]').inner_text()
    assert said.startswith("Flow size ") and "bfc " in said and "; " in said
    whole = drawn(page)[0]["xRange"]
    page.keyboard.press("+")
    assert drawn(page)[0]["xRange"][1] < whole[1]
    page.keyboard.press("0")
    assert drawn(page)[0]["xRange"] == whole
    page.keyboard.press("Escape")
    assert page.locator("#slowdown .hover").first.is_hidden()


def test_the_page_is_dark_where_the_system_is_and_the_reader_can_switch(show: Open) -> None:
    page = show(color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    stroke = "window.penstock.figures[0].plots[0].series[1]._stroke"
    dark, line = page.evaluate(colour), page.evaluate(stroke)
    assert sum(map(int, dark[4:-1].split(","))) < 150
    assert line.lower() == looks(["bfc"])["bfc"].on_dark.lower()
    page.get_by_role("button", name="dark").click()
    assert sum(map(int, page.evaluate(colour)[4:-1].split(","))) > 700
    assert page.evaluate(stroke).lower() == looks(["bfc"])["bfc"].colour.lower()


@pytest.mark.parametrize("width", [360, 3840])
def test_nothing_is_cut_off_at_any_width(show: Open, width: int) -> None:
    page = show(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    widths = page.evaluate("[...document.querySelectorAll('.canvas')].map(one => one.clientWidth)")
    assert min(widths) > 200 or width > 360


def test_a_long_name_makes_no_page_wider(show: Open, tmp_path: Path) -> None:
    run = synthetic_run("bfc", flows=50)
    page = show(report.write({"x" * 120: run, "b": run}, tmp_path), viewport=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_paper_has_static_figures(show: Open) -> None:
    page = show(color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".print-only svg").count() == page.locator("figure").count()
    assert page.locator("#slowdown .print-only svg").is_visible()
    assert page.locator("#slowdown .canvas").first.is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#page-legend").is_hidden()
    for name, note in (("buffer", "6 runs · seeds 1, 2"), ("throughput", "3 runs · seed 1")):
        assert (
            f"synthetic · {note}" in page.locator(f"#{name} .print-only text").all_text_contents()
        )


def test_paper_shows_whole_lines_of_a_scenario(show: Open, tmp_path: Path) -> None:
    runs = {"b" * 80: synthetic_run("b" * 80, flows=50)}
    page = show(report.write(runs, tmp_path), viewport=NARROW)
    page.locator("summary", has_text="seed").click()
    page.emulate_media(media="print")
    assert page.locator("details pre").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_small_words_are_small_on_paper(show: Open, tmp_path: Path) -> None:
    claim = report.ClaimRow(
        claim="c", reported="r", measured="1", tolerance="≤ 2", verdict="holds", remark="Small."
    )
    page = show(report.write(synthetic_run("bfc", flows=50), tmp_path, claims=[claim]))
    page.emulate_media(media="print")
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    small = page.get_by_text("Small.")
    assert small.evaluate(size) < small.locator("..").evaluate(size)


def test_a_claim_leads_to_its_figure_and_back(show: Open) -> None:
    page = show()
    page.get_by_role("link", name="figure").click()
    assert page.url.endswith("#slowdown")
    page.get_by_role("link", name="claim 1 holds").click()
    assert page.url.endswith("#claim-1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_those_who_cannot_see_it_can_use_it(show: Open, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = show(color_scheme=scheme)
    page.locator("#slowdown .behind summary").click()
    page.locator("#slowdown .behind tbody tr").first.wait_for()
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []


def test_keys_reach_a_long_command_and_a_long_scenario(show: Open, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    command = "penstock compare x --scheme " + ",".join(f"scheme-{n}" for n in range(40))
    runs = {"b" * 80: synthetic_run("b" * 80, flows=50)}
    page = show(report.write(runs, tmp_path, command=command), viewport=NARROW)
    code = page.locator("header pre")
    assert code.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.locator("summary", has_text="seed").click()
    assert page.locator("details pre").evaluate("one => one.scrollWidth > one.clientWidth")
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_every_kind_of_chart_is_drawn_also_when_it_is_long(show: Open, tmp_path: Path) -> None:
    runs = {"bfc": synthetic_run("bfc", flows=500)}
    numbers = list(range(COMPRESSED_FROM // 12))
    long = Chart(
        title="long",
        table=pl.DataFrame({"name": ["a"] * len(numbers), "x": numbers, "y": numbers}),
        x=Axis("x"),
        y=Axis("y"),
        along="x",
        views=[View("y", "y")],
    )
    names, heights = ["a", "a", "b", "b"], [3.0, 0, 2, float("inf")]
    grouped = pl.DataFrame({"group": ["one", "two"] * 2, "name": names, "y": heights})
    tipped = grouped.with_columns(tip=pl.Series([4.0, 1, 3, 9]))
    points = {"name": ["a"] * 3, "x": [1.0, 2, 4], "y": [0.0, 3, 9], "deviation": [0.0, 1, 2]}
    over_time = {"name": ["a"] * 4, "line": ["up", "up", "down", "down"], "time_us": [1.0, 2] * 2}
    timeline = pl.DataFrame(over_time | {"panel": ["r", "r", "q", "q"], "value": [1.0, 2, 3, 4]})
    charts = [
        long,
        kinds.bars(tipped, Axis("y"), title="b", tip_words="p99"),
        kinds.bars(grouped, Axis("y", scale="log"), title="log bars"),
        kinds.curves(
            pl.DataFrame(points | {"hollow": [0, 1, 0]}),
            Axis("x"),
            Axis("y", scale="log"),
            title="c",
            reference=("form", [1.0, 4], [1.0, 10]),
        ),
        kinds.timeline(
            timeline, title="t", origin_us=0, units={"r": Axis("r"), "q": Axis("q", "bytes")}
        ),
    ]
    figures = [ReportFigure(f"kind-{place}", "w", one) for place, one in enumerate(charts)]
    path = report.write(runs, tmp_path, figures=figures)
    assert 'data-form="deflate"' in path.read_text("utf-8")
    page = show(path)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for figure in figures:
        assert page.locator(f"#{figure.name} canvas").count() >= 1
        assert "NaN" not in page.locator(f"#{figure.name} .print-only").inner_html()
    for name, words in (("kind-1", "hatched: p99"), ("kind-3", "dashed: form")):
        assert words in page.locator(f"#{name} .print-only text").all_text_contents()
    titles = [(sheet["title"], sheet["yTitle"]) for sheet in drawn(page, "kind-4")]
    assert titles == [("a", "r"), ("a", "q")]


def test_every_point_has_a_marker_where_points_are_not_joined(show: Open, tmp_path: Path) -> None:
    near = [1 + place / 1_000 for place in range(50)]  # of 400 to 500 pixels: closer than markers
    table = pl.DataFrame({"name": ["a"] * 50 + ["ideal-fq"], "x": [*near, 2.0], "y": [1.0] * 51})
    whole = Chart(
        title="t", table=table, x=Axis("x"), y=Axis("y"), along="x", views=[View("y", "y")]
    )
    for form, least, most in (("points", 51, 51), ("line", 2, 10)):
        chart = dataclasses.replace(whole, form=form)
        runs = {"a": synthetic_run("bfc", flows=50)}
        page = show(report.write(runs, tmp_path / form, figures=[ReportFigure("c", "w", chart)]))
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        markers = page.locator('#c .print-only g path[stroke="#ffffff"]').count()
        assert least <= markers <= most, form


def test_ticks_that_lie_close_have_words_of_their_own(show: Open, tmp_path: Path) -> None:
    points = pl.DataFrame({"name": ["a"] * 2, "x": [1.0, 2.0], "y": [1.0601, 1.0702]})
    chart = kinds.curves(points, Axis("x"), Axis("y", scale="log"), title="c")
    page = show(
        report.write(
            {"a": synthetic_run("bfc")}, tmp_path, figures=[ReportFigure("close", "w", chart)]
        )
    )
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    words = page.locator('#close .print-only text[text-anchor="end"]').all_text_contents()
    ticks = [one for one in words if one.startswith("1.0")]
    assert len(ticks) > 2 and len(set(ticks)) == len(ticks), words


def test_more_than_twelve_schemes_get_a_panel_each(show: Open, tmp_path: Path) -> None:
    runs = {f"mine-{n}": synthetic_run("dctcp", badness=1 + n, flows=400) for n in range(13)}
    page = show(report.write(runs, tmp_path))
    sheets = drawn(page)
    assert [sheet["title"] for sheet in sheets] == list(runs)
    assert all(len(sheet["lines"]) == 13 for sheet in sheets)
    page.locator('#page-legend button[data-name="mine-0"]').click()
    page.locator('#page-legend button[data-name="mine-5"]').click()
    assert len(drawn(page)) == 11


def test_the_summary_of_experiments_is_filtered_by_paper_and_verdict(
    show: Open, tmp_path: Path
) -> None:
    words = {"reported": "so", "measured": "1", "tolerance": "≤ 2", "figure": "slowdown"}
    verdicts = {"bfc/fig10": ["holds", "fails"], "pcn/fig5": ["holds"]}
    chart = kinds.slowdown(slowdown_by_size(synthetic_run("bfc", flows=500)))
    outcomes = {}
    for name, judged in verdicts.items():
        folder = tmp_path / name / "figures"
        folder.mkdir(parents=True)
        page = json.dumps(ReportFigure("slowdown", "Words.", chart).as_json())
        (folder / "slowdown.json").write_text(page, "utf-8")
        claims = [report.ClaimRow(claim="c", verdict=one, **words) for one in judged]
        claims[1:] = [one.model_copy(update={"figure": "buffer"}) for one in claims[1:]]
        facts = {"id": name, "title": "t", "source": "s", "scale": "quick", "inputs": ""}
        outcomes[name] = Outcome(
            **facts, version="1", commit=None, claims=claims, figure="slowdown"
        )
    experiments = {name: catalogue.load(name) for name in verdicts}
    places = {name: tmp_path / name for name in verdicts}
    campaign = Campaign("quick", places, outcomes, experiments)
    page = show(write_overview(campaign, tmp_path, "penstock reproduce --all"))
    rows, figures = page.locator("tr[data-filtered]:visible"), page.locator("figure:visible")
    assert (rows.count(), figures.count()) == (3, 2)
    totals = page.get_by_role("region", name="Totals")
    for _ in range(2):  # up and down
        totals.get_by_role("button", name="Claims").click()
        assert totals.locator("td:first-child").all_inner_texts()[-1] == "All"
    page.get_by_label("Verdict").select_option("fails")
    assert (rows.count(), figures.count()) == (1, 1)
    assert page.locator("#page-filtered").inner_text() == "1 of 3 claims"
    assert rows.get_by_role("link", name="report").count() == 1
    page.get_by_label("Verdict").select_option("")
    page.get_by_label("Paper").select_option("pcn")
    assert (rows.count(), figures.count()) == (1, 1)
    assert figures.locator("h4").inner_text() == chart.title
    assert figures.locator("figcaption").inner_text().startswith("Words.\n")
    page.emulate_media(media="print")
    assert figures.locator("h3").is_visible() and figures.locator("h4").is_hidden()
    page.emulate_media(media="screen")
    rows.get_by_role("link", name="figure").click()
    assert page.url.endswith("#pcn/fig5")
    page.get_by_label("Paper").select_option("bfc")
    other = rows.get_by_role("link", name="figure").last.get_attribute("href")
    assert other == "bfc/fig10/report.html#buffer"


def test_a_sweep_over_names_has_marks_side_by_side(show: Open, tmp_path: Path) -> None:
    axes = (axis_of("sizes", ["a", "b", "c"]), axis_of("scheme", ["bfc", "dctcp"]))
    rows = [
        {"sizes": sizes, "scheme": scheme, "metric": "slowdown()", "mean": 2.0, "low": 1.0}
        | {"high": 3.0, "seeds": 3, "cells": 3}
        for sizes in ("a", "b", "c")
        for scheme in ("bfc", "dctcp")
    ]
    pooled = Pooled("small", axes, ("slowdown()",), pl.DataFrame(rows), 18)
    page = show(write_page(pooled, tmp_path, "penstock sweep small"))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    parts = page.locator("#metric-1 .print-only g path")
    paths = [one.get_attribute("d") for one in parts.all()]
    assert len(paths) == len(set(paths)) == 12, "a marker and a whisker each, and no line"
    over(page, "metric-1").hover(position={"x": 50, "y": 50})
    words = page.locator("#metric-1 .hover").first.inner_text().splitlines()
    assert [line.strip() for line in words] == ["sizes: a", "bfc 2 [1 to 3]", "dctcp 2 [1 to 3]"]


def test_a_bar_below_zero_goes_down_from_zero(show: Open, tmp_path: Path) -> None:
    table = pl.DataFrame({"group": ["a", "b"], "name": ["x", "x"], "y": [-3.0, 2.0]})
    chart = kinds.bars(table, Axis("y"), title="t")
    runs = {"x": synthetic_run("bfc", flows=50)}
    page = show(report.write(runs, tmp_path, figures=[ReportFigure("c", "w", chart)]))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    read = """all => all.map((one) => one.getBBox()).map((box) => [box.y, box.y + box.height])"""
    down, up = page.locator("#c .print-only g path").evaluate_all(read)
    assert down[0] == pytest.approx(up[1], abs=0.1)  # both stand on zero
    assert (down[1] - down[0]) / (up[1] - up[0]) == pytest.approx(3 / 2, rel=0.01)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_bar_of_zero_is_a_number_without_a_bar(show: Open, tmp_path: Path, scale: Any) -> None:
    table = pl.DataFrame({"group": ["a"] * 2, "name": ["x", "y"], "y": [0.0, 300.0]})
    chart = kinds.bars(table, Axis("y", scale=scale), title="t")
    runs = {"x": synthetic_run("bfc", flows=50)}
    page = show(report.write(runs, tmp_path, figures=[ReportFigure("c", "w", chart)]))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#c .print-only g path").count() == 1
    assert page.locator("#c .print-only g text").all_text_contents() == ["0"]


def test_bars_of_one_hue_have_colours_of_their_own(show: Open, tmp_path: Path) -> None:
    names = ["dctcp", "timely", "powertcp", "bfc"]  # three are green, and differ in their markers
    table = pl.DataFrame({"group": ["a"] * 4, "name": names, "y": [4.0, 3.0, 2.0, 1.0]})
    chart = kinds.bars(table, Axis("y"), title="t")
    runs = {name: synthetic_run(name, flows=50) for name in names}
    page = show(report.write(runs, tmp_path, figures=[ReportFigure("c", "w", chart)]))
    key = page.locator("#c .key .swatch path[stroke]")
    read = "all => all.map((one) => one.getAttribute('stroke'))"
    light = key.evaluate_all(read)
    assert len(set(light)) == 4
    own = looks(names)
    assert [light[0], light[3]] == [own["dctcp"].colour.lower(), own["bfc"].colour.lower()]
    page.get_by_role("button", name="dark").click()
    dark = key.evaluate_all(read)
    assert len(set(dark)) == 4
    assert [dark[0], dark[3]] == [own["dctcp"].on_dark.lower(), own["bfc"].on_dark.lower()]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    bars = page.locator("#c .print-only g path[fill^='#']")
    assert bars.evaluate_all("all => all.map((one) => one.getAttribute('fill'))") == light


def test_an_axis_of_zeros_begins_at_zero(show: Open, tmp_path: Path) -> None:
    row = {"metric": "fct()", "mean": 0.0, "low": 0.0, "high": 0.0, "seeds": 3, "cells": 3}
    rows = [{"load": load, **row} for load in ("0.3", "0.5")]
    pooled = Pooled("small", (axis_of("load", ["0.3", "0.5"]),), ("fct()",), pl.DataFrame(rows), 6)
    page = show(write_page(pooled, tmp_path, "penstock sweep small"))
    assert drawn(page, "metric-1")[0]["yRange"] == pytest.approx([0, 1.06])


def test_a_sweep_shows_means_with_their_intervals(show: Open, tmp_path: Path) -> None:
    axes = (axis_of("load", ["0.3", "0.5"]), axis_of("scheme", ["bfc", "dctcp"]))
    points = [(load, scheme) for load in ("0.3", "0.5") for scheme in ("bfc", "dctcp")]
    rows = [
        {"load": load, "scheme": scheme, "metric": "slowdown()", "mean": 2.0, "low": 1.0}
        | {"high": 3.0, "seeds": 3, "cells": 3}
        for load, scheme in points
    ]
    pooled = Pooled("small", axes, ("slowdown()",), pl.DataFrame(rows), 12)
    page = show(write_page(pooled, tmp_path, "penstock sweep small"))
    (sheet,) = drawn(page, "metric-1")
    assert {line["name"]: line["y"] for line in sheet["lines"]} == {"bfc": [2, 2], "dctcp": [2, 2]}
    over(page, "metric-1").hover(position={"x": 50, "y": 50})
    words = page.locator("#metric-1 .hover").first.inner_text().splitlines()
    assert [line.strip() for line in words] == ["load: 0.3", "bfc 2 [1 to 3]", "dctcp 2 [1 to 3]"]
