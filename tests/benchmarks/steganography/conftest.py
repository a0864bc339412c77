"""Samples that several tests look at."""

import pytest

from tests.benchmarks.steganography.toy import PLAN, take_samples


@pytest.fixture(scope="session")
def samples():
    """Eight samples of each kind."""
    return take_samples(PLAN, 8)
