"""Figures as a picture: strength and area under the curve, by scheme and arm."""

from __future__ import annotations

from pathlib import Path

from benchmarks.drawing import BLUE, GREEN, VERMILION, new_figure
from benchmarks.workers import Found
from ticore.errors import SettingsError

from .plan import MASKED, NO_ROLLBACK, ROLLBACK, UNMARKED

_ARMS = ((ROLLBACK, BLUE, "o"), (NO_ROLLBACK, VERMILION, "s"), (MASKED, GREEN, "^"))
_APART = 0.2  # of the distance between two schemes
_LEAST_SHOWN = 0.95  # of the area, so that what hardly differs does not look as if it did


def plot(found: Found, file: Path) -> None:
    """Draw what `figures` gives. The file's ending chooses the format.

    Raises MissingExtraError without matplotlib, SettingsError if there is nothing to draw.
    """
    rows = [row for row in found["written"] if row["scheme"] != UNMARKED]
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    if not schemes:
        raise SettingsError("there is nothing to draw: no text with a watermark was written")
    figure = new_figure(9, 4.2)
    strength, area = figure.subplots(1, 2)
    strength.set_title("Strength, mean and standard deviation", fontsize=10, loc="left")
    area.set_title("Area under the ROC curve, 95 % interval", fontsize=10, loc="left")
    for n, (arm, colour, sign) in enumerate(_ARMS):
        here = [row for row in rows if row["arm"] == arm]
        places = [schemes.index(row["scheme"]) + (n - 1) * _APART for row in here]
        look = {"color": colour, "marker": sign, "linestyle": "none", "capsize": 3, "markersize": 6}
        spread = [row["strength_sd"] or 0.0 for row in here]
        strength.errorbar(places, [row["strength"] for row in here], spread, label=arm, **look)
        told = [(x, row) for x, row in zip(places, here, strict=True) if "auroc" in row]
        if told:
            x = [place for place, _ in told]
            areas = [row["auroc"] for _, row in told]
            # Where an interval was drawn from few texts, its area may lie just outside.
            below = [max(0.0, row["auroc"] - row["auroc_interval"][0]) for _, row in told]
            above = [max(0.0, row["auroc_interval"][1] - row["auroc"]) for _, row in told]
            area.errorbar(x, areas, [below, above], **look)
    for axes in (strength, area):
        axes.set_xticks(range(len(schemes)), schemes)
        axes.set_xlim(-0.5, len(schemes) - 0.5)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    strength.set_ylim(bottom=0)
    lowest = min((row["auroc_interval"][0] for row in rows if "auroc" in row), default=1.0)
    margin = 0.08 * (1 - min(lowest, _LEAST_SHOWN))
    area.set_ylim(min(lowest, _LEAST_SHOWN) - margin, 1 + margin)
    area.ticklabel_format(axis="y", useOffset=False)
    figure.legend(loc="outside lower center", ncols=len(_ARMS), frameon=False)
    settings = found.get("settings", {})
    if settings:
        figure.suptitle(
            f"{settings['place']}, texts of up to {settings['tokens']} tokens, "
            f"{rows[0]['texts']} of each kind",
            fontsize=11,
            fontweight="bold",
        )
    figure.savefig(file, dpi=160)
