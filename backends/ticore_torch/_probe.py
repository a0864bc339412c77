"""Checks of a network on a few tokens, before it reads a text."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import torch

from ticore.errors import ModelFilesError, SettingsError

from ._network import Network
from ._precision import NarrowFinder

# Shares of the range of the logits. Later tokens may change only how a sum is rounded. One pass and
# many passes differ by much more in bfloat16, and another text differs by still more.
_SAME_PASS_EPS = 8
_OTHER_PASS = 0.05


def probe(folder: Path | str, network: Network, dtype: torch.dtype) -> int:
    """Read a few tokens, in one pass and one by one; returns the number of logits.

    Args:
        folder: what the error texts call the model.
        network: the one to check.
        dtype: what it was loaded in.

    Raises:
        ModelFilesError: logits are NaN, a token changes what was predicted before it, or what was
            read is not kept in the cache alone.
        SettingsError: float64 was asked for, and some operation of the passes gives less. Every
            operation is looked at, so no list of architectures is needed.
    """
    finder = NarrowFinder() if dtype is torch.float64 else None
    with finder or nullcontext():
        rows, others = network.read_all([0, 1, 0]), network.read_all([0, 0, 1])
        cache, another = network.new_cache(), network.new_cache()
        for token in (0, 1, 0):
            last = network.read([token], cache)
            network.read([1 - token], another)
    if bool(torch.isnan(rows).any()):
        raise ModelFilesError(
            f"{folder}: expected finite logits, found NaN; check the weights, or use a dtype of "
            f"more range, such as dtype='float32'"
        )
    if not _alike(rows[0], others[0], _SAME_PASS_EPS * torch.finfo(dtype).eps):
        raise ModelFilesError(
            f"{folder}: expected a causal language model, found "
            f"{type(network.module).__name__}, whose predictions look at what follows; choose a "
            f"model that continues texts"
        )
    if not _alike(rows[2], last, _OTHER_PASS):
        raise ModelFilesError(
            f"{folder}: expected a model that keeps what it read in its cache, found "
            f"{type(network.module).__name__}, which reads other numbers token by token than at "
            f"once; choose another model"
        )
    if finder is not None and finder.found:
        raise SettingsError(
            f"{folder}: expected {type(network.module).__name__} to compute in float64 "
            f"throughout, found {finder.found[0]} giving less; use dtype='float32'"
        )
    return rows.shape[1]


def _alike(row: torch.Tensor, other: torch.Tensor, share: float) -> bool:
    """Whether logits differ by no more than a share of their range."""
    return torch.allclose(row, other, rtol=0, atol=share * float(row.max() - row.min()))
