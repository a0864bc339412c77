"""Results are cached once, for each library, and not for ever."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ticore.schemes import SCHEMES
from ticore.schemes._array_cache import ArrayCache, ResultCache

KEY = bytes(range(32))


def test_result_cache_drops_the_result_that_was_used_longest_ago():
    cache, made = ResultCache(most=2), []
    for name in ("a", "b", "a", "c", "a", "b"):
        assert cache.get(name, lambda name=name: made.append(name) or name.upper()) == name.upper()
    assert made == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_result_cache_is_empty_when_it_is_copied():
    cache = ResultCache(most=3)
    cache.get("a", lambda: 1)
    for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        assert len(other) == 0
        assert other.get("a", lambda: 2) == 2


def test_array_cache_computes_an_array_once_for_all_libraries():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tables, made = ArrayCache(), []

    def make():
        made.append(1)
        return np.array([1, 2**32 - 1, 5], dtype=np.uint32)

    for _ in range(2):
        assert tables.get("a", 2, np.empty(0), make).tolist() == [1, 2**32 - 1]
        found = tables.get("a", 3, torch.empty(0), make)
        assert (found.dtype, found.tolist()) == (torch.int32, [1, -1, 5])
        assert tables.get("a", 3, torch.empty(0), make) is found
    assert len(made) == 1


@pytest.mark.slow
def test_schemes_cache_no_array_of_jax_when_it_compiles():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    for name in ("left_hash", "unigram"):
        scheme = SCHEMES[name](KEY, 50)
        context, logits = jax.numpy.arange(scheme.context), jax.numpy.zeros(50)
        compiled = jax.jit(scheme.bias)(context, logits)
        plain = scheme.bias(list(range(scheme.context)), np.zeros(50, np.float32))
        for found in (compiled, scheme.bias(context, logits)):
            assert np.asarray(found).tolist() == plain.tolist()


@pytest.mark.parametrize("name", SCHEMES)
def test_schemes_give_right_answers_when_threads_share_them(name):
    scheme, expected = SCHEMES[name](KEY, 50), SCHEMES[name](KEY, 50)
    sizes = [50, 20, 30, 41, 13, 7, 50, 20] * 20

    def bias(size):
        return scheme.bias([3, 1, 4, 1, 5][: scheme.context], np.zeros(size)).tolist()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(bias, sizes))
    context = [3, 1, 4, 1, 5][: scheme.context]
    for size, row in zip(sizes, found, strict=True):
        assert row == expected.bias(context, np.zeros(size)).tolist()
