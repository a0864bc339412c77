"""Times of the table engine on real text: masks, candidates, pushes and rewinds, one by one.

What a mask costs depends on what its engine has cached; see `cache_probe`. For every length of
history the engine starts with an empty cache.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks._harness.corpora import Corpora, passage
from benchmarks._harness.progress import track
from benchmarks._harness.timing import summarize_timings, timed
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode, Verification
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._engines.stable_cuts import cut_finder
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Tokenizer

from .cache_probe import mask_work
from .plan import CHARACTERS_PER_TOKEN, Plan

Timings = Iterator[tuple[str, float]]
"""What was timed, and its seconds."""


@dataclass(frozen=True)
class Workload:
    """A passage to measure on.

    Attributes:
        label: of its text.
        history: the tokens before the first measurement.
        next_ids: the tokens that are pushed while measuring.
        candidates: ids int64[count] for `admits`, half of them from the passage.
    """

    label: str
    history: list[int]
    next_ids: list[int]
    candidates: npt.NDArray[np.int64]


def draw_workloads(
    tokenizer: Tokenizer, plan: Plan, corpora: Corpora, length: int
) -> list[Workload]:
    """Workloads with this length of history, of each text in turn; the same for the same plan."""
    draw = random.Random(plan.seed + length)
    end = length + plan.steps
    ordinary = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    workloads = []
    for _ in range(plan.passages):
        for label, text in corpora.items():
            ids = tokenizer.encode(passage(text, CHARACTERS_PER_TOKEN * end, draw))
            near = draw.choices(ids, k=plan.candidates // 2)
            others = draw.choices(ordinary, k=plan.candidates - len(near))
            candidates = np.array(near + others)
            workloads.append(Workload(label, ids[:length], ids[length:end], candidates))
    return workloads


def time_table_engine(
    tokenizer: Tokenizer, mode: Mode, workloads: Sequence[Workload], label: str
) -> JsonObject:
    """Summaries of each kind of timing: over `all` texts, and by label.

    Returns:
        `mask_first`: masks as a writer asks for them, once per position. They are also summarized
        by `mask_work`: `mask_cached`, `mask_new_token`, `mask_new_tail`, `mask_retokenized`; and
        `mask_uncached` is all but the first of these. `mask_repeated`: the same mask once more.
        `admits_first`, `admits_repeated`: the same for the candidates of the workload.
        `push_after_mask`, `push_reading`: after a mask was asked for, and with none. `rewind`.
    """
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    oracle = Oracle(tokenizer, mode)
    try:
        cuts = cut_finder(tokenizer)
    except Unsupported:
        cuts = None
    for_masks, for_candidates = table_engine(oracle), table_engine(oracle)
    for work in track(workloads, f"{label}: masks", len(workloads)):
        masks = Verification(for_masks, oracle, cuts, work.history)
        for name, seconds in _time_masks(masks, work):
            times[name][work.label].append(seconds)
        candidates = Verification(for_candidates, oracle, cuts, ())
        for name, seconds in _time_candidates(candidates, work):
            times[name][work.label].append(seconds)
    for by_label in times.values():
        by_label["all"] = [seconds for values in by_label.values() for seconds in values]
    return {
        name: {label: summarize_timings(values) for label, values in by_label.items()}
        for name, by_label in times.items()
    }


def _time_masks(verification: Verification, work: Workload) -> Timings:
    for token in work.next_ids:
        admissible = verification.admissible
        if admissible:
            kind = mask_work(verification)
            seconds, _ = timed(verification.mask)
            yield f"mask_{kind}", seconds
            yield "mask_first", seconds
            if kind != "cached":
                yield "mask_uncached", seconds
            yield "mask_repeated", timed(verification.mask)[0]
        seconds, _ = timed(verification.push, token)
        if admissible:
            yield "push_after_mask", seconds
        yield "rewind", timed(verification.rewind, 1)[0]
        verification.push(token)


def _time_candidates(verification: Verification, work: Workload) -> Timings:
    for token in work.history:
        admissible = verification.admissible
        seconds, _ = timed(verification.push, token)
        if admissible:
            yield "push_reading", seconds
    for token in work.next_ids:
        if verification.admissible:
            yield "admits_first", timed(verification.admits, work.candidates)[0]
            yield "admits_repeated", timed(verification.admits, work.candidates)[0]
        verification.push(token)
