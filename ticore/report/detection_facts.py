"""What a detection comes to, as names and values that a person reads."""

from __future__ import annotations

from dataclasses import dataclass

from ..watermarking import Detection, Segment

_LEAST = 1e-300  # below it a double soon holds nothing but zero


@dataclass(frozen=True)
class Search:
    """What was looked for. It stands beside each verdict: with another scheme or tokenizer than the
    text was written with, nothing is found.

    Attributes:
        scheme: its name, or the engine's.
        tokenizer: its place.
        fpr: the false-positive rate that was asked for.
        version: of the scheme; None where it has none.
    """

    scheme: str
    tokenizer: str
    fpr: float
    version: int | None = None

    @property
    def named(self) -> str:
        """The scheme and its version."""
        return self.scheme if self.version is None else f"{self.scheme}, version {self.version}"

    def facts(self) -> list[tuple[str, str]]:
        """Each with its name."""
        return [
            ("scheme", self.named),
            ("tokenizer", self.tokenizer),
            ("threshold", f"{self.fpr:g} of texts without a watermark may be called watermarked"),
        ]


def detection_facts(found: Detection, search: Search | None = None) -> list[tuple[str, str]]:
    """The numbers of a detection and what was looked for, each with its name; without the verdict.

    The best segment is among them where it `stands_out`.
    """
    facts = [
        ("p-value", probability(found.p_value)),
        ("strength", f"{found.strength:.2f} standard deviations"),
        ("scored", f"{found.scored:,} of {found.tokens:,} tokens"),
    ]
    if found.green is not None:
        facts.append(("green", f"{found.green:,}, which is {found.green / found.scored:.1%}"))
    if stands_out(found, search):
        facts.append(("best segment", segment_fact(found.segment)))
    if search is not None:
        return [*facts, *search.facts()]
    return [*facts, ("scheme", found.looked_for)] if found.scheme else facts


def stands_out(found: Detection, search: Search | None) -> bool:
    """Whether the best segment says something: every text has one, also without a watermark."""
    if found.segment.begin == found.segment.end or found.verdict == "no watermark found":
        return False
    decides = found.verdict == "watermarked in part"
    return decides or (search is not None and found.segment.p_value <= search.fpr)


def segment_fact(segment: Segment) -> str:
    """Where the segment is, and how surprising."""
    return (
        f"tokens {segment.begin:,} to {segment.end - 1:,}, p-value {probability(segment.p_value)}"
    )


def probability(value: float) -> str:
    """A probability with two digits.

    >>> probability(0.5), probability(1.437e-102), probability(0.0)
    ('0.5', '1.4e-102', 'below 1e-300')
    """
    return f"{value:.2g}" if value >= _LEAST else f"below {_LEAST:g}"
