"""A report says on what machine and with what code it was made."""

import json
import os

import pytest

from benchmarks._harness import environment as module
from benchmarks._harness.environment import environment, one_core


def test_environment_names_machine_commit_and_versions():
    found = json.loads(json.dumps(environment()))
    assert found["machine"]["cores"] == os.cpu_count()
    assert found["versions"].keys() >= {"python", "ticore", "numpy", "torch"}
    assert found["versions"]["numpy"] is not None
    if found["commit"] is not None:  # None outside a git checkout
        assert len(found["commit"]["id"]) == 40
        assert found["commit"]["modified"] in (True, False)


def test_environment_has_no_commit_when_there_is_no_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert environment()["commit"] is None


def test_one_core_gives_the_cores_back():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system does not bind processes to cores")
    before = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
