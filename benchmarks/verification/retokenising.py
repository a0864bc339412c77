"""The slower rungs, and the paper's way: retokenising the text for each candidate.

The paper's Algorithm 1 is what the oracle does in mode `prefix`. A whole vocabulary takes it up to
minutes, so that mostly a random sample is asked for, and the time is scaled.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.spread import spread, timed
from ticore.consistency import Mode, Rung
from ticore.consistency.cut_engine import CutEngine
from ticore.consistency.oracle import Oracle
from ticore.consistency.tail import cut_finder
from ticore.interfaces import Tokenizer

from .plan import Found, Plan, Track
from .walks import Walk

State = tuple[int, ...]

_CHUNK = 64  # candidates of a sample that are asked for at a time
_BATCH = 1024  # of a whole vocabulary: as many as the oracle retokenises at a time
_REPEATS = 3


def retokenise(
    tokenizer: Tokenizer, mode: Mode, plan: Plan, walks: Sequence[Walk], track: Track, label: str
) -> Found:
    """For each way the times of `admits` and of the whole `mask`, on one history of each text.

    `masks` says for each history how many ids were asked; `full` holds those where all were.
    """
    rows: Found = {}
    first = {walk.label: walk for walk in reversed(walks)}
    histories = [first[name] for name in dict.fromkeys(walk.label for walk in walks)]
    for name, its_mode, rung in _ways(mode):
        finder = None if rung == "oracle" else cut_finder(tokenizer)
        if isinstance(finder, str):
            rows[name] = {"why_not": finder}
            continue
        oracle = Oracle(tokenizer, its_mode)
        engine = CutEngine(oracle, finder)
        admits: list[float] = []
        masks: list[Found] = []
        full: list[Found] = []
        for walk in histories:
            history = _beginning(oracle, walk.history)
            state: State = ()
            for token in history:
                state = engine.step(state, token)
            admits += (timed(engine.admits, state, walk.candidates)[0] for _ in range(_REPEATS))
            asker = _Asker(engine, state, tokenizer.vocab_size, track, f"{label}: {name}")
            masks.append({"text": walk.label, "tokens": len(history), **asker.sample(plan)})
            the_one = name == "paper" and len(walk.history) == plan.full_length and not full
            if the_one or plan.full:
                full.append({"text": walk.label, "tokens": len(history), **asker.whole()})
        rows[name] = {
            "admits": spread(admits),
            "mask": spread([one["seconds"] for one in (full if plan.full else masks)]),
            "scaled": not plan.full,
            "masks": masks,
            "full": full,
        }
    return rows


def _ways(mode: Mode) -> Iterator[tuple[str, Mode, Rung]]:
    yield "tail", mode, "tail"
    yield "paper", "prefix", "oracle"
    if mode != "prefix":
        yield "oracle", mode, "oracle"


class _Asker:
    """Asks one engine about one history for many ids."""

    def __init__(
        self, engine: CutEngine, state: State, vocab_size: int, track: Track, label: str
    ) -> None:
        self._engine, self._state, self._size = engine, state, vocab_size
        self._track, self._label = track, label

    def sample(self, plan: Plan) -> Found:
        """Seconds for the vocabulary, scaled from a random sample of it."""
        ids = np.random.default_rng(plan.seed).permutation(self._size)[: plan.sample]
        return self._ask(ids, _CHUNK, plan.patience, self._label)

    def whole(self) -> Found:
        """Seconds for the vocabulary, measured."""
        label = f"{self._label}, whole vocabulary"
        return self._ask(np.arange(self._size), _BATCH, float("inf"), label)

    def _ask(self, ids: npt.NDArray[np.int64], chunk: int, patience: float, label: str) -> Found:
        parts = [ids[at : at + chunk] for at in range(0, len(ids), chunk)]
        until = time.perf_counter() + patience
        asked, taken = 0, 0.0
        for part in self._track(parts, label, len(parts)):
            taken += timed(self._engine.admits, self._state, part)[0]
            asked += len(part)
            if time.perf_counter() > until:
                break
        return {"seconds": taken * self._size / asked, "asked": asked, "of": self._size}


def _beginning(oracle: Oracle, ids: Sequence[int]) -> list[int]:
    """The longest beginning of `ids` that a text may begin with."""
    lengths = range(len(ids), 0, -1)
    return list(ids[: next((n for n in lengths if oracle.may_begin(ids[:n])), 0)])
