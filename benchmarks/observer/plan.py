"""Which texts are written."""

from __future__ import annotations

from dataclasses import dataclass

SEALED, SAME, WHOLE = "sealed", "same", "whole"
"""The kinds of texts; see the package."""

FREE = (SAME, WHOLE)


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: what `ticore.load_model` opens.
        largest: bytes of the longest message. Each has a random size from 1 byte on.
        top_k: candidates per step of sealed texts; None: the whole vocabulary.
        batch: how many texts of each kind are written side by side.
        seed: of all messages, keys and choices.
    """

    model: str = "tiny-en"
    largest: int = 32
    top_k: int | None = 64
    batch: int = 50
    seed: int = 0
