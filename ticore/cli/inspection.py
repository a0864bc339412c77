"""`ticore inspect`: what becomes of tokens when their text is read back."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..consistency import Comparison, compare
from ..consistency.boundaries import special_name
from ..errors import FileError, SettingsError
from ..files import write_atomically
from ..registry import load_tokenizer
from ..report import inconsistency_rate, inspection_page, inspection_table, summary
from ..unicode import require_unicode
from . import streams
from .settings import DEFAULT_MODEL
from .usage import UsageError

_STANDARD_INPUT = "-"
_EXPECTED = "expected token ids, such as 1 2 3 or [1, 2, 3]"
_REPEATED = 20  # characters of a wrong id that an error repeats


def inspect(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT",
            help="Inspect the tokens of this text; - or nothing: of standard input.",
            show_default=False,
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Inspect these token ids instead: numbers, such as 1 2 3 or [1, 2, 3]; "
            "-: on standard input.",
            show_default=False,
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="The tokenizer: the name of a shipped model, or BACKEND:LOCATION, such as "
            "sentencepiece:tokenizer.model.",
        ),
    ] = DEFAULT_MODEL,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Make a web page of it; standard output then has the summary alone.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """Show tokens beside those that a receiver reads back.

    The tokens are turned into text and the text into tokens again; where the two lists differ,
    both are marked. Special tokens, such as those of a chat, are kept, and what is between them is
    read by itself. The exit status is 0 whether the lists differ or not.
    """
    if text is not None and ids is not None:
        raise UsageError("give TEXT or --ids, not both")
    opened = load_tokenizer(tokenizer)
    if ids is None:
        given = _given_text(text)
        tokens = opened.encode(given)
    else:
        given = None
        tokens = _given_ids(ids, opened.vocab_size)
    found = compare(opened, tokens)
    token_name = partial(special_name, opened)

    if html is not None:
        title = f"Tokens of {tokenizer}"
        page = inspection_page(found, opened.token_bytes, title, given, token_name)
        write_atomically(html, page.encode())
    if json:
        streams.write_json(_as_json(found, given))
    elif html is not None:
        streams.show(*summary(found, given))
    else:
        streams.show(inspection_table(found, opened.token_bytes, given, token_name))


def _given_text(text: str | None) -> str:
    if text is None or text == _STANDARD_INPUT:
        return streams.read_text("the text")
    try:
        require_unicode(text)
    except SettingsError as error:
        raise UsageError(f"TEXT: {error}") from error
    return text


def _given_ids(path: Path, vocab_size: int) -> list[int]:
    if str(path) == _STANDARD_INPUT:
        return parse_ids(streams.read_text("the ids"), "standard input", vocab_size)
    return parse_ids(streams.read_text_file(path), str(path), vocab_size)


def parse_ids(text: str, source: str, vocab_size: int) -> list[int]:
    """The ids in `text`: decimal numbers with spaces or commas between, in brackets or not.

    Raises:
        FileError: there is none, something else is there, or an id is not below `vocab_size`.
            The error names `source`.

    >>> parse_ids("[1, 2]", "FILE", 10), parse_ids("1 2,3", "FILE", 10)
    ([1, 2], [1, 2, 3])
    """
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    ids = [_parse_id(number, source, vocab_size) for number in text.replace(",", " ").split()]
    if not ids:
        raise FileError(f"{source}: {_EXPECTED}, found none")
    return ids


def _parse_id(number: str, source: str, vocab_size: int) -> int:
    shown = number if len(number) <= _REPEATED else f"{number[:_REPEATED]}..."
    if not (number.isascii() and number.isdigit()):
        raise FileError(f"{source}: {_EXPECTED}, found {shown!r}")
    # Python refuses to read numbers of thousands of digits; none of them is an id.
    digits = number.lstrip("0") or "0"
    if len(digits) > len(str(vocab_size)) or int(digits) >= vocab_size:
        raise FileError(
            f"{source}: expected ids from 0 to {vocab_size - 1}, found {shown}; "
            f"name the tokenizer that the ids are from: --tokenizer PLACE"
        )
    return int(digits)


def _as_json(found: Comparison, given: str | None) -> dict[str, object]:
    return {
        "consistent": found.consistent,
        "rate": inconsistency_rate(found),
        "given": given,
        "text": found.text,
        "ids": found.ids,
        "again": found.again,
        "spans": found.spans,
        "spans_again": found.spans_again,
        "sits": found.sits,
        "cits": found.cits,
        "specials": found.specials,
        "specials_again": found.specials_again,
        "unknowns": found.unknowns,
    }
