"""Each task is carried out once, in this process or in others."""

from functools import partial

import pytest

from benchmarks.workers import written


def adder(more):
    return lambda a, b: {"sum": a + b + more}


@pytest.mark.parametrize("processes", [1, 2])
def test_every_task_is_carried_out(processes):
    tasks = [(n, 10) for n in range(5)]
    found = [row["sum"] for row in written(tasks, partial(adder, 100), processes)]
    assert sorted(found) == [110, 111, 112, 113, 114]
