"""Texts that overlap: in some longer text they share characters."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product


def may_overlap(some: Collection[str], others: Collection[str]) -> bool:
    """Whether there is a text in which one of `some` overlaps, or holds, one of `others`."""
    return (
        not _endings(some).isdisjoint(_beginnings(others))
        or not _endings(others).isdisjoint(_beginnings(some))
        or any(a in b or b in a for a, b in product(some, others))
    )


def overlaps_itself(text: str) -> bool:
    """Whether there is a text that holds `text` at two places which overlap."""
    return any(text.startswith(text[n:]) for n in range(1, len(text)))


def _beginnings(texts: Collection[str]) -> set[str]:
    return {text[:n] for text in texts for n in range(1, len(text))}


def _endings(texts: Collection[str]) -> set[str]:
    return {text[n:] for text in texts for n in range(1, len(text))}
