"""What the observer finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks._harness.intervals import as_json
from ticore.evaluation import rate

from .plan import FREE, SEALED
from .sizes import guesses
from .telling import tests

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

_FEWEST = 2  # texts of a kind


def summarize(texts: Sequence[JsonObject], seed: int) -> JsonObject:
    """How well kinds are told apart, and sizes guessed.

    Args:
        texts: of all kinds, as `samples` has them.
        seed: of what learns.

    Returns:
        `kinds`: for each the number of `texts`, their mean of `tokens`, and the share of texts with
            a token that another machine might read otherwise, `borderline`, None where that is not
            known.
        `tests`: for each kind of free texts, `free`, the results of `telling.tests`.
        `sizes`: see `sizes.guesses`.
    """
    by_kind = {kind: [text for text in texts if text["kind"] == kind] for kind in (SEALED, *FREE)}
    sealed = by_kind[SEALED]
    return {
        "kinds": [{"kind": kind} | _about(some) for kind, some in by_kind.items() if some],
        "tests": [
            {"free": kind} | test
            for kind in FREE
            if min(len(sealed), len(by_kind[kind])) >= _FEWEST
            for test in tests(sealed, by_kind[kind], seed)
        ],
        "sizes": guesses(sealed, seed) if sealed else [],
    }


def _about(texts: Sequence[JsonObject]) -> JsonObject:
    known = [len(text["borderline"]) for text in texts if "borderline" in text]
    return {
        "texts": len(texts),
        "tokens": sum(len(text["ids"]) for text in texts) / len(texts),
        "borderline": as_json(rate(sum(map(bool, known)), len(known)) if known else None),
    }
