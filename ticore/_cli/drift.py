"""`ticore drift`: how often and why the ids of logged rollouts are read back as others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from .. import _installed_models as installed_models
from .._support.input_files import parse_json
from ..backend_kit.checkpoint import read_chat_template
from ..consistency import Specials
from ..corpus import DriftSummary, DriftTask, RolloutColumns
from ..interfaces import ChatTemplate
from . import streams
from .drift_results import drift_of, page_of_drift, shown_drift
from .options import OUTPUT, Json, file_option, files_argument, option
from .scan_options import (
    BatchSize,
    Executor,
    Limit,
    OutputFile,
    ScanOptions,
    Workers,
)
from .scanning import ScannedFile, json_line, require_a_result, scan_files
from .settings import DEFAULT_MODEL
from .shown_files import require_place, write_shown
from .usage import UsageError

_INPUT = "Rollouts"


def drift(
    files: Annotated[
        list[Path],
        files_argument(
            "Rollouts: JSON lines or Parquet, with a list of token ids in each row. Also several, "
            "a folder, or a pattern in quotes."
        ),
    ],
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="The tokenizer: the name of a bundled model, or BACKEND:LOCATION, such as "
            "tokenizers:tokenizer.json.",
            rich_help_panel=_INPUT,
        ),
    ] = DEFAULT_MODEL,
    ids: Annotated[
        str | None, option("NAME", "The column with the ids.", panel=_INPUT, default="ids")
    ] = None,
    reread: Annotated[
        str | None,
        option(
            "NAME",
            "The column with what was read again: the ids of the trainer, or the text that the "
            "template wrote. Otherwise the tokenizer reads the text of the ids.",
            panel=_INPUT,
        ),
    ] = None,
    messages: Annotated[
        str | None,
        option(
            "NAME",
            "The column with the messages of each rollout. The template writes them again, and "
            "the tokenizer reads what it writes.",
            panel=_INPUT,
        ),
    ] = None,
    tools: Annotated[
        str | None,
        option("NAME", "The column with the tools that the template describes.", panel=_INPUT),
    ] = None,
    template: Annotated[
        str | None,
        option(
            "PLACE",
            "The template: a chat_template.jinja or tokenizer_config.json, a model's directory or "
            "GGUF file, or the name of an installed model.",
            panel=_INPUT,
        ),
    ] = None,
    template_settings: Annotated[
        str | None,
        option(
            "JSON",
            "What else the template asks for, such as '{\"enable_thinking\": false}'.",
            panel=_INPUT,
        ),
    ] = None,
    specials: Annotated[
        Specials,
        typer.Option(
            metavar="HOW",
            help="What the receiver does with special tokens: keep them (gaps), find them in the "
            "text (text), or do without them (refuse).",
            rich_help_panel=_INPUT,
        ),
    ] = "gaps",
    html: Annotated[
        Path | None,
        file_option("Write a web page: rates, causes and the worst rollouts.", panel=OUTPUT),
    ] = None,
    json: Json = False,
    output: OutputFile = None,
    executor: Executor = None,
    workers: Workers = None,
    batch_size: BatchSize = None,
    limit: Limit = None,
) -> None:
    """Find rollouts whose token ids change, and say why.

    The text of each list of ids is read again, and compared with the ids. So are a trainer's ids or
    text, or messages that a template writes again.
    Each file is written again with the results beside each row, in columns that begin with
    drift_. If this is interrupted, the same command continues it. A row without a list of ids gets
    an error there. The exit status is 0 whether ids change or not, and 1 if no row could be looked
    at.
    """
    _require_one_reread(reread, messages, template, specials)
    _require_messages(messages, {"--tools": tools, "--template-settings": template_settings})
    columns = RolloutColumns("ids" if ids is None else ids, reread, messages, tools)
    options = ScanOptions(output, executor, workers, batch_size, limit)
    writes = None if template is None else _template_at(template, template_settings)
    task = DriftTask(tokenizer, specials, writes)
    if html is not None:
        require_place(html)
    scanned: list[ScannedFile[DriftSummary]] = []
    for each in scan_files(files, columns, task, options, "comparing", "drift"):
        scanned.append(each)
        if json:
            names = {"file": str(each.scan.source), "output": str(each.scan.output)}
            shown = names | {"tokenizer": tokenizer} | each.found.to_dict()
            streams.write_bytes(json_line(shown))
    if html is not None:
        write_shown(html, page_of_drift(scanned, task).encode())
    if not json:
        streams.show(shown_drift(scanned, task))
    require_a_result(drift_of(scanned), "rollout could be looked at")


def _require_one_reread(
    reread: str | None, messages: str | None, template: str | None, specials: Specials
) -> None:
    named = {
        "--reread": reread is not None,
        "--messages": messages is not None,
        "--specials": specials != "gaps",
    }
    given = [name for name, is_given in named.items() if is_given]
    if len(given) > 1:
        raise UsageError(f"give {' or '.join(given)}, not both")
    if (messages is None) != (template is None):
        raise UsageError("give --messages NAME and --template PLACE together, or neither")


def _require_messages(messages: str | None, options: Mapping[str, str | None]) -> None:
    for name, value in options.items():
        if value is not None and messages is None:
            raise UsageError(f"{name}: expected --messages NAME as well, found none")


def _template_at(place: str, settings: str | None) -> ChatTemplate:
    if not place:  # to Path it is the current folder
        raise UsageError("--template: expected a place, found an empty one")
    path = Path(place)
    # Path.exists raises an error for a name that is too long, such as a whole template.
    if not os.path.exists(path) and (installed := installed_models.find(place)) is not None:
        path = installed.path
    found = read_chat_template(path)
    if settings is None:
        return found
    try:
        read = parse_json(settings)
    except ValueError as error:
        raise UsageError(f"--template-settings: expected a JSON object: {error}") from None
    if not isinstance(read, dict):
        raise UsageError(f"--template-settings: expected a JSON object, found {settings!r}")
    return replace(found, settings=read)
