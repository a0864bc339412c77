"""Post-hoc rollback: wait for later tokens to mend an inconsistency; if they do not, take it back.

Most tokens that make a text inconsistent are followed by tokens that make it consistent again. So
each one is observed for a while before it is taken back. Source: Yan & Murawaki, "Addressing
Tokenization Inconsistency in Steganography and Watermarking Based on Large Language Models",
section 5.

The text has a *frontier*. The tokens before it are *committed*: they are consistent. The tokens
after it are *pending*: each of them leaves the text inconsistent.

1. A token makes the text consistent: it and all pending tokens are committed.
2. Too many tokens are pending, no continuation can mend them, or the text would end with them:
   they are dropped, and the first of them is banned at this frontier. So even a sampler that always
   makes the same choice has to make another.
3. Every token is banned at this frontier: the last commit is taken back (a *backtrack*), and its
   first token is banned.

The published pseudocode bans nothing, and may return pending tokens at the end.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from .._support.deprecation import renamed_arguments, warn_deprecated
from ..consistency import Verification
from ..errors import SettingsError
from ..interfaces import Decoder
from ._first_tokens import PATIENCE, FirstTokens
from ._logits import without
from ._text_loop import Sampler, TextLoop

MAX_BACKTRACKS = 8


def max_rewind(observation: int, max_backtracks: int) -> int:
    """The most tokens that a decoder is ever rewound from the furthest place that it has read.

    It has read at most `observation` pending tokens. Each backtrack takes back one commit, which
    has at most `observation` + 1 tokens.
    """
    return observation + max_backtracks * (observation + 1)


@dataclass(frozen=True)
class _Commit:
    """Tokens that were committed together, and what was banned at the frontier before them."""

    size: int
    banned: frozenset[int]


class Rollback(TextLoop):
    """Writes one text that is consistent at each frontier. Use one per thread.

    Args:
        decoder: has read the prompt.
        verification: of the same prompt, which must be consistent. None: every token is committed
            unchecked.
        sampler: chooses tokens.
        max_new_tokens: the most tokens to write.
        observation: for how many further tokens an inconsistency is observed before it is taken
            back; q in the paper.
        eos_ids: tokens that end the text and are not part of it.
        max_backtracks: how often a commit may be taken back where every token is banned.
        never: ids that `sampler` never chooses, such as special ones.
        never_first: `f()` gives ids that cannot begin a text, whatever follows. It is asked once a
            few first tokens were taken back; None where that is not known.
        spelled_ends: those of `eos_ids` that the caller keeps as part of the text. One of them ends
            it only if the text with it is consistent, and is else rolled back as any token.

    Attributes:
        committed: the tokens written, consistent at any moment.
        end: why the text ended; None while it goes on.
        rollbacks: how often pending tokens were dropped.
        temporary: how often pending tokens became consistent.
        backtracks: how often a commit was taken back.
        forwards: how many tokens the decoder has read.
    """

    @renamed_arguments(tokens="max_new_tokens", undo="max_backtracks")
    def __init__(
        self,
        decoder: Decoder,
        verification: Verification | None,
        sampler: Sampler,
        *,
        max_new_tokens: int,
        observation: int,
        eos_ids: frozenset[int] = frozenset(),
        max_backtracks: int = MAX_BACKTRACKS,
        never: Collection[int] = (),
        never_first: FirstTokens | None = None,
        spelled_ends: Collection[int] = (),
    ) -> None:
        super().__init__(
            decoder, verification, sampler, max_new_tokens=max_new_tokens, eos_ids=eos_ids
        )
        self._observation = observation
        self._max_backtracks = max_backtracks
        self._never = never
        self._never_first = never_first
        self._spelled_ends = spelled_ends
        self._banned: set[int] = set()
        self._commits: list[_Commit] = []

    @property
    def undone(self) -> int:
        """Deprecated: the old name of `backtracks`."""
        warn_deprecated("Rollback.undone", "Rollback.backtracks")
        return self.backtracks

    @property
    def settled(self) -> int:
        """How many of the committed tokens are final: whatever follows, they are not taken back.

        Each backtrack that is left may take back one commit. So the last commits are not final yet,
        as many as there are backtracks left. Once the text has ended, all tokens are final.
        """
        if self.end is not None or self._verification is None:
            return len(self.committed)
        left = self._max_backtracks - self.backtracks
        last = self._commits[-left:] if left else []
        return len(self.committed) - sum(commit.size for commit in last)

    @property
    def banned(self) -> AbstractSet[int]:
        """The tokens that must not be chosen next."""
        return frozenset() if self._pending else self._banned

    def needs_choice(self, any_left: bool | None = None) -> bool:
        """Whether a token has to be chosen, once the decoder has read what is unread.

        If none can be, because the text is full or every token is banned, it ends, or the last
        commit is taken back.

        Args:
            any_left: whether the decoder's logits leave a token that is neither `banned` nor in
                `never`, where a caller knows that; None: they are looked at, if any is banned.
        """
        if len(self.committed) >= self._max_new_tokens:
            self.end = "length"
            return False
        if any_left is None:
            any_left = not self.banned or self._is_any_left()
        if not any_left:
            self._backtrack()
        return any_left

    def _is_any_left(self) -> bool:
        logits = without(self._decoder.logits(), {*self.banned, *self._never})
        return bool(array_namespace(logits).any(logits > -np.inf))

    def take(self, token: int) -> None:
        """Commit the token that was chosen, keep it pending, or roll it back.

        Args:
            token: one that is not `banned`.
        """
        self._changes = []
        if token in self._eos_ids:
            if self._pending or not self._may_end_with(token):
                self._roll_back()
            else:
                self.end = "end of text"
            return
        self._pending.append(token)
        self._note("sampled", token)
        room = self._max_new_tokens - len(self.committed)
        if self._is_consistent_with(token):
            self._commit()
        elif self._is_unrecoverable() or len(self._pending) > min(self._observation, room - 1):
            self._roll_back()

    def _sample_one(self) -> None:
        if not self.needs_choice():
            return
        logits = self._decoder.logits()
        if self.banned:
            logits = without(logits, self.banned)
        ids = (*self._prompt, *self.committed, *self._pending)
        token = int(self._sampler(ids, logits))
        if token in self.banned:  # it would be banned again, for ever
            raise SettingsError(
                f"sampler: expected a token whose logit is above -inf, found {token} again, which "
                f"had made the text inconsistent; choose by the logits that the sampler is given"
            )
        self.take(token)

    def _may_end_with(self, token: int) -> bool:
        """Whether a consistent text may end with this token. One that may not becomes pending."""
        if self._verification is None or token not in self._spelled_ends:
            return True
        self._verification.push(token)
        if self._verification.consistent:
            self._verification.rewind(1)  # the caller adds it
            return True
        self._pending.append(token)
        self._note("sampled", token)
        return False

    def _is_consistent_with(self, token: int) -> bool:
        if self._verification is None:
            return True
        self._verification.push(token)
        return self._verification.consistent

    def _is_unrecoverable(self) -> bool:
        """Whether no continuation can mend the pending tokens."""
        return self._verification is not None and self._verification.unrecoverable

    def _commit(self) -> None:
        self.temporary += len(self._pending) > 1
        self._commits.append(_Commit(len(self._pending), frozenset(self._banned)))
        self.committed += self._pending
        self._note("committed", *self._pending)
        self._pending, self._banned = [], set()

    def _roll_back(self) -> None:
        """Drop the pending tokens and ban the first; the decoder keeps the frontier's logits."""
        self.rollbacks += 1
        self._banned.add(self._pending[0])
        self._note("dropped", *self._pending)
        self._forget(len(self._pending))
        self._pending = []
        if self._never_first is not None and not self.committed and len(self._banned) == PATIENCE:
            self._banned.update(self._never_first())

    def _backtrack(self) -> None:
        """No token may follow: take back the last commit and ban its first token instead."""
        if not self._commits or self.backtracks == self._max_backtracks:
            self.end = "dead end"
            return
        self.backtracks += 1
        last = self._commits.pop()
        at = len(self.committed) - last.size
        self._banned = {*last.banned, self.committed[at]}
        self._note("backtracked", *self.committed[at:])
        self._forget(last.size)
        del self.committed[at:]
