"""What may follow the tails of texts, between characters, and what of it the tokenizer is asked.

There are far fewer kinds of tails than tails, and fewer kinds of answers still. So lists whose
tails are of one kind share the rows of their answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...._support.caches import BoundedCache, cached_method
from ...._support.utf8 import unfinished_suffix
from ..._arrays import Bools, Ids
from ..._tokenizer_rules.normalizers import Normalization
from ..._tokenizer_rules.pretokenizers import Splitter
from .answer_rows import AnswerRows, answer_rows
from .boundary_effects import FollowVerdict, GroupIndex, Tail, TailVerdicts
from .character_classes import Shapes
from .token_groups import GroupedVocabulary
from .token_pairs import TokenPairs

_CACHED_SHAPES, _CACHED_TAILS = 4096, 4096
_CACHED_QUESTIONS, _CACHED_ANSWERS = 64, 4  # of one kind of tail; each answer has two rows


class TailAnswers(NamedTuple):
    """What is known of all lists whose tails are of one kind, between characters.

    Attributes:
        rows: the answers, all but those that the tokenizer gives.
        by_class: ids that the tokenizer is asked about, int64[n], for a character on whose class
            libraries disagree. Its answers are the same after all lists with such tails whose last
            tokens merge with the same of these ids.
        by_text: other ids that it is asked about, in order.
        answers: the rows with those of `by_class` that may follow, by those that do not merge with
            the last token.
        by_answer: the same rows by these ids, of which there are few kinds.
    """

    rows: AnswerRows
    by_class: Ids
    by_text: tuple[int, ...]
    answers: BoundedCache[bytes, AnswerRows]
    by_answer: BoundedCache[tuple[int, ...], AnswerRows]

    def asks_about(self, token: int) -> bool:
        """Whether the tokenizer is asked about `token`."""
        return token in self.by_text or token in self.by_class


class AnswersAfterTails:
    """Finds the answers after tails. Thread-safe.

    Args:
        splitter: splits texts into parts.
        shapes: of characters, for the same pretokenizer.
        spelled: the bytes of every id.
        pairs: the pair test.
        groups: the sorted vocabulary.
        groups_near_apostrophe: the same for tokens right after an apostrophe, or another sign that
            begins a contraction.
        normalization: of the tokenizer.
        rows: the engine's cache of rows, which these rows share.
    """

    def __init__(
        self,
        splitter: Splitter,
        shapes: Shapes,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        groups: GroupedVocabulary,
        groups_near_apostrophe: GroupedVocabulary,
        *,
        normalization: Normalization,
        rows: BoundedCache[Hashable, AnswerRows],
    ) -> None:
        self._splitter, self._shapes = splitter, shapes
        self._spelled, self._pairs = spelled, pairs
        self._groups, self._groups_near_apostrophe = groups, groups_near_apostrophe
        self._normalization, self._rows = normalization, rows
        self._verdicts: BoundedCache[str, TailVerdicts] = BoundedCache(_CACHED_SHAPES)
        self._found: BoundedCache[Tail, TailAnswers] = BoundedCache(_CACHED_TAILS)
        self._by_kind: BoundedCache[Hashable, TailAnswers] = BoundedCache(_CACHED_TAILS)

    def after(self, tail: Tail) -> TailAnswers:
        """What is known of all lists with this tail."""
        return self._found.get(tail, lambda: self._find(tail))

    def at_hand(self, tail: Tail) -> TailAnswers | None:
        """`after`, if it is known already."""
        return self._found.peek(tail)

    def knows_shape(self, tail: Tail) -> bool:
        """Whether the verdicts after tails of this one's shape are known already."""
        return tail.shape in self._verdicts

    def vocabulary_after(self, tail: Tail) -> GroupedVocabulary:
        """The vocabulary as it is sorted after this tail."""
        near = self._shapes.is_near_apostrophe(tail.shape)
        return self._groups_near_apostrophe if near else self._groups

    def verdicts_after(self, tail: Tail) -> npt.NDArray[np.uint8]:
        """The verdict on every id: uint8[vocab_size]."""
        vocabulary = self.vocabulary_after(tail)
        return self._known_verdicts(tail).of(tail).take(vocabulary.group_of)

    @cached_property
    def asked_by_class(self) -> list[int]:
        """The ids of any `TailAnswers.by_class`."""
        found: list[int] = np.union1d(self._undecided[0], self._undecided_near[0]).tolist()
        return found

    def _find(self, tail: Tail) -> TailAnswers:
        known = self._known_verdicts(tail)
        vocabulary = self.vocabulary_after(tail)
        kind = vocabulary is self._groups, tail.completing, known.kind(tail)
        return self._by_kind.get(kind, lambda: self._of_kind(tail, known.of(tail)))

    def _of_kind(self, tail: Tail, verdicts: npt.NDArray[np.uint8]) -> TailAnswers:
        """`after` for the first tail of a kind."""
        vocabulary = self.vocabulary_after(tail)
        key = vocabulary is self._groups, tail.completing, verdicts.tobytes()
        rows = self._rows.get(key, lambda: self._make_rows(vocabulary, verdicts, tail.completing))
        by_class, by_text = self._undecided if vocabulary is self._groups else self._undecided_near
        if tail.completing:
            by_class = by_class[~np.isin(by_class, list(tail.completing))]
            by_text = tuple(sorted(tail.completing.union(by_text)))
        answers: BoundedCache[bytes, AnswerRows] = BoundedCache(_CACHED_QUESTIONS)
        return TailAnswers(rows, by_class, by_text, answers, BoundedCache(_CACHED_ANSWERS))

    def _make_rows(
        self, vocabulary: GroupedVocabulary, verdicts: npt.NDArray[np.uint8], asked: frozenset[int]
    ) -> AnswerRows:
        """The rows of these verdicts on the groups, without the ids that are `asked` about."""
        by_id = verdicts.take(vocabulary.group_of)
        by_id[list(asked)] = FollowVerdict.NO
        if_unmerged = are(by_id, FollowVerdict.IF_UNMERGED) & self._pairs.reachable
        return answer_rows(are(by_id, FollowVerdict.YES), if_unmerged)

    @cached_property
    def _undecided(self) -> tuple[Ids, tuple[int, ...]]:
        return self._find_undecided(self._groups)

    @cached_property
    def _undecided_near(self) -> tuple[Ids, tuple[int, ...]]:
        return self._find_undecided(self._groups_near_apostrophe)

    def _find_undecided(self, vocabulary: GroupedVocabulary) -> tuple[Ids, tuple[int, ...]]:
        """The ids that no table decides about: `by_class` and `by_text`, see `TailAnswers`.

        What may follow a tail depends on the shapes of its characters, because the expression does
        not tell characters of one shape apart, whatever follows them. That holds for characters of
        any class. But what a token's first character composes with is not in the shape, nor which
        characters finish the token's last one.
        """
        undecided = np.array([group.undecided for group in vocabulary.groups])
        asked = np.flatnonzero(undecided.take(vocabulary.group_of))
        is_whole = np.array([self._is_whole(token) for token in asked.tolist()], dtype=bool)
        return asked[is_whole], tuple(asked[~is_whole].tolist())

    def _is_whole(self, token: int) -> bool:
        """Whether a token is whole characters, and composes with none before them."""
        data = self._spelled[token]
        return not unfinished_suffix(data) and not self._normalization.head(data)

    def _known_verdicts(self, tail: Tail) -> TailVerdicts:
        """The verdicts on all groups after tails of this shape."""
        return self._verdicts.get(
            tail.shape, lambda: TailVerdicts(tail.shape, self._group_index(tail))
        )

    def _group_index(self, tail: Tail) -> GroupIndex:
        return self._index_of(self._shapes.is_near_apostrophe(tail.shape))

    @cached_method(2)
    def _index_of(self, near_apostrophe: bool) -> GroupIndex:
        vocabulary = self._groups_near_apostrophe if near_apostrophe else self._groups
        return GroupIndex(self._splitter, vocabulary.groups)


def are(verdicts: npt.NDArray[np.uint8], verdict: FollowVerdict) -> Bools:
    """Which verdicts are `verdict`. As an enum it would be compared as int64, which is slow."""
    found: Bools = verdicts == int(verdict)
    return found
