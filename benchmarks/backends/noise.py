"""How far logits lie apart: of backends, number formats, and ways to read one text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

import ticore
from benchmarks.workers import Found
from ticore.errors import SettingsError
from ticore.interfaces import BatchModel, LanguageModel

DTYPES = ("float64", "float32", "bfloat16")
_PROMPT, _BESIDE = 8, 7  # tokens read at once, and other texts in the batch

Rows = npt.NDArray[np.floating]


def noise(places: Iterable[str], text: str, tokens: int) -> list[Found]:
    """The largest difference of a logit for every pair of ways to read the same tokens.

    Args:
        places: of one model.
        text: as much of it as makes `tokens` tokens is read.
    """
    readings = [
        ({"place": place, "dtype": dtype, "path": path}, rows)
        for place in places
        for dtype in DTYPES
        for path, rows in _readings(place, dtype, text, tokens)
    ]
    return [
        {"one": one, "other": other, "difference": float(np.abs(left - right).max())}
        for (one, left), (other, right) in combinations(readings, 2)
    ]


def _readings(place: str, dtype: str, text: str, tokens: int) -> Iterable[tuple[str, Rows]]:
    """Rows of logits by way; none where the backend does not compute in `dtype`."""
    try:
        model = ticore.load_model(place, dtype=dtype)
    except SettingsError:
        return
    ids = model.tokenizer.encode(text)[:tokens]
    yield "cached", _cached(model, ids)
    yield "uncached", np.array([model.start(ids[:n]).logits() for n in range(_PROMPT, len(ids))])
    yield "parallel", np.array(model.score(ids)[_PROMPT:])
    if isinstance(model, BatchModel):
        yield "batched", _batched(model, ids)


def _cached(model: LanguageModel, ids: Sequence[int]) -> Rows:
    decoder, rows = model.start(ids[:_PROMPT]), []
    for token in ids[_PROMPT:]:
        rows.append(decoder.logits())
        decoder.push(token)
    return np.array(rows)


def _batched(model: BatchModel, ids: Sequence[int]) -> Rows:
    """Beside rows that are longer and read other tokens."""
    starts = [ids[: _PROMPT + n] for n in range(1 + _BESIDE)]
    batch = model.start_batch(starts)
    assert batch is not None
    rows = []
    for at in range(_PROMPT, len(ids)):
        rows.append(batch.logits(0))
        batch.push({n: ids[at - n] for n in range(1 + _BESIDE)})
    return np.array(rows)
