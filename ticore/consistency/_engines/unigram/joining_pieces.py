"""Pieces that the normalizer changes together with the character before them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...._support.caches import cached_method
from ..._arrays import Ids
from .reading import Reading
from .trie import Longs


class JoiningPieces:
    """Finds them. Thread-safe.

    Args:
        ids: of all pieces, int64[n].
        firsts: their first characters, as code points, int[n].
        spelled: the bytes of every id.
        reading: what the normalizer does.
    """

    def __init__(
        self,
        ids: Longs,
        firsts: npt.NDArray[np.integer],
        spelled: Sequence[bytes],
        reading: Reading,
    ) -> None:
        self._reading, self._none = reading, ids[:0]
        codes = np.unique(firsts).tolist()
        joining = [c for c in codes if c != ord(" ") and reading.may_be_joined(chr(c))]
        found = dict[str, list[int]]()
        for token in ids[np.isin(firsts, joining)].tolist():
            found.setdefault(reading.head(spelled[token].decode()), []).append(token)
        # By the characters with which pieces begin that join, the pieces. A space is no such one.
        self._by_head: dict[str, Ids] = {head: np.array(some) for head, some in found.items()}

    @cached_method(1 << 12)
    def after(self, last: str) -> Longs:
        """Ids of pieces whose beginning is changed together with `last`, but for spaces."""
        if not last or not self._by_head:
            return self._none
        if self._reading.keeps_together([last + head for head in self._by_head]):
            return self._none
        found = [ids for head, ids in self._by_head.items() if not self._reading.keeps(last + head)]
        return np.concatenate([self._none, *found])
