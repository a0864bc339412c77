"""Tokenizers to measure: those that are named, those in a data folder, or the bundled one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ticore
from ticore._support.installing import require_module
from ticore.interfaces import Tokenizer

# What to open in DIR/tokenizers. Some files have to be assembled first; see `_ASSEMBLED`.
_KNOWN = {
    "llama-2": "sentencepiece:{}/llama-2/tokenizer.model",
    "swallow": "sentencepiece:{}/swallow/tokenizer.model",
    "llm-jp": "sentencepiece:{}/llm-jp/v2.1.model",
    "gpt2": "{}/gpt2",
    "qwen2.5": "tokenizers:{}/qwen2.5/tokenizer.derived.json",
    "llama-3": "tiktoken:{}/llama-3/tokenizer.model#llama3",
    "t5": "tokenizers:{}/t5/tokenizer.json",
}
# Combinations that no model uses, to find more mistakes: a vocabulary with another pretokenizer,
# and one as a library converts it.
_CROSSED = {
    f"llama-3-{pattern}": f"tiktoken:{{}}/llama-3/tokenizer.model#{pattern}"
    for pattern in ("o200k", "gpt2")
} | {"llama-2-metaspace": "{}/llama-2/tokenizer.derived.json"}


# What ranks files of tiktoken do not say: the name of an expression, in a file beside them.
_PATTERN_FILE = "pattern.txt"
_NAME_OF_OWN = re.compile(r"(?P<name>[^=:]+)=(?P<place>.+)")


@dataclass(frozen=True)
class TokenizerSource:
    """A tokenizer that can be opened.

    Attributes:
        name: for tables.
        place: what is opened, for reports.
        open: opens the tokenizer, a new object at each call. Raises TicoreError if it cannot.
        asked: `tokenizer_sources([asked], data)` gives this source again.
    """

    name: str
    place: str
    open: Callable[[], Tokenizer]
    asked: str = ""


def tokenizer_sources(
    named: Sequence[str], data: Path | None, *, crossed: bool = False
) -> list[TokenizerSource]:
    """The tokenizers to measure.

    Args:
        named: `BACKEND:LOCATION` or `NAME=BACKEND:LOCATION`, or names of tokenizers in the data
            folder. Where none is named: all in the data folder, or `tiny-en` without one.
        data: the folder that holds tokenizers/.
        crossed: whether to add vocabularies with pretokenizers that are not their own.
    """
    known = {}
    if data is not None:
        folder = data / "tokenizers"
        places = _KNOWN | _CROSSED if crossed or named else _KNOWN
        known = {name: _known(name, place.format(folder), folder) for name, place in places.items()}
    if not named:
        return list(known.values()) or [_named("tiny-en")]
    return [known.get(name) or _named(name) for name in named]


def tokenizers_in(folder: Path) -> Iterator[str]:
    """What to ask `tokenizer_sources` for, of each tokenizer in the folders FOLDER/NAME.

    FOLDER/NAME holds a tokenizer.json, a SentencePiece model `*.model`, or ranks of tiktoken,
    `*.model` or `*.tiktoken`, with the name of their expression in `pattern.txt`.
    """
    for own in sorted(path for path in folder.iterdir() if path.is_dir()):
        pattern = own / _PATTERN_FILE
        places = [f"tokenizers:{file}" for file in sorted(own.glob("tokenizer*.json"))]
        places = [place for place in places if not place.endswith("_config.json")]
        for file in sorted((*own.glob("*.model"), *own.glob("*.tiktoken"))):
            if pattern.exists():
                places.append(f"tiktoken:{file}#{pattern.read_text(encoding='utf-8').strip()}")
            else:
                places.append(f"sentencepiece:{file}")
        for place in places:
            kind = "" if len(places) == 1 else f" {place.partition(':')[0]}"
            yield f"{own.name}{kind}={place}"


def _known(name: str, place: str, folder: Path) -> TokenizerSource:
    if name in _ASSEMBLED:
        return TokenizerSource(name, place, partial(_assemble, name, folder), name)
    return TokenizerSource(name, place, partial(ticore.load_tokenizer, place), name)


def _named(asked: str) -> TokenizerSource:
    own = _NAME_OF_OWN.fullmatch(asked)
    place = own["place"] if own else asked
    location = Path(place.rpartition(":")[2])
    name = own["name"] if own else "/".join(location.parts[-2:])
    return TokenizerSource(name, place, partial(ticore.load_tokenizer, place), asked)


def _assemble(name: str, folder: Path) -> Tokenizer:
    tokenizers = require_module("tokenizers", "tokenizers", f"the tokenizer {name}")
    from ticore_tokenizers import HuggingFaceTokenizer  # noqa: PLC0415  # needs the extra

    return HuggingFaceTokenizer(_ASSEMBLED[name](tokenizers, folder))


def _gpt2(tokenizers: Any, folder: Path) -> Any:
    """One tokenizer from the files that were published with GPT-2."""
    vocabulary, merges = (
        _present(folder / "gpt2" / name) for name in ("encoder.json", "vocab.bpe")
    )
    library = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocabulary), str(merges)))
    library.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = tokenizers.decoders.ByteLevel()
    library.add_special_tokens(["<|endoftext|>"])
    return library


def _metaspace(tokenizers: Any, folder: Path) -> Any:
    """Llama 2 as transformers 5 builds it: a text that starts without a space gets one."""
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
        raise ticore.TicoreError(
            f"{shlex.quote(str(file))}: expected a file of a tokenizer, found none; name a folder "
            f"that has it with --data, or another tokenizer with --tokenizer"
        )
    return file
