"""What it costs to make a Verifier, and how much memory it holds."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable

from benchmarks._harness.corpora import Corpora, passage
from benchmarks._harness.progress import track
from benchmarks._harness.timing import summarize_timings, timed
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode, Verifier
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._engines.self_test import require_deterministic_round_trip, run_self_test
from ticore.interfaces import Tokenizer

from .plan import CHARACTERS_PER_TOKEN, Plan, empty_cache

OpenTokenizer = Callable[[], Tokenizer]


def loading_times(open_tokenizer: OpenTokenizer, mode: Mode, plan: Plan, label: str) -> JsonObject:
    """The times of `Verifier(tokenizer, mode=mode)`.

    Args:
        open_tokenizer: opens the tokenizer again at each call.
        mode: of the Verifier.
        plan: how often.
        label: for the progress bar.

    Returns:
        `built` and `from_disk`: where the Verifier builds its tables, and where it loads them.
        In each, summaries of `whole` and of the `self_test` in it.
    """
    seconds: dict[str, dict[str, list[float]]] = {
        name: {"whole": [], "self_test": []} for name in ("built", "from_disk")
    }
    for _ in track(range(plan.loads), f"{label}: loading", plan.loads):
        with empty_cache():
            for times in seconds.values():
                # A new tokenizer each time, since a tokenizer caches its own description.
                tokenizer = open_tokenizer()
                gc.collect()
                times["whole"].append(timed(Verifier, tokenizer, mode=mode)[0])
                times["self_test"].append(_self_test_seconds(tokenizer, mode))
    return {
        name: {part: summarize_timings(values) for part, values in times.items()}
        for name, times in seconds.items()
    }


def _self_test_seconds(tokenizer: Tokenizer, mode: Mode) -> float:
    oracle = Oracle(tokenizer, mode)
    engine = table_engine(oracle)
    started = time.perf_counter()
    require_deterministic_round_trip(tokenizer)
    run_self_test(engine, oracle)
    return time.perf_counter() - started


def memory(open_tokenizer: OpenTokenizer, mode: Mode, plan: Plan, corpora: Corpora) -> JsonObject:
    """Bytes of Python objects and NumPy arrays that a Verifier holds, without its tokenizer.

    Args:
        open_tokenizer: opens the tokenizer again at each call.
        mode: of the Verifier.
        plan: how many tokens are pushed.
        corpora: whose tokens are pushed, in one list; every mask is asked for.

    Returns:
        `loaded`: before the first token. `used`: after the last one. `list`: what the list of
        tokens itself takes.
    """
    Verifier(open_tokenizer(), mode=mode)  # stores the tables, and fills the caches of modules
    tokenizer = open_tokenizer()
    tokenizer.structure()
    draw = random.Random(plan.seed)
    share = plan.memory_tokens // len(corpora) + 1
    ids: list[int] = []
    for text in corpora.values():
        ids += tokenizer.encode(passage(text, CHARACTERS_PER_TOKEN * share, draw))[:share]
    ids = ids[: plan.memory_tokens]
    gc.collect()
    tracemalloc.start()
    try:
        verifier = Verifier(tokenizer, mode=mode)
        loaded = _traced_bytes()
        verification = verifier.start()
        for token in ids:
            if verification.admissible:
                verification.mask()
            verification.push(token)
        with_list = _traced_bytes()
        del verification
        used = _traced_bytes()
    finally:
        tracemalloc.stop()
    return {
        "token_count": len(ids),
        "method": "tracemalloc: Python objects and NumPy arrays",
        "loaded": loaded,
        "used": used,
        "list": with_list - used,
    }


def _traced_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
