"""Other files beside a tokenizer's, and whether a receiver who opens them reads other tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SettingsError, TicoreError
from ..interfaces import Tokenizer
from ..registry import load_tokenizer

# Texts that files of one vocabulary have been seen to read differently: spaces in a row and at the
# ends, other white space, spaces before punctuation, names of special tokens, composed characters.
SAMPLES = (
    "The quick brown fox, isn't it?",
    " one space before",
    "two  spaces   and more \n\n after\tthem \n",
    "Hello , world ! I do n't",
    "naïve cafe\u0301 \ufb01ne \uff21",
    "日本語のテキスト。 中文，\u3000\u2581",
    "12345 3.14 x=1;\r\n  return x",
    "<s>a</s> b<|endoftext|> c",
    "\U0001f600 \u200d\x00",
)
_CONFIG, _TRANSFORMERS = "tokenizer_config.json", "transformers"
_FILES = {
    "tokenizer.model": "sentencepiece",
    "tokenizer.json": "tokenizers",
    "tekken.json": "tiktoken",
}


@dataclass(frozen=True)
class _Other:
    """Another way to open the tokenizer of a folder."""

    name: str
    place: str


def notes_on_files(place: str, tokenizer: Tokenizer) -> tuple[str, ...]:
    """What to know about the other files in the folder of a tokenizer.

    Args:
        place: as `load_tokenizer` takes it.
        tokenizer: what it gives there.

    Returns:
        A sentence or two for each file that may be opened instead, and for each setting of
        tokenizer_config.json by which transformers reads or writes otherwise.
    """
    backend, separator, location = place.partition(":")
    location, _, option = location.partition("#")
    path = Path(location)
    folder = path if path.is_dir() else path.parent
    if not separator or not folder.is_dir():
        return ()
    notes = []
    as_transformers = (backend, option) == ("tokenizers", _TRANSFORMERS)
    if path == folder and not as_transformers:
        path = folder / "tokenizer.json"
        notes.append(f"{place} opens {path.name} there")
    opened = None if as_transformers else path
    notes += [_note(other, tokenizer) for other in _others(folder, opened)]
    if all((folder / name).is_file() for name in ("tokenizer.model", "tokenizer.json")):
        notes.append(
            f"a model in {folder}, such as torch:{folder}, is opened with tokenizer.model if that "
            f"is SentencePiece's, else with tokenizer.json; name another with tokenizer=PLACE"
        )
    return (*notes, *([] if as_transformers else _settings(folder / _CONFIG)))


def _others(folder: Path, opened: Path | None) -> Iterator[_Other]:
    """The files that are not `opened`, and how transformers opens them if it did not."""
    for name, backend in _FILES.items():
        file = folder / name
        if file.is_file() and file != opened:
            yield _Other(name, f"{backend}:{file}")
    if (folder / _CONFIG).is_file() and opened is not None:
        name = f"{_TRANSFORMERS} (AutoTokenizer, {_CONFIG})"
        yield _Other(name, f"tokenizers:{folder}#{_TRANSFORMERS}")


def _note(other: _Other, tokenizer: Tokenizer) -> str:
    try:
        found = load_tokenizer(other.place)
    except TicoreError as error:
        return f"{other.name} beside it was not compared: {error}"
    text = _differs(tokenizer, found, SAMPLES)
    if text is None:
        return f"{other.name} beside it reads {len(SAMPLES)} sample texts as the same ids"
    count = sum(_differs(tokenizer, found, [sample]) is not None for sample in SAMPLES)
    return (
        f"{other.name} beside it reads {count} of {len(SAMPLES)} sample texts as other ids, such "
        f"as {text!r}; to open it: {other.place}"
    )


def _differs(ours: Tokenizer, theirs: Tokenizer, texts: Sequence[str]) -> str | None:
    """The first text that the two do not read or write alike; None if there is none."""
    for text in texts:
        try:
            ids = ours.encode(text)
            if ids != theirs.encode(text) or ours.decode(ids) != theirs.decode(ids):
                return text
        except SettingsError:  # One of them does not read this text.
            return text
    return None


def _settings(config: Path) -> Iterator[str]:
    """What settings of tokenizer_config.json change for a receiver who uses transformers."""
    try:
        found: Any = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    if not isinstance(found, dict):
        return
    if found.get("clean_up_tokenization_spaces"):
        yield (
            f"{_CONFIG}: by clean_up_tokenization_spaces, decode of transformers 4 (of 5 unless "
            f"the model is BPE) removes spaces before punctuation; a receiver must decode with "
            f"clean_up_tokenization_spaces=False"
        )
    if found.get("split_special_tokens"):
        yield (
            f"{_CONFIG}: by split_special_tokens, transformers reads the names of special tokens "
            f"as ordinary text; here they are special tokens"
        )
    if found.get("add_prefix_space"):
        yield (
            f"{_CONFIG}: by add_prefix_space, some classes of transformers put a space before each "
            f"text; here the tokenizer's own file decides"
        )
    if found.get("legacy"):
        yield (
            f"{_CONFIG}: legacy tells some classes of transformers (Llama's, T5's) to put a space "
            f"after each special token too; here the tokenizer's own file decides"
        )
