"""Standard input, output and error in a shell and in a terminal."""

from __future__ import annotations

import os
import re
import select
import signal
import stat
import subprocess
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from ticore._cli import streams

from .conftest import MESSAGE, PROMPT, Sent, Ticore, shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs bash and pty")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "umask", "existing", "open_to_others"),
    [
        ("ticore keygen", "022", None, "0644"),
        ("ticore agree", "0", 0o604, "0604"),
        ("ticore keygen", "077", None, None),
        ("ticore keygen", "0", 0o600, None),
    ],
)
def test_write_secret_makes_the_file_private(
    tmp_path: Path, command: str, umask: str, existing: int | None, open_to_others: str | None
) -> None:
    """A warning follows if others could open the file before."""
    path = tmp_path / "secret"
    if existing is not None:
        path.touch()
        path.chmod(existing)
    found = shell(f"umask {umask}; {command} > '{path}'")
    assert found.status == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size > 64
    if open_to_others is None:
        assert found.err == (
            "ticore: a redirection replaces an existing key without asking; use -o FILE\n"
        )
    else:
        assert found.err.startswith(f"ticore: the file was open to others (mode {open_to_others})")
        assert "-o FILE" in found.err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ticore keygen >> K", "ticore agree 1<> K"])
def test_secret_is_not_written_into_a_file_that_holds_something(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "K").write_text("a key\n")
    found = shell(f"cd '{tmp_path}'; {command}")
    found.assert_error(1, "a file with 6 bytes, which may hold a key; use -o FILE")
    assert (tmp_path / "K").read_text() == "a key\n"


@pytest.mark.slow
def test_secret_goes_to_a_pipe_without_a_note(tmp_path: Path) -> None:
    found = shell("ticore keygen | cat")
    assert (found.status, len(found.out), found.err) == (0, 65, "")


@pytest.mark.slow
def test_key_is_read_from_a_command_by_process_substitution(sent: Sent, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(sent.text_by_key)
    options = f"--prompt '{PROMPT}' --top-k 32"
    found = shell(
        f"cd '{tmp_path}'; ticore extract --key-file <(cat '{sent.key}') {options} < text"
    )
    assert (found.status, found.out, found.err) == (0, MESSAGE, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("ticore keygen >&-", "found it closed"),
        ("ticore models >&-", "found it closed"),
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
def test_command_reports_a_stream_that_fails(
    sent: Sent, tmp_path: Path, command: str, part: str
) -> None:
    text = tmp_path / "text"
    text.write_bytes(sent.text)
    found = shell(command.replace("PACT", f"'{sent.pact}'").replace("TEXT", f"'{text}'"))
    found.assert_error(2 if "--prompt" in command else 1, part)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "most"),
    [
        ("embed --key-file /dev/zero", "4,096"),
        ("watermark --key-file /dev/zero", "4,096"),
        ("embed --agreement /dev/zero", "16,777,216"),
        ("detect --scheme vllm --config /dev/zero", "16,777,216"),
        ("fingerprint --compare /dev/zero", "16,777,216"),
        ("inspect --ids /dev/zero", "268,435,456"),
    ],
)
def test_file_without_an_end_is_refused(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, command: str, most: str
) -> None:
    found = ticore(*command.split())
    found.assert_error(1, f"/dev/zero: expected at most {most} bytes, found more")


@pytest.mark.slow
def test_standard_input_without_an_end_is_refused(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_TEXT", 9)
    for command in (["inspect"], ["inspect", "--ids", "-"]):
        found = ticore(*command, stdin=b"1 2 3 4 5 6")
        found.assert_error(1, "standard input: expected at most 9 bytes, found more")


def test_command_reports_too_little_memory(ticore: Ticore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("ticore._cli.inspection.compare", fill)
    ticore("inspect", "a").assert_error(1, "expected memory for the work, found too little")


def test_long_error_is_cut(ticore: Ticore) -> None:
    found = ticore("inspect", "a", "--tokenizer", "a" * 10**5)
    found.assert_error(1, "no model is called 'aaa")
    assert found.err.endswith("write BACKEND:LOCATION\n")
    assert len(found.err) < 3000


@pytest.mark.slow
def test_command_ends_when_stderr_is_closed() -> None:
    found = shell("ticore embed --nix 2>&-")
    assert (found.status, found.out) == (2, b"")


@pytest.mark.slow
def test_password_is_not_read_from_standard_input_without_a_terminal() -> None:
    found = shell("ticore embed --password", input=b"hunter2", start_new_session=True)
    found.assert_error(1, "set TICORE_PASSWORD")


CTRL_C = b"\x03"
SILENCE, PATIENCE = 3.0, 20  # seconds to wait for output, and how often


def _at_a_terminal(
    arguments: list[str], answers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[int, str]:
    """Exit status and screen of a process with a terminal of its own.

    Each of `answers` is a text to wait for on the screen, and what to type then.
    """
    import pty  # noqa: PLC0415  # POSIX only

    with warnings.catch_warnings(action="ignore"):
        # If any test has loaded JAX, it warns of every fork; here exec follows at once.
        process, terminal = pty.fork()
    if process == 0:
        code = "from ticore.__main__ import main; main()"
        os.execv(sys.executable, [sys.executable, "-c", code, *arguments])
    screen, waiting, typed, silences = b"", list(answers), b"", 0
    with suppress(OSError):  # on Linux: the other side is closed
        while silences < PATIENCE:
            if not select.select([terminal], [], [], SILENCE)[0]:
                silences += 1
                if typed == CTRL_C:  # It may have come before Python began to wait: try again.
                    os.write(terminal, typed)
                continue
            screen += os.read(terminal, 4096)
            if waiting and waiting[0][0] in screen:
                typed = waiting.pop(0)[1]
                os.write(terminal, typed)
    os.close(terminal)  # ends a process that hangs: it is sent SIGHUP
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "status", "part"),
    [
        ([(b"word: ", b"horse\n"), (b"again: ", b"house\n")], 1, "the two passwords differ"),
        ([(b"word: ", b"\n")], 1, "the password is empty"),
        ([(b"word: ", b"\x04")], 1, "expected a password, found none"),
        ([(b"word: ", b"hor\x03")], 130, "interrupted"),
    ],
)
def test_password_is_asked_for_and_not_shown(
    answers: list[tuple[bytes, bytes]], status: int, part: str
) -> None:
    found, screen = _at_a_terminal(["embed", "--password"], answers)
    assert (found, screen.splitlines()[-1].startswith("ticore: ")) == (status, True)
    assert screen.startswith("Password: ")
    assert part in screen
    assert "hor" not in screen
    assert "Traceback" not in screen


@pytest.mark.slow
def test_ctrl_c_ends_the_command_while_the_message_is_typed(sent: Sent) -> None:
    status, screen = _at_a_terminal(["embed", "--key-file", str(sent.key)], [(b"Ctrl-D", CTRL_C)])
    assert status == 130
    assert screen.endswith("\nticore: interrupted\r\n")
    assert "Traceback" not in screen


@pytest.mark.slow
def test_ctrl_c_ends_the_command_while_the_message_is_hidden(sent: Sent) -> None:
    answers = [(b"Ctrl-D", b"hello\n\x04"), (b"%", CTRL_C)]
    status, screen = _at_a_terminal(["embed", "--key-file", str(sent.key)], answers)
    assert status == 130
    assert "\x1b[?25h" in screen  # the cursor is back
    assert screen.endswith("\nticore: interrupted\r\n")
    assert "Traceback" not in screen


@pytest.mark.slow
def test_signal_ends_the_command_without_a_terminal(tmp_path: Path) -> None:
    """Python starts the process, since a shell would let it ignore SIGINT in the background."""
    key = tmp_path / "key"
    os.mkfifo(key)
    code = "from ticore.__main__ import main; main()"
    arguments = [sys.executable, "-c", code, "embed", "--key-file", str(key)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe) as process,
        key.open("wb"),  # waits until the other side opens it, too, and reads
    ):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"ticore: interrupted\n")


@pytest.mark.slow
def test_terminal_gets_a_progress_bar_and_a_whole_line(sent: Sent) -> None:
    answers = [(b"Ctrl-D", b"hello\n\x04")]
    status, screen = _at_a_terminal(["embed", "--agreement", str(sent.pact)], answers)
    assert status == 0
    assert "hiding" in screen
    assert "%" in screen
    assert PROMPT in screen
    assert screen.endswith("\n")


@pytest.mark.parametrize("columns", ["0", "1", "40"])
def test_results_are_shown_whatever_width_the_environment_gives(
    columns: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    streams.show("verdict  watermarked")
    assert b"watermarked" in capfdbinary.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["models"],
        ["inspect", "The morning was cold and dark."],
        ["audit"],
        ["detect", "--key-file", "key", "text"],
        ["detect", "--key-file", "key", "--column", "text", "rows.jsonl", "-o", "found.jsonl"],
        ["check-key", "--key-file", "key", "text"],
        ["drift", "rows.jsonl"],
        ["fingerprint"],
    ],
    ids=" ".join,
)
def test_no_line_of_output_that_is_no_terminal_ends_in_a_space(
    ticore: Ticore, command: list[str]
) -> None:
    Path("key").touch(mode=0o600)
    Path("key").write_text("5a" * 32)
    Path("text").write_text("The morning was cold and dark, and we went to the sea. " * 4)
    Path("rows.jsonl").write_text('{"text": "A cold day.", "ids": [377, 318, 278, 705]}\n' * 2)
    found = ticore(*command)
    assert found.status == 0, found.err
    assert found.out.count(b"\n") > 1
    assert not re.search(rb"[ \t]$", found.out, re.M)
