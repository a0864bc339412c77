"""Logits that stay where they were computed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import numpy as np
import torch

from ticore_torch._device_logits import TorchLogits


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (torch.float64, np.float64),
        (torch.float32, np.float32),
        (torch.bfloat16, np.float32),
        (torch.float16, np.float32),
    ],
)
def test_device_logits_give_all_and_the_largest(dtype: torch.dtype, expected: type) -> None:
    logits = torch.randn(50, generator=torch.Generator().manual_seed(1)).to(dtype)
    row = TorchLogits(logits)
    assert row.whole.dtype == expected
    assert not row.whole.flags.writeable
    np.testing.assert_array_equal(row.whole, logits.to(torch.float64).numpy())
    ids, largest = row.top(7)
    assert (ids.dtype, largest.dtype) == (np.int64, expected)
    np.testing.assert_array_equal(largest, np.sort(row.whole)[::-1][:7])
    np.testing.assert_array_equal(largest, row.whole[ids])


def test_top_puts_nan_first() -> None:
    logits = torch.tensor([1.0, torch.nan, torch.inf, -torch.inf])
    _, largest = TorchLogits(logits).top(3)
    np.testing.assert_array_equal(largest, [np.nan, np.inf, 1.0])


def test_device_logits_are_a_copy_of_the_tensor() -> None:
    logits = torch.zeros(3)
    row = TorchLogits(logits)
    logits[0] = 9
    np.testing.assert_array_equal(row.whole, np.zeros(3))
