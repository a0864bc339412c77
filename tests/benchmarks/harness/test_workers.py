"""Each task is carried out once, in this process or in others."""

from concurrent.futures import as_completed
from functools import partial
from time import sleep

import pytest

from benchmarks._harness import workers
from benchmarks._harness.workers import carry_out


def make_adder(more):
    return lambda a, b: {"sum": a + b + more}


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_carry_out_gives_a_sample_for_each_task(processes):
    tasks = [(n, 10) for n in range(5)]
    found = [sample["sum"] for sample in carry_out(tasks, partial(make_adder, 100), processes)]
    assert sorted(found) == [110, 111, 112, 113, 114]


@pytest.mark.slow
def test_what_processes_have_begun_is_kept_when_they_are_interrupted(monkeypatch, capsys):
    def interrupted(futures):
        yield next(as_completed(futures))
        raise KeyboardInterrupt

    monkeypatch.setattr(workers, "as_completed", interrupted)
    tasks = [(n, 0) for n in range(20)]
    found = []

    def collect():
        for sample in carry_out(tasks, make_slow_adder, 2):
            found.append(sample["sum"])

    with pytest.raises(KeyboardInterrupt):
        collect()
    assert 1 < len(found) < len(tasks)
    assert len(set(found)) == len(found)
    assert "what has been begun is finished" in capsys.readouterr().err


def make_slow_adder():
    return add_slowly


def add_slowly(a, b):
    sleep(0.2)  # the others are still waiting when the first one is finished
    return {"sum": a + b}
