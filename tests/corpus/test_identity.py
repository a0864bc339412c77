"""A digest of settings tells all arrays apart, and stays what it was where there are none."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from ticore.corpus import AnyTask, Task

Secret = Callable[[object], bytes]


def of_task(setting: object) -> bytes:
    return Task("tiny-en", "synthid", config={"keys": [1], "bayesian": setting}).secret()


def of_list(setting: object) -> bytes:
    config = {"keys": [1], "bayesian": setting}
    return AnyTask("tiny-en", [{"scheme": "synthid", "config": config}]).secret()


@pytest.fixture(params=[of_task, of_list])
def secret(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_arrays_that_are_printed_alike_are_told_apart(secret: Secret) -> None:
    """NumPy prints the first and last of more than 1,000 numbers, and eight digits of each."""
    large = np.zeros((40, 40))
    middle = large.copy()
    middle[20, 20] = 1
    assert str(large) == str(middle)
    assert secret({"delta": large}) != secret({"delta": middle})
    assert secret({"beta": np.array([0.1])}) != secret({"beta": np.array([0.1 + 1e-12])})
    assert secret({"beta": np.array(0.1)}) != secret({"beta": np.array(0.1 + 1e-12)})


class Tensor:
    """As those of torch, which are no arrays of NumPy."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = numbers

    def __repr__(self) -> str:
        return "tensor([...])"

    def tolist(self) -> list[float]:
        return list(self._numbers)


def test_arrays_of_other_packages_are_told_apart(secret: Secret) -> None:
    assert secret({"delta": Tensor(1, 2)}) != secret({"delta": Tensor(1, 3)})
    assert secret({"delta": Tensor(1, 2)}) == secret({"delta": [1, 2]})


def test_arrays_are_what_their_numbers_are_in_a_list(secret: Secret) -> None:
    numbers = [[1.5, 2.5], [0.0, 3.0]]
    assert secret(np.array(numbers)) == secret(numbers)
    assert secret(array("q", [1, 2])) == secret([1, 2])
    assert secret(np.array([b"k", b"l"], dtype=object)) == secret([b"k", b"l"])


def test_settings_without_arrays_have_the_digests_of_earlier_versions() -> None:
    """So scans that these began go on; numbers of NumPy are among such settings."""
    number = np.float32(0.5)
    config = {"keys": [1, number], "of": {1}, "b": b"x"}
    written = """{"b": "b'x'", "keys": [1, "0.5"], "of": "{1}"}"""
    assert Task("tiny-en", "synthid", config=config).secret() == blake2b(written.encode()).digest()
    listed = [{"scheme": "synthid", "config": config, "key": b"k" * 2}]
    shown = f"""{{"keys": [1, "{number!r}"], "of": "{{1}}", "b": "78"}}"""
    written = f"""[{{"scheme": "synthid", "config": {shown}, "key": "6b6b"}}]"""
    assert AnyTask("tiny-en", listed).secret() == blake2b(written.encode()).digest()
