"""Mistral's tekken.json: tiktoken's ranks with their expression and their special tokens.

Special tokens take the first ids, and the ranks follow. Of the ranks in the file, only as many are
tokens as the stated size of the vocabulary leaves room for.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import tiktoken

from ticore.backend_kit import require_dense
from ticore.errors import ModelFilesError

# The names that a file means which states none. Later versions state them.
_NAMES = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
_WITHOUT_NAMES = ("v1", "v2", "v3", "v7")
_BYTES = 256


def read_tekken(data: bytes) -> tiktoken.Encoding:
    """The tokenizer in a tekken.json, with the ids that mistral-common gives.

    Raises:
        ModelFilesError: it is not such a file, or is damaged.
    """
    try:
        state = json.loads(data.decode(), object_hook=_token_or_object)
    except (ValueError, RecursionError) as error:
        raise _malformed(f"no JSON ({error})") from None
    match state:
        case {
            "vocab": [*tokens],
            "config": {
                "pattern": str(pattern),
                "default_vocab_size": int(size),
                "default_num_special_tokens": int(special),
                **config,
            },
        }:
            require_dense(size, len(tokens))
            ranks = _ranks(tokens, size - special)  # First: it refuses sizes that do not fit.
            names = _names(state.get("special_tokens"), special, config.get("version"))
            shifted = {token: rank + special for token, rank in ranks.items()}
            return _encoding(pattern, shifted, names)
    raise _malformed("no vocab, or no config with a pattern and the sizes of the vocabulary")


def _token_or_object(found: dict[str, Any]) -> object:
    """Of a token, only its rank and bytes are kept: with its text it takes much memory."""
    if "token_bytes" in found:
        return found.get("rank"), found["token_bytes"]
    return found


def _ranks(tokens: list[object], count: int) -> dict[bytes, int]:
    if not _BYTES <= count <= len(tokens):
        raise _malformed(f"{len(tokens):,} tokens, of which {count:,} have an id")
    ranks: dict[bytes, int] = {}
    for rank, found in enumerate(tokens[:count]):
        match found:
            case (int(stated), str(encoded)) if stated == rank:
                token = _decoded(encoded)
            case _:
                raise _malformed(f"no token of rank {rank} at this place of vocab")
        if token in ranks or not token or (rank < _BYTES and token != bytes([rank])):
            raise _malformed(f"{token!r} as token of rank {rank}")
        ranks[token] = rank
    return ranks


def _decoded(encoded: str) -> bytes:
    try:
        return b64decode(encoded, validate=True)
    except ValueError:
        raise _malformed(f"the bytes {encoded[:40]!r}, which are not base64") from None


def _names(stated: object, count: int, version: object) -> dict[str, int]:
    """The names of special tokens and their ids."""
    if stated is None and version in _WITHOUT_NAMES:
        names = [*_NAMES]
    elif isinstance(stated, list):
        names = [_name(i, found) for i, found in enumerate(stated)]
    else:
        raise _malformed(f"version {version!r} and no special_tokens")
    names += [f"<SPECIAL_{i}>" for i in range(len(names), count)]
    if len(names) != count or len(set(names)) != count:
        raise _malformed(f"{len(set(names)):,} names of {count:,} special tokens")
    return {name: i for i, name in enumerate(names)}


def _name(position: int, found: object) -> str:
    match found:
        case {"rank": int(rank), "token_str": str(name)} if rank == position and name:
            return name
    raise _malformed(f"no special token of rank {position} at this place of special_tokens")


def _encoding(
    pattern: str, ranks: Mapping[bytes, int], special: Mapping[str, int]
) -> tiktoken.Encoding:
    try:
        return tiktoken.Encoding(
            "tekken", pat_str=pattern, mergeable_ranks=dict(ranks), special_tokens=dict(special)
        )
    except ValueError as error:
        raise _malformed(f"an expression that tiktoken cannot read ({error})") from None


def _malformed(found: str) -> ModelFilesError:
    return ModelFilesError(
        f"expected a tekken.json of Mistral, found {found}; fetch the file again, or open a "
        f"tokenizer.json with tokenizers:FILE"
    )
