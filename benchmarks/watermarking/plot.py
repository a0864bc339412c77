"""The plot: strength and area under the ROC curve, by scheme and arm."""

from __future__ import annotations

from pathlib import Path

from benchmarks._harness.report import nothing_to_draw
from benchmarks._harness.style import (
    BLUE,
    GREEN,
    VERMILION,
    clear_frame,
    new_figure,
    save_figure,
)
from benchmarks._harness.types import JsonObject

from .plan import FULL_LENGTH, NO_ROLLBACK, ROLLBACK, UNMARKED

_ARMS = ((ROLLBACK, BLUE, "o"), (NO_ROLLBACK, VERMILION, "s"), (FULL_LENGTH, GREEN, "^"))
_SHIFT = 0.2  # between arms, as a share of the distance between two schemes
_AXIS_START = 0.95  # of the area at most, so that small differences do not look large


def plot(report: JsonObject, file: Path) -> None:
    """Draw a report. The file's ending chooses the format.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: no text with a watermark was written.
    """
    entries = [entry for entry in report["written"] if entry["scheme"] != UNMARKED]
    schemes = list(dict.fromkeys(entry["scheme"] for entry in entries))
    if not schemes:
        raise nothing_to_draw("no text with a watermark was written")
    figure = new_figure(9, 4.2)
    strength, area = figure.subplots(1, 2)
    strength.set_title("Strength, mean and standard deviation", fontsize=10, loc="left")
    area.set_title("Area under the ROC curve, 95 % interval", fontsize=10, loc="left")
    for n, (arm, colour, marker) in enumerate(_ARMS):
        here = [entry for entry in entries if entry["arm"] == arm]
        x = [schemes.index(entry["scheme"]) + (n - 1) * _SHIFT for entry in here]
        look = {"color": colour, "marker": marker, "linestyle": "none", "capsize": 3}
        look |= {"markersize": 6}
        deviations = [entry["strength_sd"] or 0.0 for entry in here]
        strength.errorbar(x, [one["strength"] for one in here], deviations, label=arm, **look)
        told_apart = [(at, entry) for at, entry in zip(x, here, strict=True) if "auroc" in entry]
        if told_apart:
            areas = [entry["auroc"] for _, entry in told_apart]
            # The interval of few texts may lie beside their area.
            below = [max(0.0, one["auroc"] - one["auroc_interval"][0]) for _, one in told_apart]
            above = [max(0.0, one["auroc_interval"][1] - one["auroc"]) for _, one in told_apart]
            area.errorbar([at for at, _ in told_apart], areas, [below, above], **look)
    for axes in (strength, area):
        axes.set_xticks(range(len(schemes)), schemes)
        axes.set_xlim(-0.5, len(schemes) - 0.5)
        clear_frame(axes, grid="y")
    strength.set_ylim(bottom=0)
    lows = (entry["auroc_interval"][0] for entry in entries if "auroc" in entry)
    start = min(_AXIS_START, *lows, 1.0)
    margin = 0.08 * (1 - start)
    area.set_ylim(start - margin, 1 + margin)
    area.ticklabel_format(axis="y", useOffset=False)
    figure.legend(loc="outside lower center", ncols=len(_ARMS), frameon=False)
    settings = report["settings"]
    figure.suptitle(
        f"{settings['model']}, texts of up to {settings['max_tokens']} tokens, "
        f"{entries[0]['text_count']} of each kind",
        fontsize=11,
        fontweight="bold",
    )
    save_figure(figure, file)
