"""How well the observer guesses a message's size, against what its padding class tells.

A message is padded to one of a few sizes, so its class is all that a text can tell at most. The
guess of a size from what is known is the middle one of all messages of which that is known too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks._harness.intervals import as_json, mean
from benchmarks.paper.endings.guessing import guess
from benchmarks.paper.endings.plan import USUAL
from ticore.evaluation import rate

from .measures import all_numbers
from .telling import FOLDS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Ints = npt.NDArray[np.int64]

_FEWEST = 20 * FOLDS  # texts below which no class is learned


def guesses(texts: Sequence[JsonObject], seed: int) -> list[JsonObject]:
    """How well sizes are guessed from what an observer may know.

    Args:
        texts: sealed ones, of all sizes alike; at least one.
        seed: of what learns.

    Returns:
        For each knowledge its `name`; the shares of texts, with their intervals, of which the
        padding `class` is guessed, and the `size` exactly; `error`, the mean distance of the guess
        in bytes.
    """
    sizes = np.array([text["size"] for text in texts])
    frames = np.array([text["bits"] // 8 for text in texts])
    middle = {int(frame): _middle(sizes[frames == frame]) for frame in np.unique(frames)}
    usual = max(middle, key=lambda frame: int((frames == frame).sum()))
    knowledge = {
        "nothing": (np.full(len(texts), usual), np.full(len(texts), _middle(sizes))),
        "the place of the end": _of_class(_by_place(texts, sorted(middle)), middle),
        "the padding class itself": _of_class(frames, middle),
    }
    if len(texts) >= _FEWEST:
        table = np.array([list(all_numbers(text, in_pool=True).values()) for text in texts])
        folds = np.array([text["index"] for text in texts]) % FOLDS
        learned = _learned(table, frames, folds, seed)
        knowledge["all numbers of the text"] = _of_class(learned, middle)
        beside = np.column_stack([table, frames])
        knowledge["padding class and all numbers"] = frames, _learned(beside, sizes, folds, seed)
    return [
        {
            "name": name,
            "class": as_json(rate(int((of_class == frames).sum()), len(texts))),
            "size": as_json(rate(int((size == sizes).sum()), len(texts))),
            "error": as_json(mean(np.abs(size - sizes).tolist())),
        }
        for name, (of_class, size) in knowledge.items()
    ]


def _middle(sizes: Ints) -> int:
    return int(np.sort(sizes)[(len(sizes) - 1) // 2])


def _of_class(frames: Ints, middle: Mapping[int, int]) -> tuple[Ints, Ints]:
    """Guesses of the class, and of the size that follow from them."""
    return frames, np.array([middle[int(frame)] for frame in frames])


def _by_place(texts: Sequence[JsonObject], frames: Sequence[int]) -> Ints:
    """The class by where texts end: the possible one that is next to what `guess` says."""
    found = (guess(USUAL, text["surprisals"], text["sentence_ends"]).best for text in texts)
    return np.array([min(frames, key=lambda frame: abs(frame - best)) for best in found])


def _learned(table: npt.NDArray[np.float64], labels: Ints, folds: Ints, seed: int) -> Ints:
    """The label of each text by a classifier that has not seen it."""
    make = import_module("sklearn.ensemble").HistGradientBoostingClassifier
    found = np.zeros_like(labels)
    for fold in range(FOLDS):
        inside = folds == fold
        trees = make(max_iter=60, learning_rate=0.08, max_leaf_nodes=8, random_state=seed)
        found[inside] = trees.fit(table[~inside], labels[~inside]).predict(table[inside])
    return found
