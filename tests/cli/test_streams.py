"""Standard streams as a shell and a terminal give them."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from ticore.cli import streams

from .conftest import MESSAGE, Sent, shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs bash and pty")


@pytest.mark.parametrize("command", ["ticore keygen", "ticore agree"])
@pytest.mark.parametrize("existing", [None, 0o666])
def test_a_file_with_a_secret_is_its_owners_alone(
    tmp_path: Path, command: str, existing: int | None
) -> None:
    path = tmp_path / "secret"
    if existing is not None:
        path.touch()
        path.chmod(existing)
    assert shell(f"umask 0; {command} > '{path}'").status == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size > 64


def test_a_pipe(sent: Sent) -> None:
    read = shell(f"cat | ticore extract --agreement '{sent.pact}' | cat", input=sent.text)
    assert (read.status, read.out, read.err) == (0, MESSAGE, "")


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("ticore keygen >&-", "found it closed"),
        ("ticore models > /dev/full", "cannot write standard output: No space"),
        ("ticore --version > /dev/full", "No space"),
        ("ticore embed --help > /dev/full", "No space"),
        ("ticore extract --agreement PACT < TEXT > /dev/full", "No space"),
        ("{ sleep 1; ticore models; } | true; exit ${PIPESTATUS[0]}", "Broken pipe"),
        ("ticore embed --agreement PACT <&-", "expected the message on standard input"),
        ("ticore extract --agreement PACT <&-", "expected the text on standard input"),
        ("ticore extract --agreement PACT 0> out", "cannot read standard input"),
        ("ticore agree --prompt $'a\\xff'", "lone surrogate"),
    ],
)
def test_streams_that_fail(sent: Sent, tmp_path: Path, command: str, part: str) -> None:
    text = tmp_path / "text"
    text.write_bytes(sent.text)
    found = shell(command.replace("PACT", f"'{sent.pact}'").replace("TEXT", f"'{text}'"))
    found.assert_error(found.status, part)
    assert found.status in (1, 2)


def test_nobody_reads_the_error() -> None:
    found = shell("ticore embed --nix 2>&-")
    assert (found.status, found.out) == (2, b"")


def test_without_a_terminal_the_message_is_not_taken_for_the_password() -> None:
    found = shell(
        "echo hunter2 | setsid -w ticore_ embed --password".replace(
            "ticore_", f"'{sys.executable}' -c 'from ticore.cli import main; main()'"
        )
    )
    found.assert_error(1, "set TICORE_PASSWORD")


def _at_a_terminal(arguments: list[str], typed: bytes) -> tuple[int, str]:
    """Status and screen of a process with a terminal of its own, where `typed` is typed."""
    import pty  # noqa: PLC0415  # exists on POSIX alone

    process, terminal = pty.fork()
    if process == 0:
        code = "from ticore.cli import main; main()"
        os.execv(sys.executable, [sys.executable, "-c", code, *arguments])
    screen = b""
    try:
        while chunk := os.read(terminal, 4096):
            screen += chunk
            if typed and (screen.rstrip().endswith(b":") or b"Ctrl-D" in screen):
                line, typed = typed[: typed.find(b"\n") + 1], typed[typed.find(b"\n") + 1 :]
                os.write(terminal, line or typed)
                typed = typed if line else b""
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen.decode()


@pytest.mark.parametrize(
    ("typed", "status", "part"),
    [
        (b"one\ntwo\n", 1, "the two passwords differ"),
        (b"\n", 1, "the password is empty"),
        (b"\x04", 1, "expected a password, found none"),
        (b"\x03", 130, "interrupted"),
    ],
)
def test_a_password_is_asked_for_and_not_shown(typed: bytes, status: int, part: str) -> None:
    found, screen = _at_a_terminal(["embed", "--password"], typed)
    assert found == status
    assert screen.startswith("Password: ")
    assert part in screen
    assert "one" not in screen.replace("none", "")
    assert "Traceback" not in screen


def test_ctrl_c() -> None:
    status, screen = _at_a_terminal(["embed", "--key-file", "/dev/fd/9"], b"\x03")
    assert status == 1, screen  # there is no such key
    Path("key").write_text("0f" * 32)
    status, screen = _at_a_terminal(["embed", "--key-file", "key"], b"\x03")
    assert status == 130
    assert "end it with Ctrl-D" in screen
    assert screen.endswith("ticore: interrupted\r\n")


def test_a_terminal_gets_a_progress_bar_and_a_whole_line(sent: Sent) -> None:
    status, screen = _at_a_terminal(["demo"], b"")
    assert status == 0
    assert "hiding" in screen
    assert "264 bits" in screen
    assert "meet at noon" in screen


def test_printable() -> None:
    assert streams.printable("né ☃ 日") == "né ☃ 日"
    assert streams.printable("a\n\x1b\u202e\udcff", keep="\n") == "a\n\\x1b\\u202e\\udcff"
