"""Sorts a vocabulary into the few groups of tokens that a pretokenizer's expression tells apart.

Tokens of one group get the same verdict after every tail (`boundary_effects`). It depends on

1. the token's shape, with long runs shortened: " house" and " trees" are alike;
2. in mode `viable`, with which of the first tokens of following texts it merges, and with which
   of these texts it completes an added token;
3. for a token that ends inside a character, the shapes of the characters that may finish it.

Two groups are special. Tokens of `NEVER_FOLLOWS` may follow no text: theirs is always split inside,
such as "a b"; or the normalizer changes it; or their bytes are no text; or they end inside a
character, in mode `prefix`. About tokens of `UNDECIDED` the tokenizer must be asked, for example
because they hold a character on whose class libraries disagree, or because what may follow depends
on an added token that has begun before them (`continuations`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._support.caches import cached_method
from ...._support.utf8 import unfinished_suffix
from ..._modes import Mode
from ..._tokenizer_rules.continuations import Continuations
from ..._tokenizer_rules.normalizers import Normalization
from .boundary_effects import Lookahead, TokenGroup
from .character_classes import AMBIGUOUS, Shapes
from .pair_table import expect
from .token_pairs import TokenPairs

NEVER_FOLLOWS = TokenGroup()
UNDECIDED = TokenGroup(undecided=True)

_CACHED_GROUPS = 1 << 16
_REPLACED = "\N{REPLACEMENT CHARACTER}"  # stands for bytes that are no text


class TokenGrouper:
    """Finds the group of a token from its bytes.

    Args:
        shapes: of the pretokenizer's expression.
        normalization: what the tokenizer does to a text first.
        mode: see `ticore.consistency._modes`.
        pairs: the pair test of the vocabulary.
        following: what a text goes on with.
    """

    def __init__(
        self,
        shapes: Shapes,
        normalization: Normalization,
        mode: Mode,
        pairs: TokenPairs,
        following: Continuations,
    ) -> None:
        self._shapes = shapes
        self._normalization = normalization
        self._mode = mode
        self._pairs = pairs
        self._following = following
        # Not a cached method: thousands of characters are segmented once, and a miss costs less.
        self._segment = lru_cache(maxsize=1 << 16)(pairs.segment)
        # If a list ends in one of these, as a part of its own another token may stand for it.
        self._replaced_ends = {
            tokens[n:] for tokens in pairs.replaced for n in range(len(tokens) - 1)
        }
        # int64[vocab_size]: bit n says that a token does not merge with follower n.
        followers = list(pairs.unmerged_before) if mode == "viable" else []
        unmerged_with = np.zeros(len(pairs.reachable), dtype=np.int64)
        for bit, follower in enumerate(followers):
            unmerged_with |= pairs.unmerged_before[follower].astype(np.int64) << bit
        # As a memoryview, whose elements are Python ints.
        self._unmerged_with = memoryview(unmerged_with.data)
        # For each continuation its shape; and for each of its beginnings, the shortest first, the
        # follower that is the first token of this beginning.
        self._continuations = [
            (
                shapes.shape(text),
                [
                    followers.index(self._segment(text[:n].encode())[0])
                    for n in range(1, len(text) + 1)
                ],
            )
            for text in following.texts
        ]

    def group(
        self, data: bytes, token: int, *, near_apostrophe: bool, whole_part_only: bool = False
    ) -> TokenGroup:
        """The group of a token.

        Args:
            data: the bytes of the token, after those of tokens that share its first character.
            token: its id.
            near_apostrophe: `data` comes right after the sign of a contraction; see `Shapes`.
            whole_part_only: the token comes only as a part of its own.
        """
        # Most tokens end in ASCII, and so with a whole character.
        unfinished = unfinished_suffix(data) if data[-1:] >= b"\x80" else b""
        try:
            text = (data[: -len(unfinished)] if unfinished else data).decode()
        except UnicodeDecodeError:
            return NEVER_FOLLOWS
        if unfinished and (whole_part_only or self._mode == "prefix"):
            return NEVER_FOLLOWS
        shape = self._shapes.shape(text, near_apostrophe=near_apostrophe)
        unmerged_with = 0 if whole_part_only or unfinished else self._unmerged_with[token]
        excluded = self._following.excluded(text)
        group = self._group_whole_characters(shape, unmerged_with, whole_part_only, excluded)
        if group.lookaheads and not self._normalization.keeps(text):
            return NEVER_FOLLOWS
        if unfinished and group.lookaheads:
            shape, _ = self._shapes.shorten_runs(shape)
            return self._group_unfinished(text, shape, unfinished, token)
        if group.lookaheads and self._following.depend_on_text_before(text):
            return UNDECIDED
        return group

    def group_each(
        self,
        spelled: Sequence[bytes],
        tokens: Sequence[int],
        whole_part_only: Sequence[bool],
        *,
        near_apostrophe: bool,
    ) -> list[TokenGroup]:
        """`group` of each of many tokens, whose texts are looked at all together.

        Args:
            spelled: the bytes of every id.
            tokens: ids.
            whole_part_only: bool[vocab_size].
            near_apostrophe: see `group`.
        """
        texts = [spelled[token].decode(errors="replace") for token in tokens]
        kept = self._normalization.keeps_each(texts)
        found = []
        for token, text, is_kept in zip(tokens, texts, kept, strict=True):
            alone = whole_part_only[token]
            if _REPLACED in text:  # it may end inside a character
                data = spelled[token]
                one = self.group(
                    data, token, near_apostrophe=near_apostrophe, whole_part_only=alone
                )
            else:
                shape = self._shapes.shape(text, near_apostrophe=near_apostrophe)
                unmerged_with = 0 if alone else self._unmerged_with[token]
                excluded = self._following.excluded(text)
                one = self._group_whole_characters(shape, unmerged_with, alone, excluded)
                if not is_kept and one is not UNDECIDED:
                    one = NEVER_FOLLOWS
                if one.lookaheads and self._following.depend_on_text_before(text):
                    one = UNDECIDED
            found.append(one)
        return found

    @cached_method(_CACHED_GROUPS)
    def _group_whole_characters(
        self, shape: str, unmerged_with: int, whole_part_only: bool, excluded: frozenset[int]
    ) -> TokenGroup:
        """The group of tokens of one shape that do not merge with the same followers.

        Args:
            shape: of their texts.
            unmerged_with: bit n says that they do not merge with follower n.
            whole_part_only: they come only as a part of their own.
            excluded: the numbers of continuations that complete an added token with them.
        """
        short, _ = self._shapes.shorten_runs(shape)
        if short != shape:
            return self._group_whole_characters(short, unmerged_with, whole_part_only, excluded)
        if AMBIGUOUS in shape:
            return UNDECIDED
        if self._shapes.is_always_split(shape):
            return NEVER_FOLLOWS
        lookaheads = [Lookahead(shape, len(shape))]
        for number, (following, bits) in enumerate(self._continuations):
            if number in excluded:
                continue
            ends = (n for n, bit in enumerate(bits, start=1) if unmerged_with >> bit & 1)
            lookaheads.append(Lookahead(shape + following, len(shape), frozenset(ends)))
        return TokenGroup(tuple(lookaheads), whole_part_only)

    def _group_unfinished(self, text: str, shape: str, unfinished: bytes, token: int) -> TokenGroup:
        """The group of a token that ends inside a character: some character must be finished."""
        endings = self._possible_endings(text, unfinished, token)
        if endings is None:
            return UNDECIDED
        length = len(shape) + 1
        found = [Lookahead(shape + ending, length) for ending in endings]
        if self._following.after_space:
            after_space = self._shapes.shape(self._following.after_space)
            found += [Lookahead(shape + e + after_space, length) for e in endings if e.isspace()]
        return TokenGroup(tuple(found))

    def _possible_endings(self, text: str, unfinished: bytes, token: int) -> list[str] | None:
        """The shapes of characters that begin with `unfinished` and leave `token` as it is.

        None where that is not certain.
        """
        found = []
        for shape, characters in self._shapes.completions_by_shape(unfinished).items():
            answers = (
                self._is_left_alone(text, character, character[len(unfinished) :], token)
                for character in characters
            )
            answer = _any(answers)
            if answer is None or (answer and shape == AMBIGUOUS):
                return None
            if answer:
                found.append(shape)
        return found

    def _is_left_alone(self, text: str, character: bytes, rest: bytes, token: int) -> bool | None:
        """Whether `token` stays as it is if the `rest` of `character` follows.

        Args:
            text: the whole characters before `character`.
            character: its first bytes are the last ones of `token`.
            rest: its other bytes.
            token: ends inside `character`.

        Returns:
            The answer; None where it depends on what stands before `text`.
        """
        finished = text + character.decode()
        if self._following.completes_added(finished):
            return False
        following = self._segment(rest)
        # Without a token for some byte of `rest` the character is lost.
        stays = bool(following) and self._pairs.do_not_merge(token, following[0])
        if all(map(self._normalization.joins, finished)):
            return None if stays else False
        if not self._normalization.keeps(finished):
            # The character may be changed into several of which the first one leaves `token` alone.
            begun = text.encode() + character[: len(character) - len(rest)]
            return None if self._normalization.read(finished).encode().startswith(begun) else False
        if not stays:
            return False
        if self._replaced_ends and (token, *following) in self._replaced_ends:
            return None
        return None if self._following.may_complete_added(finished) else True


def _any(answers: Iterator[bool | None]) -> bool | None:
    """True if any answer is True; else None if any is None; else False."""
    unsure = False
    for answer in answers:
        if answer:
            return True
        unsure = unsure or answer is None
    return None if unsure else False


@dataclass(frozen=True, eq=False)
class GroupedVocabulary:
    """A vocabulary sorted into groups.

    Attributes:
        groups: those that occur.
        group_of: intp[vocab_size], the index into `groups` for each id.
    """

    groups: tuple[TokenGroup, ...]
    group_of: npt.NDArray[np.intp]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The groups as arrays, by the names that cached files have; `from_arrays` reads them."""
        plain = [
            [
                [[a.shape, a.token_length, sorted(a.may_end_after)] for a in group.lookaheads],
                group.whole_part_only,
                group.undecided,
            ]
            for group in self.groups
        ]
        encoded = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
        return {"groups": encoded, "of": self.group_of}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], size: int) -> GroupedVocabulary:
        """The groups of stored arrays.

        Args:
            arrays: what `to_arrays` gave.
            size: how many ids there are.

        Raises:
            Exception: of whatever type, where the arrays are not the groups of that many ids.
        """
        groups = tuple(
            TokenGroup(tuple(Lookahead(s, n, frozenset(ends)) for s, n, ends in found), *flags)
            for found, *flags in json.loads(arrays["groups"].tobytes())
        )
        group_of = arrays["of"]
        expect(group_of.shape == (size,) and group_of.dtype == np.intp)
        expect(int(group_of.min()) >= 0 and int(group_of.max()) < len(groups))
        expect(all(map(_has_right_types, groups)))
        return cls(groups, group_of)


def _has_right_types(group: TokenGroup) -> bool:
    """Whether a group that was read from a file has the types that its class declares."""
    return (
        isinstance(group.whole_part_only, bool)
        and isinstance(group.undecided, bool)
        and all(
            isinstance(a.shape, str)
            and isinstance(a.token_length, int)
            and all(isinstance(n, int) for n in a.may_end_after)
            for a in group.lookaheads
        )
    )


def group_vocabulary(
    grouper: TokenGrouper,
    spelled: Sequence[bytes],
    candidates: Sequence[int],
    whole_part_only: Sequence[bool],
    near_apostrophe: bool,
) -> GroupedVocabulary:
    """Sort the `candidates` into groups; the other ids never follow.

    Args:
        grouper: finds the group of one token.
        spelled: the bytes of every id.
        candidates: ids.
        whole_part_only: bool[vocab_size], tokens that come only as a part of their own.
        near_apostrophe: see `TokenGrouper.group`.
    """
    groups = grouper.group_each(
        spelled, candidates, whole_part_only, near_apostrophe=near_apostrophe
    )
    # Nearly all tokens have one of a few objects as their group. So each object is hashed once.
    objects = {id(group): group for group in groups}
    numbers = {NEVER_FOLLOWS: 0}
    number_of = {key: numbers.setdefault(group, len(numbers)) for key, group in objects.items()}
    group_of = np.zeros(len(spelled), dtype=np.intp)
    group_of[np.array(candidates, dtype=np.intp)] = [number_of[id(group)] for group in groups]
    return GroupedVocabulary(tuple(numbers), group_of)
