"""A word of an experiment that nothing measures is refused before anything runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest

from penstock.cli import main
from penstock.experiments import bound
from penstock.experiments.checked import checked
from penstock.experiments.expression import FUNCTIONS, METRICS
from penstock.experiments.measured import axis_title
from penstock.experiments.metric import Meaning, Metric, Runs, Value, metric
from penstock.experiments.vocabulary import Label
from penstock.scenario.declared.measure import Measure

EXPERIMENT = """
id = "mine/x"
title = "t"
source = "nowhere"
shows = "that it is refused"
scenario = "quickstart"

[[sweeps]]
schemes = ["bfc", "./mine-scheme.toml"]

[[sweeps.axes]]
name = "load"
key = "traffic[0].load"
values = [0.3, 0.5]

[scales.quick]
seeds = 1
set = {{ duration = "20 us" }}

[[figures]]
name = "f"
kind = "bars"
by = "{by}"
[figures.bars]
some = "{bar}"

[[claims]]
claim = "c"
reported = "r"
measure = "{measure}"
{more}
"""
RIGHT = {
    "measure": "slowdown(scheme='mine-scheme', load=0.3) / slowdown(scheme='bfc', load=load)",
    "more": 'near = "1 / load"\nwithin = 99\nover = ["load"]',
    "bar": "slowdown(statistic='max')",
    "by": "scheme",
}
ONE_LOAD = "slowdown(scheme='bfc', load=0.3)"
WRONG = {
    "measure": {
        "slowdonw()": 'no metric "slowdonw"; did you mean "slowdown".*penstock list metrics',
        "slowdown(statistc='p99')": 'no parameter "statistc"; did you mean "statistic"',
        "slowdown(statistic='mode')": "statistic='mode' is no statistic of slowdown; write mean",
        "slowdown(statistic='p100')": "statistic='p100' is no statistic of slowdown",
        "slowdown(statistic='p5')": "statistic='p5' is no statistic of slowdown",
        "slowdown(statistic='p50', statistic='p99')": "statistic is there twice; write it once",
        "slowdown() + 'a'": "'a' is no number; write numbers",
        "max(slowdown(), ['a'])": "is no number; write numbers",
        "queue(link=['T0', 'S0'], statistic='p99')": "no statistic of queue; write mean, max",
        "max(slowdown_by_bin(bins='web'))": "bins='web' is not known.*; write log, google",
        "long_flow_share(link=['T0', 'S0'], count='all')": "count='all'.*; write wire, payload",
        "slowdown(size_max='3 kB')": "size_max='3 kB' is not of the right form; write a number",
        "slowdown(size_min=5, size_max=2)": "size_max=2; make size_max at least 5",
        "fct(size_max=0)": "nothing is between size_min=1 and size_max=0",
        "carried(link=['H0', 'S0'], after=3, until=3)": "make until more than 3",
        "slowdown(label=3)": "label=3 is not of the right form; write a text in quotes",
        "busy(link='S0')": "link='S0' is not of the right form; write both ends of a link",
        "busy(link=['T0'])": "not of the right form; write both ends of a link",
        "link_pause(links=['T0', 'S0'])": "not of the right form; write a list of links",
        "evenness(sources=0)": "not of the right form; write a list of numbers",
        "slowdown_by_bin()": r"a value per bin; write e.g. max\(slowdown_by_bin\(\)\)",
        "abs(1 - slowdown_by_bin())": "a value per bin",
        "slowdown(scheme='bcf')": 'the axis scheme has no point "bcf"; did you mean "bfc"',
        "slowdown(load=0.4)": 'the axis load has no point "0.4"; .*0.3, 0.5',
        "slowdown(": "this is no expression",
        "slowdown(label='bckground')": 'labelled "bckground"; did you mean "background"',
        "incast_time(label='cast')": 'no traffic is labelled "cast"',
        "queue(link=[1, 0])": "there is no link from H1 to H0; one of ",
        "link_pause(links=[['H0', 'T77']])": 'there is no node "T77"',
        "pauses(link=['H0', 'S0'])": "does not measure it; set measure.events=true",
        "pause_rate(traffic_class=3)": "does not measure it; set measure.events=true",
        "core_delay(layer='host-switch')": "set measure.queue_delays=true",
        "busy(link=['H0', 'S0'], after=1)": r"not sampled; write \[0, 8\] into the list",
        "queue_at_most(link=['H0', 'S0'], most=1)": "not sampled",
        "total(of='dropz')": 'no count "dropz"; did you mean "drops"',
        "slowdown() * 9**9**9**9": r'the exponent "9 \*\* 9 \*\* 9" is too large; .* at most 64',
        "slowdown() + os": '"os" is not in the language',
    },
    "near": {"ideal_fct()": "no metric"},
    "bars.some": {
        "slowdown": "slowdown is a function",
        "total(of='unheard-of')": 'no count "unheard-of"',
        "busy(link=[0, 1])": "no link from H0 to H1",
    },
    "over": {"schema": 'no such axis; did you mean "scheme"'},
    "where": {
        "load = 0.4": ".load = 0.4: the axis has no such point; .*0.3, 0.5",
        "scheme = 'bcf'": 'the axis has no such point; did you mean "bfc"',
        "lod = 0.3": 'no such axis; did you mean "load"',
    },
    "measur": {
        "load = 0.5": "load=0.3 is not the point of `where`, 0.5",
    },
    "by": {"schemes": 'no such axis; did you mean "scheme"'},
}
"""Field -> what stands there -> what is said about it."""
Size = Annotated[int, Meaning("a size [bytes]")]
"""A parameter of a metric."""
CASES = [(field, text) for field, texts in WRONG.items() for text in texts]


def written(field: str, text: str) -> dict[str, str]:
    """The words of an experiment with one that is wrong."""
    if field in ("where", "measur"):
        return RIGHT | {"more": f"at_least = 0\nwhere = {{ {text} }}", "measure": ONE_LOAD}
    if field in ("near", "over"):
        value = f'near = "{text}"\nwithin = 1' if field == "near" else f'over = ["{text}"]'
        return RIGHT | {"more": value if field == "near" else f"at_least = 0\n{value}"}
    return RIGHT | {"bar" if field == "bars.some" else field: text}


@pytest.fixture
def own(here: Path) -> Path:
    """A working directory with a scheme in it."""
    Path("mine-scheme.toml").write_text('preset = "dctcp"\n')
    return here


@pytest.mark.parametrize(("field", "text"), CASES)
def test_a_wrong_word_is_refused_before_anything_runs(
    own: Path, capsys: pytest.CaptureFixture[str], field: str, text: str
) -> None:
    Path("mine.toml").write_text(EXPERIMENT.format(**written(field, text)))
    for several in ([], ["bfc/fig2"]):
        assert main(["reproduce", "./mine.toml", *several]) == 2
        said = capsys.readouterr().err
        place = re.escape(f"mine.toml: {'figures' if field[:2] in ('ba', 'by') else 'claims'}[0].")
        assert re.search(rf"{place}{field}.*{WRONG[field][text]}", said), said
    assert not Path("runs").exists()


def test_what_is_right_is_measured(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.toml").write_text(EXPERIMENT.format(**RIGHT))
    assert main(["reproduce", "./mine.toml"]) == 0
    assert "holds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (RIGHT | {"measure": "utilization(layer='cellar')"}, "claims[0].measure"),
        (RIGHT | {"bar": "utilization(layer='cellar')"}, "figures[0]"),
    ],
)
def test_what_no_run_has_is_named_and_the_runs_stay(
    own: Path, capsys: pytest.CaptureFixture[str], words: dict[str, str], place: str
) -> None:
    Path("mine.toml").write_text(EXPERIMENT.format(**words))
    assert main(["reproduce", "./mine.toml"]) == 2
    said = capsys.readouterr().err
    assert f"mine.toml: {place}" in said
    assert "it cannot be measured here" in said
    assert len(list(Path("runs/mine/x-quick/runs").glob("*/summary.json"))) == 4


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (
            "seeds = 1",
            "seeds = 1\nonly = {load = [0.9]}",
            "only.load = 0.9: the axis has no such p",
        ),
        ("seeds = 1", "seeds = 1\nonly = {lod = [0.3]}", 'only = "lod": .*did you mean "load"'),
        ("seeds = 1", "seeds = 1\nonly = {load = []}", "no point of the axis load is run"),
        ('"f"', '"../../f"', r'figures\[0\].name = "../../f": no file of .*; write e.g. "f"'),
        ('"f"', '"a/b c"', r'figures\[0\].name = "a/b c": no file .*; write e.g. "a-b-c"'),
        ('"f"', '""', r'figures\[0\].name = "": no file of results can be called so'),
        (
            "[[claims]]",
            '[[figures]]\nname = "f"\nkind = "buffer"\n[[claims]]',
            'figures: 2 figures are called "f"',
        ),
        ("[[sweeps]]", '[[sweeps]]\nname = "../s"', r'sweeps\[0\].name = "../s": no file of'),
        ("traffic[0].load", "lod", r"sweeps\[0\].axes\[0\].key: lod = 0.3: no such field"),
        ("traffic[0].load", "traffic[7].load", r"axes\[0\].key: traffic\[7\].load: .*no entry 7"),
        (
            "[0.3, 0.5]",
            '[0.3, 0.5, "a"]',
            r'mine.toml: sweeps\[0\].axes\[0\].key: traffic\[0\].load = "a": .*',
        ),
        (
            'key = "traffic[0].load"\nvalues = [0.3, 0.5]',
            "points = [{ value = 0.3 }, { value = 0.5, set = { durtion = 1 } }]",
            r"mine.toml: sweeps\[0\].axes\[0\].points\[1\].set: durtion = 1: .*mean \"duration",
        ),
        ("duration", "durtion", 'mine.toml: scales.quick.set: durtion = .*mean "duration'),
        ("seeds = 1", "seeds = [1, -1]", "mine.toml: scales.quick.seeds: seed = -1: out of range"),
        (
            "./mine-s",
            "./no/mine-s",
            r"mine.toml: sweeps\[0\].schemes\[1\]: scheme = .*cannot be read",
        ),
        ('kind = "bars"', 'kind = "queue"', "a figure of kind queue needs link; write it"),
        ('kind = "bars"', 'kind = "curve"', "a figure of kind curve needs x; write it"),
        ('kind = "bars"', 'kind = "timeline"', "needs rates, allowed, queued, pauses; write one"),
    ],
)
def test_what_shows_or_runs_nothing_is_refused(
    own: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, words: str
) -> None:
    Path("mine.toml").write_text(EXPERIMENT.format(**RIGHT).replace(right, wrong))
    assert main(["reproduce", "./mine.toml"]) == 2
    assert re.search(words, told := capsys.readouterr().err), told
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("timeline", "rates = {a = [[0, 8]]}", r"rates.a = \[0, 8\]: .* is not sampled"),
        ("timeline", "allowed = {a = [1, 0]}", "allowed.a = .* no link from H1 to H0"),
        ("timeline", "queued = {a = [0, 8]}", r"queued.a = .*write \[0, 8\] into the list meas"),
        ("timeline", "pauses = {a = [0, 8]}", "pauses.a = .*; set measure.events=true"),
        ("queue", "link = [0, 8]", "link = .* is not sampled"),
        ("timeline", "pauses = {a = [0, 8]}\nwindow = 20", "window = 20.0: no run lasts so long"),
        ("timeline", "pauses = {a = [0, 8]}\nwindow = 0", "window = 0: out of range"),
        ("timeline", "rates = {a = []}", "rates.a: the list is too short"),
        ("queue", "link = [0, 8]\nspan = [1e6, 2e6]", r"span\[0\] = 1000000.0: no run lasts so"),
        ("throughput", "span = [2, 1]", "span: no time is between the two"),
        ("throughput", "", "kind = .*not measure it; write links into the list measure.series"),
        ("slowdown", 'label = "cast"', 'label = "cast": no traffic is labelled "cast"'),
        ("slowdown", 'bins = "web"', 'bins = "web": no such bins; one of facebook, google, log'),
        ("slowdown", 'columns = ["p5"]', 'columns = "p5": no such statistic; .*"p95"'),
        ("curve", 'x = "scheme"\ny = "1"', 'x = "scheme": no point of this axis is a number'),
        ("workload", 'workloads = {a = "gogle"}', 'workloads.a: .*no workload "gogle"'),
        ("link-pauses", "links = [[0, 999]]", "links = .*no node 999"),
        ("active-flows", "link = [0, 1]", "link = .*no link from H0 to H1"),
    ],
)
def test_a_figure_of_links_that_no_run_has_or_samples_is_refused(
    own: Path, capsys: pytest.CaptureFixture[str], kind: str, fields: str, words: str
) -> None:
    text = EXPERIMENT.format(**RIGHT)
    figure = f'[[figures]]\nname = "links"\nkind = "{kind}"\n{fields}\n\n[[claims]]'
    Path("mine.toml").write_text(text.replace("[[claims]]", figure))
    assert main(["reproduce", "./mine.toml"]) == 2
    assert re.search(rf"figures\[1\]\.{words}", told := capsys.readouterr().err), told
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("buffer", "sample_interval = '0 ps'"),
        ("flow-packets", "sample_interval = '0 ps'"),
        ("active-flows", "active_flows = false"),
    ],
)
def test_a_figure_of_what_no_run_measures_is_refused(
    own: Path, capsys: pytest.CaptureFixture[str], kind: str, field: str
) -> None:
    text = EXPERIMENT.format(**RIGHT).replace('kind = "bars"', f'kind = "{kind}"')
    Path("mine.toml").write_text(text.replace("set = { d", f'set = {{ "measure".{field}, d'))
    assert main(["reproduce", "./mine.toml"]) == 2
    name = field.partition(" ")[0]
    told = capsys.readouterr().err
    assert (
        f'figures[0].kind = "{kind}": the scenario does not measure it; set measure.{name}' in told
    )
    assert not Path("runs").exists()


def test_a_figure_without_a_sample_in_its_span_is_told_of_in_the_report(own: Path) -> None:
    text = EXPERIMENT.format(**RIGHT).replace(
        'kind = "bars"', 'kind = "throughput"\nspan = [1.1, 1.2]'
    )
    text = text.replace("set = { d", "set = { measure.series = [[0, 8]], d")
    Path("mine.toml").write_text(text)
    assert main(["reproduce", "./mine.toml"]) == 0
    report = Path("runs/mine/x-quick/report.html").read_text()
    assert "Figure f: its runs measured nothing that it shows." in report


def test_a_table_in_the_place_of_a_list_of_tables_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = EXPERIMENT.format(**RIGHT).replace("[[claims]]", "[claims]")
    Path("mine.toml").write_text(text.replace("[[sweeps.axes]]", "[sweeps.axes]"))
    assert main(["show", "mine.toml"]) == 2
    told = capsys.readouterr().err
    assert "claims: this is one table" in told and "write [[claims]] and not [claims]" in told
    assert "write [[sweeps.axes]] and not [sweeps.axes]" in told


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("seeds = 1", "seeds = 0", "scales.quick.seeds = 0: out of range; write at least 1"),
        ("seeds = 1", "seeds = []", "scales.quick.seeds: the list is too short; write at least 1"),
        ("seeds = 1", 'seeds = ["a"]', 'scales.quick.seeds[0] = "a": WRONG a whole number'),
        (
            "seeds = 1",
            'seeds = "1..3"',
            'scales.quick.seeds = "1..3": WRONG a whole number, or a list in square brackets',
        ),
        (
            "seeds = 1",
            "sed = 3",
            'scales.quick.sed = 3: no such field; did you mean "seeds"? '
            "one of cannot_show, few_seeds, only, seeds, set",
        ),
        (
            "seeds = 1",
            "only = {load = [[1]]}",
            "scales.quick.only.load[0]: WRONG a number, or a text in quotes",
        ),
        (
            "[scales.quick]",
            "[scales.quik]",
            "scales.quik = \"quik\": no such choice; write 'quick' or 'paper'",
        ),
        (
            '"quickstart"',
            "3",
            "scenario = 3: WRONG a text in quotes, or a table",
        ),
        (
            'reported = "r"',
            'reported = "r"\nnumber = ["a", 1]',
            'claims[0].number[0] = "a": WRONG a number',
        ),
        (
            'reported = "r"',
            'reported = "r"\nnumber = "a"',
            "claims[0].number = \"a\": WRONG a number, or a list in square brackets, or 'none'",
        ),
    ],
)
def test_a_value_that_may_have_several_types_is_told_once_and_where_it_stands(
    here: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, words: str
) -> None:
    Path("mine.toml").write_text(EXPERIMENT.format(**RIGHT).replace(right, wrong))
    assert main(["show", "mine.toml"]) == 2
    words = words.replace("WRONG", "this is of the wrong type; write")
    assert capsys.readouterr().err.splitlines() == [f"error: mine.toml: {words}"]


@pytest.mark.parametrize("one", METRICS.values(), ids=METRICS)
def test_a_metric_and_its_parameters_say_what_they_mean(one: Metric) -> None:
    assert one.meaning
    assert all(of.meaning for of in one.parameters.values())
    fields = {"", "series", *Measure.model_fields}
    assert {one.needs, *(of.told.needs for of in one.parameters.values())} <= fields


def test_a_metric_is_one_function() -> None:
    def longest(runs: Runs, *, label: Label, size: Size = 3) -> Value:
        """Size of the longest flow [bytes]."""
        return 7.0

    metric("[bytes]", most=9.0)(longest)
    try:
        made = METRICS["longest"]
        assert checked("longest(label='a')") == "longest(label='a')"
        assert axis_title("longest(label='a')") == "longest [bytes]"
        assert (bound.least("longest(label='a')"), bound.most("longest(label='a')")) == (0, 9)
        assert [one.default for one in made.parameters.values()] == ["required", "3"]
        assert made([], label="a") == 7.0
    finally:
        del METRICS["longest"]


def test_the_page_names_every_function_that_is_no_metric() -> None:
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text("utf-8")
    section = page.partition("\n## Metrics\n")[2].partition("<!-- metrics -->")[0]
    assert all(f"`{name}" in section for name in FUNCTIONS)
