"""Secrets that others can read or guess are used, with a warning that says what to do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ticore._cli import streams

from .conftest import MESSAGE, PROMPT, Sent, Ticore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes say nothing here")
BY_KEY = ("--prompt", PROMPT, "--top-k", "32")


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_extract_warns_of_secrets_that_others_may_open(
    ticore: Ticore, sent: Sent, mode: int
) -> None:
    for name, source in (("K", sent.key), ("P", sent.pact)):
        shutil.copy(source, name)
        os.chmod(name, mode)
    by_pact = ticore("extract", "--agreement", "P", stdin=sent.text)
    by_key = ticore("extract", "--key-file", "K", *BY_KEY, stdin=sent.text_by_key)
    for found, name in ((by_pact, "P"), (by_key, "K")):
        assert (found.status, found.out) == (0, MESSAGE)
        assert found.err == (
            f"ticore: warning: {name} holds a key, and others may open it (mode {mode:04o}); "
            f"close it to them: chmod 600 {name}\n"
        )


def test_detect_warns_of_a_key_that_others_may_open(ticore: Ticore, sent: Sent) -> None:
    shutil.copy(sent.key, "K")
    os.chmod("K", 0o644)
    text = b"It was a cold morning, and nobody was there."
    for mode, warned in ((0o644, True), (0o600, False)):
        os.chmod("K", mode)
        found = ticore("detect", "--key-file", "K", stdin=text)
        assert found.status == 0
        assert ("chmod 600 K" in found.err) == warned


def test_detect_warns_of_another_engines_settings_that_others_may_open(ticore: Ticore) -> None:
    Path("vllm.json").write_text('{"algorithm": "gumbel", "key": 42}')
    for mode, warned in ((0o644, True), (0o600, False)):
        os.chmod("vllm.json", mode)
        engine = ("--scheme", "vllm", "--config", "vllm.json")
        found = ticore("detect", *engine, stdin=b"It was a cold morning, and nobody was there.")
        assert found.status == 0
        assert ("vllm.json holds a key" in found.err) == warned


@pytest.mark.slow
def test_embed_warns_of_a_short_password(ticore: Ticore, monkeypatch: pytest.MonkeyPatch) -> None:
    for password, warned in (("x", True), ("four words no sense", False)):
        monkeypatch.setenv(streams.PASSWORD_VARIABLE, password)
        written = ticore("embed", "--password", stdin=b"")
        assert written.status == 0
        assert ("may be guessed" in written.err) == warned
        assert password not in written.err.split()
    monkeypatch.setenv(streams.PASSWORD_VARIABLE, "x")
    read = ticore("extract", "--password", stdin=written.out)  # nothing to be chosen here
    read.assert_error(1, "key or password")
