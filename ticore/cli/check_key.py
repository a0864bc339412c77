"""`ticore check-key`: whether a key calls too many texts watermarked that nobody watermarked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..corpus import ENDINGS
from ..corpus.formats import open_corpus
from ..registry import load_tokenizer
from ..watermarking import KeyCheck, WatermarkDetector
from ..watermarking import check_key as look
from . import streams
from .marks import (
    DEFAULT_SCHEME,
    Gamma,
    Greens,
    KeyFile,
    Scheme,
    SchemeVersion,
    read_key,
    scheme_settings,
    wrong_settings_are_wrong_usage,
)
from .settings import DEFAULT_MODEL
from .usage import UsageError

_UNLUCKY = 1
_ROWS = 500  # read at a time
_FPR = inspect.signature(WatermarkDetector).parameters["fpr"].default


def check_key(
    key_file: KeyFile,
    texts: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="Texts that people wrote, of the kind that is to be looked at: one on each line, "
            f"or, with --column, in a file that ends in {' or '.join(ENDINGS)}.",
            show_default=False,
        ),
    ],
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Where the texts are in such files.", show_default=False),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="That of the model that is to write: the name of a shipped model, or "
            "BACKEND:LOCATION, such as sentencepiece:tokenizer.model.",
        ),
    ] = DEFAULT_MODEL,
    scheme: Scheme = DEFAULT_SCHEME,
    gamma: Gamma = None,
    greens: Greens = None,
    scheme_version: SchemeVersion = None,
    fpr: Annotated[
        float, typer.Option(metavar="X", help="The false-positive rate that is to be used.")
    ] = _FPR,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """Say whether a key finds watermarks where there are none.

    A false-positive rate holds over all keys. The one list of a `unigram` key may suit a language
    or a subject, and then too many of its texts are called watermarked. The exit status is 1 if
    that is so.
    """
    key = read_key(key_file)
    with wrong_settings_are_wrong_usage():
        detector = WatermarkDetector(
            load_tokenizer(tokenizer),
            scheme,
            key=key,
            fpr=fpr,
            **scheme_settings(gamma=gamma, greens=greens, version=scheme_version),
        )
    with streams.progress_bar("looking"):
        found = look(detector, _texts(texts, column))
    name = f"{scheme}, version {detector.version}"
    if json:
        streams.write_json(asdict(found) | {"advice": found.advice, "looked_for": name})
    else:
        streams.show(_shown(found, name))
    if found.verdict == "unlucky":
        raise typer.Exit(_UNLUCKY)


def _texts(paths: list[Path], column: str | None) -> Iterator[str]:
    for path in paths:
        is_table = path.suffix.lower() in ENDINGS
        if is_table != (column is not None):
            what = "name the column with the texts: --column NAME" if is_table else "no --column"
            raise UsageError(f"{streams.printable(str(path))}: {what}")
        if column is None:
            lines = streams.read_text_file(path).splitlines()
            yield from (line for line in lines if line.strip())
        else:
            for batch in open_corpus(path, column, _ROWS, None).batches():
                yield from (text for text in batch.texts if isinstance(text, str))


def _shown(found: KeyCheck, name: str) -> Group:
    style = {"unlucky": "bold red", "no sign of bad luck": "bold green"}.get(found.verdict, "")
    grid = Table.grid(padding=(0, 2))
    skipped = f"; {found.skipped:,} could not be scored" if found.skipped else ""
    for fact, value in (
        ("verdict", Text(found.verdict, style=style)),
        ("looked for", Text(name)),
        ("texts", Text(f"{found.texts:,}{skipped}")),
        ("strength", Text(f"{found.strength:+.2f} standard deviations, in the mean")),
        ("next", Text(found.advice)),
    ):
        grid.add_row(Text(fact, style="bold"), value)
    rates = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("called watermarked at", "texts", "share", "99 % interval", "allowed"):
        rates.add_column(title, justify="right")
    for rate in found.rates:
        rates.add_row(
            f"{rate.level:g}",
            str(rate.called),
            f"{rate.share:.2%}",
            f"{rate.low:.2%} to {rate.high:.2%}",
            f"{rate.level * rate.texts:.3g}",
        )
    return Group(grid, "", rates)
