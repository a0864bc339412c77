"""The shuffles that PyTorch drew on a GPU, without one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import watermark_engines
from ticore.schemes.external._cuda_shuffle import CudaShuffle

GOLDENS = json.loads(watermark_engines.CUDA_GOLDENS.read_text())
THREADS = GOLDENS["threads"]
OF_A_GPU = CudaShuffle(THREADS)


def drawn(size_limit=None):
    return [
        pytest.param(
            each["seed"],
            each["size"],
            each,
            id=f"{each['size']}-{each['seed']}",
            marks=[pytest.mark.slow] if each["size"] > 100_000 else [],
        )
        for each in GOLDENS["shuffles"]
        if size_limit is None or each["size"] <= size_limit
    ]


@pytest.mark.parametrize(("seed", "size", "golden"), drawn())
def test_shuffles_are_those_of_the_gpu(seed, size, golden):
    found = OF_A_GPU.first(seed, size, size)
    assert found[:8].tolist() == golden["first"]
    assert watermark_engines.shuffle_digest(found) == golden["sha256"]


def test_goldens_have_equal_keys_and_more_numbers_than_threads():
    assert sum(each["equal_keys"] > 0 for each in GOLDENS["shuffles"]) > 50
    assert {each["size"] for each in GOLDENS["shuffles"]} > {THREADS, THREADS + 1, 2 * THREADS + 1}


@pytest.mark.parametrize(("seed", "size", "_golden"), drawn(size_limit=300))
def test_numbers_are_among_the_first_where_the_shuffle_puts_them(seed, size, _golden):
    """Where keys are equal, too: both sides of each of them are looked at."""
    order = OF_A_GPU.first(seed, size, size).tolist()
    for count in range(1, size) if size < 50 else (1, size // 2, size - 1):
        found = [n for n in range(size) if OF_A_GPU.is_among_first(seed, n, count, size)]
        assert found == sorted(order[:count])


@given(
    st.integers(0, 2**64 - 1),
    st.integers(2, 4000),
    st.integers(1, 8).map(lambda blocks: 256 * blocks),
    st.data(),
)
def test_shuffles_of_any_gpu_have_each_number_once(seed, size, threads, data):
    shuffle = CudaShuffle(threads)
    order = shuffle.first(seed, size, size)
    assert sorted(order.tolist()) == list(range(size))
    count = data.draw(st.integers(1, size - 1))
    assert shuffle.first(seed, count, size).tolist() == order[:count].tolist()
    number = data.draw(st.integers(0, size - 1))
    assert shuffle.is_among_first(seed, number, count, size) == (number in order[:count])


def test_number_of_threads_counts_only_where_there_are_more_numbers():
    few, many = CudaShuffle(1024), CudaShuffle(4096)
    assert few.first(5, 1024, 1024).tolist() == many.first(5, 1024, 1024).tolist()
    assert few.first(5, 1025, 1025).tolist() != many.first(5, 1025, 1025).tolist()


def test_upper_bits_of_a_seed_count():
    same = np.array_equal(OF_A_GPU.first(7, 500, 500), OF_A_GPU.first(7 + (1 << 32), 500, 500))
    assert not same
