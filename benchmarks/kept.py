"""Samples in a file, a line each, so that none is written twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ticore

from .workers import Found


class Kept:
    """Samples that were written under one digest.

    Args:
        file: made if it is not there.
        digest: see `digest_of`. Samples with another one stay in the file and count for nothing.
    """

    def __init__(self, file: Path, digest: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        self._file = file
        self._digest = digest
        self.rows = [row for row in map(_parsed, _lines(file)) if row.get("digest") == digest]

    def add(self, row: Found) -> None:
        """Keep one more, on the disk before this returns."""
        row = {"digest": self._digest} | row
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.rows.append(row)


def digest_of(*parts: Any) -> str:
    """Changes with all that a sample depends on: settings, model, prompts, and the code.

    Args:
        parts: what JSON can hold.
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def code_digest(packages: Sequence[str], *files: Path) -> str:
    """Of the code that samples depend on.

    Args:
        packages: folders and files of `ticore`.
        files: of a benchmark.
    """
    digest = hashlib.sha256()
    for place in (Path(ticore.__file__).parent / name for name in packages):
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.read_bytes())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _lines(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        # Cut off amid a line: what is added next begins a new one.
        with file.open("a", encoding="utf-8") as stream:
            stream.write("\n")
    return text.split("\n")


def _parsed(line: str) -> Found:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}
