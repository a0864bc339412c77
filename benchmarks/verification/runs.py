"""What a push takes in a text in which no boundary settles, by how long it is already."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

from ticore.consistency import Mode, Verifier
from ticore.interfaces import Tokenizer

from .plan import Found

LENGTHS = (250, 1_000, 4_000, 20_000)
"""Characters of a run."""

_TIMED = 200  # tokens at the end of a run, at most, and no more than a tenth of it
_TIMES = 3  # that they are pushed; the quickest counts

_FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


def runs(length: int, seed: int = 0) -> dict[str, str]:
    """Texts of about `length` characters, by what they consist of."""
    draw = random.Random(seed)

    def some(characters: str) -> str:
        return "".join(draw.choices(characters, k=length))

    return {
        "Chinese": some("".join(map(chr, range(0x4E00, 0x9000)))),
        "DNA": some("ACGT"),
        "one letter": "a" * length,
        "digits": some("0123456789"),
        "equals signs": "=" * length,
        "spaces": "x" + " " * (length - 1),
        "line feeds": "\n" * length,
        "line ends": "\r\n" * (length // 2),
        "white space": "x" + some(" \t\n"),
        "emoji": _FAMILY * (length // len(_FAMILY)),
        "marks": "o" + "\u0316" * (length - 1),
    }


def push_in_runs(
    tokenizer: Tokenizer, mode: Mode, lengths: Sequence[int] = LENGTHS
) -> Iterator[Found]:
    """For each kind of run the CPU seconds of a push near its end, for each length."""
    verifier = Verifier(tokenizer, mode)
    for kind in runs(1):
        seconds = {}
        for length in lengths:
            seconds[str(length)] = _push(verifier, tokenizer.encode(runs(length)[kind]))
        yield {"mode": mode, "rung": verifier.rung, "kind": kind, "seconds": seconds}


def _push(verifier: Verifier, ids: Sequence[int]) -> float:
    last = max(1, min(_TIMED, len(ids) // 10))
    verification = verifier.start()
    for token in ids[:-last]:
        verification.push(token)
    best = float("inf")
    for _ in range(_TIMES):
        started = time.process_time()
        for token in ids[-last:]:
            verification.push(token)
        best = min(best, (time.process_time() - started) / last)
        verification.rewind(last)
    return best
