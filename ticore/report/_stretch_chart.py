"""Where a text is watermarked: a strip from its first token to its last.

The bars are the mean scores of a hundredth of the text each; a band with a number is a stretch. All
of it is said in words as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..watermarking import Detection, Stretch
from ._detection_facts import stretch_facts
from ._markup import Html, element, text
from ._style import Style

_BARS = 100
_WIDTH, _HEIGHT, _BAND = 1000, 60, 16  # in the units of the drawing; the band is below the bars

STRETCH_STYLE = Style(
    rules="""\
.strip { width: 100%; height: auto; margin: 1rem 0 0; border: 1px solid var(--line); }
.strip .bar { fill: var(--faint); }
.strip .band { fill: rgb(var(--good) / 0.6); stroke: var(--ink); }
.strip text { fill: var(--ink); font: 0.8rem system-ui, sans-serif; text-anchor: middle; }
""",
)


def stretch_chart(found: Detection, stretches: Sequence[Stretch]) -> Html:
    """A drawing of one text, for a page with STRETCH_STYLE.

    Args:
        found: whose scores the bars show.
        stretches: disjoint, in the order of the text.
    """
    total = max(found.token_count, 1)
    means = _means(found)
    highest = max(means, default=0.0) or 1.0
    room = _HEIGHT - _BAND
    bars = [
        _box("bar", at * _WIDTH / len(means), room - mean / highest * room, _WIDTH / len(means) - 1,
             mean / highest * room)
        for at, mean in enumerate(means)
    ]  # fmt: skip
    bands = []
    for number, one in enumerate(stretches, 1):
        begin, end = one.begin * _WIDTH / total, one.end * _WIDTH / total
        ((_, said),) = stretch_facts([one])
        band = _box("band", begin, room, end - begin, _BAND, said)
        label = element("text", text(str(number)), x=f"{(begin + end) / 2:.1f}", y=str(_HEIGHT - 3))
        bands += [band, label]
    said = f"{len(stretches)} marked in {found.token_count:,} tokens"
    return element(
        "svg", *bars, *bands, class_="strip", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img",
        aria_label=f"stretches: {said}",
    )  # fmt: skip


def _box(kind: str, x: float, y: float, width: float, height: float, said: str = "") -> Html:
    title = (element("title", text(said)),) if said else ()
    sides = {"x": x, "y": y, "width": max(width, 1.0), "height": max(height, 0.0)}
    return element("rect", *title, class_=kind, **{side: f"{at:.1f}" for side, at in sides.items()})


def _means(found: Detection) -> list[float]:
    """The mean score of the tokens that count in each part of the text; 0 where none does."""
    parts = np.arange(found.token_count) * min(_BARS, found.token_count) // found.token_count
    counted = parts[found.counted]
    count = min(_BARS, found.token_count)
    sums = np.bincount(counted, weights=found.scores[found.counted], minlength=count)
    means: list[float] = (sums / np.maximum(np.bincount(counted, minlength=count), 1)).tolist()
    return means
