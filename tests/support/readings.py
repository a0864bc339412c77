"""The same ids read by two models, in all ways in which one text is read."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import LanguageModel


def largest_difference(one: LanguageModel, other: LanguageModel, ids: Sequence[int]) -> float:
    """Of the logits, reading in one pass, reading a prompt, step by step and after rewinds."""
    differences = [abs(one.score(ids) - other.score(ids)).max()]
    decoders = one.start(ids[:20]), other.start(ids[:20])
    for i, token in enumerate(ids[20:]):
        left, right = (decoder.logits() for decoder in decoders)
        differences.append(abs(left - right).max())
        for decoder in decoders:
            for detour in (7, 8, 9)[: i % 4]:
                decoder.push(detour)
            decoder.rewind(i % 4)
            decoder.push(token)
    return float(max(differences))
