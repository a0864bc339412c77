"""What was found, as a figure: seconds for a mask of the whole vocabulary, by tokens of history."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.drawing import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, new_figure
from benchmarks.spread import duration
from ticore.errors import SettingsError

from .plan import Found

_LINES = (
    ("paper", "the paper's way: retokenise all", VERMILION, "s"),
    ("oracle", "oracle, in this mode", PURPLE, "X"),
    ("tail", "tail: retokenise since a stable cut", ORANGE, "^"),
    ("mask_new_tail", "mask, first time, new tail", SKY, "D"),
    ("mask_new_token", "mask, first time, new last token", BLUE, "o"),
    ("mask_again", "mask, asked again", GREEN, "v"),
)
_ACROSS = 3


def plot(found: Found, file: Path) -> None:
    """Draw a panel for each tokenizer and mode. The file's ending chooses the format.

    Raises MissingExtraError without matplotlib, SettingsError if there is nothing to draw.
    """
    panels = [
        (f"{tokenizer['name']}, {tokenizer['vocab_size']:,} ids, {mode}", rows["lengths"])
        for tokenizer in found["tokenizers"]
        for mode, rows in tokenizer.get("modes", {}).items()
    ]
    if not panels:
        raise SettingsError("there is nothing to draw: no tokenizer was measured")
    across = min(_ACROSS, math.ceil(math.sqrt(len(panels))))
    down = math.ceil(len(panels) / across)
    figure = new_figure(max(7.0, 1.2 + 3.6 * across), 1.5 + 3.1 * down)
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415

    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    shown: dict[str, Any] = {}
    for axes, (title, lengths) in zip(grid.flat, panels, strict=False):
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for name, label, colour, sign in _LINES:
            points = _points(lengths, name)
            if points:
                x, y = zip(*points, strict=True)
                (line,) = axes.plot(x, y, marker=sign, color=colour, label=label, linewidth=1.6)
                shown.setdefault(label, line)
        axes.set_xticks([int(n) for n in lengths], [f"{int(n):,}" for n in lengths])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(numticks=20))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: duration(seconds)))
        axes.tick_params(labelbottom=True)  # also where panels below share it, or none is
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    processor = found["machine"]["processor"]
    scaled = "; retokenising scaled from a sample of ids" * (not found["settings"]["full"])
    order = [label for _, label, _, _ in _LINES if label in shown]
    figure.legend(
        [shown[label] for label in order],
        order,
        loc="outside upper left",
        ncols=across,
        frameon=False,
        fontsize=9,
        title="Time for a mask of the whole vocabulary, median",
        alignment="left",
        title_fontproperties={"weight": "bold", "size": 12},
    )
    figure.supxlabel(f"tokens of history, on one core of: {processor}{scaled}", fontsize=10)
    figure.savefig(file, dpi=160)


def _points(lengths: Found, name: str) -> list[tuple[int, float]]:
    found = []
    for length, here in lengths.items():
        if name.startswith("mask"):
            times = here.get("mask", {}).get(name, {}).get("all")
        else:
            times = here.get(name, {}).get("mask")
        if times:
            found.append((int(length), times["median"]))
    return found
