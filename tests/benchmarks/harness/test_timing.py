"""Timings are taken in turns and summarized."""

import pytest

from benchmarks._harness.timing import summarize_timings, time_in_turns, timed


def test_timed_gives_seconds_and_result():
    seconds, result = timed(divmod, 7, 2)
    assert seconds > 0
    assert result == (3, 1)


@pytest.mark.parametrize("warm_up", [True, False])
def test_time_in_turns_calls_each_work_once_per_round(warm_up):
    now, calls = [0.0], []

    def work(name, seconds):
        calls.append(name)
        now[0] += seconds

    works = [lambda: work("a", 1.0), lambda: work("b", 10.0)]
    found = time_in_turns(works, 2, clock=lambda: now[0], warm_up=warm_up)
    assert found == [[1.0, 1.0], [10.0, 10.0]]
    assert "".join(calls) == "ab" * (3 if warm_up else 2)


def test_summarize_timings_gives_quantiles_and_mean():
    found = summarize_timings([float(n) for n in range(101)])
    assert found == {"count": 101, "low": 0, "median": 50, "mean": 50, "p95": 95, "high": 100}
