"""Reads many files with one group of parsers, within limits of time and memory.

    python -m tests.fuzz.child GROUP CASES           # read all files, print a line per failure
    python -m tests.fuzz.child GROUP NAME NUMBER     # print one file and its failure

It runs in a process of its own, since a library that a parser calls may fill the memory or end the
process. Files are numbered: first those in corpus/, then damaged ones.

It prints `begin NAME NUMBER` before each file, `failed NAME NUMBER REASON` after a failure, and
`done` at the end. Started again with the last name and number on standard input, it goes on there.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random

from ticore.errors import TicoreError

from .parsers import parsers_of
from .parsers.base import Parser

CORPUS = Path(__file__).with_name("corpus")
# Limits for one file: seconds of CPU time, which do not depend on how busy the machine is; seconds
# of real time, for a parser that waits, as for a pipe; bytes beyond those at the process's start.
_CPU_SECONDS, _SECONDS, _BYTES = 15, 600, 2 << 30


def explicit(parser: Parser) -> list[Path]:
    """The files in the corpus for a parser."""
    return sorted((CORPUS / parser.name).glob("*"))


def case(parser: Parser, number: int) -> bytes:
    """File `number` for a parser."""
    given = explicit(parser)
    if number < len(given):
        return given[number].read_bytes()
    draw = Random(f"{parser.name} {number - len(given)}")
    return parser.damage(draw, draw.choice(list(parser.sound())))


def failure(parser: Parser, content: bytes, path: Path) -> str | None:
    """Why a parser failed: it raised something other than a TicoreError. None if it did not."""
    try:
        parser.read(content, path)
    except TicoreError as error:
        return None if str(error) else "an error without a text"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}".encode(errors="replace").decode()
    return None


def main(group: str, count: str, number: str | None = None) -> None:
    warnings.simplefilter("ignore")
    parsers = {parser.name: parser for parser in parsers_of(group)}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TICORE_CACHE"] = f"{folder}/cache"
        path = Path(folder, "model")
        path.mkdir()
        path /= "file"
        if number is not None:
            parser = parsers[count]
            content = case(parser, int(number))
            print(content[:2000], len(content), failure(parser, content, path))
            return
        report = os.fdopen(os.dup(1), "w", buffering=1)
        for parser in parsers.values():
            for content in parser.sound():
                parser.read(content, path)
        _silence()
        _limit()
        for parser, at in _remaining(list(parsers.values()), int(count)):
            report.write(f"begin\t{parser.name}\t{at}\n")
            content = case(parser, at)
            _restart_time_limits()
            if reason := failure(parser, content, path):
                report.write(f"failed\t{parser.name}\t{at}\t{' '.join(reason.split())}\n")
        report.write("done\n")
        report.flush()


def _remaining(parsers: list[Parser], count: int) -> Iterator[tuple[Parser, int]]:
    """All files, or those after the one that standard input names."""
    last = sys.stdin.readline().rstrip("\n").split("\t")
    numbers = [
        (parser, at)
        for parser in parsers
        for at in range(
            len(explicit(parser)) + (min(count, parser.thorough) if count else parser.cases)
        )
    ]
    if last == [""]:
        yield from numbers
        return
    names = [(parser.name, at) for parser, at in numbers]
    yield from numbers[names.index((last[0], int(last[1]))) + 1 :]


def _silence() -> None:
    """Discard what libraries print about files that they refuse."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + _BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _restart_time_limits() -> None:
    """Restart the time limits. The signals end the process, since Python might not handle them."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
