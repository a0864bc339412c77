"""Whatever asks the system for random numbers gets the same ones."""

import os
import random
import secrets
import subprocess
import sys

import pytest

from tests.conftest import PROFILE
from ticore import Key

from .seeded_entropy import seeded_entropy, with_seeded_entropy

CODE = "import secrets; print(secrets.token_hex(), secrets.randbits(60))"


def _drawn() -> tuple[object, ...]:
    system = random.SystemRandom()
    return secrets.token_bytes(8), secrets.randbits(64), system.getrandbits(64), Key.new()


@pytest.mark.skipif(PROFILE != "ci", reason="this profile searches at random")
def test_a_test_draws_the_same_numbers_each_time(request):
    drawn = _drawn()
    assert _drawn() != drawn
    with seeded_entropy(request.node.nodeid):
        assert _drawn() == drawn


def test_processes_draw_the_same_numbers_if_their_arguments_are_the_same():
    def printed(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", CODE, *arguments],
            env=with_seeded_entropy(os.environ),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    assert printed("a") == printed("a") != printed("b")
