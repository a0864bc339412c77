"""Sorts a vocabulary into the few groups of tokens that a pretokenizer's expression tells apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..modes import BEHIND_SPACE, CONTINUATIONS, Mode, pending
from ..normalization import Normalization
from .rows import expect
from .shapes import AMBIGUOUS, Shapes, shorten
from .splits import Alternative, Group
from .vocabulary import Vocabulary

NEVER = Group()
UNDECIDED = Group(undecided=True)


class Grouping:
    """Finds the group of a token from its bytes.

    Args:
        shapes: of the pretokenizer's expression.
        normalization: what the tokenizer does to a text beforehand.
        mode: see `ticore.consistency.modes`.
        vocabulary: whose tokens these are.
    """

    def __init__(
        self,
        shapes: Shapes,
        normalization: Normalization,
        mode: Mode,
        vocabulary: Vocabulary,
    ) -> None:
        self._shapes = shapes
        self._normalization = normalization
        self._mode = mode
        self._apart = vocabulary.apart
        self._segment = lru_cache(maxsize=1 << 16)(vocabulary.segment)
        # How lists end that, as a part of their own, would be another token.
        self._replaced_ends = {
            tokens[n:] for tokens in vocabulary.replaced for n in range(len(tokens) - 1)
        }
        self._continued = lru_cache(maxsize=1 << 16)(self._make_group)
        # int[vocab_size]: the n-th bit says that a token stays apart from the n-th follower.
        followers = list(vocabulary.before) if mode == "viable" else []
        self._apart_from = np.zeros(len(vocabulary.reachable), dtype=np.int64)
        for bit, follower in enumerate(followers):
            self._apart_from |= vocabulary.before[follower].astype(np.int64) << bit
        # For each continuation its shape, and which follower each of its beginnings begins with.
        self._continuations = [
            (
                shapes.shape(text),
                [
                    followers.index(self._segment(text[:n].encode())[0])
                    for n in range(1, len(text) + 1)
                ],
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
        return self._continued(shape, 0 if alone else int(self._apart_from[token]), alone)

    def _finished(self, text: str, shape: str, unfinished: bytes, token: int) -> Group:
        """The group of a token behind which some character must be finished."""
        endings = self._finishing(text, unfinished, token)
        if endings is None:
            return UNDECIDED
        own = len(shape) + 1
        found = [Alternative(shape + ending, own) for ending in endings]
        if self._mode == "viable":
            behind = self._shapes.shape(BEHIND_SPACE)
            found += [Alternative(shape + e + behind, own) for e in endings if e.isspace()]
        return Group(tuple(found))

    def _make_group(self, shape: str, apart_from: int, alone: bool) -> Group:
        """The group of tokens of a shape that stay apart from the same followers."""
        own = len(shape)
        alternatives = [Alternative(shape, own)]
        for following, bits in self._continuations:
            joins = (n for n, bit in enumerate(bits, start=1) if apart_from >> bit & 1)
            alternatives.append(Alternative(shape + following, own, frozenset(joins)))
        return Group(tuple(alternatives), alone)

    def _finishing(self, text: str, unfinished: bytes, token: int) -> list[str] | None:
        """The shapes of characters that finish what `token` leaves unfinished and keep it apart.

        None where that is not certain.
        """
        found = []
        for shape, characters in self._shapes.endings(unfinished).items():
            answers = (
                self._fits(text, character, character[len(unfinished) :], token)
                for character in characters
            )
            fits = _any(answers)
            if fits is None or (fits and shape == AMBIGUOUS):
                return None
            if fits:
                found.append(shape)
        return found

    def _fits(self, text: str, character: bytes, rest: bytes, token: int) -> bool | None:
        """Whether `token` stays apart from the `rest` of a `character` behind `text`.

        None where that depends on what stands before them.
        """
        if not self._apart(token, self._segment(rest)[0]):
            return False
        spelled = character.decode()
        if all(map(self._normalization.joins, text + spelled)):
            return None
        if not self._normalization.keeps(text + spelled):
            return False
        if self._replaced_ends and (token, *self._segment(rest)) in self._replaced_ends:
            return None
        return True


def _any(answers: Iterator[bool | None]) -> bool | None:
    """True if any answer is; else None if any is."""
    unsure = False
    for answer in answers:
        if answer:
            return True
        unsure = unsure or answer is None
    return None if unsure else False


@dataclass(frozen=True, eq=False)
class Sorting:
    """A vocabulary sorted into groups.

    Attributes:
        groups: those that occur.
        of: intp[vocab_size], the number of each id's group.
    """

    groups: tuple[Group, ...]
    of: npt.NDArray[np.intp]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The sorting as arrays; `from_arrays` is the way back."""
        plain = [
            [
                [[a.shape, a.own, sorted(a.joins)] for a in group.alternatives],
                group.alone,
                group.undecided,
            ]
            for group in self.groups
        ]
        return {"groups": np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8), "of": self.of}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], size: int) -> Sorting:
        """The sorting of `size` ids; raises whatever it may if the arrays do not fit."""
        groups = tuple(
            Group(tuple(Alternative(s, n, frozenset(joins)) for s, n, joins in found), *flags)
            for found, *flags in json.loads(arrays["groups"].tobytes())
        )
        of = arrays["of"]
        expect(of.shape == (size,) and of.dtype == np.intp)
        expect(int(of.min()) >= 0 and int(of.max()) < len(groups))
        expect(all(map(_is_group, groups)))
        return cls(groups, of)


def _is_group(group: Group) -> bool:
    """Whether what was read has the types of a group."""
    return (
        isinstance(group.alone, bool)
        and isinstance(group.undecided, bool)
        and all(
            isinstance(a.shape, str)
            and isinstance(a.own, int)
            and all(isinstance(n, int) for n in a.joins)
            for a in group.alternatives
        )
    )


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
    of = np.zeros(len(spelled), dtype=np.intp)
    for token in candidates:
        group = grouping.group(
            spelled[token], token, near_apostrophe=near_apostrophe, alone=alone[token]
        )
        of[token] = numbers.setdefault(group, len(numbers))
    return Sorting(tuple(numbers), of)
