"""Samples in a JSONL file: an interrupted run can continue, and nothing is measured twice."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from .types import Sample


class SampleStore:
    """Samples, each stored with a digest of everything that it depends on.

    Samples of other digests stay in the file and are not used: they are of other settings, another
    model or other code. Lines that are not JSON objects are ignored, such as the last one of a
    process that was killed while writing.

    Args:
        file: created where it is missing.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        self._file = file
        self._samples: dict[str, list[Sample]] = defaultdict(list)
        for sample in map(_parsed, _lines(file)):
            if "digest" in sample:
                self._samples[sample["digest"]].append(sample)

    def samples(self, digest: str) -> list[Sample]:
        """The samples of a digest, in the order in which they were added."""
        return list(self._samples.get(digest, ()))

    def add(self, digest: str, sample: Sample) -> Sample:
        """Append a sample. It is in the file when this returns.

        Returns:
            The sample with its digest, as `samples` gives it.
        """
        sample = {"digest": digest} | sample
        with self._file.open("ab") as stream:
            stream.write(json.dumps(sample, ensure_ascii=False).encode() + b"\n")
        self._samples[digest].append(sample)
        return sample


def digest_of(*parts: Any) -> str:
    """The digest of everything that samples depend on: settings, model, prompts and code.

    Args:
        parts: values that JSON can represent. The order of keys in a dictionary does not count.

    Returns:
        16 hexadecimal digits.
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _lines(file: Path) -> list[bytes]:
    data = file.read_bytes()  # not text: the last line may end inside a character
    if data and not data.endswith(b"\n"):
        # The last line was cut off. End it, so that the next sample starts a new line.
        with file.open("ab") as stream:
            stream.write(b"\n")
    return data.split(b"\n")


def _parsed(line: bytes) -> Sample:
    try:
        sample = json.loads(line)
    except ValueError:
        return {}
    return sample if isinstance(sample, dict) else {}
