"""One text that is written token by token: the loop that all ways of writing share.

    read what the decoder has not read  ->  sample a token  ->  commit it, or take tokens back

Tokens that were sampled are *pending* until they are *committed*. What decides about them is left
to a subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from ..consistency import Verification
from ..interfaces import Decoder
from ._changes import ChangeKind, TextChange

Sampler = Callable[[Sequence[int], Any], int]
"""`f(ids, logits)`: the next token, one whose logit is above -inf.

`ids` are all tokens before it, those of the prompt included. `logits` are the decoder's,
float[logit_width], with -inf for banned tokens. A sampler that must know where the prompt ends has
a method `of_text(prompt_length)`, which returns the sampler of a text whose prompt has that many
ids. A sampler whose choices depend on `ids` and `logits` alone, everywhere or in most places,
should have an attribute `deterministic` that is True: with `rollback="exact"` it is refused.
"""

End = Literal["length", "end of text", "dead end"]


class TextLoop(ABC):
    """Writes one text. Use one per thread.

    Args:
        decoder: has read the prompt.
        verification: of the same prompt, which must be consistent; None where nothing is verified.
        sampler: chooses tokens.
        max_new_tokens: the most tokens to write.
        eos_ids: tokens that end the text and are not part of it.

    Attributes:
        committed: the tokens written, consistent at any moment.
        end: why the text ended; None while it goes on.
        rollbacks: how often pending tokens were dropped.
        temporary: how often pending tokens became consistent.
        backtracks: how often a commit was taken back.
        forwards: how many tokens the decoder has read.
    """

    def __init__(
        self,
        decoder: Decoder,
        verification: Verification | None,
        sampler: Sampler,
        *,
        max_new_tokens: int,
        eos_ids: frozenset[int] = frozenset(),
    ) -> None:
        self._decoder = decoder
        self._verification = verification
        self._sampler = sampler
        self._max_new_tokens = max_new_tokens
        self._eos_ids = eos_ids
        self._prompt = tuple(decoder.ids)
        self._pending: list[int] = []
        self._changes: list[TextChange] = []  # of this step
        self._read = 0  # how many of the tokens written the decoder has read
        self.committed: list[int] = []
        self.end: End | None = None
        self.rollbacks = self.temporary = self.backtracks = self.forwards = 0

    @property
    @abstractmethod
    def settled(self) -> int:
        """How many of the committed tokens are final: whatever follows, they are not taken back."""

    @abstractmethod
    def _sample_one(self) -> None:
        """Sample one token and decide about the pending ones, or end the text."""

    @property
    def length(self) -> int:
        """How many tokens are committed or pending."""
        return len(self.committed) + len(self._pending)

    @property
    def has_unread(self) -> bool:
        """Whether the decoder has to read a token before another is sampled."""
        return self._read < self.length < self._max_new_tokens

    def run(self) -> Iterator[tuple[int, ...]]:
        """Write to the end.

        Yields:
            Tokens, once they are settled. All of them together are `committed` at the end.
        """
        shown = 0
        while tokens := self.settled_after(shown):
            yield tokens
            shown += len(tokens)

    def settled_after(self, count: int) -> tuple[int, ...]:
        """Write until more than `count` tokens are settled: the others; none at the end."""
        while self.settled <= count and self.end is None:
            self.step()
        return tuple(self.committed[count : self.settled])

    def reads(self) -> Iterator[int]:
        """Write to the end, and let the caller feed the decoder. To be called once.

        Yields:
            Each token that the decoder has to read next. The caller pushes it before it goes on.
        """
        while self.end is None:
            token = self.next_read()
            if token is not None:
                yield token
            self._changes = []
            self._sample_one()

    def next_read(self) -> int | None:
        """The token that the decoder has to read before another is sampled, if there is one.

        It counts as read: the caller pushes it before anything else.
        """
        if not self.has_unread:
            return None
        self._read += 1
        self.forwards += 1
        # There is at most one: it is read before the next one is sampled.
        return (self._pending or self.committed)[-1]

    def step(self) -> Sequence[TextChange]:
        """Have the decoder read what is unread, and sample one token. Do nothing after the end.

        Returns:
            What happened to the text, in order.
        """
        self._changes = []
        if self.end is not None:
            return self._changes
        token = self.next_read()
        if token is not None:
            self._decoder.push(token)
        self._sample_one()
        return self._changes

    def _note(self, kind: ChangeKind, *tokens: int) -> None:
        """Remember a change, unless it changes no token."""
        if tokens:
            self._changes.append(TextChange(kind, tokens))

    def _forget(self, count: int) -> None:
        """Take back the last `count` tokens written from the verification and the decoder."""
        if self._verification is not None:
            self._verification.rewind(count)
        left = self.length - count
        if self._read > left:
            self._decoder.rewind(self._read - left)
            self._read = left
