"""Trains each detector on all texts together and on each kind by itself: a task each.

Trainings take hours where texts are many. As tasks they are kept one by one, and several run at
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .detectors.detector import Seen
from .summary import ALL, Cell
from .trials import FEWEST, MakeDetector, Split, measured, trained

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Task, Worker

TASK_NAMES = ("seen", "detector", "method", "k")
"""What is seen of each text, and the texts to learn from: of `ALL` cells, or of one."""


@dataclass(frozen=True)
class Texts:
    """What detectors see of the texts of one model.

    Attributes:
        hiding: the texts with a message of each cell.
        covers: those without.
    """

    hiding: Mapping[Cell, Sequence[Seen]]
    covers: Sequence[Seen]


def tasks(
    seen: Mapping[str, Texts], detectors: Mapping[str, Sequence[str]], seed: int
) -> list[Task]:
    """The trainings: first those on all texts, then detector by detector those on one kind.

    Args:
        seen: texts, by what is seen of them.
        detectors: for each, what it sees of texts.
        seed: of the splits.

    Returns:
        Tasks named `TASK_NAMES`. Kinds with few texts are left out.
    """
    pairs = [(name, part) for name, parts in detectors.items() for part in parts]
    held_out = {
        part: {cell: len(Split.of(some, seed).test) for cell, some in texts.hiding.items()}
        for part, texts in seen.items()
    }
    testable = {
        part
        for part, texts in seen.items()
        if _is_split(texts.covers, seed)
        and _is_split([each for some in texts.hiding.values() for each in some], seed)
    }
    pooled = [(part, name, *ALL) for name, part in pairs if part in testable]
    alone = [
        (part, name, *cell)
        for name, part in pairs
        if part in testable
        for cell, count in held_out[part].items()
        if count >= FEWEST
    ]
    return [*pooled, *alone]


def _is_split(texts: Sequence[Seen], seed: int) -> bool:
    """Whether there are texts to learn from, and texts to be tested on."""
    split = Split.of(texts, seed)
    return bool(split.train and split.test)


def make_worker(
    seen: Mapping[str, Texts], detectors: Mapping[str, MakeDetector], seed: int
) -> Worker:
    """The worker of these texts: `Trainer.train`."""
    return Trainer(seen, detectors, seed).train


class Trainer:
    """Trains detectors.

    Args:
        seen: texts, by what is seen of them.
        detectors: by name.
        seed: of splits and of training.
    """

    def __init__(
        self, seen: Mapping[str, Texts], detectors: Mapping[str, MakeDetector], seed: int
    ) -> None:
        self._covers = {part: Split.of(texts.covers, seed) for part, texts in seen.items()}
        self._hiding = {
            part: {cell: Split.of(some, seed) for cell, some in texts.hiding.items()}
            for part, texts in seen.items()
        }
        self._detectors = detectors
        self._seed = seed

    def train(self, seen: str, detector: str, method: str, k: int) -> Sample:
        """Train one detector, and test it.

        Returns:
            The task, and `tested`: an entry for each kind of texts that it was tested on, see
            `measured`. One that learned from all texts is tested on all and on each kind.
        """
        cell = method, k
        covers, hiding = self._covers[seen], self._hiding[seen]
        learned = _together(list(hiding.values()), self._seed) if cell == ALL else hiding[cell]
        found = trained(self._detectors[detector], learned, covers, self._seed)
        kinds = hiding if cell == ALL else {cell: learned}
        scores = {kind: found.scores(split.test) for kind, split in kinds.items() if split.test}
        if cell == ALL:
            scores = {ALL: np.concatenate(list(scores.values()))} | scores
        of_covers = found.scores(covers.test)
        tested = [_kind(kind) | measured(some, of_covers) for kind, some in scores.items()]
        task = {"seen": seen, "detector": detector, "method": method, "k": k}
        return task | {"tested": tested}


def _together(splits: Sequence[Split], seed: int) -> Split:
    """All texts, mixed: only a part of them is used where covers are few."""
    train = [text for split in splits for text in split.train]
    np.random.default_rng(seed).shuffle(train)
    return Split(train, [text for split in splits for text in split.test])


def _kind(cell: Cell) -> JsonObject:
    return {"method": cell[0], "k": cell[1]}
