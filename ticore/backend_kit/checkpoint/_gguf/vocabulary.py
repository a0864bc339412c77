"""What a GGUF file says about its tokenizer; backends for tokenizers build theirs from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .._config_fields import Fields
from .._start_token import StartToken

_ADVICE = "use a file that llama.cpp's convert_hf_to_gguf.py wrote"
_KINDS = ("llama", "gpt2", "t5")
# llama.cpp puts the start token before a text for SentencePiece BPE, and for these pretokenizers.
_STARTED = frozenset({"llama3", "llama-v3", "llama-bpe", "tekken"})
# What llama.cpp takes where the file names no ids.
_BOS_EOS_UNKNOWN: Mapping[str, tuple[int | None, int | None, int | None]] = {
    "llama": (1, 2, 0),
    "gpt2": (None, None, None),
    "t5": (None, 1, 2),
}
_Number = TypeVar("_Number", bound=np.generic)
_TEMPLATE_NAMES = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "pad_token": "padding_token_id",
}
_ENDS = ("eos_token_id", "eot_token_id", "eom_token_id")


class TokenKind(IntEnum):
    """Kinds of tokens, by their numbers in a GGUF file and in a SentencePiece model."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, eq=False)
class GgufVocabulary:
    """The tokenizer of a GGUF file.

    Attributes:
        kind: `llama` (SentencePiece BPE), `t5` (SentencePiece unigram) or `gpt2` (byte-level BPE).
        pretokenizer: llama.cpp's name for the expressions that split a text; empty if none.
        tokens: by id; as the vocabulary of the tokenizer spells them.
        kinds: the TokenKind of each.
        scores: float32[tokens], of SentencePiece; zeros if there are none.
        merges: of byte-level BPE, each "left right", the first one applied first.
        unknown: the id for text that the tokenizer does not know, if any.
        space_prefix: whether a space is put before a text.
        single_spaces: whether spaces at the ends, and all but one of a run, are dropped.
        character_map: SentencePiece's compiled character map; empty if there is none.
    """

    kind: str
    pretokenizer: str
    tokens: Sequence[str]
    kinds: Sequence[int]
    scores: npt.NDArray[np.float32]
    merges: Sequence[str]
    unknown: int | None
    space_prefix: bool
    single_spaces: bool
    character_map: bytes


def parse_vocabulary(path: Path, metadata: Mapping[str, object]) -> GgufVocabulary:
    """The tokenizer that the metadata of the GGUF file at `path` describe.

    Raises:
        ModelFilesError: its kind is not supported, or metadata are missing or do not fit.
    """
    fields = _fields(path, metadata)
    kind = tokenizer_kind(path, metadata)
    tokens = _strings(fields, "tokens")
    if not tokens:
        raise fields.error("tokens", "a list of tokens", None)
    if len(set(tokens)) < len(tokens):
        twice = next(text for text, count in Counter(tokens).items() if count > 1)
        raise fields.error("tokens", "different from each other", twice)
    kinds = _numbers(fields, "token_type", np.full(len(tokens), TokenKind.NORMAL, np.int32))
    known = np.isin(kinds, [*TokenKind])
    if not known.all():
        raise fields.error("token_type", "numbers from 1 to 6", int(kinds[~known][0]))
    character_map = fields.get("precompiled_charsmap", np.empty(0, np.uint8))
    if not isinstance(character_map, np.ndarray) or character_map.dtype.itemsize != 1:
        raise fields.error("precompiled_charsmap", "bytes", character_map)
    unknown = fields.tokens("unknown_token_id", _BOS_EOS_UNKNOWN[kind][2], len(tokens))
    return GgufVocabulary(
        kind=kind,
        pretokenizer=_text(fields, "pre"),
        tokens=tokens,
        kinds=kinds.tolist(),
        scores=_numbers(fields, "scores", np.zeros(len(tokens), np.float32)),
        merges=_strings(fields, "merges"),
        unknown=next(iter(unknown), None),
        space_prefix=fields.flag("add_space_prefix", kind != "gpt2"),
        single_spaces=fields.flag("remove_extra_whitespaces", False),
        character_map=character_map.tobytes(),
    )


def tokenizer_kind(path: Path, metadata: Mapping[str, object]) -> str:
    """The `kind` of the tokenizer.

    Raises:
        ModelFilesError: it is not supported.
    """
    fields = _fields(path, metadata)
    return str(fields.one_of("model", _text(fields, "model"), _KINDS))


def separators(
    path: Path, metadata: Mapping[str, object], width: int
) -> tuple[int | None, list[int]]:
    """The id that begins a text, if any, and those that end one or a turn of a dialogue.

    Args:
        path: of the file.
        metadata: its own.
        width: number of logits.

    Raises:
        ModelFilesError: an id is not below `width`.
    """
    fields = _fields(path, metadata)
    bos, eos, _ = _BOS_EOS_UNKNOWN[tokenizer_kind(path, metadata)]
    begins = fields.tokens("bos_token_id", bos, width)
    defaults = (eos, None, None)
    ends = [
        token
        for name, default in zip(_ENDS, defaults, strict=True)
        for token in fields.tokens(name, default, width)
    ]
    return next(iter(begins), None), list(dict.fromkeys(ends))


def start_token(
    path: Path, metadata: Mapping[str, object], bos: int | None, eos: int | None
) -> StartToken:
    """What the model reads before a text, as llama.cpp does: see `find_start_token`.

    Raises:
        ModelFilesError: `add_bos_token` is no flag.
    """
    fields = _fields(path, metadata)
    by_default = tokenizer_kind(path, metadata) == "llama" or _text(fields, "pre") in _STARTED
    added = fields.flag("add_bos_token", by_default)
    return StartToken(eos if bos is None else bos, added and bos is not None)


def chat_template(path: Path, metadata: Mapping[str, object]) -> str | None:
    """The template of dialogues.

    Raises:
        ModelFilesError: it is no string.
    """
    found = metadata.get("tokenizer.chat_template")
    if found is not None and not isinstance(found, str):
        raise Fields(metadata, str(path), _ADVICE).error("tokenizer.chat_template", "text", found)
    return found


def special_tokens(path: Path, metadata: Mapping[str, object]) -> Mapping[str, str]:
    """The texts of special tokens by the names that templates use, such as `bos_token`.

    Ids without a token are left out.

    Raises:
        ModelFilesError: the tokens are no list of strings.
    """
    fields = _fields(path, metadata)
    named = {name: fields.get(key) for name, key in _TEMPLATE_NAMES.items()}
    tokens = dict(enumerate(_strings(fields, "tokens")))
    return {name: tokens[i] for name, i in named.items() if isinstance(i, int) and i in tokens}


def _fields(path: Path, metadata: Mapping[str, object]) -> Fields:
    prefix = "tokenizer.ggml."
    own = {
        name.removeprefix(prefix): value
        for name, value in metadata.items()
        if name.startswith(prefix)
    }
    return Fields(own, f"{path}: {prefix[:-1]}", _ADVICE)


def _text(fields: Fields, name: str) -> str:
    found = fields.get(name, "")
    if not isinstance(found, str):
        raise fields.error(name, "text", found)
    return found


def _strings(fields: Fields, name: str) -> list[str]:
    found = fields.get(name, [])
    if not isinstance(found, list):
        raise fields.error(name, "a list of strings", found)
    return found


def _numbers(fields: Fields, name: str, default: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """As many finite numbers as there are in `default`."""
    found = fields.get(name, default)
    if (
        not isinstance(found, np.ndarray)
        or found.dtype.kind != default.dtype.kind
        or found.shape != default.shape
        or not np.isfinite(found).all()
    ):
        raise fields.error(name, f"a list of {len(default)} finite numbers", found)
    return found.astype(default.dtype)
