"""The benchmark of many keys runs, and finds what it marks."""

from benchmarks.watermarking.configurations import speeds


def test_speeds_finds_the_marked_stretches():
    found = speeds("gumbel", keys=3, tokens=3500, rounds=1)
    assert found["stretches"] == found["marked"] > 0
    assert found["texts_per_second"] > 0
