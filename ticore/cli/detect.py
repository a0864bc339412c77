"""`ticore detect`: whether texts carry a watermark, read from the texts alone."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from ..corpus import ENDINGS, ENGINES, Scan, Task
from ..errors import FileError, TicoreError
from ..files import write_atomically
from ..inputs import read_file
from ..report import Search, detection_page, detection_table
from ..schemes import READERS, SCHEMES
from ..watermarking import Detection, WatermarkDetector
from . import streams
from .marks import (
    DEFAULT_SCHEME,
    Delta,
    Gamma,
    Greens,
    KeyFileOfOurs,
    SchemeVersion,
    read_key,
    scheme_settings,
    wrong_settings_are_wrong_usage,
)
from .scanning import ScanOptions, json_line, scan_files
from .secrets import warn_of_others
from .settings import DEFAULT_MODEL
from .usage import UsageError

_FAILED = 1
_STANDARD_INPUT = Path("-")
_LIBRARY = inspect.signature(WatermarkDetector).parameters
_OF_SCANS = "With --column:"


def detect(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            readable=False,
            help="Texts in UTF-8; - or nothing: standard input.",
            show_default=False,
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="That of the model that wrote: the name of a shipped model, or "
            "BACKEND:LOCATION, such as sentencepiece:tokenizer.model.",
        ),
    ] = DEFAULT_MODEL,
    scheme: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"The watermark: {', '.join(sorted(SCHEMES))}; or, with --config, that of "
            f"another engine: {', '.join(READERS)}.",
        ),
    ] = DEFAULT_SCHEME,
    key_file: KeyFileOfOurs = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="The other engine's own settings, as a JSON object.",
            show_default=False,
        ),
    ] = None,
    gamma: Gamma = None,
    delta: Delta = None,
    greens: Greens = None,
    scheme_version: SchemeVersion = None,
    fpr: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="The share of texts without a watermark that may be called watermarked, over all "
            "keys; for one key see `ticore check-key`.",
        ),
    ] = _LIBRARY["fpr"].default,
    repeats: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A token that comes again behind the same ones counts once, or all times: all.",
        ),
    ] = _LIBRARY["repeats"].default,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Make a web page of it: the texts, each token in the colour of its score.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each text, on a line.")
    ] = False,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"FILE has many texts, in this column; it ends in {' or '.join(ENDINGS)}.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            readable=False,
            help=f"{_OF_SCANS} write rows and results here, in the format of the name's ending; "
            "otherwise beside FILE.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"{_OF_SCANS} what does the work: {', '.join(ENGINES)}.  [default: processes]",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"{_OF_SCANS} so many at a time.  [default: one for each core]",
            show_default=False,
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"{_OF_SCANS} rows that are done at a time.  [default: {Scan.batch_size}]",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", help=f"{_OF_SCANS} look at the first N rows only.", show_default=False
        ),
    ] = None,
) -> None:
    """Look for a watermark in texts.

    Needs the key and settings that they were written with, but no model. The exit status is 0
    whether there is one or not, and 1 if a text could not be looked at.

    With --column the file is written again with the results beside each row; what was interrupted
    goes on if the command is given again. A line that is no JSON object comes out as "raw", with
    the error beside it.
    """
    paths = files or [_STANDARD_INPUT]
    scanning = ScanOptions(output, engine, workers, batch_size, limit)
    _require_one_purpose(paths, column, html, scanning)
    task = Task(
        tokenizer,
        scheme,
        **_secret(scheme, key_file, config),
        fpr=fpr,
        repeats=cast(Literal["once", "all"], repeats),
        settings=scheme_settings(gamma=gamma, delta=delta, greens=greens, version=scheme_version),
    )
    if column is not None:
        scan_files(paths, column, task, scanning, json)
        return warn_of_others(key_file)
    with wrong_settings_are_wrong_usage():
        detector = task.open()
    search = Search(scheme, tokenizer, fpr, detector.version)
    found = []
    for name, detection in _detections(detector, paths):
        found.append((name, detection))
        if json:
            streams.write_bytes(json_line(_as_json(name, detection, search)))
    if found and html is not None:
        title = f"Is there a watermark? Scheme {search.named}, tokens of {tokenizer}"
        write_atomically(html, detection_page(found, detector.tokenizer, title, search).encode())
    if found and not json:
        streams.show(detection_table(found, search))
    if len(found) < len(paths):
        raise typer.Exit(_FAILED)
    warn_of_others(key_file)


def _secret(scheme: str, key_file: Path | None, config: Path | None) -> dict[str, Any]:
    """The key of a scheme, or the settings of another engine, whichever belongs to `scheme`."""
    wanted, other = (config, key_file) if scheme in READERS else (key_file, config)
    name, no_name = ("--config", "--key-file")[:: 1 if scheme in READERS else -1]
    if wanted is None or other is not None:
        raise UsageError(f"with --scheme {scheme} give {name} FILE, and no {no_name}")
    if wanted is key_file:
        return {"key": read_key(wanted)}
    found = streams.read_json_file(wanted, "a JSON object")
    if not isinstance(found, dict):
        raise FileError(f"{wanted}: expected a JSON object, found something else")
    return {"config": found}


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
        names = ", ".join("--" + name.replace("_", "-") for name in given)
        raise UsageError(f"{names}: only with --column NAME")
    for path in paths:
        if path.suffix.lower() in ENDINGS:
            raise UsageError(
                f"{streams.printable(str(path))}: name the column with the texts: --column NAME"
            )


def _detections(
    detector: WatermarkDetector, paths: Sequence[Path]
) -> Iterator[tuple[str, Detection]]:
    """What was found in each file. One that cannot be looked at gets a line on standard error."""
    for path in paths:
        name = "standard input" if path == _STANDARD_INPUT else str(path)
        try:
            yield name, detector.detect(_text(path, name))
        except FileError as error:
            streams.note(f"ticore: {streams.printable(str(error))}")
        except TicoreError as error:
            streams.note(f"ticore: {streams.printable(f'{name}: {error}')}")


def _text(path: Path, name: str) -> str:
    stdin = path == _STANDARD_INPUT
    data = streams.read_bytes("the text") if stdin else read_file(path, streams.MOST_TEXT)
    if not data:
        raise FileError(f"{name}: expected a text, found nothing")
    text = streams.decode_text(data, name)
    if "\0" in text:
        raise FileError(
            f"{name}: expected UTF-8 text, found a NUL character at offset {text.index(chr(0))}; "
            f"is it another kind of file, or UTF-16?"
        )
    return text


def _as_json(name: str, found: Detection, search: Search) -> dict[str, Any]:
    segment = found.segment
    return {
        "file": name,
        "verdict": found.verdict,
        "p_value": found.p_value,
        "strength": found.strength,
        "scored": found.scored,
        "green": found.green,
        "tokens": found.tokens,
        "segment": {"begin": segment.begin, "end": segment.end, "p_value": segment.p_value},
        "scheme": search.scheme,
        "version": search.version,
        "tokenizer": search.tokenizer,
        "fpr": search.fpr,
    }
