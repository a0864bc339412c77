"""Whether a model gives the same logits when it reads a text again, as reading a message needs.

It is tried once per model object, on a short text: a prompt at once, then id by id. A model that
passes may still fail where nobody looked, such as in longer texts; `check="full"` looks there.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from ..backend_kit._reading import start_batch, start_decoder
from ..candidates import Ints
from ..interfaces import Decoder, LanguageModel, Logits

_PROMPT, _PUSHED = 4, 4  # ids; two readings of them take ten passes
_Key = tuple[int, float]

# Not an attribute of the model, which would be pickled with it and be wrong on another machine.
_KNOWN: MutableMapping[LanguageModel, dict[_Key, bool]] = WeakKeyDictionary()


def is_repeatable(model: LanguageModel, ids: Ints, tolerance: float, batch_size: int = 1) -> bool:
    """Whether the model's logits can be relied on to be the reader's.

    Args:
        model: any.
        ids: int64[n], tokens to make a text of; at least one.
        tolerance: 0: two readings must be equal bit for bit. Above 0: they may differ by this, and
            so may `score`.
        batch_size: how many texts are read side by side.
    """
    try:
        known = _KNOWN.setdefault(model, {})
    except TypeError:  # it cannot be hashed, or has no weak references
        known = {}
    key = batch_size, tolerance
    if key not in known:
        # Another thread may do the same, with the same result.
        text = np.resize(ids, min(_PROMPT + _PUSHED, model.context_length)).tolist()
        known[key] = _try(model, text, tolerance, batch_size)
    return known[key]


def _try(model: LanguageModel, text: Sequence[int], tolerance: float, batch_size: int) -> bool:
    prompt, pushed = text[:_PROMPT], text[_PROMPT:]
    first = _start(model, prompt, batch_size)
    one = _read(first, pushed)
    # The first one still lives, so the second one has other places in memory.
    other = _read(_start(model, prompt, batch_size), pushed)
    if not tolerance:
        return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
    scored = model.score([*text, text[0]])[len(prompt) :]
    return all(
        np.allclose(a, b, rtol=0, atol=tolerance)
        for again in (other, scored)
        for a, b in zip(one, again, strict=True)
    )


def _start(model: LanguageModel, prompt: Sequence[int], batch_size: int) -> Decoder | _SameTexts:
    if batch_size == 1:
        return start_decoder(model, prompt, rewindable=0)
    return _SameTexts(model, prompt, batch_size)


class _SameTexts:
    """Several times the same text, side by side."""

    def __init__(self, model: LanguageModel, prompt: Sequence[int], count: int) -> None:
        self._rows = range(count)
        self._batch = start_batch(model, [prompt] * count, rewindable=0)

    def logits(self) -> Logits:
        return self._batch.logits(0)

    def push(self, token: int) -> None:
        self._batch.push(dict.fromkeys(self._rows, token))


def _read(text: Decoder | _SameTexts, tokens: Sequence[int]) -> list[Logits]:
    """The logits after what was read, and after each further token."""
    rows = [np.array(text.logits())]
    for token in tokens:
        text.push(token)
        rows.append(np.array(text.logits()))
    return rows
