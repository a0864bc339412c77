"""Integers in the types of the array libraries."""

import numpy as np
import pytest


def _torch(kind):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return lambda values: torch.tensor(np.asarray(values), dtype=getattr(torch, kind))


def _jax(kind):
    pytest.importorskip("jax", reason="jax is not installed")
    import jax.numpy as jnp  # noqa: PLC0415  # where it is installed

    return lambda values: jnp.asarray(np.asarray(values), dtype=kind)


MAKERS = {
    "numpy uint32": lambda: lambda values: np.asarray(values, dtype=np.uint32),
    "numpy int32": lambda: lambda values: np.asarray(values, dtype=np.int32),
    "numpy int64": lambda: lambda values: np.asarray(values, dtype=np.int64),
    "torch int32": lambda: _torch("int32"),
    "torch int64": lambda: _torch("int64"),
    "jax int32": lambda: _jax("int32"),
}


def plain(array):
    """Python integers, from any array."""
    return np.asarray(array).astype(np.int64).tolist()
