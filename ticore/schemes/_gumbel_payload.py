"""Gumbel with a payload: the text says by which writer it was made, or for whom.

Sources: Aaronson (2022) for the choice of a token; Fernandez et al., "Three Bricks to Consolidate
Watermarks for Large Language Models" (2023), section 5, for one set of random numbers per message;
Yoo et al., "Advancing Beyond Identification: Multi-bit Watermark for Large Language Models" (2024),
for contexts that each carry one part of the message.

The payload is a row of bytes. The context of a token decides which of them is written there, and
that byte stands before the context as one more token: so each of its 256 values has random numbers
of its own. A reader computes the scores of all 256 and takes the value with the highest sum.

The text's distribution is the model's own: for any payload, the numbers after a context are
independent and uniform over all keys, as with `Gumbel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import SettingsError, shown
from ._evidence import Evidence
from ._gumbel import Gumbel, exponential_scores
from ._keyed_numbers import PreparedTokens
from ._null_distributions import NullDistribution
from ._payload import VALUES, PayloadEvidence, PayloadNull
from ._settings import checked_integer
from ._windows import SomeIds, token_ids, words_like
from ._word_arithmetic import BITS, Words, looked_up

_MOST_BITS = 64
_BLOCK = 4096  # tokens scored at a time: the steps of all would take twice the scores' memory
_COARSE = 15  # bits of the number that decides the place: times 8 places it stays below 2^31


class GumbelPayload(Gumbel):
    """The Gumbel scheme with a payload of 8 to 64 bits. Thread-safe.

    Args:
        key, vocab_size, context: see `Gumbel`.
        payload: what is written: `payload_bits` / 8 bytes, or their hex digits as a str. Only a
            writer needs it.
        payload_bits: how many bits the payload has: a multiple of 8 from 8 to 64. A reader needs
            the writer's. Twice the bits need about twice the text.
        version: of the random numbers: 2.

    Attributes:
        name: of the scheme.
        payload: bytes, or None.
        key_fingerprint: see `ticore.schemes.key_fingerprint`.
        context, null, greedy, once: see `ticore.schemes.Scheme`. A context is marked where it
            occurs first in a text.

    Raises:
        SettingsError: a setting is out of range, or the payload has another length.
        CredentialError: the key is too short or too long.
    """

    name: ClassVar[str] = "gumbel_payload"

    def __init__(
        self,
        key: bytes | str,
        vocab_size: int,
        *,
        context: int = 5,
        payload: bytes | str | None = None,
        payload_bits: int = 32,
        version: Literal[2] = 2,
    ) -> None:
        if version != 2:
            raise SettingsError(f"version: expected 2, found {shown(version)}; leave it out")
        super().__init__(key, vocab_size, context=context, version=version)
        self.payload_bits = _checked_bits(payload_bits)
        self.payload = None if payload is None else _checked_payload(payload, self.payload_bits)

    @property
    def null(self) -> NullDistribution:  # type: ignore[override]  # another one than that of Gumbel
        """The distribution of the highest sums of scores, with all values looked for."""
        return PayloadNull(self.payload_bits // 8)

    def require_writable(self) -> None:
        """Check that there is a payload to write.

        Raises:
            SettingsError: there is none.
        """
        self._payload()

    def evidence(self, ids: SomeIds) -> Evidence:
        """A `PayloadEvidence`: the scores -log(1 - u) of every value of the byte that a context
        carries; see `Detectable.evidence`."""
        found = token_ids(ids, self.vocab_size)
        # 256 values of each token take so long that a table of the vocabulary would save nothing.
        row = self._numbers.any_tokens(found.astype(np.uint32))
        before, tokens = row.contexts_and_tokens(self.context)
        seed = self._numbers.seed(before)
        scores = np.empty((len(tokens.ids), VALUES))
        for start in range(0, len(scores), _BLOCK):
            block = slice(start, start + _BLOCK)
            scores[block] = self._scores_of_values([each[block] for each in before], tokens[block])
        seeds = self._numbers.identity(seed)
        places = self._place(seed).astype(np.int64)
        highest = scores.max(axis=1)
        return PayloadEvidence.after_context(self.context, seeds, seeds, highest, places, scores)

    def _scores_of_values(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        """The score of each of n tokens after its context, for every value: float64[n, 256]."""
        values = self._numbers.any_tokens(np.arange(VALUES, dtype=np.uint32))
        with_value = self._numbers.seed([*(each[:, None] for each in before), values])
        return exponential_scores(self._numbers.uniform(with_value, tokens[:, None]))

    def _seed(self, before: Sequence[PreparedTokens]) -> Any:
        place = self._place(self._numbers.seed(before))
        payload = list(self._payload())
        value = (
            payload[place]
            if isinstance(place, int)
            else looked_up(words_like(payload, place), place)
        )
        return self._numbers.seed([*before, self._numbers.any_tokens(value)])

    def _place(self, seed: Any) -> Words:
        """Which byte of the payload is written after a context."""
        # Seeds with a value have one token more, so this number is used for nothing else.
        number = self._numbers.uniform(seed, self._numbers.any_tokens(0))
        return (number >> (BITS - _COARSE)) * (self.payload_bits // 8) >> _COARSE

    def _payload(self) -> bytes:
        if self.payload is None:
            raise SettingsError(
                f"payload: expected {self.payload_bits // 8} bytes to write, found none; give "
                f"payload= as bytes or hex digits"
            )
        return self.payload


def _checked_bits(bits: object) -> int:
    found = checked_integer("payload_bits", bits, 8, _MOST_BITS, advice="give the writer's setting")
    if found % 8:
        raise SettingsError(f"payload_bits: expected a multiple of 8, found {found}; round it up")
    return found


def _checked_payload(payload: object, bits: int) -> bytes:
    found = payload
    if isinstance(payload, str):
        try:
            found = bytes.fromhex(payload)
        except ValueError:
            found = payload
    if not isinstance(found, bytes) or len(found) * 8 != bits:
        size = f"{len(found)} bytes" if isinstance(found, bytes) else shown(payload)
        raise SettingsError(
            f"payload: expected {bits // 8} bytes, or their hex digits, found {size}; fill it up "
            f"with zeros, or give payload_bits"
        )
    return found
