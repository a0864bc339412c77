"""Times of slow methods: retokenizing the text, or its end, for each candidate.

The paper's Algorithm 1 retokenizes the whole text, as the oracle does in mode `prefix`. For a whole
vocabulary that takes up to minutes. So it is mostly asked about a random sample of ids, and the
time is scaled.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks._harness.progress import track
from benchmarks._harness.timing import summarize_timings, timed
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode
from ticore.consistency._engines.retokenizing import Oracle, RetokenizingEngine
from ticore.consistency._engines.stable_cuts import cut_finder
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Tokenizer

from .plan import Plan
from .table_speed import Workload

State = tuple[int, ...]

SUFFIX, PAPER, RETOKENIZE = "suffix", "paper", "retokenize"

_CHUNK = 64  # candidates per call, of a sample
_BATCH = 1024  # candidates per call, of a whole vocabulary: as many as the oracle takes at a time
_REPEATS = 3


def time_retokenizing(
    tokenizer: Tokenizer, mode: Mode, plan: Plan, workloads: Sequence[Workload], label: str
) -> JsonObject:
    """The times of `admits` and of whole masks, on one history of each text.

    Returns:
        By method (`suffix`: retokenizes from the last stable cut; `paper`: the whole text;
        `retokenize`: the whole text in this mode, where it is not `prefix`): summaries of `admits`
        and `mask`; whether the latter is `scaled`; `masks`, one entry per history; `full`, entries
        where the whole vocabulary was asked for. `why_not`: why the method cannot be used.
    """
    times: JsonObject = {}
    first = {work.label: work for work in reversed(workloads)}
    histories = [first[name] for name in dict.fromkeys(work.label for work in workloads)]
    for name, method_mode in _methods(mode):
        try:
            finder = cut_finder(tokenizer) if name == SUFFIX else None
        except Unsupported as why:
            times[name] = {"why_not": str(why)}
            continue
        oracle = Oracle(tokenizer, method_mode)
        engine = RetokenizingEngine(oracle, finder)
        admits: list[float] = []
        masks: list[JsonObject] = []
        full: list[JsonObject] = []
        for work in histories:
            history = _longest_admissible(oracle, work.history)
            state: State = ()
            for token in history:
                state = engine.step(state, token)
            admits += (timed(engine.admits, state, work.candidates)[0] for _ in range(_REPEATS))
            kind = {"text": work.label, "token_count": len(history)}
            mask = _MaskTimer(engine, state, tokenizer.vocab_size, f"{label}: {name}")
            masks.append(kind | mask.sampled(plan))
            for_comparison = name == PAPER and len(work.history) == plan.full_length and not full
            if for_comparison or plan.full:
                full.append(kind | mask.whole())
        times[name] = {
            "admits": summarize_timings(admits),
            "mask": summarize_timings([one["seconds"] for one in (full if plan.full else masks)]),
            "scaled": not plan.full,
            "masks": masks,
            "full": full,
        }
    return times


def _methods(mode: Mode) -> Iterator[tuple[str, Mode]]:
    """Each method and the mode that it is timed in."""
    yield SUFFIX, mode
    yield PAPER, "prefix"
    if mode != "prefix":
        yield RETOKENIZE, mode


class _MaskTimer:
    """Times one engine on one history."""

    def __init__(
        self, engine: RetokenizingEngine, state: State, vocab_size: int, label: str
    ) -> None:
        self._engine, self._state, self._size = engine, state, vocab_size
        self._label = label

    def sampled(self, plan: Plan) -> JsonObject:
        """The seconds for the vocabulary, scaled from a random sample of it."""
        ids = np.random.default_rng(plan.seed).permutation(self._size)[: plan.sample]
        return self._time(ids, _CHUNK, plan.patience, self._label)

    def whole(self) -> JsonObject:
        """The seconds for the vocabulary, measured."""
        label = f"{self._label}, whole vocabulary"
        return self._time(np.arange(self._size), _BATCH, float("inf"), label)

    def _time(
        self, ids: npt.NDArray[np.int64], chunk: int, patience: float, label: str
    ) -> JsonObject:
        parts = [ids[start : start + chunk] for start in range(0, len(ids), chunk)]
        until = time.perf_counter() + patience
        asked, seconds = 0, 0.0
        for part in track(parts, label, len(parts)):
            seconds += timed(self._engine.admits, self._state, part)[0]
            asked += len(part)
            if time.perf_counter() > until:
                break
        return {"seconds": seconds * self._size / asked, "asked": asked, "of": self._size}


def _longest_admissible(oracle: Oracle, ids: Sequence[int]) -> list[int]:
    """The longest list that starts as `ids` does and is admissible."""
    lengths = range(len(ids), 0, -1)
    return list(ids[: next((n for n in lengths if oracle.may_begin(ids[:n])), 0)])
