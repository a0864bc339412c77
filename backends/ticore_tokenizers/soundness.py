"""What a tokenizer.json must not hold, looked for before the library sees it.

Most of what is wrong with a file the library says itself. Of what follows it ends the whole
process, takes all of the memory, counts for ever, or fails at texts only.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from math import ceil, prod
from typing import Any

from ticore.errors import ModelFilesError
from ticore.limits import require_dense

# How many bytes the replacements of a normalizer may make of one, each applied to what the one
# before it made. SentencePiece's mark of a space has 3; chains of them multiply.
_MOST_GROWTH = 10_000
# Bytes of the number at the head of a character map, which says how long its index is.
_HEAD = 4


def require_sound(text: str) -> None:
    """Raise ModelFilesError where the library must not be given `text`, a tokenizer.json.

    What it refuses by itself is not looked for.
    """
    try:
        state = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFilesError(
            f"expected a complete tokenizer.json, found something else ({error}); "
            f"fetch the file again"
        ) from None
    if not isinstance(state, dict) or not isinstance(model := state.get("model"), dict):
        return  # which the library refuses
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
    # In a list, as Unigram's, each token's place is its id.
    unstated = len(vocab) if isinstance(vocab, list) else 0
    highest = max((i for i in stated if type(i) is int), default=0)
    require_dense(highest, len(stated) + unstated)


def _require_prefixed(model: dict[str, Any]) -> None:
    """Where parts of words have a prefix, the library cuts it off what each rule joins, unseen."""
    prefix, merges = model.get("continuing_subword_prefix"), model.get("merges")
    if not prefix or not isinstance(prefix, str) or not isinstance(merges, list):
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
    """A component, or those of which it is a sequence, in their order."""
    match component:
        case {"type": "Sequence", **fields}:
            for steps in fields.values():  # `normalizers`, `pretokenizers`
                for step in steps if isinstance(steps, list) else ():
                    yield from _steps(step)
        case dict():
            yield component


def _growth(step: dict[str, Any]) -> int:
    """How many bytes a step of a normalizer may make of one."""
    match step:
        case {"type": "Replace", "pattern": {"String": ""} | {"Regex": ""}}:
            raise _unfit("a Replace of something", "one of nothing, which is everywhere")
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)}:
            return max(1, ceil(_length(new) / _length(old)))
        case {"type": "Replace", "content": str(new)}:  # of what an expression finds
            return max(1, _length(new))
        case {"type": "Prepend", "prepend": str(more)}:
            return 1 + _length(more)
        case {"type": "Precompiled", "precompiled_charsmap": str(charsmap)}:
            return _growth_of_map(charsmap)
    return 1


def _growth_of_map(charsmap: str) -> int:
    """How many bytes a character map of SentencePiece may make of one.

    It holds the length of an index, the index, and texts, each up to a zero byte.
    """
    try:
        content = b64decode(charsmap, validate=True)
    except ValueError as error:
        raise _unfit("a precompiled_charsmap in base64", f"something else ({error})") from None
    length = int.from_bytes(content[:_HEAD], "little")
    if not content or not 0 < length <= len(content) - _HEAD:
        # By this number the library takes memory, and ends the process where it gets none.
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
