"""Tokenizers to measure: those the user names, and those known in a folder of data."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ticore
from ticore.errors import MissingExtraError
from ticore.installing import how_to_install
from ticore.interfaces import Tokenizer

# Below DIR/tokenizers. Some files have to be put together first: see `_ASSEMBLED`.
_KNOWN = {
    "llama-2": "sentencepiece:{}/llama-2/tokenizer.model",
    "swallow": "sentencepiece:{}/swallow/tokenizer.model",
    "llm-jp": "sentencepiece:{}/llm-jp/v2.1.model",
    "gpt2": "{}/gpt2",
    "qwen2.5": "tokenizers:{}/qwen2.5/tokenizer.derived.json",
    "llama-3": "tiktoken:{}/llama-3/tokenizer.model#llama3",
}
# More ways to be wrong: a published vocabulary under other expressions, which is no model's
# tokenizer, and one as a library converts it.
_CROSSED = {
    f"llama-3-{pattern}": f"tiktoken:{{}}/llama-3/tokenizer.model#{pattern}"
    for pattern in ("o200k", "gpt2")
} | {"llama-2-metaspace": "{}/llama-2/tokenizer.derived.json"}


@dataclass(frozen=True)
class Place:
    """A tokenizer that can be opened.

    Attributes:
        name: for tables.
        where: what was opened, for reports.
        open: opens it, anew at each call. Raises TicoreError.
    """

    name: str
    where: str
    open: Callable[[], Tokenizer]


def places(named: Sequence[str], data: Path | None, *, crossed: bool = False) -> list[Place]:
    """The tokenizers `named`; where none is, all that are known in `data`, or `tiny-en`.

    Args:
        named: `BACKEND:LOCATION`, or names that are known.
        data: the folder that holds tokenizers/.
        crossed: with vocabularies under expressions that are not their own.
    """
    known = {}
    if data is not None:
        folder = data / "tokenizers"
        found = _KNOWN | _CROSSED if crossed or named else _KNOWN
        known = {name: _known(name, where.format(folder), folder) for name, where in found.items()}
    if not named:
        return list(known.values()) or [_named("tiny-en")]
    return [known.get(name) or _named(name) for name in named]


def _known(name: str, where: str, folder: Path) -> Place:
    if name in _ASSEMBLED:
        return Place(name, where, partial(_assemble, name, folder))
    return Place(name, where, partial(ticore.load_tokenizer, where))


def _named(where: str) -> Place:
    location = Path(where.rpartition(":")[2])
    name = "/".join(location.parts[-2:])
    return Place(name, where, partial(ticore.load_tokenizer, where))


def _assemble(name: str, folder: Path) -> Tokenizer:
    try:
        import tokenizers  # noqa: PLC0415  # an extra

        from ticore_tokenizers import HuggingFaceTokenizer  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error}; {how_to_install('tokenizers')}") from error
    return HuggingFaceTokenizer(_ASSEMBLED[name](tokenizers, folder))


def _gpt2(tokenizers: Any, folder: Path) -> Any:
    """GPT-2's published files as one tokenizer."""
    vocabulary, merges = (
        _present(folder / "gpt2" / name) for name in ("encoder.json", "vocab.bpe")
    )
    library = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocabulary), str(merges)))
    library.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = tokenizers.decoders.ByteLevel()
    library.add_special_tokens(["<|endoftext|>"])
    return library


def _metaspace(tokenizers: Any, folder: Path) -> Any:
    """Llama 2 as transformers 5 builds it: a space is put before a text that begins with none."""
    library = tokenizers.Tokenizer.from_file(
        str(_present(folder / "llama-2" / "tokenizer.derived.json"))
    )
    library.normalizer = None
    library.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return library


_ASSEMBLED: dict[str, Callable[[Any, Path], Any]] = {
    "gpt2": _gpt2,
    "llama-2-metaspace": _metaspace,
}


def _present(file: Path) -> Path:
    if not file.exists():
        raise ticore.TicoreError(f"{shlex.quote(str(file))}: there is no such file")
    return file
