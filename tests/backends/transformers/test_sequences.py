"""Rows of ids that grow with their texts."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch

from ticore_transformers._sequences import Sequences

PROMPTS = torch.tensor([[0, 7], [8, 9]])


def test_rows_take_room_as_their_texts_need_it() -> None:
    """A bound on new tokens is often far above what any text reaches."""
    sequences = Sequences(PROMPTS, 1 << 60)
    sequences.put([1], [0], torch.tensor([5]))
    assert sequences.of([1], 1).tolist() == [[8, 9, 5]]


def test_long_rows_keep_what_they_have() -> None:
    sequences = Sequences(PROMPTS, 2000)
    for place in range(2000):
        rows = [1] if place % 3 else [0, 1]
        sequences.put(rows, [place] * len(rows), torch.full((len(rows),), place))
    everything = sequences.of([0, 1], 2000)
    assert everything[:, :2].tolist() == PROMPTS.tolist()
    assert everything[1, 2:].tolist() == list(range(2000))
    assert everything[0, 2::3].tolist() == list(range(0, 2000, 3))


def test_rows_of_different_lengths_grow_together() -> None:
    """One jump over several sizes, beside a row that is still short."""
    sequences = Sequences(PROMPTS, 10_000)
    sequences.put([0, 1], [9000, 1], torch.tensor([3, 4]))
    assert sequences.of([0], 9001)[0, -1] == 3
    assert sequences.of([1], 2).tolist() == [[8, 9, 0, 4]]
