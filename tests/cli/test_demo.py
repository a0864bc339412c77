"""`ticore demo`: one run for the reader, one for a program, and odd characters."""

from __future__ import annotations

import json

import pytest

from .conftest import Ticore


@pytest.mark.parametrize("secret", ["né ☃ [/bold] \x1b[31m\n", ""])
def test_json(ticore: Ticore, secret: str) -> None:
    found = ticore("demo", "--json", "--secret", secret, "--prompt", "One day")
    shown = json.loads(found.out)
    assert (found.status, found.err) == (0, "")
    assert shown["secret"] == shown["recovered"] == secret
    assert shown["text"].startswith("One day")
    assert shown["tokens"] > 0
    assert shown["bits_per_token"] == shown["bits"] / shown["tokens"]
    assert shown["kl_filter"] >= 0
    assert shown["seconds"] > 0


@pytest.mark.parametrize("columns", [30, 80])
def test_what_a_person_sees(ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = ticore("demo", "--secret", "[/b] \x1b[2J:+1:")
    shown = found.out.decode()
    assert (found.status, found.err) == (0, "")
    assert r"to hide: [/b] \x1b[2J:+1:" in shown
    assert r"read from it: [/b]" in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize(
    ("option", "part"), [("--secret", "expected valid Unicode"), ("--prompt", "lone surrogate")]
)
@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_bytes_that_are_no_text(
    ticore: Ticore, option: str, part: str, json_option: list[str]
) -> None:
    ticore("demo", option, "a\udcff", *json_option).assert_error(2, part)


def test_a_secret_that_does_not_fit(ticore: Ticore) -> None:
    secret = "".join(map(chr, range(0x4E00, 0x4E00 + 2000)))
    ticore("demo", "--secret", secret).assert_error(1, "context has room")
