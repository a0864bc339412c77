"""What a detection comes to, as names and values that a person reads."""

from __future__ import annotations

from ..watermarking import Detection, Segment

_LEAST = 1e-300  # below it a double soon holds nothing but zero


def detection_facts(found: Detection) -> list[tuple[str, str]]:
    """The numbers of a detection, each with its name; the verdict is not among them."""
    facts = [("looked for", found.looked_for)] if found.scheme else []
    facts += [
        ("p-value", probability(found.p_value)),
        ("strength", f"{found.strength:.2f} standard deviations"),
        ("scored", f"{found.scored:,} of {found.tokens:,} tokens"),
    ]
    if found.green is not None:
        facts.append(("green", f"{found.green:,}, which is {found.green / found.scored:.1%}"))
    return [*facts, ("best segment", segment_fact(found.segment))]


def segment_fact(segment: Segment) -> str:
    """Where the segment is, and how surprising."""
    if segment.begin == segment.end:
        return "none"
    return (
        f"tokens {segment.begin:,} to {segment.end - 1:,}, p-value {probability(segment.p_value)}"
    )


def probability(value: float) -> str:
    """A probability with two digits.

    >>> probability(0.5), probability(1.437e-102), probability(0.0)
    ('0.5', '1.4e-102', 'below 1e-300')
    """
    return f"{value:.2g}" if value >= _LEAST else f"below {_LEAST:g}"
