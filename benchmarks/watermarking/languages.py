"""How watermarks are found in three languages: texts by people, and texts that a model marked.

python -m benchmarks.watermarking.languages --data DIR --plot calibration.svg --json F.json

Passages by people are from DIR/corpora, and marked texts continue the prompts of DIR/prompts;
without DIR, bundled ones. Both are cut to several lengths and looked at by
`ticore.evaluation.calibrate`, under one key for each scheme and language.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from rich.table import Table

import ticore
from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.corpora import load_corpora
from benchmarks._harness.progress import progress_bar
from benchmarks._harness.prompts import language_of, load_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.style import GREY, LINE_STYLES, clear_frame, new_figure, save_figure
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject
from ticore.evaluation import calibrate
from ticore.interfaces import LanguageModel, Tokenizer
from ticore.watermarking import WatermarkDetector, Watermarker

SCHEMES = ("left_hash", "unigram", "gumbel")
LENGTHS = (25, 50, 100, 200, 400)
_CORPORA = {
    "en": ("English", "English novels"),
    "ja": ("Japanese", "Japanese novels"),
    "zh": ("Chinese", "Chinese essays", "Chinese technology"),
}
_AT_ONCE = 20  # texts that are written side by side
_CHANCE, _SHOWN = (1e-2, 1e-3), 1e-6  # thresholds for people's and for marked texts
# Of the table: whether texts are marked, and the threshold.
_COLUMNS = (*((False, threshold) for threshold in _CHANCE), (True, _CHANCE[0]), (True, _SHOWN))


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.languages", __doc__, plot=True)
    parser.add_argument("--data", type=Path, metavar="DIR", help="holds corpora/ and prompts/")
    parser.add_argument(
        "--model", nargs="+", default=["tiny-en", "tiny-ja", "tiny-zh"], metavar="PLACE"
    )
    parser.add_argument("--passages", type=positive_int, default=3000, help="by people, at most")
    parser.add_argument("--texts", type=positive_int, default=60, help="with each watermark")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    cells: list[JsonObject] = []
    with progress_bar(len(options.model) * len(SCHEMES)) as advance:
        for place in options.model:
            for found in measured(place, options.data, options.passages, options.texts):
                cells += found
                advance(1, "schemes")
    settings = {"passages": options.passages, "texts": options.texts}
    report = new_report(settings, complete=True) | {"cells": cells}
    return publish(options, report, cells, [_table(cells)], _draw)


def measured(
    place: str, data: Path | None, passages: int, texts: int
) -> Iterator[list[JsonObject]]:
    """For each scheme, the cells of `ticore.evaluation.calibrate` with their `model` and `scheme`.

    Args:
        place: of the model.
        data: a folder with corpora and prompts, if any.
        passages: the most texts by people.
        texts: how many are written with each scheme.
    """
    model, language = ticore.load_model(place), language_of(place)
    corpora = load_corpora((), data, _CORPORA[language]).values()
    people = list(islice(_passages(model.tokenizer, "\n".join(corpora)), passages))
    prompts = load_prompts(data, language)
    for scheme in SCHEMES:
        key = sha256(f"{place} {scheme}".encode()).digest()
        marked = list(_marked(model, scheme, key, prompts, texts))
        detector = WatermarkDetector.any(model.tokenizer, [{"scheme": scheme, "key": key}])
        found = calibrate(detector, people, marked, lengths=LENGTHS)
        name = detector.names[0]
        yield [
            {"model": place, "scheme": scheme} | cell.to_dict()
            for cell in found.cells
            if cell.configuration == name
        ]


def _passages(tokenizer: Tokenizer, text: str) -> Iterator[str]:
    """Passages of the longest length, one after the other; each begins at a line's beginning."""
    some = text[:20_000]
    size = round(1.3 * max(LENGTHS) * len(some) / len(tokenizer.encode(some)))
    at = 0
    while at + size <= len(text):
        passage = text[at : at + size]
        if len(tokenizer.encode(passage)) >= max(LENGTHS):
            yield passage
        at = text.find("\n", at + size) + 1 or len(text)


def _marked(
    model: LanguageModel, scheme: str, key: bytes, prompts: Sequence[str], count: int
) -> Iterator[str]:
    """Texts with a watermark, without their prompts."""
    writer = Watermarker(model, scheme, key=key, end_of_text=False)
    some = list(islice(cycle(prompts), count))
    for at in range(0, count, _AT_ONCE):
        # Some tokens more: by itself a text may be read as fewer than it was written with.
        together = writer.generate_batch(
            some[at : at + _AT_ONCE], max_new_tokens=max(LENGTHS) + 20, seed=at
        )
        for text, prompt in zip(together, some[at : at + _AT_ONCE], strict=True):
            yield text.text.removeprefix(prompt)


def _table(cells: Sequence[JsonObject]) -> Table:
    """False alarms among people's texts, and marked texts that are found, in percent.

    Where texts depend on each other by the key, as with `unigram`, another key gives another rate,
    of which the intervals say nothing.
    """
    table = text_table(
        "Found, % of texts by people and of marked ones (95 % interval for other texts, same key)",
        ["model", "scheme"],
        ["tokens", *(f"{'marked' if is_marked else 'people'}, {p:g}" for is_marked, p in _COLUMNS)],
    )
    for model, scheme, length in dict.fromkeys(
        (c["model"], c["scheme"], c["length"]) for c in cells
    ):
        of_row = [
            c for c in cells if (c["model"], c["scheme"], c["length"]) == (model, scheme, length)
        ]
        found = {(c["marked"], c["threshold"]): c for c in of_row}
        shares = (_percent(found[each]) if each in found else "-" for each in _COLUMNS)
        table.add_row(model, scheme, str(length), *shares)
    return table


def _percent(cell: JsonObject) -> str:
    rate, low, high = (100 * cell[name] for name in ("rate", "low", "high"))
    return f"{rate:.3g} ({low:.2g} to {high:.3g})"


def _draw(report: JsonObject, file: Path) -> None:
    """Draw the rates by length: one column for each model."""
    cells = report["cells"]
    models = list(dict.fromkeys(cell["model"] for cell in cells))
    figure = new_figure(3.4 * len(models), 5.6)
    grid = figure.subplots(2, len(models), squeeze=False, sharey="row")
    for column, model in enumerate(models):
        people, marked = grid[0][column], grid[1][column]
        people.set_title(f"{model}: people's texts at {_CHANCE[0]:g}", fontsize=10, loc="left")
        marked.set_title(f"{model}: marked texts at {_SHOWN:g}", fontsize=10, loc="left")
        for scheme, look in zip(SCHEMES, LINE_STYLES, strict=False):
            of_scheme = [c for c in cells if (c["model"], c["scheme"]) == (model, scheme)]
            for axes, which in ((people, (False, _CHANCE[0])), (marked, (True, _SHOWN))):
                some = [c for c in of_scheme if (c["marked"], c["threshold"]) == which]
                _line(axes, some, look, scheme)
        people.axhline(_CHANCE[0], color=GREY, linewidth=0.8, zorder=0)
        people.set_ylim(0, 3 * _CHANCE[0])
        marked.set_xlabel("tokens")
        for axes in (people, marked):
            axes.set_xscale("log")
            axes.set_xticks(LENGTHS, list(map(str, LENGTHS)))
            axes.minorticks_off()
            clear_frame(axes)
    grid[0][0].set_ylabel("false alarms of one key")
    grid[1][0].set_ylabel("share found")
    grid[1][0].legend(frameon=False, fontsize=8)
    save_figure(figure, file)


def _line(axes: Any, cells: Sequence[JsonObject], look: tuple[str, str], label: str) -> None:
    """Rates by length, with their intervals."""
    below = [cell["rate"] - cell["low"] for cell in cells]
    above = [cell["high"] - cell["rate"] for cell in cells]
    colour, marker = look
    axes.errorbar(
        [cell["length"] for cell in cells],
        [cell["rate"] for cell in cells],
        [below, above],
        color=colour,
        marker=marker,
        label=label,
        markersize=4,
        capsize=2,
        linewidth=1,
    )


if __name__ == "__main__":
    sys.exit(main())
