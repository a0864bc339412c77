"""Sorts a vocabulary into the few groups of tokens that a pretokenizer's expression tells apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..modes import CONTINUATIONS, Mode, pending
from ..normalization import Normalization
from .shapes import AMBIGUOUS, Shapes, shorten
from .splits import Alternative, Group

NEVER = Group()
UNDECIDED = Group((Alternative(AMBIGUOUS, 1),))
"""What only the tokenizer can decide about."""

Apart = Callable[[int, int], bool]
Segment = Callable[[bytes], tuple[int, ...]]


class Grouping:
    """Finds the group of a token from its bytes.

    Args:
        shapes: of the pretokenizer's expression.
        normalization: what the tokenizer does to a text beforehand.
        mode: see `ticore.consistency.modes`.
        apart: whether BPE keeps two neighbours apart.
        segment: the tokens BPE makes of some bytes inside a part.
    """

    def __init__(
        self,
        shapes: Shapes,
        normalization: Normalization,
        mode: Mode,
        apart: Apart,
        segment: Segment,
    ) -> None:
        self._shapes = shapes
        self._normalization = normalization
        self._mode = mode
        self._apart = apart
        self._first_of = lru_cache(maxsize=1 << 16)(lambda data: segment(data)[0])
        self._continued = lru_cache(maxsize=1 << 16)(self._make_group)
        # For each continuation its shape, and the first token of each of its beginnings.
        self._continuations = [
            (
                shapes.shape(text),
                [segment(text[:n].encode())[0] for n in range(1, len(text) + 1)],
            )
            for text in (CONTINUATIONS if mode == "viable" else ())
        ]

    def group(
        self, data: bytes, token: int, *, near_apostrophe: bool, alone: bool = False
    ) -> Group:
        """The group of `token`, which ends the `data`; what it is glued to stands before it there.

        Args:
            near_apostrophe: one of the last two characters before `data` is an apostrophe.
            alone: the token can only be a part of its own.
        """
        unfinished = pending(data)
        try:
            text = data[: len(data) - len(unfinished)].decode()
        except UnicodeDecodeError:
            return NEVER
        if unfinished and (alone or self._mode == "prefix"):
            return NEVER
        shape, _ = shorten(self._shapes.shape(text, behind_apostrophe=near_apostrophe))
        if AMBIGUOUS in shape:
            return UNDECIDED
        if self._shapes.divides(shape) or not self._normalization.keeps(text):
            return NEVER
        if unfinished:
            return self._finished(text, shape, unfinished, token)
        joins = tuple(self._joins(firsts, token, alone) for _, firsts in self._continuations)
        return self._continued(shape, joins, alone)

    def _finished(self, text: str, shape: str, unfinished: bytes, token: int) -> Group:
        """The group of a token behind which some character must be finished."""
        endings = self._finishing(text, unfinished, token)
        if endings is None:
            return UNDECIDED
        own = len(shape) + 1
        return Group(tuple(Alternative(shape + ending, own) for ending in endings))

    def _joins(self, firsts: Sequence[int], token: int, alone: bool) -> tuple[int, ...]:
        """How many characters of a continuation, beginning so, `token` may share a part with."""
        if alone:
            return ()
        return tuple(n for n, first in enumerate(firsts, start=1) if self._apart(token, first))

    def _make_group(self, shape: str, joins: tuple[tuple[int, ...], ...], alone: bool) -> Group:
        own = len(shape)
        continued = (
            Alternative(shape + following, own, frozenset(joined))
            for (following, _), joined in zip(self._continuations, joins, strict=True)
        )
        return Group((Alternative(shape, own), *continued), alone)

    def _finishing(self, text: str, unfinished: bytes, token: int) -> list[str] | None:
        """The shapes of characters that finish what `token` leaves unfinished and keep it apart.

        None where that depends on what stands before `text`.
        """
        found = []
        for shape, rests in self._shapes.endings(unfinished).items():
            lead = len(unfinished)
            apart = (rest for rest in rests if self._apart(token, self._first_of(rest[lead:])))
            settled = None
            for rest in apart:
                character = rest.decode()
                if self._normalization.joins(character) and not text:
                    settled = settled or "depends"
                elif self._normalization.keeps(text + character):
                    settled = "yes"
                    break
            if settled == "depends":
                return None
            if settled == "yes":
                found.append(shape)
        return found


@dataclass(frozen=True, eq=False)
class Sorting:
    """A vocabulary sorted into groups.

    Attributes:
        groups: those that occur.
        of: int16[vocab_size], the number of each id's group.
    """

    groups: tuple[Group, ...]
    of: npt.NDArray[np.int16]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The sorting as arrays; `from_arrays` is the way back."""
        plain = [
            [group.alone, [[a.shape, a.own, sorted(a.joins)] for a in group.alternatives]]
            for group in self.groups
        ]
        return {"groups": np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8), "of": self.of}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Sorting:
        groups = tuple(
            Group(tuple(Alternative(s, n, frozenset(joins)) for s, n, joins in found), alone)
            for alone, found in json.loads(arrays["groups"].tobytes())
        )
        return cls(groups, arrays["of"])


def sort_vocabulary(
    grouping: Grouping,
    spelled: Sequence[bytes],
    candidates: Sequence[int],
    alone: Sequence[bool],
    near_apostrophe: bool,
) -> Sorting:
    """Sort the `candidates`; the other ids may never come next.

    Args:
        alone: bool[vocab_size], tokens that can only be a part of their own.
        near_apostrophe: see `Grouping.group`.
    """
    numbers = {NEVER: 0}
    of = np.zeros(len(spelled), dtype=np.int16)
    for token in candidates:
        group = grouping.group(
            spelled[token], token, near_apostrophe=near_apostrophe, alone=alone[token]
        )
        of[token] = numbers.setdefault(group, len(numbers))
    return Sorting(tuple(numbers), of)
