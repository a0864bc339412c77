"""The lowest versions that pyproject.toml allows are the ones that .ci/lowest tests."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What a user can install; the other extras are for those who work on ticore.
FOR_USERS = (
    "chat",
    "data",
    "gguf",
    "jax",
    "plots",
    "scale",
    "serve",
    "tiktoken",
    "tokenizers",
    "torch",
)
ABOVE = {"regex", "torch"}  # why: see .ci/lowest.txt


def floors() -> dict[str, str]:
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *(line for name in FOR_USERS for line in extras[name])]
    found = (re.match(r"([\w-]+)>=([\d.]+)", line) for line in lines)
    return {match[1]: match[2] for match in found if match}


def versions_of_the_run() -> dict[str, str]:
    lines = (ROOT / ".ci" / "lowest.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def _is_release_of(floor: str, found: str) -> bool:
    """
    >>> _is_release_of("2.0", "2.0.1"), _is_release_of("2.0", "2.00"), _is_release_of("1", "2")
    (True, False, False)
    """
    return f"{found}.".startswith(f"{floor}.")


def test_every_dependency_has_a_floor() -> None:
    extras = PROJECT["optional-dependencies"]
    everything = {*PROJECT["dependencies"], *(line for name in FOR_USERS for line in extras[name])}
    assert len(everything) == len(floors())
    assert extras["all"] == [f"ticore[{','.join(FOR_USERS)}]"]


def test_packages_tested_above_their_floor_are_those_known() -> None:
    run = versions_of_the_run()
    assert run.keys() >= floors().keys()
    above = {name for name, floor in floors().items() if not _is_release_of(floor, run[name])}
    assert above == ABOVE


def test_lowest_run_names_tests_that_exist() -> None:
    named = re.findall(r"^    (tests/\S+)$", (ROOT / ".ci" / "lowest").read_text(), re.M)
    assert named
    for name in named:
        file, _, test = name.partition("::")
        assert (ROOT / file).exists(), name
        if not test:
            continue
        function = test.partition("[")[0]  # without the parameters
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), name
