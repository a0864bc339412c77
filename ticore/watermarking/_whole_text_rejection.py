"""Exact sampling: begin the text again where it is inconsistent, so that no choice is changed.

`Rollback` bans a token and goes on, so texts that follow a rollback become likelier than they are
in the model. Here a text is kept as it was sampled, or dropped as a whole:

    attempt 1   It was l|at                 no continuation mends it: dropped
    attempt 2   She <unfinished character>  the text ends here, inconsistent: dropped
    attempt 3   It rained.                  the text ends here, consistent: kept

What is a text? It ends where the sampler draws an end of text, or with `max_new_tokens` tokens. A
text that reaches `max_new_tokens` inside of an inconsistency is inconsistent, even if further
tokens would have mended it, and is dropped.

Why it is exact: each attempt draws a text y with the sampler's own probability p(y), independently
of the others. It is kept if and only if y is consistent. So a text that is kept has the probability
p(y) / Z, where Z is the sum of p over all consistent texts. To stop early, where no continuation
can mend the text, changes nothing: the attempt would have been dropped at its end. 1 / Z attempts
are expected. Nor does it change anything to leave out first tokens after which no text is kept.
"""

from __future__ import annotations

from collections.abc import Collection

from ..consistency import Verification
from ..errors import CapacityError
from ..interfaces import Decoder
from ._first_tokens import PATIENCE, FirstTokens
from ._logits import without
from ._text_loop import End, Sampler, TextLoop

MAX_ATTEMPTS = 100


class WholeTextRejection(TextLoop):
    """Writes one text with the sampler's distribution, conditioned on consistent texts.

    Use one per thread. All tokens are pending until the text is complete.

    Args:
        decoder: has read the prompt; it is rewound to the prompt after each attempt.
        verification: of the same prompt, which must be consistent.
        sampler: chooses tokens. It must draw each attempt from the same distribution, independently
            of earlier attempts; a sampler whose `ids` and `logits` decide would repeat its text.
        max_new_tokens: the most tokens to write; a text of this length is complete.
        eos_ids: tokens that end the text and are not part of it.
        max_attempts: how many texts may be begun.
        never_first: `f()` gives ids that cannot begin a text, whatever follows. It is asked once a
            few first tokens were taken back; None where that is not known.

    Attributes:
        committed: the tokens of the text; empty before it is complete.
        end: why the text ended, `length` or `end of text`; None while it goes on.
        rollbacks: how many attempts were dropped.
        temporary: how often pending tokens became consistent, in this attempt.
        backtracks: always 0.
        forwards: how many tokens the decoder has read, in all attempts.

    When it samples, after `max_attempts` attempts were dropped, it raises CapacityError.
    """

    _verification: Verification

    def __init__(
        self,
        decoder: Decoder,
        verification: Verification,
        sampler: Sampler,
        *,
        max_new_tokens: int,
        eos_ids: frozenset[int] = frozenset(),
        max_attempts: int = MAX_ATTEMPTS,
        never_first: FirstTokens | None = None,
    ) -> None:
        super().__init__(
            decoder, verification, sampler, max_new_tokens=max_new_tokens, eos_ids=eos_ids
        )
        self._max_attempts = max_attempts
        self._never_first = never_first
        self._first_dropped = 0
        self._banned_first: Collection[int] = ()

    @property
    def settled(self) -> int:
        """How many of the committed tokens are final: all of them."""
        return len(self.committed)

    def _sample_one(self) -> None:
        if self.rollbacks == self._max_attempts:
            raise CapacityError(
                f"expected a consistent text in {self._max_attempts} attempts, found none; raise "
                f"max_attempts, write fewer tokens (max_new_tokens), make unlikely tokens rarer "
                f"(temperature, top_p), or use rollback='windowed', whose texts have another "
                f"distribution"
            )
        if len(self._pending) >= self._max_new_tokens:
            self._end_with("length")
            return
        logits = self._decoder.logits()
        if self._banned_first and not self._pending:
            logits = without(logits, self._banned_first)
        token = int(self._sampler((*self._prompt, *self._pending), logits))
        if token in self._eos_ids:
            self._end_with("end of text")
            return
        was_consistent = self._verification.consistent
        self._pending.append(token)
        self._note("sampled", token)
        self._verification.push(token)
        self.temporary += self._verification.consistent and not was_consistent
        if self._verification.unrecoverable:
            self._drop()

    def _end_with(self, end: End) -> None:
        """End the text if it is consistent."""
        if not self._verification.consistent:
            self._drop()
            return
        self._note("committed", *self._pending)
        self.committed, self._pending, self.end = self._pending, [], end

    def _drop(self) -> None:
        """Begin again; the decoder keeps the logits after the prompt."""
        self.rollbacks += 1
        self.temporary = 0
        self._note("dropped", *self._pending)
        self._forget(len(self._pending))
        if len(self._pending) == 1:
            self._first_dropped += 1
            if self._never_first is not None and self._first_dropped == PATIENCE:
                self._banned_first = self._never_first()
        self._pending = []
