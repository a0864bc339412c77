"""`ticore calibrate`: how often configurations are found, where they are not and where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from .._support.installing import require_module
from .._support.visible import visible
from ..corpus._formats import ENDINGS_SAID
from ..evaluation import Calibration, CalibrationCell
from ..evaluation import calibrate as measure
from ..evaluation._calibration import LENGTHS, THRESHOLDS
from ..evaluation._entropies import bits_said
from ..registry import load_model
from ..report._tables import plain_table
from . import streams
from .configurations import open_detector, read_list
from .options import OUTPUT, Json, file_option, files_argument, option
from .secrets import warn_of_others
from .shown_files import require_place, write_shown
from .texts_of_files import texts_of
from .usage import UsageError, wrong_settings_are_wrong_usage
from .watermark_options import (
    WATERMARK,
    TokenizerPlace,
    WatermarkOptions,
)

_TEXTS = "Texts"
_SHARES = (0.5, 0.95)  # of marked texts, for the lengths that find them


def calibrate(
    files: Annotated[
        list[Path],
        files_argument(
            "Texts without a watermark, of the kind that will be looked at: one on each line, "
            f"or, with --column, in a file that ends in {ENDINGS_SAID}."
        ),
    ],
    config: Annotated[
        Path,
        file_option("The configurations, as a JSON list; see `ticore detect`.", panel=WATERMARK),
    ],
    marked: Annotated[
        list[Path] | None,
        file_option("Texts with a watermark, in the same form; may be repeated.", panel=_TEXTS),
    ] = None,
    column: Annotated[
        str | None, option("NAME", "Where the texts are in tables.", panel=_TEXTS)
    ] = None,
    length: Annotated[
        list[int] | None,
        option(
            "N",
            "Look at the first N tokens of each text; may be repeated.",
            panel=_TEXTS,
            default=", ".join(map(str, LENGTHS)),
        ),
    ] = None,
    tokenizer: TokenizerPlace = None,
    model: Annotated[
        str | None,
        option(
            "PLACE",
            "The model that wrote the marked texts: count them by its entropy, too.",
            panel=_TEXTS,
        ),
    ] = None,
    plot: Annotated[
        Path | None, file_option("Draw the rates to this file: .svg or .png.", panel=OUTPUT)
    ] = None,
    json: Json = False,
) -> None:
    """Measure how often watermarks are found, by length.

    With --model the texts with a watermark are also counted by the entropy of the model's next
    token: where it has little choice, a text has to be longer.

    In texts without a watermark that is the false-positive rate, which is to be at most the
    threshold. In texts with one it is the detection rate, and shows how long a text has to be. Each
    rate has its 95 % interval.
    """
    options = WatermarkOptions(config=config, tokenizer=tokenizer)
    listed = read_list(options)
    if listed is None:
        raise UsageError("--config: expected a JSON list of configurations; put it in brackets")
    figure = None if plot is None else _figures(plot)
    with wrong_settings_are_wrong_usage():
        detector = open_detector(options, listed, {})
        plain, with_mark = list(texts_of(files, column)), list(texts_of(marked or [], column))
        with streams.progress_bar("calibrating") as progress:
            found = measure(
                detector,
                plain,
                with_mark,
                lengths=length or LENGTHS,
                progress=progress,
                model=None if model is None else load_model(model),
            )
    if figure is not None and plot is not None:
        write_shown(plot, figure(found, plot.suffix[1:].lower()))
    if json:
        streams.write_json({"tokenizer": options.place} | found.to_dict())
    else:
        streams.show(_shown(found))
    for path in listed.secret_files:
        warn_of_others(path)


def _figures(plot: Path) -> Any:
    """What draws a figure. Raises UsageError, OutputFileError, MissingExtraError."""
    if plot.suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"--plot: expected a name that ends in .svg or .png, found {plot.name}")
    require_place(plot)
    drawing = require_module("ticore._cli.calibration_figure", "plots", "`ticore calibrate --plot`")
    return drawing.calibration_figure


def _shown(found: Calibration) -> Group:
    parts: list[Any] = []
    for is_marked, title in (
        (False, "called watermarked, of texts without a watermark (95 % interval below)"),
        (True, "found, of texts with one (95 % interval below)"),
    ):
        cells = [cell for cell in found.cells if cell.marked == is_marked]
        if cells:
            parts += [Text(title, style="bold"), _table(cells), ""]
    for threshold in THRESHOLDS:
        half, most = (found.length_for(threshold, share) for share in _SHARES)
        if half is not None:
            rest = f"95 % from {most:,} on" if most else "not 95 % of the longest"
            parts.append(Text(f"found at {threshold:g}: half from {half:,} tokens on, {rest}"))
    parts += map(Text, _by_entropy(found))
    if found.too_short:
        parts.append(Text(f"{found.too_short:,} texts were shorter than all lengths"))
    return Group(*parts)


def _by_entropy(found: Calibration) -> Iterator[str]:
    """A line for each entropy: how long a text has to be."""
    threshold = min((cell.threshold for cell in found.by_entropy), default=None)
    if threshold is None:
        return
    for bucket in dict.fromkeys(cell.entropy for cell in found.by_entropy):
        assert bucket is not None
        texts = max(cell.texts for cell in found.by_entropy if cell.entropy == bucket)
        half, most = (found.length_for(threshold, share, entropy=bucket) for share in _SHARES)
        said = "not half of the longest"
        if half is not None:
            said = f"half from {half:,} tokens on, "
            said += f"95 % from {most:,} on" if most else "not 95 % of the longest"
        count = f"{texts:,} text{'' if texts == 1 else 's'}"
        yield f"found at {threshold:g} with {bits_said(bucket)}: {said} ({count})"


def _table(cells: Sequence[CalibrationCell]) -> Table:
    thresholds = sorted({cell.threshold for cell in cells}, reverse=True)
    table = plain_table()
    for name in ("configuration", "tokens", "texts", *(f"{t:g}" for t in thresholds)):
        table.add_column(name, justify="left" if name == "configuration" else "right")
    rows: dict[tuple[str, int, int], list[str]] = {}
    for cell in cells:
        share = cell.rate
        said = f"{share.value:.1%}\n{100 * share.low:.3g}-{100 * share.high:.3g}"
        rows.setdefault((cell.configuration, cell.length, cell.texts), []).append(said)
    for (name, tokens, texts), shares in rows.items():
        table.add_row(visible(name), str(tokens), f"{texts:,}", *shares)
    return table
