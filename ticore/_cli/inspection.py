"""`ticore inspect`: a token list beside the one that its text is read back as."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .._support.input_files import BYTE_ORDER_MARK
from .._support.utf8 import require_unicode
from ..consistency import Comparison, Specials, compare
from ..consistency._boundaries import special_name
from ..errors import InputFileError, SettingsError
from ..registry import load_tokenizer
from ..report import inconsistency_rate, inspection_page, inspection_table, summary
from . import streams
from .options import OUTPUT, Json, file_option
from .settings import DEFAULT_MODEL
from .shown_files import write_shown
from .usage import UsageError

_STANDARD_INPUT = "-"
_EXPECTED = "expected token ids, such as 1 2 3 or [1, 2, 3]"
_REPEATED = 20  # characters of a wrong id that an error repeats
_INPUT, _TOKENIZER = "Input", "Tokenizer"  # sections of the help


def inspect(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT",
            help="Inspect the tokens of this text; - or nothing means standard input.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        file_option(
            "Inspect the tokens of the text in this UTF-8 file; - means standard input.",
            panel=_INPUT,
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        file_option(
            "Inspect the token ids in this file, such as 1 2 3 or [1, 2, 3]; "
            "- means standard input.",
            panel=_INPUT,
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="The tokenizer: the name of a bundled model, or BACKEND:LOCATION, such as "
            "sentencepiece:tokenizer.model.",
            rich_help_panel=_TOKENIZER,
        ),
    ] = DEFAULT_MODEL,
    specials: Annotated[
        Specials,
        typer.Option(
            metavar="HOW",
            help="What the receiver does with special tokens: keep them (gaps), find them in the "
            "text (text), or do without them (refuse).",
            rich_help_panel=_TOKENIZER,
        ),
    ] = "gaps",
    html: Annotated[
        Path | None,
        file_option(
            "Write a web page to this file, and only the summary to standard output.",
            panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show tokens beside the tokens that a receiver reads back.

    The tokens are turned into text, and the text into tokens again. Where the two lists differ,
    both are marked. Special tokens, such as those of a chat, stay as they are, and the text between
    two of them is read by itself, unless --specials says otherwise. The exit status is 0 whether
    the lists differ or not.
    """
    inputs = {"TEXT": text, "--file": file, "--ids": ids}
    if len(names := [name for name, value in inputs.items() if value is not None]) > 1:
        raise UsageError(f"expected one input, found {', '.join(names)}; give one of them")
    opened = load_tokenizer(tokenizer)
    if ids is None:
        given = _given_text(text, file)
        tokens = opened.encode(given)
    else:
        given = None
        tokens = _given_ids(ids, opened.vocab_size)
    found = compare(opened, tokens, specials=specials)
    token_name = partial(special_name, opened)

    if html is not None:
        title = f"Tokens of {tokenizer}"
        page = inspection_page(found, opened.token_bytes, title, given, token_name)
        write_shown(html, page.encode())
    if json:
        streams.write_json(_as_json(found, given))
    elif html is not None:
        streams.show(*summary(found, given))
    else:
        streams.show(inspection_table(found, opened.token_bytes, given, token_name))


def _given_text(text: str | None, file: Path | None) -> str:
    if file is not None and str(file) != _STANDARD_INPUT:
        return streams.read_text_file(file)
    if text is None or text == _STANDARD_INPUT:
        return streams.read_text("the text")
    try:
        require_unicode(text)
    except SettingsError as error:
        raise UsageError(f"TEXT: {error}") from error
    return text


def _given_ids(path: Path, vocab_size: int) -> list[int]:
    data, source = streams.read_argument(path, "the ids")
    return parse_ids(streams.decode_text(data, source), source, vocab_size)


def parse_ids(text: str, source: str, vocab_size: int) -> list[int]:
    """The ids in `text`: decimal numbers with spaces or commas between, in brackets or not.

    Args:
        text: the content of a file.
        source: the name of the file, for errors.
        vocab_size: every id must be below it.

    Raises:
        InputFileError: there is no id, something is not an id, or an id is not below `vocab_size`.

    >>> parse_ids("[1, 2]", "FILE", 10), parse_ids("1 2,3", "FILE", 10)
    ([1, 2], [1, 2, 3])
    """
    text = text.removeprefix(BYTE_ORDER_MARK).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    ids = [_parse_id(number, source, vocab_size) for number in text.replace(",", " ").split()]
    if not ids:
        raise InputFileError(f"{source}: {_EXPECTED}, found none")
    return ids


def _parse_id(number: str, source: str, vocab_size: int) -> int:
    shown = number if len(number) <= _REPEATED else f"{number[:_REPEATED]}..."
    if not (number.isascii() and number.isdigit()):
        raise InputFileError(f"{source}: {_EXPECTED}, found {shown!r}")
    # Python refuses to read a number of thousands of digits, which cannot be an id.
    digits = number.lstrip("0") or "0"
    if len(digits) > len(str(vocab_size)) or int(digits) >= vocab_size:
        raise InputFileError(
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
        "spans": list(found.spans),
        "spans_again": list(found.spans_again),
        "sits": found.sits,
        "cits": found.cits,
        "specials": found.specials,
        "specials_again": found.specials_again,
        "unknowns": found.unknowns,
    }
