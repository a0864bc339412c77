"""`ticore check-key`: whether a key calls too many texts watermarked that are not."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from ..corpus._formats import ENDINGS_SAID
from ..registry import load_tokenizer
from ..report._tables import facts_grid, plain_table
from ..schemes import EXTERNAL_SCHEMES
from ..watermarking import KeyCheck, WatermarkDetector
from ..watermarking import check_key as look
from . import streams
from .options import Json, file_path, files_argument, option
from .secrets import warn_of_others
from .texts_of_files import texts_of
from .usage import UsageError, wrong_settings_are_wrong_usage
from .watermark_options import (
    DEFAULT_FPR,
    AgreementFile,
    Context,
    FprToCheck,
    Gamma,
    Greens,
    KeyFile,
    RepeatsOption,
    Scheme,
    SchemeVersion,
    TokenizerPlace,
    WatermarkOptions,
)

_UNLUCKY = 1

_Files = Annotated[
    list[Path] | None,
    files_argument(
        "Texts that people wrote, of the kind that the key is for: one on each line, or, with "
        f"--column, in a file that ends in {ENDINGS_SAID}."
    ),
]
_Texts = Annotated[list[Path] | None, typer.Option("--texts", parser=file_path, hidden=True)]
_Column = Annotated[str | None, option("NAME", "Where the texts are in such files.", panel="Texts")]


def check_key(
    files: _Files = None,
    texts: _Texts = None,
    column: _Column = None,
    agreement: AgreementFile = None,
    key_file: KeyFile = None,
    scheme: Scheme = None,
    gamma: Gamma = None,
    greens: Greens = None,
    context: Context = None,
    scheme_version: SchemeVersion = None,
    repeats: RepeatsOption = None,
    fpr: FprToCheck = DEFAULT_FPR,
    tokenizer: TokenizerPlace = None,
    json: Json = False,
) -> None:
    """Say whether a key finds watermarks where none are.

    A false-positive rate holds over all keys. The one list of a `unigram` key may suit a language
    or a subject, and then too many of its texts are called watermarked. The exit status is 1 if
    that is so.
    """
    paths = _paths(files, texts)
    options = WatermarkOptions(
        agreement=agreement,
        key_file=key_file,
        scheme=scheme,
        gamma=gamma,
        greens=greens,
        context=context,
        scheme_version=scheme_version,
        repeats=repeats,
        tokenizer=tokenizer,
    )
    detector = _detector(options, fpr)
    with streams.progress_bar("checking"):
        found = look(detector, texts_of(paths, column))
    if json:
        named = {"looked_for": detector.target.named}
        streams.write_json(
            asdict(found) | {"advice": found.advice} | named | detector.target.to_dict()
        )
    else:
        streams.show(_shown(found, detector))
    warn_of_others(options.secret_file)
    if found.verdict == "unlucky":
        raise typer.Exit(_UNLUCKY)


def _paths(files: list[Path] | None, texts: list[Path] | None) -> list[Path]:
    if texts:
        streams.note("ticore: warning: --texts is deprecated; give FILE without it")
    if not (files or texts):
        raise UsageError("give at least one FILE of texts")
    return [*(files or []), *(texts or [])]


def _detector(options: WatermarkOptions, fpr: float) -> WatermarkDetector:
    agreement = options.load_agreement()
    with wrong_settings_are_wrong_usage():
        if agreement is not None:
            return WatermarkDetector.from_agreement(agreement, fpr=fpr)
        if options.scheme_name in EXTERNAL_SCHEMES:
            raise UsageError(
                f"--scheme: expected one of ticore's own, found {options.scheme_name}, which "
                f"another engine writes; `ticore calibrate` counts how often its watermark is "
                f"found in such texts"
            )
        more: dict[str, Any] = {} if options.repeats is None else {"repeats": options.repeats}
        key = options.read_key()
        return WatermarkDetector(
            load_tokenizer(options.place),
            options.scheme_name,
            key=key,
            fpr=fpr,
            tokenizer_place=options.place,
            **more,
            **options.settings(),
        )


def _shown(found: KeyCheck, detector: WatermarkDetector) -> Group:
    style = {"unlucky": "bold red", "no sign of bad luck": "bold green"}.get(found.verdict, "")
    skipped = f"; {found.skipped:,} could not be scored" if found.skipped else ""
    facts: list[tuple[str, str | Text]] = [
        ("verdict", Text(found.verdict, style=style)),
        ("texts", f"{found.texts:,}{skipped}"),
        ("strength", f"{found.strength:+.2f} standard deviations, in the mean"),
        ("next", found.advice),
        *(fact for fact in detector.target.facts() if fact[0] != "threshold"),
    ]
    rates = plain_table()
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
    return Group(facts_grid(facts), "", rates)
