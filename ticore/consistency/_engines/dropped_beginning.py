"""Tokenizers that drop what no part of a text may begin with.

The pretokenizer UnicodeScripts drops the spaces at the beginning of a text, and nothing inside it;
see `change_step`. Such a text is not read back:

    encode(" a b") == encode("a b")      decode gives "a b"
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import numpy as np

from ..._support.utf8 import character_length, unfinished_suffix
from .._tokenizer_rules.pretokenizers import Splitter
from .base import Engine
from .beginnings import BeginningEngine
from .retokenizing import Oracle

S = TypeVar("S")


def with_dropped_beginning(
    inner: Engine[S],
    splitter: Splitter,
    spelled: Sequence[bytes],
    added: Collection[int],
    oracle: Oracle,
) -> Engine[Any]:
    """An engine for a tokenizer whose pretokenizer drops how some texts begin.

    Args:
        inner: an engine for the same tokenizer and mode, which takes what is dropped for a part.
        splitter: of the pretokenizer.
        spelled: the bytes of every id.
        added: ids of added tokens, after which a text begins.
        oracle: asks the tokenizer.
    """
    kept = dict[bytes, bool]()  # by the first character

    def may_begin(data: bytes) -> bool:
        first = data[: character_length(data[0]) if data[:1] >= b"\xc0" else 1]
        if first not in kept:
            text = first.decode(errors="ignore")
            kept[first] = bool(text) and not splitter.drops_first(text)
        return kept[first]

    begins = np.array([may_begin(data) for data in spelled], dtype=bool)
    is_asked = np.array([bool(data) and unfinished_suffix(data) == data for data in spelled])
    return BeginningEngine(inner, begins, is_asked, added, spelled, oracle)
