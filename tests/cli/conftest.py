"""Running the command line in this process, and messages that several tests share."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.seeded_entropy import with_seeded_entropy
from ticore._cli.main import run
from ticore.corpus import Scan
from ticore.corpus._scan import scan_one

PROMPT = "It was a cold morning, and"
MESSAGE = b"at \x00\xff\n"


@dataclass(frozen=True)
class Result:
    status: int
    out: bytes
    err: str

    def assert_error(self, status: int, part: str) -> None:
        """One line on stderr that holds `part`, nothing on stdout."""
        assert part in self.err
        assert self.err.startswith("ticore: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        assert self.out == b""
        assert self.status == status


Ticore = Callable[..., Result]


def interrupted(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Make the next scan of several files end as Ctrl-C would when the source `at` is its turn."""

    def interrupt(given: Scan, *arguments: Any, **more: Any) -> Any:
        if given.source.name == at:
            raise KeyboardInterrupt
        return scan_one(given, *arguments, **more)

    monkeypatch.setattr("ticore._cli.scanning.scan_one", interrupt)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No password from outside, a standard width, and relative paths that stay in tmp_path."""
    monkeypatch.delenv("TICORE_PASSWORD", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ticore(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Ticore:
    """`ticore("embed", "--key-file", path, stdin=b"secret")` in this process."""

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        capfdbinary.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Result(status, out, err.decode())

    return call


def shell(command: str, input: bytes = b"", start_new_session: bool = False) -> Result:
    """A command line for a real shell, where `ticore` runs as a process of its own."""
    code = "from ticore.__main__ import main; main()"
    script = f'ticore() {{ "{sys.executable}" -c "{code}" "$@"; }}\n'
    environment = with_seeded_entropy(os.environ) | {"PYTHONWARNINGS": "error"}
    environment.pop("PYTHONUNBUFFERED", None)  # as most people run it
    done = subprocess.run(
        ["bash", "-c", script + command],
        capture_output=True,
        timeout=120,
        check=False,
        env=environment,
        input=input,
        start_new_session=start_new_session,
    )
    return Result(done.returncode, done.stdout, done.stderr.decode())


@dataclass(frozen=True)
class Sent:
    """A message that was sent: `text` needs the secrets in the files `key` and `pact`."""

    key: Path
    pact: Path
    text: bytes
    text_by_key: bytes


@pytest.fixture(scope="session")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Sent:
    """MESSAGE in two texts: with the pact, and with the key file, a prompt and other settings."""
    folder = tmp_path_factory.mktemp("sent")
    message, key, pact = folder / "message", folder / "key", folder / "pact.json"
    message.write_bytes(MESSAGE)
    made = shell(
        f'cd "{folder}" && ticore keygen -o key && '
        f'ticore agree --prompt "{PROMPT}" -o pact.json && '
        f"ticore embed --agreement pact.json < message > by_pact && "
        f'ticore embed --key-file key --prompt "{PROMPT}" --top-k 32 --finish none '
        f"< message > by_key"
    )
    assert (made.status, made.err) == (0, "")
    return Sent(key, pact, (folder / "by_pact").read_bytes(), (folder / "by_key").read_bytes())
