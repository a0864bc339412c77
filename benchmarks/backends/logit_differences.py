"""How much logits differ between backends, dtypes and ways to read one text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

import ticore
from benchmarks._harness.types import JsonObject
from ticore.errors import SettingsError
from ticore.interfaces import BatchModel, LanguageModel

DTYPES = ("float64", "float32", "bfloat16")
_PROMPT_LENGTH = 8
_OTHER_TEXTS = 7  # in the batch

LogitRows = npt.NDArray[np.floating]
"""Logits float[tokens, logit_width]."""


def logit_differences(models: Iterable[str], text: str, token_count: int) -> list[JsonObject]:
    """The largest difference of a logit for every pair of ways to read the same tokens.

    Args:
        models: one model in several backends.
        text: its first `token_count` tokens are read.
        token_count: see `text`.
    """
    readings = [
        ({"model": place, "dtype": dtype, "path": path}, logits)
        for place in models
        for dtype in DTYPES
        for path, logits in _readings(place, dtype, text, token_count)
    ]
    return [
        {"one": one, "other": other, "difference": float(np.abs(left - right).max())}
        for (one, left), (other, right) in combinations(readings, 2)
    ]


def _readings(
    place: str, dtype: str, text: str, token_count: int
) -> Iterator[tuple[str, LogitRows]]:
    """Logits by the way to read; none where the backend does not compute in `dtype`."""
    try:
        model = ticore.load_model(place, dtype=dtype)
    except SettingsError:
        return
    ids = model.tokenizer.encode(text)[:token_count]
    lengths = range(_PROMPT_LENGTH, len(ids))
    yield "cached", _cached(model, ids)
    yield "uncached", np.array([model.start(ids[:length]).logits() for length in lengths])
    yield "parallel", np.array(model.score(ids)[_PROMPT_LENGTH:])
    if isinstance(model, BatchModel):
        yield "batched", _batched(model, ids)


def _cached(model: LanguageModel, ids: Sequence[int]) -> LogitRows:
    decoder, logits = model.start(ids[:_PROMPT_LENGTH]), []
    for token in ids[_PROMPT_LENGTH:]:
        logits.append(decoder.logits())
        decoder.push(token)
    return np.array(logits)


def _batched(model: BatchModel, ids: Sequence[int]) -> LogitRows:
    """In a batch with longer texts, which read other tokens at each step."""
    prompts = [ids[: _PROMPT_LENGTH + n] for n in range(1 + _OTHER_TEXTS)]
    batch = model.start_batch(prompts)
    assert batch is not None
    logits = []
    for position in range(_PROMPT_LENGTH, len(ids)):
        logits.append(batch.logits(0))
        batch.push({n: ids[position - n] for n in range(1 + _OTHER_TEXTS)})
    return np.array(logits)
