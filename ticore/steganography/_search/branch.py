"""A beginning of a text as tokens, and the bits that they carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ...channels import PassingText
from ...codecs import Reader, forked
from ...errors import ExtractionError
from .._nonce_first_codec import rest_begun
from .._sought import Sought, take_rest
from .._step import Step

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Branch(Generic[T]):
    """Some tokens that spell the text up to a place. It does not change.

    Attributes:
        before: the branch without its last token; None if there is no token.
        token: the last one.
        length: how many tokens there are.
        place: how many bytes of the text they spell.
        score: log2 of the probability with which a writer takes them.
        passing: the text up to there, as its channel sees it.
        reader: has read the tokens.
        frame: has taken the bits that they settle.
        bits: how many these are.
    """

    before: Branch[T] | None
    token: int
    length: int
    place: int
    score: float
    passing: PassingText
    reader: Reader
    frame: Sought[T]
    bits: int

    @classmethod
    def root(cls, passing: PassingText, reader: Reader, frame: Sought[T]) -> Branch[T]:
        """The branch without tokens."""
        return cls(
            before=None,
            token=-1,
            length=0,
            place=0,
            score=0.0,
            passing=passing,
            reader=reader,
            frame=frame,
            bits=0,
        )

    def grown(self, step: Step, index: int, place: int) -> Branch[T]:
        """The branch with one more token.

        Args:
            step: what may come after this branch.
            index: which of its choices comes.
            place: where this choice ends.
        """
        token, weights = step.token(index), step.weights
        passing, reader, frame = self.passing.fork(), forked(self.reader), self.frame.fork()
        passing.push(token)
        value, count = reader.observe(weights, index)
        frame.feed(value, count)
        rest_begun(reader)
        score = self.score + math.log2(weights[index]) - math.log2(weights.sum())
        return Branch(
            before=self,
            token=token,
            length=self.length + 1,
            place=place,
            score=score,
            passing=passing,
            reader=reader,
            frame=frame,
            bits=self.bits + count,
        )

    def at_end(self) -> Branch[T]:
        """The branch if the text ends here, which settles what is left by the paper's stop."""
        frame = self.frame.fork()
        try:
            take_rest(frame, self.reader)
        except ExtractionError:
            return self
        return replace(self, frame=frame, bits=self.bits + self.frame.bits_needed)

    def has_all_bits(self, most_bits: int) -> bool:
        """Whether further tokens cannot change what the message is, or that there is none.

        Args:
            most_bits: that a text can carry.
        """
        return self.frame.complete or self.frame.least_bits > most_bits

    def payload(self, most_bits: int) -> T | None:
        """The payload, if it is right."""
        try:
            return self.frame.payload(most_bits)
        except ExtractionError:
            return None

    def after(self, some: Sequence[Branch[T]]) -> list[Branch[T]]:
        """The branches from which this one has grown, and itself, without those in `some`.

        Args:
            some: branches, each grown from the one before it. The first one has no tokens.
        """
        missing, branch = list[Branch[T]](), self
        while branch.length >= len(some) or some[branch.length] is not branch:
            assert branch.before is not None  # the branch without tokens is there
            missing.append(branch)
            branch = branch.before
        return missing[::-1]
