"""Values and whole inputs that are known to hurt readers, by name."""

from __future__ import annotations

import gzip
import os
import socket
from collections.abc import Callable
from pathlib import Path

NUMBERS = {
    "zero": b"0",
    "negative zero": b"-0",
    "negative zero with a point": b"-0.0",
    "negative": b"-1",
    "31 bits": b"2147483648",
    "32 bits": b"4294967296",
    "largest of 63 bits": b"9223372036854775807",
    "63 bits": b"9223372036854775808",
    "largest of 64 bits": b"18446744073709551615",
    "64 bits": b"18446744073709551616",
    "milliard": b"1000000000",
    "largest network": b"1048576",
    "most switches": b"4096",
    "most cables": b"4194304",
    "400 digits": b"9" * 400,
    "5,000 digits": b"9" * 5000,
    "zeros before": b"0" * 5000 + b"1",
    "hexadecimal": b"0x" + b"f" * 300,
    "long hexadecimal": b"0x" + b"f" * 30_000,
    "overflowing exponent": b"1e999999",
    "enormous exponent": b"1e99999999999999999999",
    "vanishing exponent": b"1e-999999",
    "zero with an exponent": b"0e999999999",
    "largest double": b"1.7976931348623157e308",
    "beyond doubles": b"1e400",
    "smallest double": b"5e-324",
    "many decimals": b"0." + b"3" * 5000,
    "not a number": b"nan",
    "signalling": b"sNaN",
    "infinite": b"inf",
    "minus infinity": b"-Infinity",
    "true": b"true",
    "underscore": b"1_000",
    "plus": b"+1",
    "point": b".",
    "point last": b"5.",
    "two points": b"1.2.3",
    "superscript": "²".encode(),
    "arabic": "٣".encode(),
    "full width": "１２".encode(),
}
WORDS = {
    "nothing": b"",
    "null": b"\0",
    "colour": b"\x1b[31mred\x1b[0m",
    "title": b"\x1b]0;owned\x07",
    "right to left": "\u202eabc".encode(),
    "line separator": "\u2028".encode(),
    "no UTF-8": b"\xff\xfe",
    "surrogate": b"\xed\xa0\x80",
    "password file": b"/etc/passwd",
    "upwards": b"../../../../etc/passwd",
    "zeros": b"/dev/zero",
    "standard input": b"/dev/stdin",
    "memory of the process": b"/proc/self/mem",
    "home of nobody": b"~nosuchuser/file.csv",
    "long": b"a" * 5000,
    "very long": b"a" * 300_000,
    "dotted": b"a." * 2000 + b"b",
    "brackets": b"[" * 400,
    "braces": b"{a=" * 400,
    "three quotes": b'"""',
    "three other quotes": b"'''",
    "backslash": b"\\",
    "template": b"{problem}{remedy}%s{0}",
    "date": b"1979-05-27T07:32:00Z",
    "day": b"1979-05-27",
    "time": b"07:32:00",
    "text": b'"text"',
    "list": b"[1, [2]]",
    "table": b"{kind = 3}",
    "tables": b'[{kind = "x"}, 3, "x", []]',
    "texts": b'["x"]',
    "index": b"[999999999]",
    "long index": b"[" + b"9" * 5000 + b"]",
    "superscript index": "traffic.².load".encode(),
    "kind": b"kind",
    "comment": b"#",
    "arrow": b"->",
    "equals": b"=",
}


def _member(text: bytes) -> bytes:
    return gzip.compress(text, 1, mtime=0)


FILES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "only a mark": lambda: b"\xef\xbb\xbf",
    "nulls": lambda: bytes(5000),
    "UTF-16": lambda: "src,dst\n1,2\n".encode("utf-16"),
    "password file": lambda: b"root:x:0:0:root:/root:/bin/bash\n",
    "milliard of nodes": lambda: b"1000000000 1 1\n0\n0 1 1Gbps 1us 0\n",
    "network of the largest size": lambda: b"1052672 1 1\n0\n0 1 1Gbps 1us 0\n",
    "a line of a megabyte": lambda: b"1 " * 700_000,
    "two million lines": lambda: b"\n" * 2_000_000,
    "two million lines of numbers": lambda: b"1\n" * 2_000_000,
    "65 MB": lambda: b"0 1 1 1 1 1.0\n" * 4_700_000,
    "deep lists": lambda: b"traffic = " + b"[" * 100_000,
    "deep tables": lambda: b"traffic = " + b"{a = " * 100_000,
    "a dotted key of 100,000 parts": lambda: b"a." * 100_000 + b"a = 1",
    "a dotted header": lambda: b"[" + b"a." * 100_000 + b"a]",
    "spaced dots": lambda: b"a . " * 100_000 + b"a = 1",
    "quoted dots": lambda: b'"a".' * 100_000 + b"a = 1",
    "hidden by four quotes": lambda: b'x = ["""a"""", ' + b"[" * 100_000 + b', "b"]',
    "600,000 keys": lambda: b"".join(b"k%d=1\n" % one for one in range(600_000)),
    "600,000 headers": lambda: b"".join(b"[k%d]\n" % one for one in range(600_000)),
    "ten million commas": lambda: b"x = [" + b"1," * 10_000_000 + b"]",
    "bad nodes": lambda: b'[[traffic]]\nkind = "incast"\nsenders = [' + b"-1," * 200_000 + b"]",
    "a hundred thousand unknown keys": lambda: b"".join(b"k%d=1\n" % n for n in range(100_000)),
    "as many traffics": lambda: b"[[traffic]]\n" * 60_000,
    "hosts without cables": lambda: (
        b'topology={kind="graph",hosts=1000000,switches=1,links=[{a=0,b=1000000}]}\n'
        b'[[traffic]]\nkind="long-lived"\npairs=[[0,1]]\n'
    ),
    "largest network": lambda: (
        b'topology={kind="leaf-spine",racks=3000,hosts_per_rack=349,spines=1000}\n'
        b'[[traffic]]\nkind="incast"\n'
    ),
    "bomb": lambda: _member(bytes(2**26)) * 48,
    "bomb of lines": lambda: _member(b"1\n" * 2**22),
    "bomb of many members": lambda: _member(b"") * 200_000,
    "bomb of a long name": lambda: b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 20_000_000,
    "truncated": lambda: _member(b"0,1,1000,0\n" * 99)[:-9],
    "wrong checksum": lambda: _member(b"0,1,1000,0\n" * 99)[:-8] + bytes(8),
    "padded": lambda: _member(b"src,dst,size,start_ns\n0,1,9,0\n") + bytes(512),
}
"""Whole inputs, made when they are wanted: some are large."""


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _unreadable(path: Path) -> None:
    path.write_bytes(b"1\n")
    path.chmod(0)


PLACES: dict[str, Callable[[Path], None]] = {
    "nothing": lambda _: None,
    "directory": Path.mkdir,
    "pipe": os.mkfifo,
    "socket": _socket,
    "device without end": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "link to itself": lambda path: path.symlink_to(path),
    "memory of the process": lambda path: path.symlink_to("/proc/self/mem"),
    "messages of the kernel": lambda path: path.symlink_to("/proc/kmsg"),
    "name below a file": lambda path: path.symlink_to("/etc/passwd/x"),
    "long name": lambda path: path.symlink_to("a" * 300),
    "unreadable": _unreadable,
}
"""What may be in the place of a file; root reads what is unreadable, and finds a bad file."""
