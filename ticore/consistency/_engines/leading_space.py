"""Tokenizers that put a space before a text which begins with another character.

RoBERTa's does so if its file has `add_prefix_space`. Unlike SentencePiece's dummy prefix, the space
stays in the text that is decoded:

    encode("Hi") == encode(" Hi") == [" Hi"]      decode([" Hi"]) == " Hi"

So a list is consistent if and only if its text is empty or begins with a space, and the list is
consistent with the same tokenizer without this step. The same holds after each added token, since
the tokenizer reads the text there by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import numpy as np

from ...interfaces import SpacePrefixingTokenizer, Tokenizer
from .._unsupported import Unsupported
from .base import Engine
from .beginnings import BeginningEngine
from .retokenizing import Oracle

S = TypeVar("S")


def without_leading_space(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, without the step that puts a space before texts.

    Raises:
        Unsupported: its adapter does not offer that.
    """
    if not isinstance(tokenizer, SpacePrefixingTokenizer):
        raise Unsupported("the tokenizer puts a space before texts, and cannot be asked without it")
    return tokenizer.without_leading_space()


def with_leading_space(
    inner: Engine[S], spelled: Sequence[bytes], added: Collection[int], oracle: Oracle
) -> Engine[Any]:
    """An engine for a tokenizer that puts a space before texts.

    Args:
        inner: an engine for the same tokenizer and mode, without this step.
        spelled: the bytes of every id.
        added: ids of added tokens.
        oracle: asks the tokenizer.
    """
    may_begin = np.array([data[:1] == b" " for data in spelled], dtype=bool)
    return BeginningEngine(inner, may_begin, np.zeros_like(may_begin), added, spelled, oracle)
