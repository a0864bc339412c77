"""What a detector looked for, and what it found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._support.deprecation import warn_deprecated
from .._support.notebooks import ShownInNotebooks
from ..schemes._payload import FoundPayload
from ._segments import Segment
from ._stretches import Stretch
from ._tokenization_search import TokenizationCheck

Verdict = Literal["watermarked", "watermarked in part", "no watermark found"]


@dataclass(frozen=True)
class DetectionTarget:
    """What was looked for. It stands beside each verdict: if the text was written with another
    scheme, version, tokenizer or key, its watermark is not found.

    Attributes:
        scheme: its name, or that of the engine.
        tokenizer: its place, or the beginning of its digest where no place is known.
        fpr: the false-positive rate that was asked for.
        version: of the scheme; None where it has none, such as those of other engines.
        key: the key's name, see `ticore.schemes.key_fingerprint`. None for other engines, whose
            keys may be short numbers that a reader of the name could find by trying them all.
    """

    scheme: str
    tokenizer: str
    fpr: float
    version: int | None = None
    key: str | None = None

    @property
    def named(self) -> str:
        """The scheme and its version: `gumbel, version 2`."""
        return self.scheme if self.version is None else f"{self.scheme}, version {self.version}"

    def facts(self) -> list[tuple[str, str]]:
        """Name and value of each fact, for a person."""
        key = [] if self.key is None else [("key", self.key)]
        return [
            ("scheme", self.named),
            *key,
            ("tokenizer", self.tokenizer),
            ("threshold", f"{self.fpr:g} of texts without a watermark may be called watermarked"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return {
            "scheme": self.scheme,
            "version": self.version,
            "key": self.key,
            "tokenizer": self.tokenizer,
            "fpr": self.fpr,
        }


_UNKNOWN = DetectionTarget("", "", math.nan)


TESTS = 2  # of each text: as a whole, and for a segment; each at half of the rate


def of_both_tests(whole: float, segment: float) -> float:
    """The p-value of a text, of those of the whole text and of its best segment."""
    return min(1.0, TESTS * min(whole, segment))


def corrected(p_value: float, configurations: int) -> float:
    """A p-value of whole text or segment, for both tests and for all configurations of a list.

    One that is not known, nan, stays nan.
    """
    multiplied = TESTS * configurations * p_value
    return 1.0 if multiplied > 1 else multiplied


def are_too_few(strongest: float | None, configurations: int, fpr: float) -> bool:
    """Whether even the strongest p-value of some tokens is not called a watermark.

    Args:
        strongest: not corrected; None or nan if it is not known.
        configurations: by how many it is multiplied.
        fpr: the false-positive rate.
    """
    # The segment, too, may be the whole text.
    return strongest is not None and corrected(strongest, configurations) > fpr


@dataclass(frozen=True, eq=False)
class Detection(ShownInNotebooks):
    """What a text says about a watermark. `str` gives the verdict.

    Attributes:
        verdict: at the false-positive rate that was asked for.
        p_value: the probability that a text without a watermark scores as high or higher.
        strength: the score in standard deviations above the mean of text without a watermark.
        scored: how many tokens count.
        green: how many of them are green; None where a scheme has no green tokens.
        token_count: how many tokens the text has. The first ones have no score, and tokens that
            repeat a random number do not count.
        segment: see `Segment`.
        ids: int64[token_count].
        scores: float64[token_count], nan where a token has no score.
        counted: bool[token_count], which tokens count.
        target: what was looked for.
        stretches: all parts that are watermarked, in the order of the text; see `Stretch`. A text
            whose segment is not significant has none, also with `repeats="all"`, under which each
            draw counts every time in the segment and once in a stretch.
        tokenizations: what other tokens of the writer may have done to the evidence; None if the
            detector looks at the tokens that are read alone.
        strongest_p_value: no scores of these tokens would have a lower p-value; None if this is not
            known for the scheme.
        corrected_for: by how many configurations of a list the p-values are multiplied before they
            are compared with the rate.
        payload: what is read from the text, for a scheme with a payload. The p-value pays for the
            choice among all payloads.
        chances: float64[n], the probabilities of n scores at equal distances from 0 to 1, without a
            watermark; None for a scheme whose scores are others.
    """

    verdict: Verdict
    p_value: float
    strength: float
    scored: int
    green: int | None
    token_count: int
    segment: Segment
    ids: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    counted: npt.NDArray[np.bool_]
    target: DetectionTarget = field(default=_UNKNOWN)
    stretches: tuple[Stretch, ...] = ()
    tokenizations: TokenizationCheck | None = None
    strongest_p_value: float | None = None
    corrected_for: int = 1
    payload: FoundPayload | None = None
    chances: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.verdict

    @property
    def scheme(self) -> str:
        """The name of the scheme that was looked for."""
        return self.target.scheme

    @property
    def version(self) -> int | None:
        """The version of the scheme that was looked for."""
        return self.target.version

    @property
    def looked_for(self) -> str:
        """The scheme and its version: `gumbel, version 2`."""
        return self.target.named

    @property
    def corrected_p_value(self) -> float:
        """Of whole text and segment together, for `corrected_for` configurations."""
        return corrected(min(self.p_value, self.segment.p_value), self.corrected_for)

    @property
    def least_p_value(self) -> float | None:
        """What the strongest watermark would have, corrected; None where that is not known."""
        strongest = self.strongest_p_value
        return None if strongest is None else corrected(strongest, self.corrected_for)

    @property
    def too_short(self) -> bool:
        """Whether no scores at all would have been called a watermark: there are too few."""
        return are_too_few(self.strongest_p_value, self.corrected_for, self.target.fpr)

    @property
    def tokens(self) -> int:
        """Deprecated: the old name of `token_count`."""
        warn_deprecated("Detection.tokens", "Detection.token_count")
        return self.token_count

    def to_dict(self) -> dict[str, Any]:
        """The verdict, its numbers and what was looked for, in types that JSON has.

        The arrays are left out: `ids`, `scores`, `counted` and `chances`.
        """
        return {
            "verdict": self.verdict,
            "p_value": self.p_value,
            "strength": self.strength,
            "scored": self.scored,
            "green": self.green,
            "token_count": self.token_count,
            "segment": {
                "begin": self.segment.begin,
                "end": self.segment.end,
                "p_value": self.segment.p_value,
            },
            "too_short": self.too_short,
            "stretches": [one.to_dict() for one in self.stretches],
            **(
                {}
                if self.tokenizations is None
                else {"tokenizations": self.tokenizations.to_dict()}
            ),
            **({} if self.payload is None else {"payload": self.payload.to_dict()}),
            **self.target.to_dict(),
        }
