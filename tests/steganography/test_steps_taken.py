"""Steps are taken again after the same tokens alone."""

from __future__ import annotations

from functools import partial

import numpy as np

from ticore.candidates import Pool
from ticore.steganography import _steps_taken
from ticore.steganography._step import Step
from ticore.steganography._steps_taken import StepsTaken

POOL = Pool(np.array([7, 5]), np.array([1, 0]))
make_step = partial(
    Step, POOL, choices=None, weights=None, _candidates=None, _decoder=None, _used_fallback=False
)


def taken(*lists):
    steps = StepsTaken()
    made = [make_step() for _ in lists]
    for ids, step in zip(lists, made, strict=True):
        steps.add(ids, step)
    return steps, made


def test_a_step_is_found_after_the_tokens_that_it_was_added_after():
    steps, (first, second, third) = taken([], [7], [7, 5])
    assert steps.after([]) is first
    assert steps.after([7]) is second
    assert steps.after([7, 5]) is third
    assert steps.after([5]) is None
    assert steps.after([7, 5, 5]) is None
    assert [ids for ids, _ in steps.newest_first()] == [[7, 5], [7], []]


def test_steps_of_another_text_are_not_added():
    steps, (first, second, _) = taken([], [7], [5, 5])
    assert steps.after([7]) is second
    assert steps.after([5, 5]) is None
    assert [step for _, step in steps.newest_first()] == [second, first]


def test_steps_of_the_last_text_take_the_place_of_others():
    steps = StepsTaken(of="last")
    lists = [[], [7], [7, 5], [7, 5, 7], [5], [5, 7]]
    made = [make_step() for _ in lists]
    for ids, step in zip(lists, made, strict=True):
        steps.add(ids, step)
    assert [ids for ids, _ in steps.newest_first()] == [[5, 7], [5], []]
    assert [step for _, step in steps.newest_first()] == [made[5], made[4], made[0]]
    assert steps.ids == [5, 7]


def test_no_more_steps_are_kept_than_have_room(monkeypatch):
    monkeypatch.setattr(_steps_taken, "_MOST_KEPT", 2 * len(POOL))
    steps, (_, second, _) = taken([], [7], [7, 5])
    assert steps.after([7]) is second
    assert steps.after([7, 5]) is None
