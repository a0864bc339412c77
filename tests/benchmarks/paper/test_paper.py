"""The command: it continues, it adds, and all workers give the same."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.paper.__main__ import main
from benchmarks.paper.analysis import Computation, computed
from benchmarks.paper.messages import plan
from benchmarks.paper.sections import Section
from benchmarks.paper.steganalysis import detecting
from benchmarks.paper.steganalysis.detectors.model_statistics import Boosting

ROOT = Path(__file__).parents[3]
COMMAND = ["--models", "tiny-en", "--batch", "2", "--processes", "1"]
INVESTIGATION = [*COMMAND, "--parts", "investigation"]


def rows(folder, part="investigation"):
    lines = (folder / "samples" / f"{part}-tiny-en.jsonl").read_text(encoding="utf-8")
    groups = [json.loads(line) for line in lines.splitlines()]
    return sorted((text["index"], text["text"]) for group in groups for text in group["texts"])


@pytest.mark.slow
def test_the_command_goes_on_after_it_was_killed_and_adds_samples(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    for name in ("samples", "section", "summary"):  # the package has functions of these names
        module = import_module(f"benchmarks.paper.investigation.{name}")
        monkeypatch.setattr(module, "LENGTHS", (5, 10))
    assert main([*INVESTIGATION, "--samples", "2", "--out", str(tmp_path)]) == 0
    first = rows(tmp_path)
    store = tmp_path / "samples" / "investigation-tiny-en.jsonl"
    with store.open("a", encoding="utf-8") as stream:
        stream.write('{"digest": "cut o')  # as kill -9 leaves it
    assert main([*INVESTIGATION, "--samples", "3", "--out", str(tmp_path)]) == 0
    store.write_text(
        "".join(line for line in store.read_text().splitlines(keepends=True) if "cut o" not in line)
    )
    found = rows(tmp_path)
    assert [index for index, _ in found] == [0, 1, 2, 3]
    assert found[:2] == first
    report = json.loads((tmp_path / "results" / "investigation.json").read_text())
    assert report["models"][0]["results"]["text_count"] == 3
    assert "tiny-en (llama-2)" in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_workers_of_ray_take_the_same_samples(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("ray")
    command = [*COMMAND, "--parts", "covers", "--samples", "1"]
    assert main([*command, "--out", str(tmp_path / "here")]) == 0
    # In a process of its own: Ray forks, which JAX forbids once it runs, and leaves files open.
    on_ray = [sys.executable, "-m", "benchmarks.paper", *command, "--engine", "ray"]
    on_ray += ["--out", str(tmp_path / "ray")]
    subprocess.run(on_ray, cwd=ROOT, check=True, capture_output=True)
    found = rows(tmp_path / "here", "covers")
    assert len(found) > 5
    assert rows(tmp_path / "ray", "covers") == found


def test_what_was_computed_is_kept_while_its_code_is_the_same(tmp_path):
    calls = []

    def run():
        calls.append(1)
        return [{"value": 1}]

    run.__module__ = Section.__module__  # it imports little, of which the digest reads every file
    computation = Computation("toys", run, lambda found: Section("Toys", [str(found)]))
    assert [computed(computation, tmp_path) for _ in range(2)] == [[{"value": 1}]] * 2
    assert len(calls) == 1
    file = tmp_path / "toys.json"
    file.write_text(file.read_text().replace('"digest": "', '"digest": "0'))
    computed(computation, tmp_path)
    assert len(calls) == 2


@pytest.mark.slow
def test_steganalysis_takes_the_samples_that_it_needs(tmp_path, monkeypatch):
    for package in ("matplotlib", "sklearn", "torch"):
        pytest.importorskip(package)
    monkeypatch.setattr(plan, "CANDIDATES", (32, 64))
    monkeypatch.setattr(plan, "METHODS", ("stepwise",))
    monkeypatch.setattr(detecting, "at_hand", lambda encoder: {"the model itself": Boosting})
    command = ["--parts", "steganalysis", "--models", "tiny-en", "--batch", "10"]
    assert main([*command, "--processes", "1", "--samples", "10", "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "results" / "steganalysis-tiny-en.json").read_text())
    assert found["cover_count"] == 20
    for seen in ("whole", "beginnings"):
        assert [(entry["method"], entry["test_count"]) for entry in found[seen]["pooled"]] == [
            ("all", 4),
            ("stepwise", 2),
            ("stepwise", 2),
        ]
    assert [entry.get("k") for entry in found["rare"]] == [None, 32, 64]
    assert "Can texts with a message be told" in (tmp_path / "index.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--parts", "steganalysis", "--encoder", "no-such-folder"], "--encoder: expected the"),
        (["--parts", "low-probability", "--encoder", "."], "expected steganalysis among --parts"),
    ],
)
def test_a_wrong_encoder_is_refused_before_samples_are_taken(arguments, said, tmp_path, capsys):
    assert main([*COMMAND, *arguments, "--samples", "1", "--out", str(tmp_path)]) == 1
    assert said in " ".join(capsys.readouterr().err.split())
    assert not [*tmp_path.iterdir()]
