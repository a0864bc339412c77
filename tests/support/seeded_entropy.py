"""The system's random numbers, the same on every run: keys and encryptions of tests never differ.

About one key in a thousand is unlucky: a short text of the smallest model is not found with it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

_START = Path(__file__).parent / "seeded_processes"


@contextmanager
def seeded_entropy(name: str) -> Iterator[None]:
    """Within it `secrets` and `random.SystemRandom` draw from the stream of this name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "_urandom", random.Random(name).randbytes)
        yield


def with_seeded_entropy(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which each Python process draws from a stream named by its arguments."""
    places = (str(_START), environment.get("PYTHONPATH", ""))
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, places))}
