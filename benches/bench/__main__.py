"""Time the simulator beside a bare event loop: ns per packet-hop and peak memory.

A packet-hop is a packet put on a wire, data or control. Every case is a process of its own that
runs the scheme and the bare loop in turn on the same topology and traffic; the fastest run of each
counts.

Examples
--------
``make bench`` runs all cases; ``make bench BENCH=smoke`` the smallest ones, to see that it works.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from penstock import Scenario

SCHEMES = {
    "line-rate": "FIFO + line rate",
    "dctcp": "DCTCP",
    "hpcc": "HPCC",
    "bfc": "BFC",
    "homa": "Homa",
    "expresspass": "ExpressPass",
}


@dataclass(frozen=True)
class Fabric:
    """A leaf-spine fabric and how long its traffic lasts."""

    racks: int
    hosts_per_rack: int
    spines: int
    duration: str
    smoke_duration: str

    @property
    def hosts(self) -> int:
        return self.racks * self.hosts_per_rack


# BFC's fabric (sec. 6.2.1), then the same kind of fabric, larger; durations give about ten million
# packet-hops each.
FABRICS = (
    Fabric(8, 16, 8, "2 ms", "200 us"),
    Fabric(32, 32, 16, "250 us", "20 us"),
    Fabric(256, 32, 16, "50 us", "5 us"),
)


def scenario(scheme: str, fabric: Fabric, duration: str) -> Scenario:
    """The reference trace's workload (Facebook Hadoop, 60 % core load) on a fabric."""
    return Scenario.from_name(
        "bfc-facebook-60",
        {
            "scheme": scheme,
            "topology.racks": fabric.racks,
            "topology.hosts_per_rack": fabric.hosts_per_rack,
            "topology.spines": fabric.spines,
            "duration": duration,
            "measure.sample_interval": 0,
            "measure.active_flows": False,
        },
    )


def measure(binary: Path, case: Scenario, repeats: int) -> dict[str, float]:
    """Run one case in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(case.to_json())
        done = subprocess.run(
            [binary, path, str(repeats)], check=True, stdout=subprocess.PIPE, text=True
        )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    """Run the cases, print a table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the compiled bench program")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="file to write")
    parser.add_argument("--smoke", action="store_true", help="short runs, one repeat")
    arguments = parser.parse_args()
    console = Console(file=sys.stdout)
    table = Table(title="ns of one core per packet-hop")
    for heading in ("hosts", "scheme", "scheme ns", "bare loop ns", "ratio", "peak MB", "hops"):
        table.add_column(heading, justify="left" if heading == "scheme" else "right")
    cases = []
    for fabric in FABRICS:
        for scheme, title in SCHEMES.items():
            duration = fabric.smoke_duration if arguments.smoke else fabric.duration
            result = measure(
                arguments.binary,
                scenario(scheme, fabric, duration),
                1 if arguments.smoke else 3,
            )
            cases.append({"hosts": fabric.hosts, "scheme": scheme, **result})
            table.add_row(
                f"{fabric.hosts:,}",
                title,
                f"{result['ns_per_packet_hop']:.0f}",
                f"{result['bare_ns_per_packet_hop']:.0f}",
                f"{result['ratio']:.2f}",
                f"{result['peak_resident_bytes'] / 1e6:.0f}",
                f"{result['packet_hops']:,}",
            )
            console.print(f"{fabric.hosts:>5} hosts, {title}: {result['ns_per_packet_hop']:.0f} ns")
    console.print(table)
    report = {"machine": platform.processor() or platform.machine(), "cases": cases}
    arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    console.print(f"written: {arguments.json}")


if __name__ == "__main__":
    main()
