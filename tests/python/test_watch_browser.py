"""The watch page in a real browser: play, scrub, click, step, keys; no error, no request.

What the page says is compared with the tables of the run. Nothing here measures time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_watch import SCENARIO

from penstock import Scenario, run
from penstock.analysis.pause import flow_paused_links, pause_causes, pause_intervals
from penstock.results import Run
from penstock.watch import for_watching

pytestmark = pytest.mark.slow

Open = Callable[..., Any]
MOMENT_PS = 20_000_000


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    folder = tmp_path_factory.mktemp("watch")
    (folder / "small.toml").write_text(SCENARIO)
    found = run(for_watching(Scenario.load(folder / "small.toml")))
    return found, found.watch(folder)


@pytest.fixture
def show(browser: Any, watched: tuple[Run, Path]) -> Iterator[Open]:
    """Opens a page; at the end nothing may have gone wrong, and nothing have left the page."""
    wrong: list[str] = []
    contexts = []

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    def one(path: Path = watched[1], **settings: Any) -> Any:
        wanted: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}} | settings
        context = browser.new_context(**wanted)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", said)
        page.on("request", lambda one: wrong.append(one.url) if one.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield one
    for context in contexts:
        context.close()
    assert wrong == []


def seek(page: Any, time_ps: float) -> None:
    page.evaluate("time => penstock.player.seek(time)", time_ps)


def wait_until(page: Any, condition: str) -> None:
    """Waits until a condition of the page holds, with patience for a busy machine."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def time_of(page: Any) -> float:
    return float(page.evaluate("penstock.player.time"))


def test_play_goes_on_and_stops(show: Open) -> None:
    page = show()
    seek(page, 0)
    page.get_by_role("button", name="Play").click()
    wait_until(page, "penstock.player.time > 0 && penstock.player.frames > 3")
    page.get_by_role("button", name="Pause").click()
    stopped = time_of(page)
    assert stopped > 0
    assert page.evaluate("penstock.player.isPlaying") is False
    page.locator("#speed").select_option(label="1 µs a second")
    assert page.evaluate("penstock.player.speed") == 1e6


def test_the_page_opens_at_the_beginning_of_the_run(show: Open) -> None:
    page = show()
    assert time_of(page) == 0
    assert page.locator("#clock").inner_text() == "0.000 µs"
    page.get_by_role("button", name="Play").click()
    wait_until(page, "penstock.player.time > 0")


def test_keys_play_step_and_go_to_the_ends(show: Open) -> None:
    page = show()
    seek(page, MOMENT_PS)
    page.locator("#panel").focus()
    page.keyboard.press("ArrowRight")
    first = (time_of(page), page.locator("#steps").inner_text())
    assert first[0] >= MOMENT_PS
    page.keyboard.press("ArrowRight")
    second = (time_of(page), page.locator("#steps").inner_text())
    assert second != first
    page.keyboard.press("ArrowLeft")
    assert (time_of(page), page.locator("#steps").inner_text()) == first
    page.keyboard.press("End")
    assert time_of(page) == page.evaluate("penstock.data.endPs")
    page.keyboard.press("Home")
    assert time_of(page) == 0
    page.keyboard.press("Space")
    wait_until(page, "penstock.player.time > 0")
    page.keyboard.press("Space")
    assert page.evaluate("penstock.player.isPlaying") is False


def test_the_scrubber_and_the_time_line_move_the_moment(show: Open) -> None:
    page = show()
    end = page.evaluate("penstock.data.endPs")
    page.locator("#scrubber").fill("2500")
    assert time_of(page) == pytest.approx(end / 4)
    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 40)
    assert time_of(page) == pytest.approx(end / 2, rel=0.01)
    page.get_by_role("button", name="Enlarge the time line").click()
    assert page.evaluate("penstock.timeline.span") == pytest.approx(end / 4)


@pytest.mark.parametrize("width", [360, 1280])
def test_the_time_line_has_an_axis_with_round_times(show: Open, width: int) -> None:
    page = show(viewport={"width": width, "height": 900})
    seek(page, MOMENT_PS)
    for _ in range(8):
        first, last = page.evaluate("penstock.timeline.window")
        ticks = page.evaluate("penstock.timeline.ticks()")
        times = [one["time"] for one in ticks]
        assert ticks and first <= times[0] and times[-1] <= last
        places = [page.evaluate("time => penstock.timeline.place(time)", one) for one in times]
        assert all(right - left >= 76 - 1e-6 for left, right in pairwise(places))
        for one in ticks:  # the words say the time, in the clock's unit
            number, unit = one["words"].split()
            assert unit == "µs"
            assert float(number.replace(",", "")) * 1e6 == pytest.approx(one["time"])
        page.get_by_role("button", name="Enlarge the time line").click()


@pytest.mark.parametrize("share", [0.001, 0.05, 0.2, 0.5, 0.99])
def test_words_of_moments_touch_no_others(show: Open, share: float) -> None:
    """The traffic of most runs ends early on the time line, for the drain is long."""
    page = show()
    drawn = page.evaluate(
        "share => {"
        " const { timeline } = penstock, found = [];"
        " timeline.data.trafficPs = share * timeline.data.endPs;"
        " timeline.data.deadlock = { time_ps: (share + 0.01) * timeline.data.endPs };"
        " const context = timeline.canvas.getContext('2d'), write = context.fillText;"
        " context.fillText = (words, x, y) => {"
        "  const width = context.measureText(words).width;"
        "  const left = context.textAlign === 'right' ? x - width : x;"
        "  found.push([words, y, left, left + width]); };"
        " timeline.paint(); context.fillText = write; return found; }",
        share,
    )
    assert {"traffic ends", "deadlock"} <= {words.removeprefix("← ") for words, *_ in drawn}
    for words, y, left, right in drawn:
        for other, line, begin, end in drawn:
            is_beside = abs(y - line) >= 10 or end <= left or right <= begin
            assert is_beside or other == words, (words, other)


def test_a_click_on_a_port_shows_its_queues(show: Open, watched: tuple[Run, Path]) -> None:
    found, _ = watched
    packets = found.packets
    busy = packets.filter((pl.col("event") == "enqueue") & (pl.col("queue_bytes") > 5_000))
    row = busy.row(0, named=True)
    page = show()
    seek(page, row["time_ps"])
    where = page.evaluate(
        """link => {
          const box = document.getElementById("network").getBoundingClientRect();
          const [[ax, ay], [bx, by]] = penstock.drawing.view.ends(link);
          return [box.left + ax + 0.4 * (bx - ax), box.top + ay + 0.4 * (by - ay)];
        }""",
        row["egress"],
    )
    page.mouse.click(*where)
    names = found.summary["node_names"]
    link = found.links.row(by_predicate=pl.col("link") == row["egress"], named=True)
    panel = page.locator("#panel")
    title = f"Port {names[link['from']]}→{names[link['to']]}"
    assert panel.locator("h2").inner_text() == title
    shown = panel.locator("table", has_text="Packets").locator("tbody tr")
    cells = {one.locator("td").first.inner_text(): one for one in shown.all()}
    queue = cells[str(row["queue"])]
    # The last event of the queue up to this moment, from the table.
    last = packets.filter(
        (pl.col("egress") == row["egress"])
        & (pl.col("queue") == row["queue"])
        & (pl.col("time_ps") <= row["time_ps"])
        & pl.col("event").is_in(["enqueue", "depart"])
    ).tail(1)
    assert f"flow {row['flow']:,}" in queue.inner_text()
    state = page.evaluate(
        "([link, queue, time]) => {"
        " const one = penstock.data.trace.port(link, time).queues.get(queue);"
        " return [one.bytes, one.threshold, one.packets.reduce((sum, p) => sum + p.bytes, 0)]; }",
        [row["egress"], row["queue"], row["time_ps"]],
    )
    assert state == [last["queue_bytes"][0], last["threshold_bytes"][0], last["queue_bytes"][0]]


def test_every_queue_is_replayed_as_the_trace_has_it(show: Open, watched: tuple[Run, Path]) -> None:
    found, _ = watched
    page = show()
    rows = found.packets.filter(pl.col("event").is_in(["enqueue", "depart"]))
    for moment in (5_000_000, 12_345_678, 25_000_000, 18_000_000):
        last = (
            rows.filter(pl.col("time_ps") <= moment)
            .group_by("egress", "queue")
            .agg(pl.col("queue_bytes").last())
        )
        wanted = {(a, b): bytes_ for a, b, bytes_ in last.iter_rows() if bytes_}
        shown = page.evaluate(
            """time => { const found = [];
              for (let link = 0; link < penstock.data.network.linkCount; link += 1) {
                const port = penstock.data.trace.port(link, time);
                for (const [queue, one] of port ? port.queues : []) {
                  const bytes = one.packets.reduce((sum, packet) => sum + packet.bytes, 0);
                  if (bytes > 0) found.push([link, queue, bytes]);
                }
              }
              return found; }""",
            moment,
        )
        assert {(a, b): bytes_ for a, b, bytes_ in shown} == wanted
        assert wanted


def test_a_flow_shows_its_path_and_what_it_waits_for(show: Open, watched: tuple[Run, Path]) -> None:
    found, _ = watched
    incast = found.flows.filter(pl.col("label") == 1).row(0, named=True)
    page = show()
    seek(page, incast["start_ns"] * 1_000 + 5_000_000)
    page.locator("#find-text").fill(f"flow {incast['flow']}")
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    assert f"Flow {incast['flow']:,}" in panel.locator("h2").inner_text()
    path = panel.locator("table").last.locator("tbody tr")
    names = found.summary["node_names"]
    ports = [row.locator("td").first.inner_text() for row in path.all()]
    assert ports[0].startswith(f"{names[incast['src']]}→")
    assert ports[-1].endswith(f"→{names[incast['dst']]}")
    assert "queue" in panel.locator("ul").first.inner_text()


def test_the_arrow_keys_follow_what_was_found(show: Open, watched: tuple[Run, Path]) -> None:
    found, _ = watched
    incast = found.flows.filter(pl.col("label") == 1).row(0, named=True)
    page = show()
    page.locator("#find-text").fill(f"flow {incast['flow']}")
    page.keyboard.press("Enter")
    page.locator("#only").check()
    page.keyboard.press("ArrowRight")
    assert f"flow {incast['flow']:,}" in page.locator("#steps").inner_text()
    page.locator("#find-text").fill("S0")
    page.keyboard.press("Enter")
    before = page.evaluate("penstock.player.time")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("penstock.player.time") > before
    page.locator("#find-text").fill("nobody")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "find-text"


def test_flows_that_wait_for_others_are_found_by_their_number(show: Open, tmp_path: Path) -> None:
    job = {"kind": "collective", "operation": "ring-all-reduce", "bytes": "100 kB", "start": "5 us"}
    edge = {"kind": "edge"}
    mice = {"kind": "open-loop", "sizes": "google", "load": 0.3, "load_on": edge}
    star = {"kind": "single-switch", "hosts": 4}
    found = run(for_watching(Scenario(duration="20 us", topology=star, traffic=[job, mice])))
    by_start = found.flows.sort("start_ns", "flow")["flow"]
    assert not by_start.is_sorted()
    page = show(found.watch(tmp_path))
    numbers = page.evaluate(
        "numbers => numbers.map(one => penstock.data.flows.number[penstock.data.flows.rowOf(one)])",
        by_start.to_list(),
    )
    assert numbers == by_start.to_list()


@pytest.mark.parametrize("scheme", ["bfc", "bfc-epochs", "pfc-static"])
def test_queues_are_called_paused_where_pauses_name_them(
    show: Open, tmp_path: Path, scheme: str
) -> None:
    written = SCENARIO.replace('"bfc"', f'"{scheme}"')
    settings = {"scheme.switch.backpressure.xoff": "20 kB"} if scheme == "pfc-static" else {}
    (tmp_path / "small.toml").write_text(written)
    found = run(for_watching(Scenario.load(tmp_path / "small.toml").with_overrides(settings)))
    hosts = found.scenario.topology.host_count()
    between = found.links.filter(pl.col("from") >= hosts)["link"].to_list()
    held = found.packets.filter(pl.col("event") == "enqueue").select(
        "time_ps", "queue_bytes", link=pl.col("egress").cast(pl.UInt32)
    )
    paused = pause_intervals(found, between).join(held, on="link")
    end = pl.col("begin_ps") + pl.col("length_ps")
    row = paused.filter(pl.col("time_ps").is_between("begin_ps", end - 2)).row(0, named=True)
    page = show(found.watch(tmp_path))
    seek(page, row["time_ps"])
    page.evaluate("id => penstock.select({ kind: 'port', id })", row["link"])
    assert page.locator("#panel h3", has_text="in force").inner_text() != "0 pauses in force"
    titles = page.locator("#panel table", has_text="Packets").locator("th").all_inner_texts()
    assert titles[:3] == ["Queue", "Packets", "Holds"]
    assert ("Paused by" in titles) == (scheme == "bfc")


def test_a_flow_inside_a_server_has_no_path(show: Open, tmp_path: Path) -> None:
    servers = {"kind": "rail", "servers": 2, "gpus": 2, "servers_per_group": 2, "spines": 1}
    flows = {"kind": "listed", "flows": [[0, 1, "100 MB", 0], [0, 2, "10 kB", 0]]}
    found = run(for_watching(Scenario(duration="50 us", topology=servers, traffic=[flows])))
    page = show(found.watch(tmp_path))
    seek(page, 20_000_000)
    page.locator("#find-text").fill("flow 0")
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    assert "stays inside its server" in panel.inner_text()
    assert "link inside its server" in panel.locator("ul").first.inner_text()
    assert panel.locator("table").count() == 0


def test_a_decision_is_told_in_words(show: Open, watched: tuple[Run, Path]) -> None:
    found, _ = watched
    sent = found.packets.filter(pl.col("event") == "pause_sent").row(0, named=True)
    page = show()
    page.evaluate("node => penstock.select({ kind: 'node', id: node })", sent["node"])
    page.locator("#only").check()
    seek(page, sent["time_ps"] - 1)
    wanted = f"pause upstream queue {sent['upstream_queue']}"
    for _ in range(20):
        page.get_by_role("button", name="One step on").click()
        text = page.locator("#steps").inner_text()
        if wanted in text:
            break
    assert wanted in text
    assert f"packet of flow {sent['flow']:,}" in text
    assert "Th " in text


def test_a_pause_shows_the_tree_of_congestion(show: Open, watched: tuple[Run, Path]) -> None:
    page = show()
    events = watched[0].events.filter(pl.col("event") == "pause_received")
    first = events.row(0, named=True)
    seek(page, first["time_ps"])
    page.evaluate("penstock.select({ kind: 'pause', id: 0 })")
    tree = page.locator("#panel .tree")
    assert "congestion begins here" in tree.locator("> li").first.inner_text()
    assert tree.locator("strong").count() == 1


def test_a_pause_names_the_epoch_of_its_queue(show: Open, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO.replace('"bfc"', '"bfc-epochs"'))
    found = run(for_watching(Scenario.load(tmp_path / "small.toml")))
    pauses = pause_intervals(found).with_row_index()
    later = pauses.filter(pl.col("queue") >= 256).row(0, named=True)
    page = show(found.watch(tmp_path))
    seek(page, later["begin_ps"])
    page.evaluate("id => penstock.select({ kind: 'pause', id })", later["index"])
    words = f"Queue {later['queue'] % 256} in epoch {later['queue'] // 256} of "
    assert words in page.locator("#panel").inner_text()


def test_a_pause_names_its_flow(show: Open, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO.replace('"bfc"', '"bfc-flow-pauses"'))
    found = run(for_watching(Scenario.load(tmp_path / "small.toml")))
    begun = pause_intervals(found)
    pauses = pl.concat([begun, pause_causes(found, begun)], how="horizontal").with_row_index()
    between = pauses.filter(pl.col("link").is_in(flow_paused_links(found))).row(0, named=True)
    page = show(found.watch(tmp_path))
    seek(page, between["begin_ps"])
    page.evaluate("id => penstock.select({ kind: 'pause', id })", between["index"])
    assert f"Flow {between['cause_flow']:,} of " in page.locator("#panel").inner_text()


def test_a_flow_waits_for_the_pauses_of_its_own_class(show: Open, tmp_path: Path) -> None:
    star = {"kind": "single-switch", "hosts": 6}
    incast = {"kind": "listed", "flows": [[host, 5, "2 MB", 0] for host in range(4)]}
    other = {"kind": "listed", "label": "other", "class": 1, "flows": [[0, 4, "2 MB", 0]]}
    by_class = {"assignment": {"kind": "class", "classes": 2}, "scheduling": {"kind": "strict"}}
    pfc = {"preset": "pfc-static", "switch": {**by_class, "backpressure": {"xoff": "60 kB"}}}
    found = run(for_watching(Scenario(topology=star, scheme=pfc, traffic=[incast, other])))
    paused = pause_intervals(found, [0]).row(0, named=True)
    assert paused["queue"] == 0
    page = show(found.watch(tmp_path))
    seek(page, paused["begin_ps"])
    waits = page.locator("#panel ul").first
    classes = dict(found.flows.filter(pl.col("src") == 0).select("class", "flow").iter_rows())
    page.evaluate("id => penstock.select({ kind: 'flow', id })", classes[0])
    assert "class 0 is paused by S0" in waits.inner_text()
    page.evaluate("id => penstock.select({ kind: 'flow', id })", classes[1])
    assert "paused" not in waits.inner_text()


def test_a_pause_of_all_data_has_an_end(show: Open, tmp_path: Path) -> None:
    held = Scenario.from_name("quickstart", {"duration": "20 us", "scheme": "fafc"})
    found = run(for_watching(held))
    pause = pause_intervals(found).with_row_index().row(0, named=True)
    page = show(found.watch(tmp_path))
    seek(page, pause["begin_ps"])
    page.evaluate("id => penstock.select({ kind: 'pause', id })", pause["index"])
    told = page.locator("#panel").inner_text()
    assert "All data of " in told and "not recorded" not in told and ", after " in told


def test_a_deadlock_is_shown_as_a_cycle(show: Open, tmp_path: Path) -> None:
    found = run(for_watching(Scenario.from_name("ring")))
    page = show(found.watch(tmp_path))
    seek(page, found.summary["sim_end_ps"])
    page.evaluate("penstock.select({ kind: 'pause', id: penstock.data.pauses.on(20, 8e7)[0] })")
    cycle = page.locator("#panel .bad").inner_text()
    names = found.summary["node_names"]
    nodes = found.summary["deadlock"]["nodes"]
    for a, b in pairwise(nodes):
        assert f"{names[a]}→{names[b]}" in cycle
    page.keyboard.press("ArrowLeft")
    assert "these links wait for each other" in page.locator("#steps").inner_text()
    paused = page.evaluate("penstock.data.pauses.count(penstock.data.endPs)")
    for _ in range(paused):  # what is still paused when the run ends is told last
        page.keyboard.press("ArrowRight")
    assert "still paused when the run ends" in page.locator("#steps").inner_text()
    assert time_of(page) == page.evaluate("penstock.data.endPs")
    assert page.evaluate("penstock.data.pauses.count(penstock.player.time)") == paused > 0


def test_what_was_not_recorded_is_named(show: Open, tmp_path: Path) -> None:
    found = run(Scenario.from_name("quickstart", {"duration": "10 us"}))
    page = show(found.watch(tmp_path))
    for option in ("measure.series", "measure.events=true", "--trace packets"):
        assert option in page.locator("#panel").inner_text()
    page.locator("#find-text").fill("S0-H1")
    page.keyboard.press("Enter")
    assert "--trace packets" in page.locator("#panel").inner_text()
    page.get_by_role("button", name="One step on").click()
    assert "There is no later step" in page.locator("#steps").inner_text()


@pytest.mark.parametrize("width", [360, 3840])
def test_nothing_sticks_out(show: Open, width: int) -> None:
    page = show(viewport={"width": width, "height": 800}, has_touch=width == 360)
    page.evaluate("penstock.select({ kind: 'port', id: penstock.data.network.downlink(0) })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_has_its_own_colours(show: Open) -> None:
    page = show(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(21, 25, 29)"
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(ground) == "rgb(253, 253, 252)"


def test_dark_words_and_a_drawing_on_its_ground_are_printed(show: Open) -> None:
    page = show(color_scheme="dark")
    page.emulate_media(media="print")
    style = "selector => getComputedStyle(document.querySelector(selector))"
    assert page.evaluate(f"({style})('h1').color") == "rgb(29, 35, 41)"
    assert page.evaluate(f"({style})('#still').printColorAdjust") == "exact"
    assert page.evaluate(f"({style})('#still').backgroundColor") == "rgb(28, 34, 39)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_those_who_cannot_see_it_can_use_it(show: Open, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = show(color_scheme=scheme, bypass_csp=True)
    page.evaluate("penstock.select({ kind: 'port', id: penstock.data.network.downlink(0) })")
    found = axe.Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []
