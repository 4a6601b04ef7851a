"""Schemes in Python: equal to those in Rust, and every way in which a user's class may be wrong."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from penstock import (
    Controller,
    Marking,
    Run,
    Scenario,
    ScenarioError,
    Scheduler,
    SchemeError,
    run,
    run_many,
)
from penstock.cli import main
from penstock.emulation.running import emulate
from penstock.own_class import find, is_class
from penstock.own_scheme import Acknowledgement, Flow, Loss, Pace, Queue

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-schemes.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]

INCAST = """
duration = "150 us"
topology = {kind = "single-switch", hosts = 9}
[measure]
sample_interval = "0 us"
[[traffic]]
kind = "incast"
degree = 8
size = "1.2 MB"
period = "100 us"
receiver = 8
replace = false
"""


@pytest.fixture
def mine(here: Path) -> Path:
    """A working directory with the classes of the page and a scenario of a few thousand packets."""
    Path("mine.py").write_text("\n".join(PYTHON[index] for index in (0, 2, 3)))
    Path("incast.toml").write_text(INCAST)
    return here


def made(scheme: Any, **more: Any) -> Run:
    """A run of the incast."""
    Path("incast.toml").write_text(INCAST)
    return run(Scenario.load("./incast.toml", {"scheme": scheme} | more.pop("over", {})), **more)


def written(text: str, base: str = "dctcp") -> str:
    """The name of a controller in a file: `text` is what its class says."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    head = "import random\nfrom penstock import Controller\nclass Mine(Controller):\n"
    Path("wrong.py").write_text(f'{head}    base = "{base}"\n{body}')
    return "./wrong.py:Mine"


def failure(scheme: Any, **more: Any) -> str:
    with pytest.raises(SchemeError) as caught:
        made(scheme, **more)
    return str(caught.value)


# -- equal to Rust ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "rust", "without"),
    [
        ("./mine.py:Dctcp", "dctcp", "pfc"),
        ("./mine.py:Red", "dctcp", {"preset": "dctcp", "switch": {"marking": {"kind": "none"}}}),
        ("./mine.py:Drr", "sfq", {"preset": "sfq", "switch": {"scheduling": {"kind": "strict"}}}),
    ],
)
def test_a_class_gives_the_digest_of_the_policy_in_rust(
    mine: Path, own: str, rust: str, without: Any
) -> None:
    if isinstance(without, dict) and "marking" in without["switch"]:
        without["host"] = {"controller": {"kind": "line-rate"}}
    digest = made(own).summary["digest"]
    assert digest == made(rust).summary["digest"]
    assert digest != made(without).summary["digest"]


def test_dctcp_has_twenty_lines() -> None:
    [found] = [text for text in PYTHON if "class Dctcp" in text]
    lines = found[found.index("class Dctcp") :].splitlines()
    assert len([line for line in lines if line.strip()]) == 20


def test_a_probability_is_drawn_from_the_stream_of_the_switch(mine: Path) -> None:
    class Coin(Marking):
        base = "dctcp"

        def on_dequeue(self, now: int, packet: Any) -> float:
            return 0.3 if packet.queue_bytes > 20_000 else False

    halved = {"kind": "ecn", "kmin": "20 kB", "kmax": "20 kB"}
    every = made({"preset": "dctcp", "switch": {"marking": halved}})
    some, other_seed = made(Coin), made(Coin, over={"seed": 2})
    assert len({one.summary["digest"] for one in (every, some, other_seed)}) == 3


def test_the_commands_of_the_page_run(mine: Path) -> None:
    [commands] = [text for language, text in BLOCKS if language == "sh"]
    for line in commands.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    both = [Run.load(Path("runs/both") / name) for name in ("dctcp", "Dctcp")]
    assert len({one.summary["digest"] for one in both}) == 1
    assert len(list(Path("runs/grid/cells").rglob("cell.parquet"))) == 4


def test_a_scheme_in_a_file_names_a_class_beside_it(mine: Path) -> None:
    [text] = [text for language, text in BLOCKS if language == "toml"]
    below = Path("below")
    below.mkdir()
    (below / "scheme.toml").write_text(text)
    (below / "mine.py").write_bytes(Path("mine.py").read_bytes())
    Path("mine.py").unlink()
    rust = {"preset": "dctcp", "switch": {"marking": {"kind": "ecn", "kmin": "50 kB"}}}
    assert made("below/scheme.toml").summary["digest"] == made(rust).summary["digest"]


def test_a_class_is_found_as_a_module_and_given_as_an_object(mine: Path) -> None:
    Path("own_module_of_test.py").write_text(PYTHON[0])
    digest = made("dctcp").summary["digest"]
    assert made("own_module_of_test:Dctcp").summary["digest"] == digest
    assert made(find("./mine.py:Dctcp")).summary["digest"] == digest


def test_a_class_may_vary_the_scheme_of_another_class(mine: Path) -> None:
    Path("both.py").write_text(PYTHON[2].replace('"dctcp"', '"./mine.py:Dctcp"'))
    found = made("./both.py:Red")
    assert found.summary["digest"] == made("dctcp").summary["digest"]
    assert "mine.py:Dctcp, " in found.summary["notes"][-1]
    assert main(["show", "./both.py:Red"]) == 0


# -- what a class sees -----------------------------------------------------------------------


def test_a_controller_hears_of_its_flow(mine: Path) -> None:
    heard: dict[str, Any] = {"sent": 0}

    class Hearing(Controller):
        base = "line-rate"

        def __init__(self, flow: Flow) -> None:
            super().__init__(flow)
            heard["flow"] = (flow.size, flow.payload, flow.hops, flow.line_rate, flow.bdp)

        def on_start(self) -> Pace:
            self.timer = self.flow.start + 5_000_000
            return 1_000, None

        def on_acknowledgement(self, now: int, ack: Acknowledgement) -> Pace:
            assert ack.newly_acknowledged <= ack.acknowledged <= ack.next
            assert ack.sent_at < now and ack.telemetry == () and not ack.is_negative
            return None

        def on_timer(self, now: int) -> Pace:
            assert self.timer is None
            heard["timer"] = now
            return None, self.flow.line_rate / 4

        def on_sent(self, now: int, size: int) -> Pace:
            heard["sent"] += size
            return None

    found = made(Hearing, once=True)
    assert heard["flow"][:4] == (150_000, 1_000, 1, 100_000_000_000)
    assert heard["timer"] == 105_000_000
    flows = found.flows.height
    assert heard["sent"] == flows * 150 * 1_048
    slow, fast = found.slowdown()["mean"][0], made("line-rate").slowdown()["mean"][0]
    assert slow > fast


STAR = {"kind": "single-switch", "hosts": 3}


def test_a_timer_of_on_start_rings_on_time_also_before_the_first_packet() -> None:
    """A hundred flows of one host: most of them wait for longer than a round trip."""
    late = []

    class Clocked(Controller):
        base = "line-rate"

        def on_start(self) -> Pace:
            self.due = self.timer = self.flow.start + self.flow.base_rtt
            return None

        def on_sent(self, now: int, size: int) -> Pace:
            return None

        def on_timer(self, now: int) -> Pace:
            late.append(now - self.due)
            return None

    flows = {"kind": "listed", "flows": [[0, 1, 3_000, 0]] * 100}
    run(
        Scenario(name="t", topology=STAR, scheme=Clocked, duration="100 us", traffic=[flows]),
        once=True,
    )
    assert len(late) > 50 and not any(late)


def test_another_hook_may_come_on_the_picosecond_of_the_timer() -> None:
    """The acknowledgement comes a base round-trip time after its packet, as the timer does."""
    heard = []

    class Clocked(Controller):
        base = "line-rate"

        def on_start(self) -> Pace:
            self.timer = self.flow.start + self.flow.base_rtt
            return self.flow.payload, None

        def on_acknowledgement(self, now: int, ack: Acknowledgement) -> Pace:
            heard.append(now)
            return None

        def on_timer(self, now: int) -> Pace:
            heard.append(now)
            self.timer = now + self.flow.base_rtt
            return None

    flows = {"kind": "listed", "flows": [[0, 1, 3_000, 0]]}
    run(
        Scenario(name="t", topology=STAR, scheme=Clocked, duration="100 us", traffic=[flows]),
        once=True,
    )
    assert len(heard) > len(set(heard)), "both at one time"


def test_a_controller_hears_of_losses_and_telemetry(mine: Path) -> None:
    kinds: set[str] = set()

    class Losing(Controller):
        base = "tcp"
        needs = ("losses",)

        def on_start(self) -> Pace:
            return 20_000, None

        def on_loss(self, now: int, loss: Loss) -> Pace:
            kinds.add(loss.kind)
            assert loss.in_flight >= 0
            return 2_000, None

    small = {"kind": "static", "per_port": "100 kB"}
    made(Losing, once=True, over={"scheme.switch.admission": small})
    assert "fast-retransmit" in kinds

    class Hops(Controller):
        base = "hpcc"
        needs = ("telemetry",)

        def on_acknowledgement(self, now: int, ack: Acknowledgement) -> Pace:
            [hop] = ack.telemetry
            kinds.add(f"{hop.rate}")
            assert ack.sent_at < hop.time < now and hop.sent_bytes >= 0 <= hop.queue_bytes
            return None

    made(Hops, once=True)
    assert "100000000000" in kinds


def test_a_run_says_what_a_class_costs_and_has_one_thread(mine: Path) -> None:
    found = made("./mine.py:Dctcp", threads=2)
    note = found.summary["notes"][-1]
    assert re.search(r"mine\.py:Dctcp: Python code, [\d,]+ ns per packet-hop on one thread", note)
    assert note.endswith("a second run gave the same")
    assert found.summary["threads"] == 1
    assert made("./mine.py:Dctcp", once=True).summary["notes"][-1].endswith("to compare")


# -- what a class does wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("(float('nan'), None)", "the window is nan"),
        ("(0, None)", "the window is 0"),
        ("(None, -5)", "the rate is -5"),
        ("(float('inf'), None)", "the window is inf"),
        ("('much', None)", "the window is 'much', which is no number"),
        ("(True, None)", "the window is True, which is no number"),
        ("(1, 2, 3)", "(1, 2, 3); return (window [B], rate [bit/s])"),
        ("5", "5; return (window [B], rate [bit/s])"),
    ],
)
def test_a_wrong_answer_is_named(mine: Path, answer: str, words: str) -> None:
    scheme = written(f"def on_acknowledgement(self, now, ack):\n    return {answer}")
    found = failure(scheme)
    assert re.search(r"wrong\.py:Mine returned something wrong from on_acknowledgement", found)
    assert re.search(r"for flow \d+ at [\d.]+ ns: ", found)
    assert words in found


@pytest.mark.parametrize("timer", ["now", "-1", "'soon'", "now + 0.5"])
def test_a_timer_is_later_than_now(mine: Path, timer: str) -> None:
    found = failure(written(
        "def on_timer(self, now):\n    pass\n"
        f"def on_acknowledgement(self, now, ack):\n    self.timer = {timer}"
    ))  # fmt: skip
    assert "self.timer is" in found and "later than now" in found


def test_a_timer_that_rings_is_set_to_a_later_time(mine: Path) -> None:
    found = failure(written(
        "def on_start(self):\n    self.timer = self.flow.start + 1000\n"
        "def on_timer(self, now):\n    self.timer = now"
    ))  # fmt: skip
    assert "self.timer is" in found and "later than now" in found


def test_a_timer_that_nobody_hears_is_refused(mine: Path) -> None:
    found = failure(written("def on_acknowledgement(self, now, ack):\n    self.timer = now + 1000"))
    assert "self.timer is" in found and "write on_timer(self, now)" in found


def test_an_error_is_told_with_its_own_line(mine: Path) -> None:
    scheme = written("def on_acknowledgement(self, now, ack):\n    return self.flow.size / 0, None")
    with pytest.raises(SchemeError) as caught:
        made(scheme)
    assert re.fullmatch(
        r"\S*/wrong\.py:Mine failed in on_acknowledgement for flow \d+ at [\d.]+ ns: "
        r"ZeroDivisionError: division by zero "
        r"\(\S*/wrong\.py, line 6: return self\.flow\.size / 0, None\)",
        str(caught.value),
    )
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_object_that_cannot_be_made_and_a_hook_of_a_switch_that_fails_are_told(
    mine: Path,
) -> None:
    found = failure(written("def __init__(self, flow):\n    len(flow)"))
    assert "failed in __init__ for flow" in found and "TypeError" in found

    class Sure(Marking):
        base = "dctcp"

        def on_enqueue(self, now: int, packet: Any) -> float:
            return 1.5

    assert re.search(
        r"Sure returned something wrong from on_enqueue for port 8 of switch 9 at .*: "
        r"1\.5; return True, False, or the probability",
        failure(Sure),
    )

    class Lost(Scheduler):
        base = "sfq"

        def select(self, now: int, queues: list[Queue]) -> int:
            return 99

    found = failure(Lost)
    assert "from select for port" in found and "99; return the number of one" in found

    class Empty(Scheduler):
        base = "sfq"

    assert "NotImplementedError: write select(self, now, queues)" in failure(Empty)


def test_ctrl_c_in_a_hook_is_no_error_of_the_class(mine: Path) -> None:
    class Stopped(Controller):
        base = "dctcp"

        def on_start(self) -> Pace:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(Stopped)


def test_a_run_with_slow_hooks_stops_soon(mine: Path) -> None:
    """Ctrl-C does not wait for the tens of thousands of events between two looks."""
    calls: list[int] = []

    class Slow(Controller):
        base = "dctcp"

        def on_acknowledgement(self, now: int, ack: Acknowledgement) -> None:
            calls.append(now)
            time.sleep(0.01)

    stopped = made(Slow, once=True, cancel=lambda: len(calls) > 10)
    assert stopped.is_cancelled
    assert len(calls) < 100


def test_a_hook_and_a_file_that_end_the_program_have_failed(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme = written("def on_start(self):\n    import sys\n    sys.exit(0)")
    assert main(["run", "./incast.toml", "--scheme", scheme, "--out", "out"]) == 1
    said = capsys.readouterr().err
    assert "Mine failed: a hook ends the program: SystemExit: 0 (" in said
    assert "line 7: sys.exit(0)" in said
    Path("wrong.py").write_text("raise SystemExit(0)")
    assert main(["run", "./incast.toml", "--scheme", "./wrong.py:Mine", "--out", "out"]) == 2
    assert "wrong.py cannot be imported: SystemExit" in capsys.readouterr().err


def test_a_class_that_does_not_repeat_is_told_with_its_first_flow(mine: Path) -> None:
    scheme = written("def on_start(self):\n    return random.randint(2_000, 50_000), None")
    found = failure(scheme)
    assert "wrong.py:Mine gives another result every time: flow" in found
    assert re.search(r"flow \d+ is the first that differs, with \w+ \S+ in one run", found)
    assert made(scheme, once=True).summary["flows_finished"] > 0
    kept = written(
        "def on_start(self):\n    random.runs = getattr(random, 'runs', 0) + 1\n"
        "    return 900 * random.runs, 0.5e11"
    )
    assert "gives another result every time" in failure(kept)


# -- what is refused before anything runs ----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "scheme", "words"),
    [
        ("", "./gone.py:Mine", "there is no file"),
        ("", "no_such_module:Mine", 'there is no module "no_such_module"'),
        ("x = 1", "./code.py:Mine", 'has no class "Mine"'),
        ("from penstock import Controller\nclass Mina(Controller): pass", "./code.py:Mine", "Mina"),
        ("Mine = 3", "./code.py:Mine", "is no class for a scheme; derive it from"),
        ("from penstock import Marking\nclass Mine(Marking): pass", "./code.py:Mine", "base ="),
        ("class Mine(:", "./code.py:Mine", "SyntaxError: "),
        ("import no_such_module", "./code.py:Mine", "line 1: import no_such_module"),
        (
            'from penstock import Marking\nclass Mine(Marking): base = "./code.py:Mine"',
            "./code.py:Mine",
            "varies itself",
        ),
        ("open('nothing')", "./code.py:Mine", "code.py, line 1: open('nothing')"),
    ],
)
def test_a_class_that_is_not_there_is_refused(
    mine: Path, text: str, scheme: str, words: str
) -> None:
    Path("code.py").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        made(scheme)
    assert words in str(caught.value)
    assert main(["run", "incast.toml", "--scheme", scheme]) == 2


def test_a_class_of_another_kind_or_another_file_is_refused(mine: Path) -> None:
    with pytest.raises(ScenarioError, match=r"is no penstock\.Scheduler"):
        made("bfc", over={"scheme.switch.scheduling": {"kind": "python", "class": "mine.py:Red"}})
    other = {"kind": "python", "class": "mine.py:Dctcp", "sha256": "0" * 64}
    with pytest.raises(ScenarioError, match="its code has changed since"):
        made("dctcp", over={"scheme.host.controller": other})


def test_a_class_that_has_changed_since_its_scenario_was_read_is_refused(mine: Path) -> None:
    chosen = Scenario.load("incast.toml", {"scheme": "./mine.py:Dctcp"})
    Path("mine.py").write_text(PYTHON[0] + "# another text\n")
    with pytest.raises(ScenarioError, match="its code has changed since"):
        run(chosen)


def test_what_a_class_needs_has_to_be_there(mine: Path) -> None:
    over = {"scheme.host.controller": {"kind": "python", "class": "./mine.py:Dctcp"}}
    with pytest.raises(ScenarioError, match="reacts to ecn"):
        made("pfc", over=over)


def test_what_does_not_go_with_a_class_is_refused(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str) -> str:
        assert main([*arguments, "--out", "nothing"]) == 2
        assert not Path("nothing").exists()
        return capsys.readouterr().err

    one = ["incast.toml", "--scheme", "./mine.py:Dctcp"]
    assert "its state cannot be saved" in refused("run", *one, "--checkpoint", "every=1s")
    assert "nothing like it" in refused("run", *one, "--set", "fidelity=ns3-hpcc")
    assert "longer than real frames" in refused("compare", *one, "--emulate")
    with pytest.raises(ScenarioError, match="longer than real frames"):
        emulate(Scenario.load("incast.toml", {"scheme": "./mine.py:Dctcp"}), output=mine)


# -- nothing is lost -------------------------------------------------------------------------


def test_a_class_that_fails_leaves_the_other_runs(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = written("def on_acknowledgement(self, now, ack):\n    return 1 / 0, None")
    arguments = ["compare", "incast.toml", "--scheme", f"{bad},dctcp", "--out", "both"]
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert "failed: Mine: " in shown.err and "ZeroDivisionError" in shown.err
    assert Run.load("both/dctcp").summary["flows_finished"] > 0
    assert Path("both/report.html").exists()
    assert main(["run", "incast.toml", "--scheme", bad, "--out", "alone"]) == 1
    assert "line 6: return 1 / 0, None" in capsys.readouterr().err
    chosen = {name: Scenario.load("incast.toml", {"scheme": name}) for name in (bad, "dctcp")}
    with pytest.raises(SchemeError):
        run_many(chosen, out={bad: Path("many/bad"), "dctcp": Path("many/good")})
    assert Run.load("many/good").summary["flows_finished"] > 0


def test_a_sweep_goes_on_and_does_not_mix_two_texts_of_a_file(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = written("def on_acknowledgement(self, now, ack):\n    return 1 / 0, None")
    sweep = ["sweep", "incast.toml", "--seeds", "1", "--jobs", "1", "--out", "grid"]
    sweep += ["--metric", "slowdown(statistic='mean')", "--set"]
    assert main([*sweep, f"scheme=./mine.py:Dctcp,{bad}"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert len(list(Path("grid/cells").rglob("cell.parquet"))) == 1
    Path("mine.py").write_text(PYTHON[0] + "# another text\n")
    assert main([*sweep, f"scheme=./mine.py:Dctcp,{bad}"]) == 2
    assert "a file has changed since" in capsys.readouterr().err


def test_a_search_runs_a_class_once_where_it_is_told_to(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme = written("def on_start(self):\n    return random.randint(2_000, 50_000), None")
    tune = ["tune", "incast.toml", "--scheme", scheme, "--field", "traffic[0].degree=4:8"]
    tune += ["--minimize", "slowdown(statistic='mean')", "--trials", "1", "--seeds", "1"]
    tune += ["--ahead", "1", "--jobs", "1", "--out"]
    assert main([*tune, "checked"]) == 1
    assert "gives another result every time" in capsys.readouterr().err
    assert main([*tune, "once", "--once"]) == 0


def test_results_are_read_without_the_class(mine: Path) -> None:
    made("./mine.py:Dctcp").save("kept")
    Path("mine.py").unlink()
    found = Run.load("kept")
    assert found.scenario.scheme.name == "Dctcp"
    assert found.slowdown()["flows"].sum() == found.flows.height


def test_the_name_of_a_class_is_told_from_other_names() -> None:
    assert is_class("./mine.py:Mine") and is_class("a.b:Mine")
    assert not is_class("bfc") and not is_class("./mine.toml") and not is_class("./a:b/mine.toml")


# -- one class, one scenario -----------------------------------------------------------------


def _paced(share: int) -> type[Controller]:
    class Paced(Controller):
        base = "line-rate"

        def on_start(self) -> Pace:
            return None, self.flow.line_rate / share

    return Paced


def test_classes_of_one_name_stay_apart(mine: Path) -> None:
    Path("incast.toml").write_text(INCAST)
    scenarios = {
        share: Scenario.load("./incast.toml", {"scheme": _paced(share)}) for share in (10, 20, 40)
    }
    assert len({one.content_hash() for one in scenarios.values()}) == 3
    again = Scenario.load("./incast.toml", {"scheme": _paced(20)})
    assert again.content_hash() == scenarios[20].content_hash()
    runs = run_many({str(share): one for share, one in scenarios.items()}, once=True)
    assert len({one.flows["fct_ns"].max() for one in runs.values()}) == 3


def test_a_class_whose_attributes_a_hook_changes_is_refused(mine: Path) -> None:
    text = """
seen, best = [], None
def on_start(self):
    self.seen.append(1)
    Mine.best = 10_000
    return Mine.best, None
"""
    for _ in range(2):
        message = failure(written(text), once=True)
        assert "a hook changes Mine.seen, Mine.best, which the next run would find so" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "def on_ack(self, now, ack): pass",
            '"on_ack", which is no hook of Controller; .*on_acknow',
        ),
        ('needs = ["telemetri"]', 'needs "telemetri", .* did you mean "telemetry"'),
        ('needs = "telemetry"', "needs is no list of words"),
        (
            "def on_acknowledgement(self, ack): pass",
            r"Mine has on_acknowledgement\(self, ack\), which does not fit its calls; "
            r"write on_acknowledgement\(self, now, ack\)",
        ),
        ("def on_sent(self, now, *, size): pass", r"write on_sent\(self, now, size\)"),
        ("def __init__(self): pass", r"write __init__\(self, flow\)"),
    ],
)
def test_a_member_that_is_misspelt_is_refused(mine: Path, text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        made(written(text))


@pytest.mark.parametrize(
    "text",
    [
        "def on_sent(self, *rest): pass",
        "def on_sent(self, at, count=0, more=None, **rest): pass",
        "on_sent = staticmethod(print)",
        "import functools\n"
        "@functools.wraps(len)\n"
        "def on_sent(self, *rest): pass",
    ],
)  # fmt: skip
def test_a_hook_may_take_more_than_it_is_called_with(mine: Path, text: str) -> None:
    assert find(written(text)).__name__ == "Mine"
