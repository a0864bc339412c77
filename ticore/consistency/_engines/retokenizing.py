"""Verification by the tokenizer itself: turn the list into text, read it back, and compare.

`Oracle` is the definition of what is consistent. In mode `prefix`, for lists without special
tokens, it is Algorithm 1 of Yan & Murawaki. It is slow and right, and every faster engine is
tested against it. `RetokenizingEngine` makes an engine of it.

Two things go beyond Algorithm 1:

- The text may pass a channel before it is read back; see `ticore.consistency._channels`. A text
  that goes on passes it again as a whole.
- Special tokens cut a list into parts; see `ticore.consistency._boundaries`. Each part is a text by
  itself, and all but the last are finished. A special token is never a candidate. A special token
  that is not a boundary makes its list inconsistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from ..._support.common_beginning import common_length
from ..._support.packed_bits import Words, pack
from ..._support.utf8 import LONGEST_UNFINISHED, is_continuation_byte, unfinished_suffix
from ...errors import SettingsError
from ...interfaces import SpecialWritingTokenizer, Tokenizer
from .._arrays import Bools, Ids
from .._boundaries import boundary_ids, parts, unknown_ids
from .._channels import PASSAGES, Channel
from .._modes import AFTER_SPACE, CONTINUATIONS, Mode
from .._tokenizer_rules.characters import completions
from .base import Recovery
from .stable_cuts import CutFinder

# Texts are retokenized this many at a time: enough to occupy the library, and little to hold.
_BATCH = 1024
# Stable cuts are looked for after this many ids: few, since added tokens may hide earlier cuts.
_READ_AT_ONCE = 32

Suffix = tuple[int, ...]
"""The tokens of a list after its last stable cut."""


class Oracle:
    """Decides by retokenizing whole lists. Thread-safe if the tokenizer is.

    Args:
        tokenizer: whose encode decides.
        mode: see `ticore.consistency._modes`.
        channel: see `ticore.consistency._channels`.

    Attributes:
        boundaries: the special ids that cut a list into parts.
    """

    def __init__(
        self, tokenizer: Tokenizer, mode: Mode = "prefix", channel: Channel = "identity"
    ) -> None:
        self.tokenizer = tokenizer
        self.mode = mode
        self.channel = channel
        self.boundaries = boundary_ids(tokenizer)
        self._special = tokenizer.special_ids
        self._lost = self._special  # ids that no part of a list may hold
        self._decode, self._encode = tokenizer.decode, tokenizer.encode
        self._encode_batch = tokenizer.encode_batch
        self._send = PASSAGES[channel].send

    @property
    def divided_by(self) -> frozenset[int]:
        """The special ids that are in no part of a list: boundaries, and those that break it."""
        return self._lost

    def first_difference(self, ids: Sequence[int]) -> int:
        """The first position where a list without boundaries is read back as another id.

        The length of the list if it is consistent. The last position if all ids are read back, and
        others after them.
        """
        again = self._encode(self._arriving(ids)) if len(ids) else []
        if again == list(ids):
            return len(ids)
        return min(common_length(again, ids), len(ids) - 1)

    def is_consistent(self, ids: Sequence[int]) -> bool:
        """Whether encode(channel(decode(part))) == part for each part of `ids`."""
        return all(map(self._reads_back, self._parts(ids)))

    def may_begin(self, ids: Sequence[int]) -> bool:
        """Whether a text may begin with `ids`; the mode defines that."""
        *finished, last = self._parts(ids)
        return all(map(self._reads_back, finished)) and (
            self._reads_back(last) or bool(self._may_go_on([last])[0])
        )

    def admits(self, history: Sequence[int], candidates: Iterable[int]) -> Bools:
        """For each candidate, whether a text may begin with `history` followed by it: bool[n].

        False for special ids.
        """
        tokens = [int(token) for token in candidates]
        answers = np.zeros(len(tokens), dtype=bool)
        *finished, last = self._parts(history)
        if not (self._lost.isdisjoint(last) and all(map(self._reads_back, finished))):
            return answers
        asked = [n for n, token in enumerate(tokens) if token not in self._special]
        lists = [[*last, tokens[n]] for n in asked]
        answers[asked] = self._admitted(lists)
        return answers

    def _parts(self, ids: Sequence[int]) -> list[list[int]]:
        ids = list(ids)
        if self.boundaries.isdisjoint(ids):
            return [ids]
        return [ids[part.start : part.stop] for part in parts(ids, self.boundaries)]

    def _reads_back(self, part: list[int]) -> bool:
        if not part:
            return True
        known = self._lost.isdisjoint(part)
        return known and self._encode(self._arriving(part)) == part

    def _admitted(self, lists: Sequence[list[int]]) -> Bools:
        """For each list without special ids, whether a text may begin with it: bool[n]."""
        answers = np.zeros(len(lists), dtype=bool)
        for start in range(0, len(lists), _BATCH):
            batch = lists[start : start + _BATCH]
            again = self._encode_batch([self._arriving(ids) for ids in batch])
            answers[start : start + len(batch)] = [
                a == b for a, b in zip(again, batch, strict=True)
            ]
        if self.mode != "prefix":
            left = np.flatnonzero(~answers)
            answers[left] = self._may_go_on([lists[at] for at in left])
        return answers

    def recovers_with(self, ids: Sequence[int], texts: Iterable[str]) -> bool:
        """Whether the text of `ids` followed by one of `texts` is read as a consistent list.

        One, that is, that begins with `ids`.
        """
        text = self._decode(ids)
        again = self._encode_batch([self._send(text + more) for more in texts])
        return any(found[: len(ids)] == list(ids) and self.is_consistent(found) for found in again)

    def _arriving(self, ids: Sequence[int]) -> str:
        return self._send(self._decode(ids))

    def _may_go_on(self, lists: Sequence[list[int]]) -> Bools:
        """For each list, whether some longer text is read as the list and more: bool[n]."""
        answers = np.zeros(len(lists), dtype=bool)
        if self.mode == "prefix":
            return answers
        left = [
            (n, map(self._send, self._continued(ids)))
            for n, ids in enumerate(lists)
            # An id for unknown text may decode to nothing, and would stand for any character.
            if self._lost.isdisjoint(ids)
        ]
        # Few texts of each list are tried first: most lists go on with one of the first texts.
        size = 2
        while left:
            tried = set[int]()
            for n, again in self._encoded(left, size):
                tried.add(n)
                answers[n] |= again[: len(lists[n])] == lists[n]
            left = [(n, texts) for n, texts in left if n in tried and not answers[n]]
            size = min(4 * size, _BATCH)
        return answers

    def _encoded(
        self, left: Sequence[tuple[int, Iterator[str]]], size: int
    ) -> Iterator[tuple[int, list[int]]]:
        """The next `size` texts of each list, encoded, each with the number of its list."""
        some = _BATCH // size
        for start in range(0, len(left), some):
            batch = [(n, t) for n, texts in left[start : start + some] for t in islice(texts, size)]
            again = self._encode_what_can_be([text for _, text in batch])
            yield from zip((n for n, _ in batch), again, strict=True)

    def _encode_what_can_be(self, texts: list[str]) -> list[list[int]]:
        """The ids of each text; none for a text that the tokenizer refuses, as toys do."""
        try:
            return self._encode_batch(texts)
        except SettingsError:
            if len(texts) > 1:
                return [ids for text in texts for ids in self._encode_what_can_be([text])]
            return [[]]

    def _continued(self, ids: list[int]) -> Iterator[str]:
        unfinished = unfinished_suffix(self._last_bytes(ids))
        if unfinished:
            spelled = self._spelled_bytes
            for character in completions(unfinished):
                rest = character.encode()[len(unfinished) :]
                if all(byte in spelled for byte in rest):
                    text = self._decode([*ids, *(spelled[byte] for byte in rest)])
                    yield text
                    if self.mode == "viable" and character.isspace():
                        yield text + AFTER_SPACE
        elif self.mode == "viable":
            text = self._decode(ids)
            yield from (text + continuation for continuation in CONTINUATIONS)

    def _last_bytes(self, ids: Sequence[int]) -> bytes:
        """The last bytes of the text, as many as an unfinished character can have or more."""
        found = b""
        for token in reversed(ids):  # any number of them may have no bytes
            found = self.tokenizer.token_bytes(token) + found
            if len(found) >= LONGEST_UNFINISHED:
                break
        return found

    @cached_property
    def _spelled_bytes(self) -> dict[int, int]:
        """The ids whose bytes are one continuation byte, by that byte."""
        tokenizer = self.tokenizer
        return {
            spelled[0]: token
            for token in range(tokenizer.vocab_size)
            if len(spelled := tokenizer.token_bytes(token)) == 1
            and is_continuation_byte(spelled[0])
            and token not in self._special
        }


class WrittenOracle(Oracle):
    """The definition for a receiver of a text in which special tokens are written out.

    A list with special tokens is one part. It is consistent if the text with their names is read as
    the list. Special tokens are never candidates here either.

    Args:
        tokenizer: the receiver's.
        mode, channel: see `Oracle`.
    """

    def __init__(
        self,
        tokenizer: SpecialWritingTokenizer,
        mode: Mode = "prefix",
        channel: Channel = "identity",
    ) -> None:
        super().__init__(tokenizer, mode, channel)
        self.boundaries = frozenset()
        self._lost = unknown_ids(tokenizer)
        self._decode = tokenizer.decode_with_specials
        self._encode = tokenizer.encode_with_specials
        self._encode_batch = self._encode_each

    def _encode_each(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._encode(text) for text in texts]


class RetokenizingEngine:
    """An engine that asks the oracle, about no more of the list than can still change.

    Args:
        oracle: what it asks.
        cuts: finds the stable cuts; None to retokenize the whole list each time.
    """

    def __init__(self, oracle: Oracle, cuts: CutFinder | None) -> None:
        self._oracle = oracle
        self._cuts = cuts

    def start(self) -> Suffix:
        return ()

    def step(self, state: Suffix, token: int) -> Suffix:
        ids = (*state, token)
        return ids if self._cuts is None else ids[self._cuts.advance(ids, 0) :]

    def state_of(self, ids: Sequence[int]) -> Suffix:
        state: Suffix = ()
        if self._cuts is None:
            return tuple(ids)
        for start in range(0, len(ids), _READ_AT_ONCE):
            state = (*state, *ids[start : start + _READ_AT_ONCE])
            state = state[self._cuts.advance(state, 0) :]
        return state

    def admits(self, state: Suffix, candidates: Ids) -> Bools:
        return self._oracle.admits(state, candidates.tolist())

    def step_if_admitted(self, state: Suffix, token: int) -> Suffix | None:
        return self.step(state, token) if self._oracle.may_begin([*state, token]) else None

    def step_if_refused(self, state: Suffix, token: int) -> Suffix | Recovery:
        return Recovery.UNKNOWN

    def tokens_since_cut(self, state: Suffix) -> int | None:
        return None

    def mask(self, state: Suffix) -> Bools:
        return self._oracle.admits(state, range(self._oracle.tokenizer.vocab_size))

    def packed_mask(self, state: Suffix, out: Words) -> None:
        out[:] = pack(self.mask(state))

    def never_recovers(self, state: Suffix, token: int) -> bool:
        return False

    def is_consistent(self, state: Suffix) -> bool:
        return self._oracle.is_consistent(state)
