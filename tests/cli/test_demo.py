"""`ticore demo`: one run for the reader, one for a program, and odd characters."""

from __future__ import annotations

import json

import pytest

from .conftest import Ticore


@pytest.mark.slow
@pytest.mark.parametrize("secret", ["né ☃ [/bold] \x1b[31m\n", ""])
def test_demo_json_has_the_message_and_its_measures(ticore: Ticore, secret: str) -> None:
    found = ticore("demo", "--json", "--secret", secret, "--prompt", "One day")
    shown = json.loads(found.out)
    assert (found.status, found.err) == (0, "")
    assert shown["secret"] == shown["recovered"] == secret
    assert shown["text"].startswith("One day")
    assert shown["tokens"] > 0
    assert shown["bits_per_token"] == shown["bits"] / shown["tokens"]
    assert shown["kl_filter"] >= 0
    assert shown["seconds"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("columns", [30, 80])
def test_demo_shows_the_message_and_no_control_characters(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
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
def test_demo_refuses_arguments_that_are_not_unicode(
    ticore: Ticore, option: str, part: str, json_option: list[str]
) -> None:
    ticore("demo", option, "a\udcff", *json_option).assert_error(2, part)


def test_demo_refuses_a_secret_that_does_not_fit(ticore: Ticore) -> None:
    secret = "".join(map(chr, range(0x4E00, 0x4E00 + 2000)))
    ticore("demo", "--secret", secret).assert_error(1, "context has room")
