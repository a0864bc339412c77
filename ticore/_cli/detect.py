"""`ticore detect`: whether texts have a watermark, found from the texts alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar, cast, get_args

import typer
from rich.console import RenderableType

from .._support.input_files import BYTE_ORDER_MARK
from .._support.visible import visible
from ..corpus import AnyTask, Task
from ..corpus._formats import ENDINGS_SAID, has_ending
from ..errors import FileError, InputFileError, TicoreError
from ..interfaces import LossyTokenizer, Tokenizer
from ..report import any_detection_page, any_detection_table, detection_page, detection_table
from ..report._dependence import DEPENDENT_TEXTS
from ..watermarking import (
    AnyDetection,
    AnyWatermarkDetector,
    Detection,
    Tokenizations,
    WatermarkAgreement,
    WatermarkDetector,
)
from ..watermarking._configurations import schemes_of
from . import streams
from .configurations import ListedConfigurations, open_detector, read_list
from .option_names import option_of
from .options import OUTPUT, file_option, files_argument, option
from .scan_options import (
    SCANS,
    BatchSize,
    Executor,
    Limit,
    OutputFile,
    ResultsOnly,
    ScanOptions,
    Workers,
)
from .scan_results import detect_in_files
from .scanning import json_line
from .secrets import warn_of_others
from .shown_files import require_place, write_shown
from .usage import UsageError, wrong_settings_are_wrong_usage
from .watermark_options import (
    DEFAULT_FPR,
    AgreementFile,
    AnyScheme,
    ConfigFile,
    Context,
    Delta,
    Fpr,
    Gamma,
    Greens,
    KeyFile,
    PayloadBits,
    RepeatsOption,
    SchemeVersion,
    TokenizationsOption,
    TokenizerPlace,
    WatermarkOptions,
)

_FAILED = 1
_STANDARD_INPUT = Path("-")

_Files = Annotated[
    list[Path] | None, files_argument("Texts in UTF-8; - or nothing means standard input.")
]
_Html = Annotated[
    Path | None,
    file_option(
        "Write a web page: the texts, each token in the colour of its score.", panel=OUTPUT
    ),
]
_Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print a JSON object for each text, one per line.", rich_help_panel=OUTPUT
    ),
]
_Column = Annotated[
    str | None,
    option(
        "NAME",
        f"FILE has many texts, in this column; it ends in {ENDINGS_SAID}.",
        panel=SCANS,
    ),
]


def detect(
    files: _Files = None,
    agreement: AgreementFile = None,
    key_file: KeyFile = None,
    scheme: AnyScheme = None,
    config: ConfigFile = None,
    gamma: Gamma = None,
    delta: Delta = None,
    greens: Greens = None,
    context: Context = None,
    scheme_version: SchemeVersion = None,
    payload_bits: PayloadBits = None,
    repeats: RepeatsOption = None,
    tokenizations: TokenizationsOption = None,
    fpr: Fpr = DEFAULT_FPR,
    tokenizer: TokenizerPlace = None,
    html: _Html = None,
    json: _Json = False,
    column: _Column = None,
    output: OutputFile = None,
    executor: Executor = None,
    workers: Workers = None,
    batch_size: BatchSize = None,
    limit: Limit = None,
    results_only: ResultsOnly = False,
) -> None:
    """Look for a watermark in texts.

    This needs the key and the settings that the texts were written with, but no model. Key and
    settings come from --agreement, or from --key-file and the options. The exit status is 0
    whether there is a watermark or not, and 1 if a text could not be scored.

    With --column the file is written again with the results beside each row; FILE may also be a
    folder, or a pattern in quotes. If this is interrupted, the same command continues it. A line
    that is not a JSON object is kept as "raw", with the error beside it. Then the exit status is 1
    only if no text at all could be scored.
    """
    paths = files or [_STANDARD_INPUT]
    scanning = ScanOptions(output, executor, workers, batch_size, limit, results_only)
    _require_one_purpose(paths, column, html, scanning)
    options = WatermarkOptions(
        agreement=agreement,
        key_file=key_file,
        config=config,
        scheme=scheme,
        gamma=gamma,
        delta=delta,
        greens=greens,
        context=context,
        scheme_version=scheme_version,
        repeats=repeats,
        tokenizer=tokenizer,
        payload_bits=payload_bits,
    )
    searched = _tokenizations(tokenizations, column)
    if html is not None:
        require_place(html)
    listed = read_list(options)
    if listed is not None:
        if column is not None:
            return _scan_any(options, listed, fpr, searched, paths, column, scanning, json)
        return _detect_any(options, listed, fpr, searched, paths, html, json)
    task = replace(_task(options, options.load_agreement(), fpr), tokenizations=searched)
    if column is not None:
        detect_in_files(paths, column, task, scanning, json)
        return warn_of_others(options.secret_file)
    with wrong_settings_are_wrong_usage():
        detector = task.open()
    page = partial(_page, detector=detector)
    _show(detector, paths, detection_table, page, {detector.target.scheme}, html, json)
    warn_of_others(options.secret_file)


def _detect_any(
    options: WatermarkOptions,
    listed: ListedConfigurations,
    fpr: float,
    tokenizations: Tokenizations,
    paths: Sequence[Path],
    html: Path | None,
    json: bool,
) -> None:
    """Look for many configurations at once."""
    settings = {
        "fpr": fpr,
        "repeats": options.counting,
        "tokenizations": tokenizations,
    }
    with wrong_settings_are_wrong_usage():
        detector = open_detector(options, listed, settings)
    page = partial(_any_page, detector=detector)
    schemes = schemes_of(listed.entries)
    _show(detector, paths, any_detection_table, page, schemes, html, json)
    for path in listed.secret_files:
        warn_of_others(path)


def _scan_any(
    options: WatermarkOptions,
    listed: ListedConfigurations,
    fpr: float,
    tokenizations: Tokenizations,
    paths: Sequence[Path],
    column: str,
    scanning: ScanOptions,
    json: bool,
) -> None:
    """Look for many configurations in each row of files."""
    repeats = options.counting
    with wrong_settings_are_wrong_usage():
        open_detector(options, listed, {"fpr": fpr, "repeats": repeats})  # says which is wrong
    task = AnyTask(options.place, tuple(listed.entries), fpr, repeats, tokenizations)
    detect_in_files(paths, column, task, scanning, json)
    for path in listed.secret_files:
        warn_of_others(path)


def _tokenizations(given: str | None, column: str | None) -> Tokenizations:
    """What was chosen, or the default: a row of a scan has no column for what `places` says."""
    default: Tokenizations = "places" if column is None else "read"
    known = get_args(Tokenizations) if column is None else ("read", "search")
    if given is not None and given not in known:
        when = "" if column is None else " with --column"
        raise UsageError(
            f"--tokenizations: expected one of {', '.join(known)}{when}, found {visible(given)}"
        )
    return cast(Tokenizations, given or default)


def _task(options: WatermarkOptions, agreement: WatermarkAgreement | None, fpr: float) -> Task:
    """What is to be looked for: as agreed, or as the options say."""
    if agreement is None:
        return Task(
            options.place,
            options.scheme_name,
            **options.read_secret(),
            fpr=fpr,
            repeats=options.counting,
            settings=options.settings(),
        )
    with wrong_settings_are_wrong_usage():
        agreement.open_tokenizer()  # refused if it is another one
    version = {} if agreement.version is None else {"version": agreement.version}
    return Task(
        agreement.tokenizer,
        agreement.scheme,
        key=agreement.key,
        fpr=fpr,
        repeats=agreement.repeats,
        settings={**agreement.settings, **version},
    )


def _require_one_purpose(
    paths: Sequence[Path], column: str | None, html: Path | None, scanning: ScanOptions
) -> None:
    if paths.count(_STANDARD_INPUT) > 1:
        raise UsageError("give - once: standard input can be read once")
    if column is not None:
        if html is not None:
            raise UsageError("give --html or --column, not both")
        return
    if given := scanning.given():
        names = ", ".join(map(option_of, given))
        raise UsageError(f"{names}: only with --column NAME")
    for path in paths:
        if has_ending(path):
            raise UsageError(f"{visible(str(path))}: name the column with the texts: --column NAME")


_Found = TypeVar("_Found", bound=Detection | AnyDetection)
_Named: TypeAlias = Sequence[tuple[str, _Found]]
_Found_co = TypeVar("_Found_co", bound=Detection | AnyDetection, covariant=True)


class _Detector(Protocol[_Found_co]):
    """A detector of one configuration, or of many."""

    tokenizer: Tokenizer

    def detect(self, text: str) -> _Found_co: ...


def _detections(
    detector: _Detector[_Found_co], paths: Sequence[Path]
) -> Iterator[tuple[str, _Found_co]]:
    """The detection in each file. A file that cannot be scored gets a line on standard error."""
    if isinstance(detector.tokenizer, LossyTokenizer) and (lost := detector.tokenizer.losses):
        streams.note(f"note: what is left of a text is scored; {lost}")
    for path in paths:
        name = streams.STANDARD_INPUT if path == _STANDARD_INPUT else str(path)
        try:
            yield name, detector.detect(_text(path))
        except FileError as error:
            streams.note(f"ticore: {visible(str(error))}")
        except TicoreError as error:
            streams.note(f"ticore: {visible(f'{name}: {error}')}")


def _text(path: Path) -> str:
    data, name = streams.read_argument(path, "the text")
    if not data:
        raise InputFileError(f"{name}: expected a text, found nothing")
    text = streams.decode_text(data, name).removeprefix(BYTE_ORDER_MARK)
    if "\0" in text:
        raise InputFileError(
            f"{name}: expected UTF-8 text, found a NUL character at offset {text.index(chr(0))}; "
            f"is it another kind of file, or UTF-16?"
        )
    return text


def _show(
    detector: _Detector[_Found],
    paths: Sequence[Path],
    table: Callable[[_Named[_Found]], RenderableType],
    page: Callable[[_Named[_Found], str], str],
    schemes: Collection[str],
    html: Path | None,
    json: bool,
) -> None:
    """Look for watermarks in files, and show what was found.

    Args:
        detector: of one configuration, or of many.
        paths: the files.
        table: what the terminal shows.
        page: the web page, which has a warning if there is one.
        schemes: those that are looked for.
        html: where the page is to be.
        json: show an object for each file instead of the table, as soon as it is there.

    Raises:
        typer.Exit: a file could not be scored.
    """
    found = []
    for name, detection in _detections(detector, paths):
        found.append((name, detection))
        if json:
            streams.write_bytes(json_line(_as_json(name, detection)))
    warning = DEPENDENT_TEXTS if len(found) > 1 and "unigram" in schemes else ""
    if found and html is not None:
        write_shown(html, page(found, warning).encode())
    if found and not json:
        streams.show(table(found))
    if warning:
        streams.note(f"ticore: {warning}")
    if len(found) < len(paths):
        raise typer.Exit(_FAILED)


def _page(found: _Named[Detection], warning: str, detector: WatermarkDetector) -> str:
    target = detector.target
    title = f"Is there a watermark? Scheme {target.named}, tokens of {target.tokenizer}"
    return detection_page(found, detector.tokenizer, title, warning)


def _any_page(found: _Named[AnyDetection], warning: str, detector: AnyWatermarkDetector) -> str:
    title = f"Is there a watermark? {len(detector.names):,} configurations"
    return any_detection_page(found, detector.tokenizer, title, warning)


def _as_json(name: str, found: Detection | AnyDetection) -> dict[str, Any]:
    shown = {"file": name, **found.to_dict()}
    if isinstance(found, Detection):
        shown["tokens"] = found.token_count  # its old name, for scripts that read it
    return shown
