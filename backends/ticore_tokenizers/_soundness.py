"""Faults of a tokenizer.json that must be found before the library opens it.

The library reports most faults itself. For the faults below it ends the process, fills the memory,
never returns, or fails only when it reads a text.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from math import ceil, prod
from typing import Any

from ticore.backend_kit import require_dense
from ticore.errors import ModelFilesError

from ._json import Merges

# How many times as long the replacements of a normalizer may make a text. SentencePiece replaces a
# space by 3 bytes; the factors of several replacements multiply.
_MOST_GROWTH = 10_000
# Bytes at the head of a character map: the length of its index.
_HEAD = 4


def require_sound(state: object) -> None:
    """Refuse a tokenizer.json that the library must not open.

    Faults that the library reports itself are not looked for.

    Args:
        state: what the file holds.

    Raises:
        ModelFilesError: the file has such a fault.
    """
    if not isinstance(state, dict) or not isinstance(model := state.get("model"), dict):
        return  # The library refuses this.
    _require_dense_ids(model, state.get("added_tokens"))
    _require_prefixed(model)
    growth = prod(map(_growth, _steps(state.get("normalizer"))))
    if growth > _MOST_GROWTH:
        raise _unfit(
            f"a normalizer that makes texts at most {_MOST_GROWTH:,} times as long",
            f"one whose replacements may do so {growth:,} times",
        )
    for step in _steps(state.get("pre_tokenizer")):
        if step.get("type") == "FixedLength" and step.get("length") == 0:
            raise _unfit("a pre_tokenizer that cuts texts into parts", "parts of length 0")


def _require_dense_ids(model: dict[str, Any], added: object) -> None:
    vocab = model.get("vocab")
    stated = list(vocab.values()) if isinstance(vocab, dict) else []
    if isinstance(added, list):
        stated += [token.get("id") for token in added if isinstance(token, dict)]
    # In a list, such as that of Unigram, the position of a token is its id.
    unstated = len(vocab) if isinstance(vocab, list) else 0
    highest = max((i for i in stated if type(i) is int), default=0)
    require_dense(highest, len(stated) + unstated)


def _require_prefixed(model: dict[str, Any]) -> None:
    """The library removes the prefix from the second part of each merge without a check."""
    prefix, merges = model.get("continuing_subword_prefix"), model.get("merges")
    if not prefix or not isinstance(prefix, str) or not isinstance(merges, list | Merges):
        return
    for rule in merges:
        parts = rule.split(" ") if isinstance(rule, str) else rule
        if not isinstance(parts, list) or len(parts) != 2:
            continue
        if not isinstance(parts[1], str) or not parts[1].startswith(prefix):
            raise _unfit(
                f"merges whose second part begins with continuing_subword_prefix, {prefix!r}",
                repr(parts[1]),
            )


def _steps(component: object) -> Iterator[dict[str, Any]]:
    """The steps of a component: itself, or those of its sequence, in order."""
    match component:
        case {"type": "Sequence", **fields}:
            for steps in fields.values():  # `normalizers`, `pretokenizers`
                for step in steps if isinstance(steps, list) else ():
                    yield from _steps(step)
        case dict():
            yield component


def _growth(step: dict[str, Any]) -> int:
    """How many times as long a step of a normalizer may make a text."""
    match step:
        case {"type": "Replace", "pattern": {"String": ""} | {"Regex": ""}}:
            raise _unfit(
                "a Replace of some text", "a Replace of the empty text, which is everywhere"
            )
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)}:
            return max(1, ceil(_length(new) / _length(old)))
        case {"type": "Replace", "content": str(new)}:  # the text that an expression finds
            return max(1, _length(new))
        case {"type": "Prepend", "prepend": str(more)}:
            return 1 + _length(more)
        case {"type": "Precompiled", "precompiled_charsmap": str(charsmap)}:
            return _growth_of_map(charsmap)
    return 1


def _growth_of_map(charsmap: str) -> int:
    """How many times as long a character map of SentencePiece may make a text.

    A map holds the length of an index, the index, and texts that each end with a zero byte.
    """
    try:
        content = b64decode(charsmap, validate=True)
    except ValueError as error:
        raise _unfit("a precompiled_charsmap in base64", f"something else ({error})") from None
    length = int.from_bytes(content[:_HEAD], "little")
    if not content or not 0 < length <= len(content) - _HEAD:
        # The library allocates this many bytes, and ends the process if that fails.
        raise _unfit(
            "a precompiled_charsmap that holds an index and texts",
            f"an index of {length:,} bytes in {len(content):,}",
        )
    return max(map(len, content[_HEAD + length :].split(b"\0"))) or 1


def _length(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _unfit(expected: str, found: str) -> ModelFilesError:
    return ModelFilesError(
        f"expected {expected}, found {found}; correct the file, or fetch it again"
    )
