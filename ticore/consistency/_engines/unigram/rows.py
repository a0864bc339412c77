"""The rows of masks: answers that most states share that go on at one kind of place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ...._support.caches import cached_method
from ...._support.packed_bits import Words, pack
from ..._arrays import Bools
from ..._modes import Mode
from .byte_fallback import ByteFallback
from .reading import Reading
from .state import Place
from .trie import Longs


class Rows:
    """Makes them, each once. Thread-safe.

    Args:
        size: of the vocabulary.
        ids: of all pieces, int64[n].
        firsts, lasts: their first and last characters, as code points, int[n].
        alone: whether each piece is the best segmentation of its own text: bool[n].
        reading: what the normalizer does.
        fallback: the tokens of bytes.
        mode: see `ticore.consistency._modes`.

    Attributes:
        not_last: ids of the pieces that no text ends in, int64[m].
    """

    def __init__(
        self,
        size: int,
        ids: Longs,
        firsts: npt.NDArray[np.integer],
        lasts: npt.NDArray[np.integer],
        *,
        alone: Bools,
        reading: Reading,
        fallback: ByteFallback,
        mode: Mode,
    ) -> None:
        self._size, self._ids, self._firsts = size, ids, firsts
        self._alone, self._reading, self._fallback, self._mode = alone, reading, fallback, mode
        no_end = [c for c in np.unique(lasts).tolist() if not reading.may_end(chr(c))]
        self.not_last: Longs = ids[np.isin(lasts, no_end)]
        self._spaced = ids[lasts == ord(" ")]

    @cached_method(1)
    def none(self) -> Bools:
        """The answers where nothing may follow: bool[vocab_size]."""
        return np.zeros(self._size, dtype=bool)

    @cached_method(4)
    def of(self, place: Place) -> Bools:
        """The answers after most texts that go on inside a text: bool[vocab_size]."""
        row = np.zeros(self._size, dtype=bool)
        row[self._ids] = self._alone
        if self._mode != "viable":
            row[self.not_last] = False
        if place is Place.AFTER_SPACE:
            row[self._ids] &= self._begin_where(partial(self._reading.may_follow, " "))
        row[self._fallback.always_open()] = True
        return row

    @cached_method(4)
    def packed(self, place: Place) -> Words:
        """`of` with one bit per token."""
        return pack(self.of(place))

    def first(self, place: Place, spelled: Sequence[bytes]) -> Bools:
        """The answers at a place where there is one state, but for `asked_first`.

        Args:
            place: START or AFTER_PREFIX.
            spelled: the bytes of every id.

        Returns:
            A new array: bool[vocab_size].
        """
        row = self.of(Place.INSIDE).copy()
        row[list(self._fallback.bytes)] = False
        if place is Place.START:
            # The beginning of a piece is the beginning of the text here.
            row[self._ids] &= self._begin_where(partial(self._reading.may_follow, ""))
            if self._reading.dummy_prefix and not self._reading.is_plain:
                some = self._ids[row[self._ids]].tolist()
                row[some] = [self._reading.may_begin_with(spelled[i].decode()) for i in some]
        else:
            row[self._ids] &= self._begin_where(self._reading.may_start)
        return row

    def asked_first(self) -> list[int]:
        """Ids whose answers at a place with one state are found one by one."""
        return [*self._fallback.bytes, *self._spaced.tolist()]

    def _begin_where(self, may: Callable[[str], bool]) -> Bools:
        """Which pieces begin with a character that `may` allows: bool[n]."""
        codes = np.unique(self._firsts).tolist()
        return np.isin(self._firsts, [code for code in codes if may(chr(code))])
