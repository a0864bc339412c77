"""What may follow a token that ends inside a character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...._support.utf8 import unfinished_suffix
from ..._arrays import Bools
from ..._tokenizer_rules.added_tokens import AddedTokens
from ..._tokenizer_rules.normalizers import Normalization
from ..._tokenizer_rules.pretokenizers import Splitter
from .boundary_effects import FollowVerdict, Tail, decide
from .character_classes import Shapes
from .pretokenized_state import PretokenizedState
from .token_groups import TokenGrouper
from .token_pairs import TokenPairs


class InsideCharacters:
    """Gives verdicts on tokens that begin inside a character. Thread-safe.

    Args:
        splitter: splits texts into parts.
        shapes: of characters, for the same pretokenizer.
        spelled: the bytes of every id.
        pairs: the pair test.
        grouper: what sorted the vocabulary.
        may_occur: bool[vocab_size], the ids that some text is encoded to.
        normalization: of the tokenizer.
        added: its added tokens.
    """

    def __init__(
        self,
        splitter: Splitter,
        shapes: Shapes,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        grouper: TokenGrouper,
        may_occur: Bools,
        *,
        normalization: Normalization,
        added: AddedTokens,
    ) -> None:
        self._splitter, self._shapes = splitter, shapes
        self._spelled, self._pairs = spelled, pairs
        self._grouper, self._may_occur = grouper, may_occur
        self._normalization, self._added = normalization, added

    def verdicts(self, state: PretokenizedState, tail: Tail) -> npt.NDArray[np.uint8]:
        """The verdict on every id after a token that ends inside a character: uint8[vocab_size]."""
        verdicts = np.zeros(len(self._spelled), dtype=np.uint8)
        unmerged = self._pairs.unmerged_after(state.tokens.token)
        for token in self._continuing:
            if unmerged[token]:
                verdicts[token] = self.verdict(state, tail, token)
        return verdicts

    def verdict(self, state: PretokenizedState, tail: Tail, token: int) -> FollowVerdict:
        """The verdict on a token that begins inside the character and does not merge there."""
        data = state.open_bytes + state.unfinished + self._spelled[token]
        near = self._shapes.is_near_apostrophe(tail.shape)
        group = self._grouper.group(data, token, near_apostrophe=near)
        verdict = decide(self._splitter, tail, group)
        if verdict is FollowVerdict.IF_UNMERGED:
            verdict = FollowVerdict.YES if tail.unmerged_with_open else FollowVerdict.NO
        if verdict is FollowVerdict.YES and not self._stays_as_it_is(state, token):
            return FollowVerdict.NO
        return verdict

    def _stays_as_it_is(self, state: PretokenizedState, token: int) -> bool:
        """Whether the finished character stays as it is after the text before it.

        The normalizer must leave it alone, and no added token may begin with it.
        """
        data = state.unfinished + self._spelled[token]
        text = data[: len(data) - len(unfinished_suffix(data))].decode()
        keeps = self._normalization.keeps(self._normalization.context(state.text) + text)
        return keeps and not self._added.occurs_in(text)

    @cached_property
    def _continuing(self) -> list[int]:
        """The reachable tokens that begin inside a character, in order."""
        # Rules may also make a special token, which has no bytes.
        reachable = np.flatnonzero(self._pairs.reachable & self._may_occur).tolist()
        return [i for i in reachable if 0x80 <= self._spelled[i][0] < 0xC0]
