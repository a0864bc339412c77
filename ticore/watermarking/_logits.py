"""Logits in which some ids cannot be chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..interfaces import Tokenizer


def mask_of(ids: Iterable[int], logits: Any) -> Any:
    """Which logits belong to some ids: bool[n], of the library and on the device of the logits.

    Args:
        ids: any. Some may have no logit.
        logits: float[n], an array of any library.
    """
    mask = np.zeros(logits.shape[-1], dtype=bool)
    mask[[token for token in ids if token < len(mask)]] = True
    return array_namespace(logits).asarray(mask, device=device(logits))


def without(logits: Any, banned: Iterable[int]) -> Any:
    """The logits with -inf for the `banned` ids. The given array is not changed.

    Args: see `mask_of`.
    """
    xp = array_namespace(logits)
    return xp.where(mask_of(banned, logits), -xp.inf, logits)


def unspellable_ids(tokenizer: Tokenizer, width: int) -> set[int]:
    """The ids that no text spells: special ones, and logits without a token.

    Args:
        tokenizer: of a model.
        width: of its logits, which may be more than the tokenizer has ids.
    """
    return {*tokenizer.special_ids, *range(tokenizer.vocab_size, width)}
