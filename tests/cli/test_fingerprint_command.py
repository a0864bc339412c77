"""`ticore fingerprint`: digests, and a verdict on another machine's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Ticore


@pytest.fixture(scope="module")
def other() -> dict[str, object]:
    """The fingerprint of another machine, which computes otherwise."""
    names = ("model", "portable", "tokenizer", "logits", "pools")
    return dict.fromkeys(names, "0" * 64) | {"positions": 3, "noise": 1e-13}


@pytest.mark.slow
def test_fingerprint_compares_with_a_file(ticore: Ticore, other: dict[str, object]) -> None:
    made = ticore("fingerprint", "--json")
    assert (made.status, made.err) == (0, "")
    Path("here.json").write_bytes(made.out)
    same = ticore("fingerprint", "--compare", "here.json")
    assert (same.status, same.err) == (0, "")
    assert same.out.decode().split()[-4:] == ["same-stack", "yes", "portable", "yes"]

    found = json.loads(made.out)
    Path("near.json").write_text(json.dumps(found | {"logits": "0" * 64}))
    near = ticore("fingerprint", "--compare", "near.json", "--json")
    assert (near.status, near.err) == (0, "")
    assert json.loads(near.out)["agrees"] == {"same-stack": False, "portable": True}

    Path("far.json").write_text(json.dumps(other))
    far = ticore("fingerprint", "--compare", "far.json")
    assert far.status == 1
    assert "expected this machine to compute as far.json says" in far.err
    assert far.out.decode().split()[-4:] == ["same-stack", "no", "portable", "no"]


def test_fingerprint_is_not_portable_in_float32(ticore: Ticore) -> None:
    made = ticore("fingerprint", "--dtype", "float32")
    assert "none: needs float64" in made.out.decode()


@pytest.mark.parametrize(
    ("arguments", "content", "part"),
    [
        (["--compare", "missing"], "", "cannot read missing"),
        (["--compare", "f"], "{", "f: expected a fingerprint"),
        (["--compare", "f"], '{"model": "x"}', "f: expected a fingerprint"),
        (["--model", "nix"], "", "no model is called 'nix'"),
        (["--dtype", "float16"], "", "float64, float32, found 'float16'"),
        (["--device", "cuda"], "", "unknown option 'device' for an embedded model"),
    ],
)
def test_fingerprint_refuses_bad_input(
    ticore: Ticore, arguments: list[str], content: str, part: str
) -> None:
    Path("f").write_text(content)
    ticore("fingerprint", *arguments).assert_error(1, part)
