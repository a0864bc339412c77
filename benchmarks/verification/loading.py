"""What a Verifier costs to make, and to keep."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable

from benchmarks.spread import spread, timed
from ticore.consistency import Mode, Verifier
from ticore.consistency.mask import table_engine
from ticore.consistency.oracle import Oracle
from ticore.consistency.trial import compare, require_sound
from ticore.interfaces import Tokenizer

from .plan import CHARACTERS_A_TOKEN, Found, Plan, Track, empty_cache
from .texts import Texts, passage


def loads(
    open_: Callable[[], Tokenizer], mode: Mode, plan: Plan, track: Track, label: str
) -> Found:
    """Seconds for `Verifier(tokenizer, mode)`, and how many of them the self-test takes.

    Both where its tables are `built` and where they are loaded `from_disk`.
    """
    found: dict[str, dict[str, list[float]]] = {
        name: {"whole": [], "self_test": []} for name in ("built", "from_disk")
    }
    for _ in track(range(plan.loads), f"{label}: loading", plan.loads):
        with empty_cache():
            for times in found.values():
                # Opened anew, since a tokenizer keeps the description of itself.
                tokenizer = open_()
                gc.collect()
                times["whole"].append(timed(Verifier, tokenizer, mode)[0])
                times["self_test"].append(_self_test(tokenizer, mode))
    return {
        name: {part: spread(values) for part, values in times.items()}
        for name, times in found.items()
    }


def _self_test(tokenizer: Tokenizer, mode: Mode) -> float:
    oracle = Oracle(tokenizer, mode)
    engine = table_engine(oracle)
    assert not isinstance(engine, str), "the Verifier has just found it exact"
    started = time.perf_counter()
    require_sound(tokenizer)
    compare(engine, oracle, from_masks=True)
    return time.perf_counter() - started


def memory(open_: Callable[[], Tokenizer], mode: Mode, plan: Plan, texts: Texts) -> Found:
    """Bytes of Python objects and NumPy arrays that a Verifier holds, as tracemalloc counts them.

    Without the tokenizer and its description. One list of all texts in turn is walked, asking for
    every mask: `walked` is what the Verifier then holds, `list` what the list itself takes.
    """
    Verifier(open_(), mode)  # so that tables are on disk, and caches of modules are filled
    tokenizer = open_()
    tokenizer.structure()
    draw = random.Random(plan.seed)
    share = plan.walked // len(texts) + 1
    ids: list[int] = []
    for text in texts.values():
        ids += tokenizer.encode(passage(text, CHARACTERS_A_TOKEN * share, draw))[:share]
    ids = ids[: plan.walked]
    gc.collect()
    tracemalloc.start()
    try:
        verifier = Verifier(tokenizer, mode)
        loaded = _held()
        verification = verifier.start()
        for token in ids:
            if verification.admissible:
                verification.mask()
            verification.push(token)
        with_list = _held()
        del verification
        walked = _held()
    finally:
        tracemalloc.stop()
    return {
        "tokens": len(ids),
        "how": "tracemalloc: Python objects and NumPy arrays",
        "loaded": loaded,
        "walked": walked,
        "list": with_list - walked,
    }


def _held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
