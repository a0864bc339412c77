"""Tests and doctests of modules whose packages are not installed are skipped."""

import re
from collections.abc import Generator
from importlib.util import find_spec

import pytest

# What the extra `test` leaves out and `test-all` has.
NOT_IN_TEST = {"flax", "jax", "matplotlib", "mkdocs", "ray", "torch", "transformers"}


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module that imports such a package. Any other error of an import is an error."""
    report = yield
    found = re.search(r"ModuleNotFoundError: No module named '(\w+)", str(report.longrepr))
    if report.failed and found and found[1] in NOT_IN_TEST and find_spec(found[1]) is None:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {found[1]} is not installed")
    return report
