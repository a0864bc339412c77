"""Memory that is written over."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch

from ticore_transformers._reused import ReusedRows


def test_rows_lie_in_the_same_memory_unless_more_are_asked_for() -> None:
    rows, example = ReusedRows(), torch.zeros(7, dtype=torch.bfloat16)
    first = rows.like(3, example)
    assert first.shape == (3, 7)
    assert first.dtype == torch.float32
    assert rows.like(2, example).data_ptr() == first.data_ptr()
    assert rows.like(5, example).shape == (5, 7)
