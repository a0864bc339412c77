"""A scan: every row of a file is scored, and the file written again with the results."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ..errors import FileError, SettingsError
from ..files import written_atomically
from ..registry import choose
from .base import Batch, Corpus, Text
from .engines import ENGINES
from .formats import ending, open_corpus, open_writer
from .identity import digest, file_identity
from .parts import Parts
from .results import Result
from .scoring import Task


@dataclass(frozen=True)
class Scan:
    """What is to be scanned.

    Attributes:
        source: the file, `.jsonl` or `.parquet`.
        column: the one with the texts.
        output: the file to write, in the format of its ending.
        batch_size: rows that a worker gets at a time.
        limit: read and write so many rows only.

    Raises:
        SettingsError: a name has another ending, the output is the source, a number is below 1.
    """

    source: Path
    column: str
    output: Path
    batch_size: int = 500
    limit: int | None = None

    def __post_init__(self) -> None:
        ending(self.source)
        ending(self.output)
        if self.output.resolve() == self.source.resolve():
            raise SettingsError("output: expected another file than the one that is read")
        for name, value in (("batch_size", self.batch_size), ("limit", self.limit)):
            if value is not None and value < 1:
                raise SettingsError(f"{name}: expected at least 1, found {value}")


@dataclass(frozen=True)
class Summary:
    """How many rows there are of each kind; `errors` are those without a verdict."""

    rows: int
    watermarked: int
    in_part: int
    without: int
    errors: int


def default_output(source: Path) -> Path:
    """Where results go if nobody says: beside the source.

    >>> default_output(Path("texts.jsonl")).name
    'texts.detected.jsonl'
    """
    return source.with_name(f"{source.stem}.detected{source.suffix}")


def scan(
    given: Scan,
    task: Task,
    *,
    engine: str = "processes",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Score every row and write the output, whole or not at all.

    What was interrupted goes on where it stopped if it is called again in the same way.

    Args:
        engine: `processes`, on this machine, or `ray`.
        workers: how many; None: as many as there are cores.
        progress: is called with what is done and how much there is.
        tell: is told what a person may want to know, sentence by sentence.

    Raises:
        SettingsError: a setting is unknown or out of range.
        KeyFormatError: the key is too short or too long.
        FileError: a file cannot be read or written.
        MissingExtraError: a package is not installed that the format or the engine needs.
        TicoreError: a worker could not do its work.
    """
    run = choose("engine", ENGINES, engine)
    if workers is not None and workers < 1:
        raise SettingsError(f"workers: expected at least 1, found {workers}")
    _require_regular(given.source, "a file that can be read twice")
    _require_regular(given.output, "a new or regular file")
    detector = task.open()
    before = file_identity(given.source)
    corpus = open_corpus(given.source, given.column, given.batch_size, given.limit)
    things = [before, corpus.traits(), task.shaping(), given.column, given.batch_size, given.limit]
    # Other versions of a scheme give other results, also where its version is left to the default.
    things += [detector.tokenizer.digest(), version("ticore"), detector.version]
    parts = Parts(given.output, digest(task.secret(), things), tell)

    todo = _Todo(corpus, parts)
    with closing(run(task, todo.texts(), workers)) as found:  # type: ignore[type-var]  # generators
        for results in found:
            index, done = todo.sent.popleft()
            parts.put(index, results)
            if progress is not None:
                progress(done, corpus.total)
    if file_identity(given.source) != before:
        raise FileError(f"{given.source} was changed while it was read; run the command again")
    summary = _write(given.output, corpus, parts)
    parts.remove()
    return summary


class _Todo:
    """The batches that have no results yet.

    Attributes:
        sent: index and progress of those that were given out, oldest first.
    """

    def __init__(self, corpus: Corpus, parts: Parts) -> None:
        self._corpus, self._parts = corpus, parts
        self.sent: deque[tuple[int, int]] = deque()

    def texts(self) -> Iterator[Sequence[Text]]:
        for index, batch in enumerate(self._corpus.batches()):
            if index not in self._parts:
                self.sent.append((index, batch.done))
                yield batch.texts


def _write(output: Path, corpus: Corpus, parts: Parts) -> Summary:
    """Put rows and results together."""
    verdicts: Counter[str | None] = Counter()
    with written_atomically(output) as file:
        writer = open_writer(output, file, corpus)
        for index, batch in enumerate(corpus.batches()):
            results = _results(parts, index, batch)
            verdicts.update(result.verdict for result in results)
            writer.write(batch, results)
        writer.close()
    return Summary(
        rows=verdicts.total(),
        watermarked=verdicts["watermarked"],
        in_part=verdicts["watermarked in part"],
        without=verdicts["no watermark found"],
        errors=verdicts[None],
    )


def _results(parts: Parts, index: int, batch: Batch) -> list[Result]:
    results = parts.get(index)
    if len(results) != len(batch.texts):
        raise FileError(
            f"expected results of {len(batch.texts)} rows, found {len(results)}; "
            f"remove {parts.folder} and start again"
        )
    return results


def _require_regular(path: Path, what: str) -> None:
    # The output would take the place of a device, such as /dev/null, if its owner runs this.
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"expected {path} to be {what}, found something else; choose another name")
