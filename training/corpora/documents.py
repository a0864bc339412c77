"""What the corpora of all languages share: documents, and which of them are kept out."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

DOCUMENT_MARK = "<|doc|>"


@dataclass(frozen=True)
class Corpus:
    """Documents to train on and documents kept out, with one paragraph per line."""

    train: list[str]
    held_out: list[str]


def read_documents(path: Path, mark: str = DOCUMENT_MARK) -> list[str]:
    """The documents in a text file, gzipped or not, that `mark` separates; none is empty."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        documents = (document.strip("\r\n") for document in file.read().split(mark))
        return [document for document in documents if document]


def read_prompts(folder: Path) -> set[str]:
    """The prompts of the language that `folder`, CORPORA/LANGUAGE, is named for."""
    folder = folder.resolve()
    path = folder.parents[1] / "prompts" / f"{folder.name}.jsonl"
    with open(path, encoding="utf-8") as file:
        return {json.loads(line)["text"] for line in file}


def joined(texts: list[str], count: int) -> list[str]:
    """Documents of `count` texts each, for texts that are shorter than a training window."""
    return ["\n".join(texts[at : at + count]) for at in range(0, len(texts), count)]
