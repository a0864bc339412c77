"""The token windows that training reads, cut from documents in new places at each visit."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import numpy as np

from .tokenizers import TrainingTokenizer

# Documents that are read side by side.
MIXED = 32
# More than any text of these corpora has.
CHARACTERS_A_TOKEN = 6


def windows(
    texts: list[str],
    sentence_start: re.Pattern[str],
    tokenizer: TrainingTokenizer,
    length: int,
    seed: int,
) -> Iterator[np.ndarray]:
    """Endless training windows int64[length + 1]: the start token, then text from a sentence on.

    Neighbours come from different documents, so that a batch mixes authors. Each visit to a
    document cuts it in new places.

    Args:
        texts: the documents.
        sentence_start: its matches end where sentences begin.
        tokenizer: of the model that is trained.
        length: tokens of text in a window.
        seed: decides the order and the cuts.
    """
    rng = np.random.default_rng(seed)
    order = (texts[i] for _ in itertools.count() for i in rng.permutation(len(texts)))

    def cut(text: str) -> Iterator[np.ndarray]:
        return _windows_of(text, sentence_start, tokenizer, length, rng)

    under_way = [cut(next(order)) for _ in range(MIXED)]
    while True:
        place = int(rng.integers(MIXED))
        window = next(under_way[place], None)
        if window is None:
            under_way[place] = cut(next(order))
        else:
            yield window


def _windows_of(
    text: str,
    sentence_start: re.Pattern[str],
    tokenizer: TrainingTokenizer,
    length: int,
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    starts = [0] + [match.end() for match in sentence_start.finditer(text)]
    at = int(rng.integers(0, min(len(starts), 40)))
    while at < len(starts):
        part = text[starts[at] : starts[at] + CHARACTERS_A_TOKEN * length]
        ids = tokenizer.encode(part)[:length]
        if len(ids) < length:
            return
        yield np.array([tokenizer.start, *ids], dtype=np.int64)
        read = starts[at] + len(tokenizer.decode(ids))
        at = max(at + 1, int(np.searchsorted(starts, read, side="right")) - 1)
