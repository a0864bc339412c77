"""The mask rung on stretches of real text: masks, candidates, pushes and rewinds, one by one.

What a mask costs depends on what its engine keeps from before, see `inside`. Every length of
history begins with an engine that keeps nothing.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.spread import spread, timed
from ticore.consistency import Mode, Verification
from ticore.consistency.mask import table_engine
from ticore.consistency.oracle import Oracle
from ticore.consistency.tail import cut_finder
from ticore.interfaces import Tokenizer

from .inside import what_is_new
from .plan import CHARACTERS_A_TOKEN, Found, Plan, Track
from .texts import Texts, passage

Times = Iterator[tuple[str, float]]


@dataclass(frozen=True)
class Walk:
    """A stretch of text at work.

    Attributes:
        label: of the text.
        history, onward: its tokens up to where measuring begins, and from there.
        candidates: half of them ids from the text, half from anywhere.
    """

    label: str
    history: list[int]
    onward: list[int]
    candidates: npt.NDArray[np.int64]


def draw_walks(tokenizer: Tokenizer, plan: Plan, texts: Texts, length: int) -> list[Walk]:
    """Walks of each text in turn, the same for the same plan."""
    draw = random.Random(plan.seed + length)
    end = length + plan.steps
    ordinary = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    walks = []
    for _ in range(plan.passages):
        for label, text in texts.items():
            ids = tokenizer.encode(passage(text, CHARACTERS_A_TOKEN * end, draw))
            near = draw.choices(ids, k=plan.candidates // 2)
            anywhere = draw.choices(ordinary, k=plan.candidates - len(near))
            walks.append(Walk(label, ids[:length], ids[length:end], np.array(near + anywhere)))
    return walks


def walk(
    tokenizer: Tokenizer, mode: Mode, walks: Sequence[Walk], track: Track, label: str
) -> Found:
    """The spread of each kind of timing: of `all` texts, and of each by its label."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    oracle = Oracle(tokenizer, mode)
    finder = cut_finder(tokenizer)
    cuts = None if isinstance(finder, str) else finder
    for_masks, for_candidates = table_engine(oracle), table_engine(oracle)
    assert not isinstance(for_masks, str)
    assert not isinstance(for_candidates, str)
    for one in track(walks, f"{label}: masks", len(walks)):
        masks = Verification(for_masks, oracle, cuts, one.history)
        for name, seconds in _time_masks(masks, one):
            times[name][one.label].append(seconds)
        candidates = Verification(for_candidates, oracle, cuts, ())
        for name, seconds in _time_candidates(candidates, one):
            times[name][one.label].append(seconds)
    for by_label in times.values():
        by_label["all"] = [seconds for values in by_label.values() for seconds in values]
    return {
        name: {label: spread(values) for label, values in by_label.items()}
        for name, by_label in times.items()
    }


def _time_masks(verification: Verification, one: Walk) -> Times:
    for token in one.onward:
        asked = verification.admissible
        if asked:
            new = what_is_new(verification)
            seconds, _ = timed(verification.mask)
            yield f"mask_{new}", seconds
            yield "mask_as_it_comes", seconds
            if new != "kept":
                yield "mask_new", seconds
            yield "mask_again", timed(verification.mask)[0]
        seconds, _ = timed(verification.push, token)
        if asked:
            yield "push_after_mask", seconds
        yield "rewind", timed(verification.rewind, 1)[0]
        verification.push(token)


def _time_candidates(verification: Verification, one: Walk) -> Times:
    for token in one.history:
        asked = verification.admissible
        seconds, _ = timed(verification.push, token)
        if asked:
            yield "push_reading", seconds
    for token in one.onward:
        if verification.admissible:
            yield "admits_as_it_comes", timed(verification.admits, one.candidates)[0]
            yield "admits_again", timed(verification.admits, one.candidates)[0]
        verification.push(token)
