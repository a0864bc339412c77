"""The blocks of code in the documents, and how they are run.

A page is one session: its Python blocks share their names, its shell blocks a folder and a shell. A
comment before a block says what else holds:

    <!-- not executed: reason -->     the block is not run
    <!-- needs: torch, jax -->        run by itself, where these packages are installed
    <!-- numbers differ: reason -->   what its commands print has other numbers and keys each time
    <!-- output differs: reason -->   of what its commands print, only the first words of lines are
                                      compared
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PYTHON, SHELL, CONSOLE = "python", "sh", "console"
RUN = (PYTHON, SHELL, CONSOLE)
SHOWN = ("", "text", "toml", "yaml")  # nothing to run

_BLOCK = re.compile(r"^(?:<!-- *([^\n]*?) *-->\n)?```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
_NOT_EXECUTED = "not executed:"
_NEEDS = "needs:"
_DIFFERS = "output differs:"
_NUMBERS_DIFFER = "numbers differ:"
_VARYING = re.compile(r"\b[0-9a-f]{4}-[0-9a-f]{4}\b|[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
_TELLING = 6  # characters: two shorter numbers may be the same by chance


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        page: the page's path from the repository's root.
        number: among the blocks of its page, from 0 on.
        language: the word after the fence.
        code: between the fences.
        comment: the HTML comment in the line before it, or empty.
    """

    page: str
    number: int
    language: str
    code: str
    comment: str

    @property
    def reason(self) -> str | None:
        """Why it is not executed; None where it is."""
        if not self.comment.startswith(_NOT_EXECUTED):
            return None
        return self.comment.removeprefix(_NOT_EXECUTED).strip()

    @property
    def prints_otherwise(self) -> bool:
        """Whether its commands print something else each time."""
        return self.comment.startswith(_DIFFERS)

    @property
    def prints_other_numbers(self) -> bool:
        """Whether its commands print other numbers each time."""
        return self.comment.startswith(_NUMBERS_DIFFER)

    @property
    def needs(self) -> tuple[str, ...]:
        """Packages without which it cannot run."""
        if not self.comment.startswith(_NEEDS):
            return ()
        return tuple(self.comment.removeprefix(_NEEDS).replace(",", " ").split())


@dataclass(frozen=True)
class Step:
    """One command of a shell session.

    Attributes:
        command: what is typed.
        output: what the page shows on standard output; None where it shows none of it.
        differs: whether the command prints something else each time.
        numbers_differ: whether it prints other numbers each time, and nothing else.
    """

    command: str
    output: str | None
    differs: bool = False
    numbers_differ: bool = False


def blocks(page: Path) -> list[Block]:
    """All blocks of a page."""
    name = page.relative_to(ROOT).as_posix()
    found = enumerate(_BLOCK.finditer(page.read_text(encoding="utf-8")))
    return [Block(name, n, match[2], match[3], match[1] or "") for n, match in found]


def session(page: Path, languages: Sequence[str]) -> list[Block]:
    """The blocks of a page that run one after the other."""
    return [
        block
        for block in blocks(page)
        if block.language in languages and block.reason is None and not block.needs
    ]


def steps(block: Block) -> Iterator[Step]:
    """The commands of a shell block.

    >>> [(s.command, s.output) for s in steps(Block("", 0, "console", "$ echo a\\na\\n$ true", ""))]
    [('echo a', 'a\\n'), ('true', '')]
    >>> list(steps(Block("", 0, "sh", "echo a |\\n  cat\\n", "")))
    [Step(command='echo a |\\n  cat', output=None, differs=False, numbers_differ=False)]
    """
    if block.language == CONSOLE:
        for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
            lines = part.splitlines(keepends=True)
            typed = 1  # a command goes on in the indented lines after it
            while typed < len(lines) and lines[typed].startswith("  ") and _goes_on(lines[:typed]):
                typed += 1
            command, output = "".join(lines[:typed]).rstrip("\n"), "".join(lines[typed:])
            yield Step(command, output, block.prints_otherwise, block.prints_other_numbers)
        return
    for command in re.split(r"\n(?! )", block.code):
        if command.strip():
            yield Step(command, None)


def _goes_on(lines: Sequence[str]) -> bool:
    """Whether a shell waits for more of a command."""
    text = "".join(lines)
    loops = len(re.findall(r"\bdo\b", text)) > len(re.findall(r"\bdone\b", text))
    return loops or text.endswith(("\\\n", "|\n"))


def run_shell(commands: Sequence[Step], folder: Path, environment: dict[str, str]) -> None:
    """Run commands in one shell and compare what they print.

    In what a page shows, `...` stands for any text. Raises AssertionError for the first command
    that fails or prints something else.
    """
    logs = folder.parent / f"{folder.name}-logs"
    logs.mkdir()
    lines = ["set -u -o pipefail"]
    for n, step in enumerate(commands):
        out, err, status = (shlex.quote(str(logs / f"{n}.{kind}")) for kind in ("out", "err", "rc"))
        lines.append(f"eval {shlex.quote(step.command)} >{out} 2>{err} </dev/null")
        lines.append(f"echo $? >{status}")
    subprocess.run(["bash", "-c", "\n".join(lines)], cwd=folder, env=environment, check=False)
    numbers = dict[str, str]()
    for n, step in enumerate(commands):
        status = (logs / f"{n}.rc").read_text(encoding="utf-8").strip()
        out = (logs / f"{n}.out").read_text(encoding="utf-8")
        err = (logs / f"{n}.err").read_text(encoding="utf-8")
        assert status == "0", f"{step.command}\nends with status {status}:\n{out}{err}"
        if step.output is not None:
            if step.differs:
                alike = first_words(step.output) == first_words(out)
            elif step.numbers_differ:
                alike = matches_but_for_numbers(step.output, out, numbers)
            else:
                alike = matches(step.output, out)
            assert alike, f"{step.command}\nprints\n{out}not\n{step.output}"


def first_words(output: str) -> list[str]:
    """The first word of each line that begins with a letter.

    >>> first_words("verdict  yes\\n  more\\np-value  1\\n")
    ['verdict', 'p-value']
    """
    return re.findall(r"^[A-Za-z]\S*", output, re.M)


def matches_but_for_numbers(shown: str, printed: str, known: dict[str, str]) -> bool:
    """Whether a command printed what its page shows, with other numbers and other keys.

    What is printed twice in a session, such as the fingerprint of a key, is to be shown twice.

    Args:
        shown: on the page.
        printed: by the command.
        known: what the page shows for what was printed before; this output is added.

    >>> known = {}
    >>> matches_but_for_numbers("key  12c2-0ef8\\np  0.5\\n", "key  8a8c-8057\\np  3e-9\\n", known)
    True
    >>> matches_but_for_numbers("key 538c-7c2e", "key 8a8c-8057", known)
    False
    """
    texts = (" ".join(_VARYING.sub("#", text).split()) for text in (shown, printed))
    if len({*texts}) > 1:
        return False
    pairs = zip(_VARYING.findall(shown), _VARYING.findall(printed), strict=True)
    return all(
        known.setdefault(found, number) == number
        for number, found in pairs
        if len(found) >= _TELLING
    )


def matches(shown: str, printed: str) -> bool:
    """Whether a command printed what its page shows.

    >>> matches("verdict  ...\\nend\\n", "verdict  yes\\nend\\n"), matches("a\\n", "b\\n")
    (True, False)
    """
    pattern = ".*".join(map(re.escape, _tidy(shown).split("...")))
    return re.fullmatch(pattern, _tidy(printed), re.S) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
