"""Bad inputs of many kinds: each is refused with exit code 2 before anything runs.

The message names the field, the value where there is one, and what would be right.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_core import FakeCore

from penstock import Scenario, ScenarioError, _core
from penstock.cli import main
from penstock.cli.commands import imported
from penstock.processors import THREADS_MAX

GRAPH = """
[topology]
kind = "graph"
hosts = 3
switches = 1
links = [{links}]
[[traffic]]
kind = "long-lived"
pairs = [[0, 1]]
"""
FULL = "{a=0,b=3}, {a=1,b=3}, {a=2,b=3}"
LISTED = '[[traffic]]\nkind = "listed"\nflows = [[{row}]]\n'
SIZES = '[[traffic]]\nkind = "open-loop"\nload = 0.5\nsizes = {sizes}\n'
CDF = '{{ kind = "cdf", name = "x", convention = "linear", points = [{points}] }}'
OPEN = SIZES.format(sizes='"google"')
QUICK = '[topology]\nkind = "single-switch"\nhosts = 4\n' + LISTED.format(row="0, 1, 10, 0")


def varied(preset: str, part: str, fields: str) -> str:
    """A scenario whose scheme is a preset with other fields in one of its parts."""
    return f"[scheme]\npreset = '{preset}'\n[scheme.{part}]\n{fields}\n{OPEN}"


BAD = {
    "unknown key": ("racks = 3\n" + OPEN, ["racks", "= 3", "no such field"]),
    "nearest key": ("[topology]\nkind = 'chain'\nswitch = 3\n" + OPEN,
                    ["did you mean", "switches"]),
    "negative rate": ("[topology]\nhost_rate = -1\n" + OPEN, ["topology.host_rate", "-1", "Gb/s"]),
    "zero rate": ("[topology]\nhost_rate = 0\n" + OPEN,
                  ["topology.host_rate", "0 b/s", "1 b/s or more"]),
    "unit": ("duration = '5 parsecs'\n" + OPEN, ["duration", "5 parsecs", "us, ms"]),
    "float time": ("duration = 0.001\n" + OPEN, ["duration", "0.001", "picoseconds"]),
    "no duration": ("duration = 0\n" + OPEN, ["duration", "0 ps", "1 ps or more"]),
    "endless": ("drain = '2000 s'\n" + OPEN, ["drain: it is 2000 s", "minute", "shorten"]),
    "load of one": (OPEN + "[[traffic]]\n" + OPEN[12:].replace("0.5", "1.0"),
                    ["traffic[1].load", "1.0", "below 1"]),
    "load as text": (OPEN.replace("0.5", "'half'"), ["traffic[0].load", "half", "a number"]),
    "kind": (OPEN.replace("open-loop", "open"), ["traffic[0].kind", "open", "open-loop"]),
    "no kind": ("[[traffic]]\nload = 0.5\n", ["traffic[0].kind", "missing", "incast"]),
    "flows of a file": ('[[traffic]]\nkind = "listed"\nflows = "mine.csv"\n',
                       ["traffic[0].flows", "mine.csv", 'kind = "trace"']),
    "one traffic": ("[traffic]\nkind = 'long-lived'\n", ["traffic", "write [[traffic]] and not"]),
    "one link": (GRAPH.format(links="").replace("links = []", "[topology.links]\na = 0"),
                 ["topology.links", "write [[topology.links]] and not [topology.links]"]),
    "many tables": (OPEN + "[[measure]]\nevents = true\n", ["measure", "write [measure] and not"]),
    "many kinds": (OPEN + "[[topology]]\nhosts = 3\n", ["topology", "write [topology] and not"]),
    "preset": ("[scheme]\npreset = 3\n" + OPEN, ["scheme", "`preset` is no text; write the name"]),
    "truth": ("duration = true\n" + OPEN, ["duration = true: "]),
    "no traffic": ("seed = 1\n", ["traffic", "missing; write [[traffic]]; it has no default"]),
    "no switch": ("[scheme.host]\n" + OPEN, ["scheme.switch", "write [scheme.switch]; it has"]),
    "empty traffic": ("traffic = []\n", ["traffic", "list of 0", "1 to 65535"]),
    "scheme": ("scheme = 'bcf'\n" + OPEN, ["scheme", "bcf", 'did you mean "bfc"']),
    "workload": (SIZES.format(sizes="'googel'"), ["traffic[0].sizes", "googel", '"google"']),
    "no such cdf file": (SIZES.format(sizes="'no.csv'"),
                         ["traffic[0].sizes", "no.csv", "relative"]),
    "cdf falls": (SIZES.format(sizes=CDF.format(points="[10, 0.5], [5, 1.0]")),
                  ["traffic[0].sizes.points[1][0]", "5 B", "[10, 0.5]", "decrease"]),
    "cdf stops short": (SIZES.format(sizes=CDF.format(points="[10, 0.5], [50, 0.9]")),
                        ["traffic[0].sizes", "0.9", "not 1"]),
    "to itself": (LISTED.format(row="4, 4, 10, 0"), ["traffic[0].flows[0]", "itself", "two"]),
    "too large for a table": (LISTED.format(row="4, 5, '9223372036854775808 B', 0"),
                              ["traffic[0]", "flows[0] has 9223372036854775808",
                               "at most 9223372036854775807"]),
    "endless to itself": ('[[traffic]]\nkind = "long-lived"\npairs = [[0, 1], [4, 4]]\n',
                          ["traffic[0].pairs[1][1]", "it is 4", "itself"]),
    "endless too late": ('[[traffic]]\nkind = "long-lived"\npairs = [[0, 1]]\nstart = "1 s"\n',
                         ["traffic[0].start", "1 s", "duration"]),
    "no such host": (LISTED.format(row="4, 128, 10, 0"),
                     ["traffic[0].flows[0][1]", "128", "0 to 127"]),
    "after the end": (LISTED.format(row="4, 5, 10, '1 s'"), ["traffic[0].flows[0]", "duration"]),
    "disconnected": (GRAPH.format(links="{a=0,b=3}, {a=1,b=3}"), ["host 2", "exactly one cable"]),
    "double cable": (GRAPH.format(links=FULL + ", {a=3,b=0}"),
                     ["topology.links[3]", "same two nodes", "keep one"]),
    "cable to itself": (GRAPH.format(links=FULL + ", {a=3,b=3}"), ["topology.links[3]", "itself"]),
    "cable to nowhere": (GRAPH.format(links=FULL + ", {a=3,b=9}"),
                         ["topology.links[3].b", "9", "0 to 3"]),
    "xon above xoff": (varied("pfc", "switch.backpressure", "xoff = '2 kB'"),
                       ["xon_offset", "3 KiB", "smaller than xoff"]),
    "xoff missing": (varied("bfc", "switch.backpressure", "kind = 'pfc'"),
                     ["scheme.switch.backpressure.xoff", "250 kB"]),
    "kmin above kmax": (varied("dctcp", "switch.marking", "kmin = '1 MB'"),
                        ["scheme.switch.marking.kmin", "1 MB", "at most kmax"]),
    "fifo of many": (varied("bfc", "switch.scheduling", "kind = 'fifo'"),
                     ["scheme.switch.scheduling.kind", "fifo", "drr"]),
    "hpcc without telemetry": (varied("hpcc", "switch.marking", "kind='none'"),
                               ["scheme.switch.marking.kind", "none", "telemetry"]),
    "dcqcn without marks": (varied("dcqcn-mellanox", "switch.marking", "kind = 'none'"),
                            ["scheme.switch.marking.kind", "none", "ecn"]),
    "qcn without feedback": (varied("qcn", "switch.marking", "kind = 'ecn'"),
                             ["scheme.switch.marking.kind", "ecn", "qcn"]),
    "tcp that hears of no loss": (varied("tcp", "host.recovery", "kind = 'perfect'"),
                                  ["scheme.host.recovery.kind", "perfect", "fast-retransmit"]),
    "timeouts of irn": (varied("irn", "host.recovery", "timeout_high = '50 us'"),
                        ["scheme.host.recovery.timeout_high", "50 us", "at least timeout_low"]),
    "timeouts of tcp": (varied("tcp", "host.recovery", "maximum_timeout = '50 us'"),
                        ["scheme.host.recovery.initial_timeout", "200 us", "at most maximum"]),
    "rounds that nobody keeps": (varied("tcp", "switch.marking", "kind = 'rounds'"),
                                 ["scheme.switch.marking.kind", "rounds", "assignment"]),
    "rounds out of order": (varied("afq", "switch.scheduling", "kind = 'strict'"),
                            ["scheme.switch.scheduling.kind", "strict", "rotating-strict"]),
    "rounds that drr does not tell": (varied("afq-drr", "switch.assignment", "round = 'scheduler'"),
                                      ["scheme.switch.assignment.round", "scheduler", "occupancy"]),
    "groups of odd queues": (varied("afq-groups", "switch.assignment", "queues = 32"),
                             ["scheme.switch.assignment.queues", "32", "odd"]),
    "capfc without a resume": (varied("capfc", "switch.backpressure", "threshold = '2 kB'"),
                               ["scheme.switch.backpressure.xon_offset", "3 KiB", "threshold"]),
    "rounds that are paused": ("[scheme]\npreset = 'afq'\n[scheme.switch.backpressure]\n"
                               "kind = 'bfc'\n[scheme.host.nic]\nqueues = 32\n" + OPEN,
                               ["scheme.switch.backpressure.kind", "bfc", "pfc"]),
    "homa without levels": (varied("homa", "switch.assignment", "kind = 'class'"),
                            ["scheme.switch.assignment.kind", "class", "priority"]),
    "homa with too many levels": (varied("homa", "host.controller", "overcommitment = 32"),
                                  ["scheme.host.controller.overcommitment", "33", "raise"]),
    "cutoffs of homa": (varied("homa", "host.controller", "cutoffs = ['2 kB', '1 kB']"),
                        ["scheme.host.controller.cutoffs", "ascending"]),
    "levels without homa": (varied("homa", "host.controller", "kind = 'line-rate'"),
                            ["scheme.switch.assignment.kind", "priority", "line-rate"]),
    "sprayed go-back-n": (varied("pfc", "routing", "kind = 'spray'"),
                          ["scheme.routing.kind", "overtake", "fast-retransmit"]),
    "sprayed bfc": (varied("bfc", "routing", "kind = 'spray'"),
                    ["scheme.routing.kind", "one path", "backpressure"]),
    "credits that nobody sends": (
        "[scheme]\npreset = 'expresspass'\n[scheme.host.controller]\nkind = 'line-rate'\n" + OPEN,
        ["scheme.host.controller.kind", "line-rate", "expresspass"]),
    "credits that nobody holds": (
        "[scheme]\npreset = 'expresspass'\n[scheme.switch.scheduling]\nkind = 'fifo'\n" + OPEN,
        ["scheme.switch.scheduling.kind", "fifo", "credit-shaping"]),
    "credits on another way": ("[scheme]\npreset = 'expresspass'\nrouting.kind = 'ecmp'\n" + OPEN,
                               ["scheme.routing.kind", "ecmp", "symmetric-ecmp"]),
    "credits for other frames": ("[wire]\npayload = 1000\n[scheme]\npreset = 'expresspass'\n"
                                 + OPEN,
                                 ["scheme.switch.scheduling.frame", "1.538 kB", "1.078 kB"]),
    "credits of other sizes": (
        "[scheme]\npreset = 'expresspass'\nhost.controller.credit_maximum = '100 B'\n" + OPEN,
        ["scheme.switch.scheduling.credit", "84", "88 B"]),
    "credits in ns-3": ("fidelity = 'ns3-hpcc'\n[scheme]\npreset = 'dctcp'\n"
                        "routing.kind = 'symmetric-ecmp'\n" + OPEN,
                        ["scheme.routing.kind", "symmetric-ecmp", "ecmp"]),
    "credits over thresholds": ("[scheme]\npreset = 'pfc'\n[scheme.switch.backpressure]\n"
                                "kind = 'credits'\n[scheme.host.nic]\nqueues = 2\n" + OPEN,
                                ["scheme.switch.admission.kind", "shared", "ingress"]),
    "credits for small packets": ("[scheme]\npreset = 'bfc-credits'\n"
                                  "[wire]\npayload = 2000\n" + OPEN,
                                  ["scheme.switch.backpressure.packet", "1.048 kB", "2 KiB"]),
    "credits for part of a packet": (varied("bfc-credits", "switch.backpressure",
                                            "queue_reserve = 500"),
                                     ["scheme.switch.backpressure.queue_reserve", "500", "packet"]),
    "credits of unknown queues": (varied("bfc-credits", "host.nic", "queues = 64"),
                                  ["scheme.host.nic.queues", "64", "2 to 32"]),
    "flow pauses that are lost": ("[scheme]\npreset = 'bfc-flow-pauses'\n"
                                  "[faults]\ncontrol_loss = 0.1\n" + OPEN,
                                  ["scheme.switch.backpressure.kind", "flow-pauses", "bfc"]),
    "hop credits on many ways": (varied("bfc-credits", "routing", "kind = 'spray'"),
                                 ["scheme.routing.kind", "spray", "backpressure"]),
    "flow pauses on many ways": (varied("bfc-flow-pauses", "routing", "kind = 'spray'"),
                                 ["scheme.routing.kind", "spray", "backpressure"]),
    "shared queues in order": (varied("bfc-shared-classes", "switch.scheduling", "kind = 'strict'"),
                               ["scheme.switch.scheduling.kind", "strict", "drr"]),
    "shared queues of incasts": (varied("bfc-shared-classes", "switch.assignment",
                                        "incast_queue = true"),
                                 ["scheme.switch.assignment.classes_share", "incast_queue"]),
    "windows of swift": (varied("swift", "host.controller", "maximum_flow_window = 0.1"),
                         ["scheme.host.controller.maximum_flow_window", "0.1", "more than min"]),
    "thresholds of timely": (varied("timely", "host.controller", "low_rtt = '1 ms'"),
                             ["scheme.host.controller.low_rtt", "1 ms", "at most high_rtt"]),
    "bfc in ns-3": ("fidelity = 'ns3-hpcc'\n" + OPEN,
                    ["scheme.switch.backpressure.kind", "bfc", "exact"]),
    "dctcp in the ns-3 with BFC": ("fidelity = 'ns3-bfc'\nscheme = 'dctcp'\n" + OPEN,
                                   ["scheme.switch.backpressure.kind", "none", "bfc"]),
    "a scheduler that its ns-3 lacks": ("fidelity = 'ns3-bfc'\nscheme = 'bfc'\n" + OPEN,
                                        ["scheme.switch.scheduling.kind", "drr", "round-robin"]),
    "bitmaps in the ns-3 with BFC": (
        "fidelity = 'ns3-bfc'\n[scheme]\npreset = 'bfc'\n"
        "switch.scheduling = { kind = 'round-robin' }\n" + OPEN,
        ["scheme.switch.backpressure.bitmap_interval", "100 us", "use 0"]),
    "acknowledgements among data": (
        varied("bfc", "switch.assignment", "acknowledgements = 'data'"),
        ["scheme.switch.assignment.acknowledgements", "data", "control"]),
    "classes by number": (
        "[scheme]\npreset = 'bfc'\nswitch.scheduling = { kind = 'round-robin' }\n"
        "switch.assignment.classes = 2\n" + OPEN,
        ["scheme.switch.scheduling.kind", "round-robin", "drr"]),
    "bfc per flow": (varied("bfc", "switch.assignment", "kind = 'per-flow'"),
                     ["scheme.switch.assignment.kind", "per-flow", "dynamic"]),
    "nic without queues": (varied("bfc", "host.nic", "queues = 0"),
                           ["scheme.host.nic.queues", "0", "reacts = false"]),
    "classes": (varied("bfc", "switch.assignment", "queues = 4\nclasses = 8"),
                ["scheme.switch.assignment.classes", "8", "fewer classes"]),
    "jumbo": ("[wire]\npayload = '10 kB'\n" + OPEN, ["wire.payload", "10 kB", "to 9 kB"]),
    "no core": (QUICK.replace("listed", "open-loop").replace(
        "flows = [[0, 1, 10, 0]]", "sizes = 'google'\nload = 0.5"),
        ["traffic[0].load_on.kind", "core", "edge"]),
    "incast degree": ("[[traffic]]\nkind='incast'\ndegree = 500\nreplace = false\n",
                      ["traffic[0].degree", "500", "127"]),
    "same label": (OPEN + OPEN, ["traffic[1].label", "background", "of its own"]),
    "loss": ("[faults]\ncontrol_loss = 1.5\n" + OPEN, ["faults.control_loss", "1.5", "below 1"]),
    "corrupted cable": ("[[faults.corruption]]\nlink = [0, 1]\nprobability = 0.1\n" + OPEN,
                        ["faults.corruption[0].link", "[0, 1]", "no cable joins"]),
    "corrupted twice": ("[faults]\ncorruption = [{link = [0, 128], probability = 0.1}, "
                        "{link = ['T0', 'H0'], probability = 0.2}]\n" + OPEN,
                        ["faults.corruption[1].link", "[128, 0]", "keep one"]),
    "all corrupted twice": ("[faults]\ncorruption = [{probability = 0.1}, {probability = 0.2}]\n"
                            + OPEN, ["faults.corruption[1].link", "null", "keep one"]),
    "all corrupted": ("[[faults.corruption]]\nprobability = 1.0\n" + OPEN,
                      ["faults.corruption[0].probability", "1.0", "below 1"]),
    "corrupted in ns-3": ("fidelity = 'ns3-hpcc'\nscheme = 'dctcp'\n"
                          "[[faults.corruption]]\nprobability = 0.1\n" + OPEN,
                          ["faults.corruption", "ns3-hpcc", "leave them out"]),
    "corrupted credit": ("scheme = 'bfc-credits'\n"
                         "[[faults.corruption]]\nprobability = 0.1\n" + OPEN,
                         ["scheme.switch.backpressure.kind", "credits", "faults.corruption"]),
    "corrupted and told": ("scheme = 'hpcc-pfc'\n"
                           "[[faults.corruption]]\nprobability = 0.1\n" + OPEN,
                           ["scheme.host.recovery.kind", "perfect", "corrupted"]),
    "traced host": ("[measure.trace]\nnodes = [3]\n" + OPEN,
                    ["measure.trace.nodes[0]", "switches"]),
    "toml": ("duration = = 3\n", ["line 1", "mend the TOML"]),
    "negative seed": ("seed = -1\n" + OPEN, ["seed", "-1", "at least 0"]),
    "load that is no number": (OPEN.replace("0.5", "nan"), ["traffic[0].load", "finite number"]),
    "true for a count": ("[topology]\nracks = true\n" + OPEN, ["topology.racks", "whole number"]),
    "many hosts": ("[topology]\nhosts_per_rack = 1_000_000\n" + OPEN,
                   ["topology.hosts_per_rack: it is 1000000", "write counts that give at most"]),
    "huge network": ("[topology]\nracks = 1_000_000_000\n" + OPEN,
                     ["topology", "16000000000 hosts", "at most 1048576"]),
    "long delay": ("[topology]\nhost_delay = '2 s'\n" + OPEN,
                   ["topology.host_delay", "2 s", "to 1 s"]),
    "switch out of reach": (GRAPH.replace("switches = 1", "switches = 2").format(links=FULL),
                            ["topology.links", "disconnected", "[4]", "add a cable"]),
    "two hosts joined": (GRAPH.format(links="{a=0,b=3}, {a=1,b=2}"),
                         ["topology.links[1]", "two hosts", "to a switch"]),
    "alpha": (varied("pfc", "switch.admission.ingress", "alpha = 100.0"),
              ["scheme.switch.admission.ingress.alpha", "100", "at most 64"]),
    "target of the base round trip": (
        "[scheme]\npreset = 'bfc-cc'\n[scheme.host.controller]\ntarget_factor = 1.0\n" + OPEN,
        ["scheme.host.controller.target_factor", "1.0", "above 1"]),
    "too many queues": ("[scheme]\npreset = 'bfc'\nswitch.assignment.queues = 500\n" + OPEN,
                        ["scheme.switch.assignment.queues", "500", "at most 128"]),
    "fixed thresholds, part missing": (
        "[scheme]\npreset = 'bfc'\n[scheme.switch.backpressure.threshold]\nkind = 'time'\n" + OPEN,
        ["scheme.switch.backpressure.threshold.time", "missing"]),
    "sigma": (OPEN + "arrivals = {kind = 'lognormal', sigma = 9.0}\n",
              ["traffic[0].arrivals.sigma", "9.0", "0 to 4"]),
    "after its end": (OPEN + "start = '2 ms'\nstop = '1 ms'\n",
                      ["traffic[0].start", "start earlier"]),
    "empty label": (OPEN + "label = ''\n", ["traffic[0].label", "not empty"]),
    "host twice": (OPEN + "pairs = {kind = 'between', sources = [1, 1], destinations = [2]}\n",
                   ["traffic[0].pairs.sources[1]", "it is 1", "name each once"]),
    "alone": (OPEN + "pairs = {kind = 'between', sources = [1], destinations = [1]}\n",
              ["traffic[0].pairs", "host 1 with itself", "another"]),
    "incast of nothing": ("[[traffic]]\nkind='incast'\ndegree = 100\nsize = '10 B'\n",
                          ["traffic[0].size", "10", "at least 100 B"]),
    "link that is none": ("[measure]\nseries = [[0, 1]]\n" + OPEN,
                          ["measure.series[0]", "from node 0 to node 1", "two ends of a cable"]),
    "negative cdf": (SIZES.format(sizes=CDF.format(points="[-10, 0.5], [50, 1.0]")),
                     ["traffic[0].sizes.points[0][0]", "-10", "cannot be negative"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_scenario_is_refused_with_field_value_and_remedy(
    name: str, here: Path, core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    text, expected = BAD[name]
    (here / "bad.toml").write_text(text)
    assert main(["run", "bad.toml", "--out", "out"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: bad.toml")
    for words in expected:
        assert words in message
    assert "Traceback" not in message
    assert core.scenarios == []
    assert not (here / "out").exists()


CSV = "src,dst,size_bytes,start_ns\n0,1,1000,0\n"
TRACE = '[[traffic]]\nkind = "trace"\nfile = "flows.csv"\n'
FILE_SIZES = SIZES.format(sizes="'flows.csv'")

BAD_FILES = {
    "truncated trace": (TRACE, CSV + "2,3,10",
                        ["line 3", "3 columns, and the header 4", "truncated"]),
    "truncated flow file": (TRACE, "2\n0 1 3 100 64 2.0\n", ["announces 2 flows", "truncated"]),
    "trace to itself": (TRACE, CSV + "5,5,10,1\n", ["line 3", "host 5 to itself", "two hosts"]),
    "trace of no host": (TRACE, CSV + "# a note\n5,500,10,1\n",
                         ["traffic[0].file", "line 4 has a wrong destination", "500", "0 to 127"]),
    "trace after the end": (TRACE, CSV + "5,6,10,1e9\n", ["line 3 has a wrong start", "1 s"]),
    "flow file of no host": (TRACE, "1\n0 500 3 100 64 2.0\n", ["line 2 has a wrong dest", "500"]),
    "matrix of no host": (TRACE, "Nodes 600\nConnections 1\n0->500 start 0 size 9\n",
                          ["line 3 has a wrong destination: it is 500"]),
    "trace back in time": (TRACE, CSV + "5,6,10,7\n5,6,10,2\n", ["line 4", "sort the file"]),
    "trace of words": (TRACE, CSV + "5,6,many,7\n", ["line 3", '"many" for the size', "whole"]),
    "cdf that falls": (FILE_SIZES, "100 0.5\n1000 0.4\n5000 1\n", ["line 2", "the row above it"]),
    "cdf below zero": (FILE_SIZES, "100 0.5\n-5 1\n", ["line 2", "below zero", "size in bytes"]),
    "cdf above 1": (FILE_SIZES, "100 0.5\n1000 1.2\n", ["1.2, not 1", "largest flow"]),
    "empty cdf": (FILE_SIZES, "size,cdf\n", ["no rows", "write rows"]),
}  # fmt: skip


def test_names_in_a_network_that_is_wrong_are_not_wrong_as_well() -> None:
    failed = {"topology.failed_links": [["T0", "S0"]]}
    with pytest.raises(ScenarioError) as found:
        Scenario.from_name("bfc-demo", {**failed, "topology.host_rate": "25G"})
    assert [one.field for one in found.value.problems] == ["topology.host_rate"]


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_with_its_line(
    name: str, here: Path, core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    text, content, expected = BAD_FILES[name]
    (here / "bad.toml").write_text(text)
    (here / "flows.csv").write_text(content)
    assert main(["run", "bad.toml"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: bad.toml: traffic[0]")
    for words in expected:
        assert words in message
    assert core.scenarios == []


@pytest.fixture
def unrun(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """The real core's checks, and nothing runs after them."""
    fake = FakeCore()
    monkeypatch.setattr(_core, "run", fake.run)
    return fake


OVERLOADS = {
    "edge": OPEN + "load_on = {kind = 'edge'}\n",
    "beside an incast": OPEN + "[[traffic]]\nkind = 'incast'\nsize = '60 MB'\n",
    "one receiver": OPEN + "pairs = {kind = 'between', sources = [0, 1, 2], destinations = [20]}\n"
    "load_on = {kind = 'links', links = [[0, 128]]}\n",
}


@pytest.mark.parametrize("name", OVERLOADS)
def test_too_much_load_is_refused_with_the_largest_that_would_do(
    name: str, here: Path, unrun: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad.toml").write_text(OVERLOADS[name].replace("load = 0.5", "load = 0.99"))
    assert main(["run", "bad.toml"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: bad.toml: traffic[0].load")
    assert "0.99" in message
    largest = re.search(r"write at most (0\.\d+)", message)
    assert largest, message
    Scenario.from_toml("bad.toml", {"load": float(largest[1])})
    assert unrun.scenarios == []


def test_incasts_that_come_too_fast_are_refused_with_the_shortest_period(
    unrun: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "incast", "--set", "traffic.incast.period=100 us"]) == 2
    message = capsys.readouterr().err
    assert "traffic[0].period" in message
    shortest = re.search(r"write at least ([\d.]+ us)", message)
    assert shortest, message
    Scenario.from_name("incast", {"traffic.incast.period": shortest[1]})
    assert unrun.scenarios == []


def test_a_buffer_without_room_for_its_headroom_is_refused(
    here: Path, unrun: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    buffer = "scheme.switch.admission.buffer"
    assert main(["run", "bfc-demo", "--scheme", "pfc", "--set", f"{buffer}=500 kB"]) == 2
    message = capsys.readouterr().err
    for words in (buffer, "500 kB", "headroom and reserve of the ports of T0 alone take"):
        assert words in message
    assert unrun.scenarios == []


REPEATED = {
    "bfc": ("bitmap_interval", "500 ns", "512 ns"),
    "bfc-credits": ("pauses.bitmap_interval", "1.5 us", "1.536 us"),
}


@pytest.mark.parametrize("preset", REPEATED)
def test_frames_that_would_fill_a_link_are_refused_with_the_time_that_they_take(
    preset: str, unrun: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    field, interval, time = REPEATED[preset]
    set_to = f"scheme.switch.backpressure.{field}={interval}"
    slow = "topology.host_rate=1 Gb/s"
    assert main(["run", "bfc-demo", "--scheme", preset, "--set", slow, "--set", set_to]) == 2
    message = capsys.readouterr().err
    for words in (field, f"it is {interval}", "a link of 1 Gb/s", f"for {time}"):
        assert words in message
    assert unrun.scenarios == []


EXPERIMENT = """
id = "mine/one"
title = "An experiment whose scenario is nowhere"
source = "nobody"
shows = "nothing"
scenario = "./no.toml"
[[sweeps]]
schemes = ["bfc"]
[scales.quick]
[[claims]]
claim = "All flows finish."
reported = "all"
measure = "unfinished()"
at_most = 0
"""

COMMAND_LINES = {
    "no file": (["run", "no.toml"], ["no.toml", "No such file", "list scenarios"]),
    "no file to sweep": (["sweep", "./no.toml"], ["no.toml", "No such file", "list scenarios"]),
    "a folder to sweep": (["sweep", "./"], ["it is a directory"]),
    "no TOML to sweep": (["sweep", "./broken.toml"], ["broken.toml: Invalid value", "mend the"]),
    "no file to reproduce": (
        ["reproduce", "./experiment.toml"],
        ["experiment.toml: no.toml cannot be read", "No such file", "list scenarios"],
    ),
    "no scenario": (["run", "bfc-dmeo"], ["bfc-dmeo", 'did you mean "bfc-demo"']),
    "set without value": (["run", "quickstart", "--set", "load"], ["--set", "KEY=VALUE"]),
    "set unknown": (["run", "quickstart", "--set", "topology.host=3"], ["topology.host", "hosts"]),
    "set past the end": (["run", "quickstart", "--set", "traffic[9].load=1"], ["no entry 9"]),
    "set no label": (["run", "quickstart", "--set", "traffic.bg.load=1"], ["bg", "background"]),
    "load of none": (["run", "incast", "--set", "load=0.5"], ["load", "traffic.LABEL.load"]),
    "load of a table": (["run", "table.toml", "--set", "load=0.5"], ["write [[traffic]]"]),
    "set twice": (["run", "quickstart", "--set", "load=1", "--set", "load=2"], ["is set twice"]),
    "set a chosen scheme": (
        ["run", "quickstart", "--scheme", "bfc", "--set", "scheme=pfc"],
        ["--set", "pfc", "scheme is set twice"],
    ),
    "set a chosen seed": (
        ["compare", "quickstart", "--scheme", "bfc,pfc", "--seed", "1", "--set", "seed=2"],
        ["--set", "2", "seed is set twice"],
    ),
    "trace what": (["run", "quickstart", "--trace", "flows"], ["--trace", "packets:NODES"]),
    "trace where": (["run", "quickstart", "--trace", "packets:T9"], ["--trace", "T9", "H0 to S0"]),
    "out is a file": (["run", "quickstart", "--out", "a-file"], ["--out", "a-file", "directory"]),
    "reproduce into a file": (["reproduce", "bfc/fig8", "--out", "a-file/b"], ["--out", "a-file"]),
    "seed": (["run", "quickstart", "--seed", "-4"], ["seed", "-4", "at least 0"]),
    "compare nothing": (["compare", "quickstart", "--scheme", ","], ["--scheme", "commas"]),
    "compare unknown": (["compare", "quickstart", "--scheme", "bfc,hpc"], ["hpc", "hpcc"]),
    "experiment": (["reproduce", "bfc/fig99"], ["bfc/fig99", "no such experiment"]),
    "show": (["show", "bcf"], ["bcf", 'did you mean "bfc"']),
    "show upper case": (["show", "BFC"], ['did you mean "bfc"']),
    "show a Python file": (["show", "./a.py"], ["/a.py is a file of Python code", "a.py:CLASS"]),
    "scheme is a Python file": (
        ["run", "quickstart", "--scheme", "a.py"],
        ["scheme", "a.py is a file of Python code; name a class in it: write a.py:CLASS"],
    ),
    "show set": (["show", "bfc", "--set", "load=1"], ["NAME", "bfc", "no scenario", "--set"]),
    "show a directory": (["show", "."], ["NAME", "this is a directory; name a TOML file in it"]),
    "report": (["report", "nowhere"], ["nowhere", "no complete run", "no such directory"]),
    "report of a folder": (["report", "."], ["no complete run", "it has no summary.json"]),
}


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_a_bad_command_line_is_refused(
    name: str, here: Path, core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, expected = COMMAND_LINES[name]
    (here / "a-file").touch()
    (here / "table.toml").write_text(OPEN.replace("[[traffic]]", "[traffic]"))
    (here / "broken.toml").write_text("duration = [")
    (here / "experiment.toml").write_text(EXPERIMENT)
    assert main(arguments) == 2
    message = capsys.readouterr().err
    for words in expected:
        assert words in message
    assert core.scenarios == []


RANGES = {
    "topology.hosts": ([-1, 0, 65_536, 2**32], "2 to 65,?535"),
    "traffic.incast.degree": ([-1, 0], "1 or more"),
    "topology.rate": ([0], "1 b/s or more"),
    "wire.payload": ([0, 9_001, 2**32], "1 B to 9 kB"),
    "scheme.switch.assignment.queues": ([-1, 0, 1, 4_097, 2**32], "2 to 4,?096"),
}


@pytest.mark.parametrize("path", RANGES)
def test_every_value_that_is_refused_is_told_the_same_range(path: str) -> None:
    values, words = RANGES[path]
    for value in values:
        with pytest.raises(ScenarioError, match=f"write {words}$"):
            Scenario.from_name("quickstart", {path: value})


def test_what_only_the_type_bounds_is_told_with_both_ends() -> None:
    with pytest.raises(ScenarioError, match=r"write 1 or more, at most 4,294,967,295$"):
        Scenario.from_name("quickstart", {"traffic.incast.degree": 2**32})
    with pytest.raises(ScenarioError, match=r"scale_time = 0: out of range; write 1 to 1,000,000$"):
        Scenario.from_name("quickstart", {"emulation": {"scale_time": 0}})


@pytest.mark.parametrize("duration", ["0 us", "61 s"])
def test_a_wrong_duration_is_told_without_what_follows_from_it(duration: str) -> None:
    with pytest.raises(ScenarioError) as told:
        Scenario.from_name("quickstart", {"duration": duration, "traffic.incast.stop": "60.5 s"})
    assert [one.field for one in told.value.problems] == ["duration"]


def test_a_scheme_file_that_lacks_a_table_is_told_its_header(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "empty.toml").touch()
    assert main(["run", "quickstart", "--scheme", "./empty.toml"]) == 2
    told = capsys.readouterr().err
    assert "empty.toml: scheme.switch: this field is missing; write [switch]; it has" in told


@pytest.mark.parametrize("arguments", [["list"], ["run"], ["run", "x", "--jobs", "two"]])
def test_wrong_usage_ends_with_code_2(arguments: list[str]) -> None:
    assert main(arguments) == 2


USAGE = {
    "kind": (["list", "scheme"], ["kind", "'scheme'", "'schemes'"]),
    "scale": (["reproduce", "bfc/fig10", "--scale", "fast"], ["--scale", "'fast'", "'quick'"]),
    "no number": (["run", "x", "--threads", "two"], ["--threads", "'two'"]),
    "too few": (["tune", "x", "--trials", "0"], ["--trials", "0", "1"]),
    "too many": (["run", "x", "--threads", "9999"], ["--threads", "9999", str(THREADS_MAX)]),
}


@pytest.mark.parametrize("name", USAGE)
def test_a_wrong_parameter_is_told_with_its_value_and_in_plain_words(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, expected = USAGE[name]
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert all(words in message for words in expected)
    assert "Value error" not in message and "Input should" not in message


@pytest.mark.parametrize("command", ["report", "watch"])
def test_a_page_in_the_place_of_a_file_or_a_directory_is_refused(
    command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "quickstart", "--set", "duration=1us", "--out", "run"]) == 0
    (here / "a-file").touch()
    (here / "dir.html").mkdir()
    for out in ("a-file", "a-file/below", "a-file/page.html"):
        assert main([command, "run", "--out", out]) == 2
        told = capsys.readouterr().err
        assert '--out = "a-file": this is a file, and a directory is wanted; name a' in told
    (here / "dir.html" / f"{command}.html").mkdir()
    assert main([command, "run", "--out", "dir.html", "--force"]) == 2
    assert "this is a directory, and a page is wanted there" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "watch"])
def test_the_help_says_what_force_replaces(command: str) -> None:
    told = next(one.help for one in imported(command).params if one.name == "force")
    assert "the file --out" in told and "run" not in told


def test_a_file_that_is_no_text_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.toml").write_bytes(b"\xff\x00")
    assert main(["run", "bad.toml"]) == 2
    assert "no text file" in capsys.readouterr().err
