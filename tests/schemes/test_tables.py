"""What is kept is kept once, not for ever, and apart for each library."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ticore.schemes import SCHEMES
from ticore.schemes.tables import Kept, Tables

KEY = bytes(range(32))


def test_what_was_used_longest_ago_is_forgotten():
    kept, made = Kept(most=2), []
    for name in ("a", "b", "a", "c", "a", "b"):
        assert kept.get(name, lambda name=name: made.append(name) or name.upper()) == name.upper()
    assert made == ["a", "b", "c", "b"]
    assert len(kept) == 2


def test_a_copy_begins_empty():
    kept = Kept(most=3)
    kept.get("a", lambda: 1)
    for other in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert len(other) == 0
        assert other.get("a", lambda: 2) == 2


def test_a_table_is_computed_once_and_copied_to_each_library():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tables, made = Tables(), []

    def make():
        made.append(1)
        return np.array([1, 2**32 - 1, 5], dtype=np.uint32)

    for _ in range(2):
        assert tables.get("a", 2, np.empty(0), make).tolist() == [1, 2**32 - 1]
        found = tables.get("a", 3, torch.empty(0), make)
        assert (found.dtype, found.tolist()) == (torch.int32, [1, -1, 5])
        assert tables.get("a", 3, torch.empty(0), make) is found
    assert len(made) == 1


def test_nothing_is_kept_from_a_function_that_jax_compiles():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    for name in ("left_hash", "unigram"):
        scheme = SCHEMES[name](KEY, 50)
        context, logits = jax.numpy.arange(scheme.context), jax.numpy.zeros(50)
        compiled = jax.jit(scheme.bias)(context, logits)
        plain = scheme.bias(list(range(scheme.context)), np.zeros(50, np.float32))
        for found in (compiled, scheme.bias(context, logits)):
            assert np.asarray(found).tolist() == plain.tolist()


@pytest.mark.parametrize("name", SCHEMES)
def test_threads_may_share_a_scheme(name):
    scheme, expected = SCHEMES[name](KEY, 50), SCHEMES[name](KEY, 50)
    sizes = [50, 20, 30, 41, 13, 7, 50, 20] * 20

    def bias(size):
        return scheme.bias([3, 1, 4, 1, 5][: scheme.context], np.zeros(size)).tolist()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(bias, sizes))
    context = [3, 1, 4, 1, 5][: scheme.context]
    for size, row in zip(sizes, found, strict=True):
        assert row == expected.bias(context, np.zeros(size)).tolist()
