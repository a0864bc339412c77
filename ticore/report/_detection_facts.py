"""A detection as names and values for a person."""

from __future__ import annotations

from collections.abc import Sequence

from ..schemes import FoundPayload
from ..watermarking import Detection, Segment, Stretch, TokenizationCheck

_LEAST = 1e-300  # near the smallest double; a smaller p-value is printed as "below"


def detection_facts(found: Detection) -> list[tuple[str, str]]:
    """The numbers of a detection and what was looked for, but not the verdict.

    Args:
        found: the detection.

    Returns:
        Pairs (name, value), with the best segment only if it `stands_out`, the stretches if there
        are several, and the payload only of a text with a watermark: any other text has one too,
        and it names nobody.
    """
    facts = [
        ("p-value", probability(found.p_value)),
        ("strength", f"{found.strength:.2f} standard deviations"),
        ("scored", f"{found.scored:,} of {found.token_count:,} tokens"),
    ]
    if found.too_short and found.least_p_value is not None:
        facts.append(too_short_fact(found.least_p_value))
    if found.green is not None:
        facts.append(("green", f"{found.green:,}, which is {found.green / found.scored:.1%}"))
    if found.payload is not None and found.verdict != "no watermark found":
        facts += payload_facts(found.payload)
    if found.tokenizations is not None:
        facts += tokenization_facts(found.tokenizations, found.scored)
    if stands_out(found):
        facts.append(("best segment", segment_fact(found.segment)))
    if len(found.stretches) > 1:  # one alone is the best segment
        facts += stretch_facts(found.stretches)
    return [*facts, *found.target.facts()] if found.scheme else facts


def too_short_fact(least: float) -> tuple[str, str]:
    """That the strongest watermark would not have been found; `least` is its p-value, corrected."""
    said = f"to tell: the strongest watermark would have p-value {probability(least)}, corrected"
    return "too short", said


def tokenization_facts(check: TokenizationCheck, scored: int) -> list[tuple[str, str]]:
    """What other tokens of the writer may have done to the evidence of `scored` tokens."""
    apart = probability(check.p_value_apart)
    facts = [
        (
            "uncertain",
            f"{check.near:,} of {scored:,} may have been other tokens; "
            f"p-value without them {apart}",
        )
    ]
    if check.tried is not None:
        read = probability(check.p_value_read)
        facts.append(
            ("respelled", f"{len(check.respelled):,} of {check.tried:,}; p-value as read {read}")
        )
    return facts


def stretch_facts(stretches: Sequence[Stretch]) -> list[tuple[str, str]]:
    """A line for each stretch: its number, its place, its p-value and what wrote it.

    The p-value is corrected for the test of the whole text beside that of its parts, and for all
    configurations; that of a best segment alone is not.
    """
    return [
        (
            f"stretch {number}",
            f"tokens {one.begin:,} to {one.end - 1:,}, p-value {probability(one.p_value)}, "
            "corrected" + (f", {one.configuration}" if one.configuration else ""),
        )
        for number, one in enumerate(stretches, 1)
    ]


def stands_out(found: Detection) -> bool:
    """Whether the best segment is evidence; every text has one, even without a watermark."""
    if found.segment.begin == found.segment.end or found.verdict == "no watermark found":
        return False
    decides = found.verdict == "watermarked in part"
    return decides or found.segment.p_value <= found.target.fpr


def segment_fact(segment: Segment) -> str:
    """Where the segment is, and its p-value."""
    return (
        f"tokens {segment.begin:,} to {segment.end - 1:,}, p-value {probability(segment.p_value)}"
    )


def probability(value: float) -> str:
    """A probability with two digits.

    >>> probability(0.5), probability(1.437e-102), probability(0.0)
    ('0.5', '1.4e-102', 'below 1e-300')
    """
    return f"{value:.2g}" if value >= _LEAST else f"below {_LEAST:g}"


def certainty(value: float) -> str:
    """A probability that is near 1, in percent; it never says that nothing is left to doubt.

    >>> certainty(0.9731), certainty(1.0)
    ('97.3%', 'more than 99.9%')
    """
    return f"{value:.1%}" if value < 0.9995 else "more than 99.9%"


def payload_facts(found: FoundPayload) -> list[tuple[str, str]]:
    """What the payload is, and how sure that is."""
    bits = found.bit_confidences
    expected = f"{sum(bits):.1f} of {len(bits)} bits expected to be right"
    return [
        ("payload", found.payload.hex()),
        ("confidence", f"{certainty(found.confidence)} that it is right; {expected}"),
    ]
