"""Good inputs of each format, from which the fuzzer makes bad ones."""

from __future__ import annotations

from importlib.resources import files

from penstock.experiments.catalogue import source_file

BUILT_IN = files("penstock") / "scenarios"

SMALL = b"""name = "small"
duration = "10 us"
drain = "1 ms"
seed = 7
scheme = "bfc"
[topology]
kind = "single-switch"
hosts = 4
rate = "100 Gb/s"
[[traffic]]
kind = "listed"
label = "one"
flows = [[0, 1, 1000, 0], [1, 2, "3 kB", "1.5 us"]]
spread = "1 us"
"""
GRAPH = b"""[topology]
kind = "graph"
hosts = 3
switches = 1
links = [{a = 0, b = 3}, {a = 1, b = 3, rate = "40 Gb/s"}, {a = 2, b = 3, delay = "2 us"}]
failed_links = []
[[traffic]]
kind = "long-lived"
pairs = [[0, 1], [2, 1]]
"""
VARIED = b"""[scheme]
preset = "dctcp"
name = "mine"
[scheme.switch.marking]
kmin = "30 kB"
kmax = "90 kB"
[scheme.host.nic]
queues = 2
[measure]
series = [[0, 128]]
trace = {nodes = [128, 130]}
[[traffic]]
kind = "open-loop"
load = 0.5
sizes = {kind = "cdf", name = "x", convention = "linear", points = [[10, 0.5], [500, 1.0]]}
arrivals = {kind = "lognormal", sigma = 1.5}
pairs = {kind = "between", sources = [1, 2], destinations = [20, 30]}
load_on = {kind = "links", links = [[128, 136]]}
[[traffic]]
kind = "incast"
degree = 10
size = "1 MB"
senders = [3, 4, 5]
receiver = 9
"""
SCENARIOS = (
    SMALL,
    GRAPH,
    VARIED,
    *((BUILT_IN / f"{name}.toml").read_bytes() for name in ("quickstart", "incast", "bfc-demo")),
)

SETTINGS = (
    b"load=0.7",
    b"topology.hosts=4",
    b"scheme=dctcp",
    b"scheme.switch.assignment.queues=128",
    b"traffic[0].load=0.2",
    b"traffic.background.sizes=google",
    b'traffic=[{kind = "long-lived", pairs = [[0, 1]]}]',
    b"duration=1 ms",
    b"measure.series=[[0, 1]]",
    b"description=a text without quotes",
)
TRACES = (b"packets", b"packets:S0", b"packets:H0,S0", b"packets:16")
NAMES = (b"quickstart", b"bfc-demo", b"good.toml", b"runs/first", b"bfc/fig10")

CSV = b"src,dst,size_bytes,start_ns\n0,1,1000,0\n2,3,50,1.5\n1,0,7,2e0\n"
CSV_OTHER = b"# by name\nflow,start_s,Destination,Source,size\n7,0.000001,1,0,9\n"
HTSIM = b"Nodes 4\nConnections 2\n1->2 id 1 start 0 size 2000000\n3->0 start 500.0 size 9\n"
CDFS = (b"size_bytes,cdf\n100,0.5\n1000,1.0\n", b"100 50\n1000 100\n", b"550.0\n10 0.5\n99 1\n")

# Hosts 1, 2 and 4 on switch 3, which is joined to switch 0 with host 5.
TOPOLOGY = b"""6 2 5
3 0
1 3 100Gbps 0.001ms 0
2 3 100Gbps 1us 0
3 4 100Gbps 0.001ms 0
0 3 400Gbps 0.002ms 0
0 5 100000000000.0 0.001ms

First line: total node #, switch node #, link #
"""
SIMAI = TOPOLOGY.replace(b"6 2 5", b"6 8 1 1 5 A100")
FLOWS = b"""4
1 4 3 100 1000000 2.000000101
2 4 3 100 1000000 2.0000002
5 4 3 200 1 2.0000002
1 4 3 101 2500 2.000001

First line: # of flows
"""
CONFIG = b"""# two senders, one receiver
TOPOLOGY_FILE topology.txt
FLOW_FILE flows.txt
SIMULATOR_STOP_TIME 2.1
CC_MODE 8
EWMA_GAIN 0.00390625
MULTI_RATE 0
L2_ACK_INTERVAL 1
ACK_HIGH_PRIO 1
KMIN_MAP 2 100000000000 100 400000000000 400
KMAX_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE 1
"""
HPCC = CONFIG.replace(b"CC_MODE 8", b"CC_MODE 3\nRATE_AI 50Mb/s\nU_TARGET 0.95\nLINK_DOWN 0 0 0")
DCQCN = CONFIG.replace(
    b"CC_MODE 8",
    b"CC_MODE 1\nRATE_AI 40Mb/s\nRATE_HAI 400Mb/s\nRP_TIMER 300\nALPHA_RESUME_INTERVAL 1",
)
FCT = b"".join(
    b"0b000001 0b000101 %d 100 1000 2000000000 4000 3900\n" % port for port in (10_000, 10_001)
)
PFC = b"2000001000 1 0 1 1\n2000002000 1 0 1 0\n"

EXPERIMENTS = tuple(source_file(name).read_bytes() for name in ("bfc/fig10", "pcn/fig13"))
