"""Each task is carried out once, in this process or in others."""

from functools import partial

import pytest

from benchmarks._harness.workers import carry_out


def make_adder(more):
    return lambda a, b: {"sum": a + b + more}


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_carry_out_gives_a_sample_for_each_task(processes):
    tasks = [(n, 10) for n in range(5)]
    found = [sample["sum"] for sample in carry_out(tasks, partial(make_adder, 100), processes)]
    assert sorted(found) == [110, 111, 112, 113, 114]
