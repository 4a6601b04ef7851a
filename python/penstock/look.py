"""How a scheme looks: its colour on light and on dark ground, its marker, its dash.

What it is: one list for terminal, page and paper figure. What it is not: it draws nothing.
Invariant: a preset has one look everywhere; the names of one figure have looks that differ in hue,
dash or marker. The looks of the first twelve are told apart in grey, too.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """How a scheme is drawn."""

    colour: str
    """On light ground, a key of `ON_DARK`."""
    marker: str
    """A marker of Matplotlib: o s ^ v < > D d P X x; empty for none."""
    dash: str = "-"
    """A line style of Matplotlib: - -- -. :"""

    @property
    def marker_size(self) -> float:
        """Size of the marker [points]; pointed shapes are drawn larger to weigh the same."""
        return 5.6 if self.marker in ("^", "v", "<", ">", "X", "P") else 4.4

    @property
    def on_dark(self) -> str:
        """The colour on dark ground."""
        return ON_DARK[self.colour]


# Okabe and Ito's palette ("Color Universal Design", 2008), told apart with every common form of
# colour blindness; a family of variants shares its hue and differs in marker and dash.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, BLACK = "#56B4E9", "#CC79A7", "#1d2329"
OCHRE, SLATE = "#8A6D1B", "#7A8793"

ON_DARK = {
    BLUE: "#3D9BE0",
    ORANGE: "#F2B134",
    GREEN: "#2FBF95",
    VERMILION: "#F5793A",
    SKY: "#9BD9FF",
    PURPLE: "#E3A0C8",
    BLACK: "#EEF1F4",
    OCHRE: "#BFA052",
    SLATE: "#9AA7B3",
}
"""Colour on light ground -> the same hue on dark ground (our choice: a contrast of at least 4.5 to
the page's dark ground, and the order of brightness kept)."""

LOOKS: dict[str, Look] = {
    "bfc": Look(BLUE, "o"),
    "bfc-128": Look(BLUE, "s", "--"),
    "bfc-stochastic": Look(SKY, "v", "--"),
    "bfc-single": Look(SLATE, "x", ":"),
    "bfc-cc": Look(BLUE, "D", "-."),
    "bfc-no-nic": Look(SKY, "<", "-."),
    "bfc-sampling": Look(SKY, ">", ":"),
    "bfc-incast-label": Look(BLUE, "^", ":"),
    "bfc-avoid": Look(BLUE, "v", "-."),
    "bfc-grace": Look(ORANGE, "^", "--"),
    "bfc-epochs": Look(GREEN, "o", "-"),
    "bfc-live": Look(PURPLE, "o"),
    "bfc-srf": Look(SKY, "P", "--"),
    "bfc-srf-closest": Look(GREEN, "X", "-"),
    "bfc-flow-pauses": Look(SLATE, "s", "--"),
    "bfc-credits": Look(ORANGE, "D", "-"),
    "bfc-128-credits": Look(ORANGE, "d", "--"),
    "ideal-fq": Look(BLACK, "", "--"),
    "ideal-srf": Look(SLATE, "", "--"),
    "hpcc": Look(VERMILION, "s"),
    "hpcc-script": Look(VERMILION, "D", "--"),
    "hpcc-80": Look(VERMILION, "v", ":"),
    "hpcc-pfc": Look(VERMILION, "^", "-."),
    "hpcc-pfc-sfq": Look(PURPLE, "v", "-."),
    "hpcc-pfc-dqa": Look(PURPLE, "P", "--"),
    "dctcp": Look(GREEN, "^"),
    "dctcp-ss": Look(GREEN, "v", "--"),
    "pfc": Look(PURPLE, "D"),
    "line-rate": Look(SLATE, "D", ":"),
    "window": Look(SLATE, "P", "-."),
    "sfq": Look(ORANGE, "v"),
    "dcqcn": Look(OCHRE, "X"),
    "pcn": Look(BLUE, "P"),
    "pcn-early": Look(BLUE, "X", "--"),
    "pfc-static": Look(PURPLE, "D", "--"),
    "qcn-static": Look(ORANGE, "v", "--"),
    "dcqcn-static": Look(OCHRE, "X", "--"),
    "timely-static": Look(GREEN, "^", "-."),
    "expresspass": Look(SKY, "X", "-."),
    "homa": Look(ORANGE, "P", "-."),
    "homa-ecmp": Look(VERMILION, "^", ":"),
    "ndp": Look(PURPLE, "^", "-."),
    "pfabric": Look(ORANGE, "<", "--"),
    "bfc-shared-classes": Look(BLUE, "P", ":"),
    "ideal-fq-packet-pair": Look(BLACK, "", "-."),
    "ideal-fq-round-robin": Look(BLACK, "", ":"),
    "hpcc-irn": Look(VERMILION, "P", "--"),
    "irn": Look(VERMILION, "<"),
    "dctcp-script": Look(GREEN, "D", "-."),
    "dctcp-tcp": Look(GREEN, "s", ":"),
    "timely": Look(GREEN, "v"),
    "timely-window": Look(GREEN, "<", "--"),
    "powertcp": Look(GREEN, "P"),
    "theta-powertcp": Look(GREEN, "P", "--"),
    "capfc": Look(PURPLE, "<"),
    "p-pfc": Look(PURPLE, ">", "--"),
    "sfq-tcp": Look(ORANGE, "v", ":"),
    "qcn": Look(ORANGE, "s", "-."),
    "wrr": Look(ORANGE, ">", "-."),
    "dcqcn-mellanox": Look(OCHRE, "X", "-."),
    "dcqcn-mellanox-window": Look(OCHRE, "X", ":"),
    "dcqcn-released": Look(OCHRE, "P", ":"),
    "afq": Look(OCHRE, "o"),
    "afq-dctcp": Look(OCHRE, "^", "--"),
    "afq-drr": Look(OCHRE, "s", "-."),
    "afq-fair-memory": Look(OCHRE, "D", ":"),
    "afq-groups": Look(OCHRE, "v", "--"),
    "afq-tcp": Look(OCHRE, "P", "-."),
    "tcp": Look(SLATE, "o"),
    "cubic": Look(SLATE, "v", "--"),
    "codel": Look(SLATE, "^"),
    "swift": Look(SLATE, "X"),
    "fafc": Look(SKY, "o"),
    "fafc-hold": Look(SKY, "s", "--"),
    "fafc-hpcc": Look(SKY, "D", "-."),
    "fafc-timely": Look(SKY, "^", ":"),
    "expresspass-paper": Look(SKY, "X", ":"),
}

MEETS, MISSES = Look(BLUE, "o"), Look(VERMILION, "s")
"""A trial of a search that does as required, and one that does not."""

_OTHERS = [
    Look(BLUE, "o"),
    Look(VERMILION, "s"),
    Look(GREEN, "^"),
    Look(ORANGE, "D"),
    Look(PURPLE, "v"),
    Look(SKY, "P"),
    Look(OCHRE, "X"),
    Look(SLATE, "<"),
    Look(BLUE, "d", "--"),
    Look(VERMILION, ">", "-."),
    Look(GREEN, "x", "--"),
    Look(ORANGE, "<", ":"),
    Look(PURPLE, "s", ":"),
    Look(SKY, "^", "--"),
    Look(OCHRE, "o", "-."),
    Look(SLATE, "v", ":"),
]
_COLOURS, _MARKERS, _DASHES = list(ON_DARK), "os^v<>DdPXx", ("-", "--", "-.", ":")
_MORE = [Look(_COLOURS[n % 9], _MARKERS[n % 11], _DASHES[n % 4]) for n in range(9 * 11 * 4)]
"""For names beyond `_OTHERS`: 9 colours, 11 markers and 4 dashes have no common divisor, so walking
along all three at once meets each of the 396 combinations once."""


def look(name: str) -> Look:
    """Look of a scheme; one that is not known gets a look fixed by its name."""
    return LOOKS.get(name) or _OTHERS[zlib.crc32(name.encode()) % len(_OTHERS)]


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Looks of the lines of one figure: the schemes' own, and others for other names."""
    own = {name: LOOKS[name] for name in names if name in LOOKS}
    taken = {one.colour for one in own.values()}
    free = [other for other in _OTHERS if other not in own.values()]
    free.sort(key=lambda other: other.colour in taken)  # hues of their own come first
    more = [other for other in _MORE if other not in (*own.values(), *free)]
    spare = itertools.cycle((*free, *more))
    return {name: own[name] if name in own else next(spare) for name in names}


WHITE, DARK_CARD = "#ffffff", "#1c2227"
"""The grounds that bars stand on: paper and light pages, and dark pages (`--card` in style.css)."""


APART = 20.0
"""CIE 1976 difference from which two bars are told apart (our choice: 2 is just seen)."""
PALEST, STEP = 0.8, 0.05
"""Share of the ground in a colour up to which a paler one is looked for, and in what steps."""

Pair = tuple[str, str]
"""A colour on light and on dark ground."""


def bar_colours(colours: Mapping[str, Pair]) -> dict[str, Pair]:
    """The colours of the bars of one figure by name.

    Bars have no dash and no marker. So of n names of one colour the k-th mixes k/n of the ground
    into it, counted from 0, or more where that is too like another colour of the figure.
    """
    count = Counter(colours.values())
    before: Counter[Pair] = Counter()
    taken, found = list(count), {}
    for name, pair in colours.items():
        share = before[pair] / count[pair]
        before[pair] += 1
        pure = (pair[0].lower(), pair[1].lower())
        found[name] = _tint(pair, share, taken) if share else pure
        taken.append(found[name])
    return found


def _tint(pair: Pair, share: float, taken: Sequence[Pair]) -> Pair:
    """The first paler colour from a share of the ground on that is unlike those that are taken."""
    steps = range(1 + max(0, int((PALEST - share) / STEP)))
    shares = [share + step * STEP for step in steps]
    tints = [(mixed(pair[0], WHITE, one), mixed(pair[1], DARK_CARD, one)) for one in shares]

    def nearest(tint: Pair) -> float:
        return min(difference(*two) for other in taken for two in zip(tint, other, strict=True))

    return next((one for one in tints if nearest(one) >= APART), max(tints, key=nearest))


def difference(one: str, other: str) -> float:
    """How unlike two colours look: their distance in CIELAB, CIE 1976."""
    return math.dist(_lab(one), _lab(other))


def _lab(colour: str) -> tuple[float, float, float]:
    """CIELAB of an sRGB colour under D65 (IEC 61966-2-1)."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    x, y, z = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def mixed(colour: str, ground: str, share: float) -> str:
    """A colour with so large a share of the ground in it; all are #rrggbb."""
    parts = [
        round(int(colour[at : at + 2], 16) * (1 - share) + int(ground[at : at + 2], 16) * share)
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


def looks_as_json(named: Mapping[str, Look]) -> dict[str, dict[str, str]]:
    """The looks of names, as the scripts of a page read them."""
    return {
        name: {"light": one.colour, "dark": one.on_dark, "marker": one.marker, "dash": one.dash}
        for name, one in named.items()
    }
