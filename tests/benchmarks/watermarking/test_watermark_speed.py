"""The commands that time watermarks: detecting and lists."""

from benchmarks.watermarking import detecting, lists


def test_detecting_tells_the_speed_of_both_ways(run, monkeypatch):
    monkeypatch.setattr(detecting, "LENGTHS", (50,))
    found = run(detecting.main, "--tokens", 100, "--runs", 1)
    assert found.status == 0
    assert [row["scheme"] for row in found.report["speeds"]] == list(detecting.SCHEMES)
    assert all(min(row["one_by_one"], row["at_once"]) > 0 for row in found.report["speeds"])
    assert "left_hash, exact lists" in found.printed


def test_lists_times_every_scheme_and_version(run):
    found = run(lists.main, "--size", 500, "--repeats", 1)
    assert found.status == 0
    kinds = [(row["scheme"], row["greens"], row["version"]) for row in found.report["schemes"]]
    assert len(set(kinds)) == len(kinds) == 2 * (2 * 3 + 1)
    for row in found.report["schemes"]:
        assert row["step_seconds"].keys() == found.report["softmax_seconds"].keys()
        assert min(*row["step_seconds"].values(), row["detection_seconds"]) > 0
    assert "gumbel, independent, version 2" in found.printed
