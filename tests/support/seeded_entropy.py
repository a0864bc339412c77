"""The system's random numbers, the same on every run: keys and encryptions of tests never differ.

About one key in a thousand is unlucky: a short text of the smallest model is not found with it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from pathlib import Path

_START = Path(__file__).parent / "seeded_processes"


def seed_entropy(name: str) -> None:
    """Make `secrets` and `random.SystemRandom` draw from the stream of this name."""
    random._urandom = random.Random(name).randbytes  # type: ignore[attr-defined]


def with_seeded_entropy(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which each Python process draws from a stream named by its arguments."""
    places = (str(_START), environment.get("PYTHONPATH", ""))
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, places))}
