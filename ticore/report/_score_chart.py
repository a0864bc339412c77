"""Where a text is watermarked: a strip from its first token to its last.

The bars are the mean scores of equal parts of the text; a band with a number is a stretch. All of
it is said in words as well. A text that is not marked has bars too, and no band.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..watermarking import Detection, Stretch
from ._detection_facts import stretch_facts
from ._markup import Html, element, text
from ._style import Style

_BARS = 100
_FEWEST_TOKENS = 8  # of a bar: the score of a token alone is mostly chance
_HEIGHT, _BAND = 64, 16  # in pixels; the band is below the bars

CHART_STYLE = Style(
    rules="""\
.along { margin: 1rem 0; }
.along figcaption { color: var(--faint); font-size: 0.9rem; }
.strip { width: 100%; height: 64px; box-sizing: border-box; border: 1px solid var(--line); }
.strip .bar { fill: var(--faint); }
.strip .band { fill: rgb(var(--good) / 0.6); stroke: var(--ink); }
.strip text { fill: var(--ink); font: 13px system-ui, sans-serif; text-anchor: middle; }
""",
)


def score_chart(found: Detection, stretches: Sequence[Stretch]) -> tuple[Html, ...]:
    """A drawing of one text with a caption, for a page with CHART_STYLE.

    Args:
        found: whose scores the bars show.
        stretches: disjoint, in the order of the text.

    Returns:
        One element; none for a text so short that it has one bar.
    """
    if found.token_count < 2 * _FEWEST_TOKENS and not stretches:
        return ()
    share = 100 / max(found.token_count, 1)  # a percentage has no need to be stretched on a phone
    means = _means(found)
    highest = max(means, default=0.0) or 1.0
    room, width = _HEIGHT - _BAND, 100 / len(means)
    bars = [
        _box("bar", at * width, room - mean / highest * room, 0.8 * width, mean / highest * room)
        for at, mean in enumerate(means)
    ]
    bands = []
    for number, one in enumerate(stretches, 1):
        begin, end = one.begin * share, one.end * share
        ((_, said),) = stretch_facts([one])
        band = _box("band", begin, room, end - begin, _BAND, said)
        middle = f"{(begin + end) / 2:.2f}%"
        bands += [band, element("text", text(str(number)), x=middle, y=str(_HEIGHT - 3))]
    said = f"{len(stretches)} marked in {found.token_count:,} tokens"
    drawing = element(
        "svg", *bars, *bands, class_="strip", role="img", aria_label=f"stretches: {said}"
    )
    caption = "Score along the text, from its first token to its last"
    if stretches:
        caption += "; below it each stretch that is marked"
    return (element("figure", drawing, element("figcaption", text(caption)), class_="along"),)


def _box(kind: str, x: float, y: float, width: float, height: float, said: str = "") -> Html:
    """A rectangle; x and width in percent."""
    title = (element("title", text(said)),) if said else ()
    across = {"x": f"{x:.2f}%", "width": f"{max(width, 0.1):.2f}%"}
    down = {"y": f"{y:.1f}", "height": f"{max(height, 0.0):.1f}"}
    return element("rect", *title, class_=kind, **across, **down)


def _means(found: Detection) -> list[float]:
    """The mean score of the tokens that count in each part of the text; 0 where none does."""
    count = max(1, min(_BARS, found.token_count // _FEWEST_TOKENS))
    parts = np.arange(found.token_count) * count // max(found.token_count, 1)
    counted = parts[found.counted]
    sums = np.bincount(counted, weights=found.scores[found.counted], minlength=count)
    means: list[float] = (sums / np.maximum(np.bincount(counted, minlength=count), 1)).tolist()
    return means
