"""`ticore drift`: how often and why the ids of logged rollouts are read back as others."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .. import _installed_models as installed_models
from .._support.input_files import parse_json
from ..backend_kit.checkpoint import read_chat_template
from ..consistency import Specials
from ..consistency._boundaries import special_name
from ..corpus import (
    DriftExample,
    DriftSummary,
    DriftTask,
    RolloutColumns,
    Scan,
    default_output,
    scan_drift,
)
from ..interfaces import ChatTemplate
from ..registry import load_tokenizer
from ..report import ShownDrift, drift_page
from . import streams
from .options import OUTPUT, Json, file_option, option
from .scan_progress import scan_progress
from .scanning import (
    SCANS,
    BatchSize,
    Executor,
    Limit,
    ScanOptions,
    Workers,
    errors_said,
    json_line,
    require_a_result,
    tell,
)
from .settings import DEFAULT_MODEL
from .shown_files import require_place, write_shown
from .usage import UsageError, wrong_settings_are_wrong_usage

_INPUT = "Rollouts"
_SHOWN = 5  # examples in the terminal


def drift(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            readable=False,
            help="Rollouts: JSON lines or Parquet, with a list of token ids in each row.",
            show_default=False,
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
    output: Annotated[
        Path | None,
        file_option(
            "Write rows and results here, in the format of the name's ending; otherwise beside "
            "FILE.",
            "--output",
            "-o",
            panel=SCANS,
        ),
    ] = None,
    executor: Executor = None,
    workers: Workers = None,
    batch_size: BatchSize = None,
    limit: Limit = None,
) -> None:
    """Find rollouts whose token ids change, and say why.

    The text of each list of ids is read again, and compared with the ids. So are a trainer's ids or
    text, or messages that a template writes again.
    The file is written again with the results beside each row, in columns that begin with
    drift_. If this is interrupted, the same command continues it. A row without a list of ids gets
    an error there. The exit status is 0 whether ids change or not, and 1 if no row could be looked
    at.
    """
    _require_one_reread(reread, messages, template, specials)
    _require_messages(messages, {"--tools": tools, "--template-settings": template_settings})
    columns = RolloutColumns(ids or "ids", reread, messages, tools)
    given = ScanOptions(output, executor, workers, batch_size, limit).given()
    running = {name: given.pop(name) for name in ("executor", "workers") if name in given}
    writes = None if template is None else _template_at(template, template_settings)
    task = DriftTask(tokenizer, specials, writes)
    if html is not None:
        require_place(html)
    with wrong_settings_are_wrong_usage():
        scanned = Scan(file, columns, **{"output": default_output(file, "drift")} | given)
    started = time.perf_counter()
    with (
        wrong_settings_are_wrong_usage(),
        scan_progress("comparing", scanned.batch_size) as progress,
    ):
        found = scan_drift(scanned, task, progress=progress, tell=tell, **running)
    facts = _facts(scanned, task, found, time.perf_counter() - started)
    if html is not None:
        opened = load_tokenizer(tokenizer)
        title = f"Drift in {file.name}"
        examples = [_shown(one) for one in found.worst if one.result.drift_ids is not None]
        name = partial(special_name, opened)
        page = drift_page(title, facts, found.causes, examples, opened.token_bytes, name)
        write_shown(html, page.encode())
    if json:
        about = {"file": str(file), "output": str(scanned.output), "tokenizer": tokenizer}
        streams.write_bytes(json_line(about | found.to_dict()))
    else:
        streams.show(_table(facts, found))
    require_a_result(found, "rollout could be looked at")


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
    path = Path(place)
    if not path.exists() and (installed := installed_models.find(place)) is not None:
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


def _facts(scanned: Scan, task: DriftTask, found: DriftSummary, seconds: float) -> dict[str, str]:
    share = f"; {found.token_rate:.3%} of the tokens of both lists" if found.tokens else ""
    return {
        "written": str(scanned.output),
        "rows": f"{found.rows:,}, {found.tokens:,} tokens in {seconds:.1f} s",
        "drifted": f"{found.drifted:,}, {found.rate:.2%} of rows{share}",
        "consistent": f"{found.consistent:,}",
        "errors": errors_said(found),
        "tokenizer": task.tokenizer,
    }


def _table(facts: Mapping[str, str], found: DriftSummary) -> Group:
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(Text(name, style="bold"), Text(streams.printable(value)))
    for cause, count in found.causes.items():
        if count:
            grid.add_row(Text(cause, style="bold"), Text(f"{count:,}"))
    lines = [
        Text(streams.printable(f"row {one.row:,}: {_said(one)}")) for one in found.worst[:_SHOWN]
    ]
    return Group(grid, Text(""), *lines) if lines else Group(grid)


def _said(one: DriftExample) -> str:
    result = one.result
    if result.drift_ids is None:
        return f"unknown text at token {result.drift_at}"
    return (
        f"{result.drift_cause} at token {result.drift_at}: {result.drift_text!r} "
        f"[{result.drift_ids}], read as {result.drift_text_again!r} [{result.drift_again}]; "
        f"{one.differing} tokens differ"
    )


def _shown(one: DriftExample) -> ShownDrift:
    result: Any = one.result
    ids, again = ([*map(int, said.split())] for said in (result.drift_ids, result.drift_again))
    return ShownDrift(one.row, _said(one), result.drift_cause, ids, again)
