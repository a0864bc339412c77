"""Words that this project does not use, and what to write instead: `python -m tools.words`.

Each was once common here and made a reader stop. The list is short on purpose: it names words that
are never needed, so that a finding is always worth a change. A line that quotes such a word says
`words: quoted` in a comment.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_UNITS = r"bits?|bytes|[kMG]B|ms|us|µs|seconds?|milliseconds?|microseconds?|numbers|passes"
_THINGS = r"token|text|row|step|message|id|byte|character|word|second|GB|MB"

# What is found -> what to write. Words are matched whole, in any case.
WORDS: dict[str, str] = {
    r"behind": "after",
    r"so many": "that many",
    r"(?:comes?|coming) along": "bundled, or: passed with",
    r"whoever": "a person who, the caller, the reader, or: code that",
    r"anew": "again",
    r"amid": "in the middle of, between",
    r"thereof|whereof|thereby|hereby|therein": "a plain sentence",
    r"(?<!there )(?:is|are) (?-i:none)": "is not one",
    r"found out": "computed, learned",
    r"for (?:its|their|whose) sake": "a plain sentence",
    r"\w*(?:tokenis|normalis|initialis)\w*": "the spelling with z, as the field has it",
    rf"(?:{_UNITS}) an? (?:{_THINGS})": "per token, per text, ...",
}

_SUFFIXES = (".py", ".md", ".toml", ".yml", ".cff")
_QUOTED = "words: quoted"


class Finding(NamedTuple):
    """A line with a word that is not used here."""

    path: str
    line: int
    word: str
    instead: str


def findings(path: str, text: str) -> Iterator[Finding]:
    """The unwanted words of one file."""
    for number, line in enumerate(text.splitlines(), 1):
        if _QUOTED in line:
            continue
        for pattern, instead in WORDS.items():
            for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", line, re.IGNORECASE):
                yield Finding(path, number, match[0], instead)


def checked_files() -> Iterable[Path]:
    """All tracked texts except this list, its test, the changelog and a benchmark's texts."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    skipped = {
        "tools/words.py",
        "tests/tools/test_words.py",
        "CHANGELOG.md",
        "benchmarks/_harness/corpora.py",
    }
    return [
        ROOT / name
        for name in listed
        if name.endswith(_SUFFIXES) and name not in skipped and (ROOT / name).is_file()
    ]


def main() -> int:
    """Print all findings; the exit status is 1 if there are any."""
    found = [
        finding
        for path in checked_files()
        for finding in findings(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]
    for path, line, word, instead in found:
        print(f"{path}:{line}: {word!r}: write {instead}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
