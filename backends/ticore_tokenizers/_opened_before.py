"""What is known of a large tokenizer.json that was opened before.

Its library takes seconds and hundreds of megabytes to build the tokenizer of such a file. All that
ticore asks about before a text is read or written is stored here, and the library is built when one
is. A file is looked up by the digest of its whole content, so a file that changed is opened again;
and by that of the code that reads it. It is stored once it was opened without an error.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers

from ticore.backend_kit import table_cache
from ticore.interfaces import AddedTokenFlags, Split, TokenizerStructure

from ._normalizer_steps import normalize_with
from ._normalizers import Normalize

_MUCH = 1 << 20  # bytes; smaller files are opened in less than 0.1 s
# Between the tokens, where no token holds it.
_BETWEEN = b"\xff\xfe\xff"
_ARRAYS = "pieces", "merges", "ranks", "scores"

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Opened:
    """What is stored of a file.

    Attributes:
        source: what the library is built from, compressed.
        spelled: the bytes of every id.
        special, unknown: ids.
        digest: of the tokenizer.
        structure: of the tokenizer.
    """

    source: bytes
    spelled: tuple[bytes, ...]
    special: frozenset[int]
    unknown: frozenset[int]
    digest: str
    structure: TokenizerStructure


def takes_long_to_open(data: bytes) -> bool:
    """Whether a file is worth storing what is known of it."""
    return len(data) >= _MUCH


def compressed(source: bytes) -> bytes:
    """A `source`, at a third of its size."""
    return zlib.compress(source, level=1)


def decompressed(source: bytes) -> bytes:
    """The way back."""
    return zlib.decompress(source)


def find(reader: str) -> Opened | None:
    """What was stored of the file with this `reader_digest`; None if nothing was."""
    return table_cache.load_unpacked(_name(reader), partial(_unpacked, reader))


def keep(reader: str, opened: Opened) -> None:
    """Store this, if all of it comes back."""
    together = _BETWEEN.join(opened.spelled)
    if tuple(together.split(_BETWEEN)) != opened.spelled:
        return
    structure = opened.structure
    is_stored, normalizer = _normalizer_json(structure.normalize)
    if not is_stored:
        return
    plain = {
        field.name: getattr(structure, field.name)
        for field in fields(structure)
        if field.name not in (*_ARRAYS, "normalize")
    }
    facts = {
        "reader": reader,
        "digest": opened.digest,
        "special": sorted(opened.special),
        "unknown": sorted(opened.unknown),
        "normalizer": normalizer,
        "structure": plain,
    }
    arrays = {
        "source": _as_array(opened.source),
        "spelled": _as_array(together),
        "facts": _as_array(json.dumps(facts, default=asdict).encode()),
    }
    found = {name: getattr(structure, name) for name in _ARRAYS}
    arrays |= {name: array for name, array in found.items() if array is not None}
    table_cache.save(_name(reader), arrays)


def _unpacked(reader: str, arrays: Arrays) -> Opened:
    facts = json.loads(arrays["facts"].tobytes())
    if facts["reader"] != reader:
        raise ValueError("expected what this code stored, found what other code did")
    normalizer, given = facts["normalizer"], facts["structure"]
    given |= {name: arrays[name] for name in _ARRAYS if name in arrays}
    given["normalize"] = None if normalizer is None else normalize_with([normalizer])
    given["byte_ids"] = tuple(given["byte_ids"])
    given["pretokenizer"] = tuple(
        step if isinstance(step, str) else Split(**step) for step in given["pretokenizer"]
    )
    given["added_flags"] = {
        text: AddedTokenFlags(**flags) for text, flags in given["added_flags"].items()
    }
    return Opened(
        source=arrays["source"].tobytes(),
        spelled=tuple(arrays["spelled"].tobytes().split(_BETWEEN)),
        special=frozenset(facts["special"]),
        unknown=frozenset(facts["unknown"]),
        digest=facts["digest"],
        structure=TokenizerStructure(**given),
    )


def _normalizer_json(normalize: Normalize | None) -> tuple[bool, Any]:
    """Whether a structure's function is one of the library alone, and its normalizer as JSON."""
    if normalize is None:
        return True, None
    normalizer = getattr(normalize, "__self__", None)
    if not isinstance(normalizer, tokenizers.normalizers.Normalizer):
        return False, None
    return True, json.loads(normalizer.__getstate__())


def _as_array(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _name(reader: str) -> str:
    """One name for all code, so that what other code stored is replaced."""
    return f"opened-{reader.partition('-')[0]}"
