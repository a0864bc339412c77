"""Tasks are carried out once, and what an interrupted run did is not lost."""

from benchmarks._harness.collect import Collector, collect_samples
from benchmarks._harness.sample_store import SampleStore

TASKS = [("a", 0), ("b", 0), ("a", 1)]


def make_worker():
    return lambda name, index: {"name": name, "index": index, "text": f"{name}{index}"}


def refuse():
    raise AssertionError("every sample is in the store")


def collect(file, tasks, worker=make_worker, digest="digest"):
    store = SampleStore(file)
    samples, complete = collect_samples(store, digest, tasks, ("name", "index"), worker, 1)
    return [sample["text"] for sample in samples], complete


def test_collect_samples_carries_out_missing_tasks_only(tmp_path):
    file = tmp_path / "a.jsonl"
    assert collect(file, TASKS[:2]) == (["a0", "b0"], True)
    assert collect(file, TASKS[:2], refuse) == (["a0", "b0"], True)
    assert collect(file, TASKS) == (["a0", "b0", "a1"], True)
    assert len(file.read_text().splitlines()) == 3


def test_collect_samples_counts_what_two_runs_took_at_once_a_single_time(tmp_path):
    file = tmp_path / "a.jsonl"
    stores = [SampleStore(file), SampleStore(file)]
    for store in stores:
        collect_samples(store, "digest", TASKS, ("name", "index"), make_worker, 1)
    assert len(file.read_text().splitlines()) == 2 * len(TASKS)
    assert collect(file, TASKS, refuse) == (["a0", "b0", "a1"], True)


def test_collect_samples_gives_samples_of_its_tasks_only(tmp_path):
    collect(tmp_path / "a.jsonl", TASKS)
    assert collect(tmp_path / "a.jsonl", TASKS[1:2], refuse) == (["b0"], True)


def test_collect_samples_takes_all_again_when_the_digest_is_another(tmp_path):
    collect(tmp_path / "a.jsonl", TASKS)
    assert collect(tmp_path / "a.jsonl", TASKS, digest="other") == (["a0", "b0", "a1"], True)
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 6


def test_collect_samples_keeps_what_was_done_when_it_is_interrupted(
    tmp_path, capsys, interrupt_after
):
    interrupt_after(2)
    assert collect(tmp_path / "a.jsonl", TASKS) == (["a0", "b0"], False)
    assert "the same command continues from here" in capsys.readouterr().err
    assert len(SampleStore(tmp_path / "a.jsonl").samples("digest")) == 2


def test_an_interrupted_run_begins_nothing_more(tmp_path, interrupt_after):
    """Its next parts have what earlier runs kept, and the next run goes on."""
    collect(tmp_path / "b.jsonl", TASKS[:1])
    stores = [SampleStore(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "none.jsonl")]
    interrupt_after(2)
    run = Collector(1)
    found = [
        run.samples(store, "digest", TASKS, ("name", "index"), make_worker) for store in stores
    ]
    kept = [[sample["text"] for sample in samples] for samples, _ in found]
    assert kept == [["a0", "b0"], ["a0"], []]
    assert not any(complete for _, complete in found)


def test_a_task_that_is_asked_for_twice_counts_once(tmp_path):
    assert collect(tmp_path / "a.jsonl", TASKS[:1] * 2) == (["a0"], True)
    assert collect(tmp_path / "a.jsonl", TASKS[:1] * 2, refuse) == (["a0"], True)
