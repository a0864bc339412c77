"""Post-hoc rollback: let inconsistency pass if it does, undo it if it stays.

A token that makes the text inconsistent is mostly followed by ones that make it consistent again.
So it is observed for a while before it is taken back. Yan & Murawaki, "Addressing Tokenization
Inconsistency in Steganography and Watermarking Based on Large Language Models", section 5.

The text has a *frontier*. Before it stand committed tokens, which are consistent; behind it,
pending ones, each of which leaves the text inconsistent. When a token makes the whole consistent,
all of them are committed. When too many are pending they are dropped, and the first of them is
banned at this frontier, so that a sampler that always chooses alike does not choose it again. The
same happens at once where it is known that no continuation can mend them. (The published pseudocode
bans nothing, and may end with pending tokens.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from array_api_compat import array_namespace, device

from ..consistency import Verification
from ..interfaces import Decoder

Sampler = Callable[[Sequence[int], Any], int]
"""`f(ids, logits)`: the next token, one whose logit is above -inf.

`ids` are all tokens before it, the prompt's included; `logits` are the decoder's, a
float[logit_width], with -inf for those that are banned. A sampler that has to know where the
prompt ends has a method `of_text`: see `ticore.watermarking.sampling.of_text`.
"""

End = Literal["length", "end of text", "dead end"]

MOST_UNDONE = 8


def most_rewound(observation: int, undo: int) -> int:
    """How far before the furthest place that it has read a decoder is ever rewound.

    Pending tokens, of which `observation` are read, and commits of one token more each.
    """
    return observation + undo * (observation + 1)


@dataclass(frozen=True)
class _Commit:
    """Tokens that were committed together, and what was banned at the frontier before them."""

    size: int
    banned: frozenset[int]


class Rollback:
    """Writes one text that is consistent at each frontier.

    Args:
        decoder: has read the prompt.
        verification: of the same text, consistent. None: every token is committed, as if nobody
            looked.
        sampler: chooses tokens.
        tokens: how many to write at most.
        observation: how many further tokens an inconsistency is given to vanish; q in the paper.
        eos_ids: tokens that end the text and are no part of it.
        undo: how often, where nothing is left to choose, the last commit may be taken back. Then a
            committed token may vanish; with 0 it never does.

    Attributes:
        committed: the tokens written, consistent at any moment.
        end: why the text ended; None while it goes on.
        rollbacks: how often pending tokens were dropped.
        temporary: how often pending tokens became consistent.
        undone: how often a commit was taken back.
        forwards: tokens that the decoder read.
    """

    def __init__(
        self,
        decoder: Decoder,
        verification: Verification | None,
        sampler: Sampler,
        *,
        tokens: int,
        observation: int,
        eos_ids: frozenset[int] = frozenset(),
        undo: int = MOST_UNDONE,
    ) -> None:
        self._decoder = decoder
        self._verification = verification
        self._sampler = sampler
        self._tokens = tokens
        self._observation = observation
        self._eos_ids = eos_ids
        self._undo = undo
        self._prompt = tuple(decoder.ids)
        self._pending: list[int] = []
        self._banned: set[int] = set()
        self._commits: list[_Commit] = []
        self._read = 0  # of the tokens written, how many the decoder has read
        self.committed: list[int] = []
        self.end: End | None = None
        self.rollbacks = self.temporary = self.undone = self.forwards = 0

    def run(self) -> Iterator[tuple[int, ...]]:
        """Write to the end; each time tokens are committed, yield them."""
        while self.end is None:
            before = len(self._commits)
            self.step()
            if len(self._commits) > before:
                yield tuple(self.committed[-self._commits[-1].size :])

    def step(self) -> None:
        """Sample one token, and see what becomes of it; behind the end nothing happens."""
        if self.end is not None:
            return
        if len(self.committed) >= self._tokens:
            self.end = "length"
            return
        token = self._sample()
        if token is None or token in self._eos_ids:
            if self._pending:
                self._roll_back()
            elif token is None:
                self._back_out()
            else:
                self.end = "end of text"
            return
        self._pending.append(token)
        room = self._tokens - len(self.committed)
        if self._is_consistent_with(token):
            self._commit()
        elif self._is_lost() or len(self._pending) > min(self._observation, room - 1):
            self._roll_back()

    @property
    def unread(self) -> int | None:
        """The token that the decoder has to read before another is sampled, if there is one.

        `step` has it read. Whoever reads it for several texts at once says so by `mark_read`.
        """
        written = len(self.committed) + len(self._pending)
        if self.end is not None or self._read == written or len(self.committed) >= self._tokens:
            return None
        # At most one: a step reads what it finds before it samples one more.
        return (self._pending or self.committed)[-1]

    def mark_read(self) -> None:
        """The decoder has read `unread`."""
        self._read += 1
        self.forwards += 1

    def _sample(self) -> int | None:
        """The next token; None if none is left."""
        token = self.unread
        if token is not None:
            self._decoder.push(token)
            self.mark_read()
        logits = self._decoder.logits()
        if self._banned and not self._pending:
            logits = without(logits, self._banned)
            if not bool(array_namespace(logits).any(logits > -np.inf)):
                return None
        return int(self._sampler((*self._prompt, *self.committed, *self._pending), logits))

    def _is_consistent_with(self, token: int) -> bool:
        if self._verification is None:
            return True
        self._verification.push(token)
        return self._verification.consistent

    def _is_lost(self) -> bool:
        """Whether observing any longer is of no use."""
        return self._verification is not None and self._verification.lost

    def _commit(self) -> None:
        self.temporary += len(self._pending) > 1
        self._commits.append(_Commit(len(self._pending), frozenset(self._banned)))
        self.committed += self._pending
        self._pending, self._banned = [], set()

    def _roll_back(self) -> None:
        """Drop what is pending and ban its first token; the logits at the frontier are kept."""
        self.rollbacks += 1
        self._banned.add(self._pending[0])
        self._forget(len(self._pending))
        self._pending = []

    def _back_out(self) -> None:
        """Nothing may follow: take back the last commit and ban its first token instead."""
        if not self._commits or self.undone == self._undo:
            self.end = "dead end"
            return
        self.undone += 1
        last = self._commits.pop()
        at = len(self.committed) - last.size
        self._banned = {*last.banned, self.committed[at]}
        self._forget(last.size)
        del self.committed[at:]

    def _forget(self, count: int) -> None:
        """Take back the last `count` tokens written."""
        if self._verification is not None:
            self._verification.rewind(count)
        kept = len(self.committed) + len(self._pending) - count
        if self._read > kept:
            self._decoder.rewind(self._read - kept)
            self._read = kept


def without(logits: Any, banned: set[int]) -> Any:
    """The logits with -inf for `banned` ids; the given ones are not changed."""
    xp = array_namespace(logits)
    mask = np.zeros(logits.shape[-1], dtype=bool)
    mask[list(banned)] = True
    return xp.where(xp.asarray(mask, device=device(logits)), -xp.inf, logits)
