"""Gradient boosting on numbers about a text."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from .detector import Seen


class Boosting:
    """Boosted trees on some of a text's statistics.

    Args:
        names: which of them; empty: all.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._names = tuple(names)
        self._trees: Any = None

    def fit(self, texts: Sequence[Seen], hidden: npt.NDArray[np.bool_], seed: int) -> None:
        """See `Detector.fit`."""
        if not self._names:
            self._names = tuple(sorted(texts[0].statistics))
        # The defaults overfit a few hundred texts: smaller trees, and fewer of them.
        self._trees = import_module("sklearn.ensemble").HistGradientBoostingClassifier(
            max_iter=100, learning_rate=0.08, max_leaf_nodes=8, random_state=seed
        )
        self._trees.fit(self._table(texts), hidden)

    def scores(self, texts: Sequence[Seen]) -> npt.NDArray[np.float64]:
        """See `Detector.scores`."""
        found: npt.NDArray[np.float64] = self._trees.decision_function(self._table(texts))
        return found

    def _table(self, texts: Sequence[Seen]) -> npt.NDArray[np.float64]:
        return np.array([[text.statistics[name] for name in self._names] for text in texts])
