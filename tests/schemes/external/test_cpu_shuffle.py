"""The places of torch's shuffle on a CPU."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ticore.schemes.external._cpu_shuffle import CpuShuffle

torch = pytest.importorskip("torch", reason="compares with torch's own shuffle")


def shuffled(seed, size):
    return torch.randperm(size, generator=torch.Generator().manual_seed(seed))


@settings(deadline=None)
@given(st.data(), st.integers(0, 2**64 - 1), st.integers(2, 400))
@example(data=None, seed=1, size=50_000)
@example(data=None, seed=2, size=2)
@example(data=None, seed=4294967295, size=997)
def test_first_places_are_those_of_torchs_shuffle(data, seed, size):
    count = size // 2 if data is None else data.draw(st.integers(1, size - 1))
    assert CpuShuffle().first(seed, count, size).tolist() == shuffled(seed, size)[:count].tolist()


@pytest.mark.parametrize(("size", "count"), [(2, 1), (3, 2), (10, 9), (997, 1), (997, 500)])
@pytest.mark.parametrize("seed", [0, 1, 4294967295, 2**64 - 1])
def test_numbers_are_among_the_first_where_torchs_shuffle_puts_them(size, count, seed):
    found = [n for n in range(size) if CpuShuffle().is_among_first(seed, n, count, size)]
    assert found == sorted(shuffled(seed, size)[:count].tolist())


def test_selfhash_table_is_the_head_of_torchs_shuffle():
    found = CpuShuffle().first(15485863, 3000, 1_000_003)
    assert found.tolist() == shuffled(15485863, 1_000_003)[:3000].tolist()
