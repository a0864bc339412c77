"""A scan: every row of a file is scored, and the file written again with the results."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ..errors import FileError, SettingsError
from ..files import remove_leftovers, written_atomically
from ..inputs import unreadable
from ..registry import choose
from .base import Corpus, Text
from .engines import ENGINES
from .formats import ending, open_corpus, open_writer, rehearse
from .identity import digest, file_identity
from .parts import Parts, digest_of_texts
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
        FileError: no file can have such a name.
    """

    source: Path
    column: str
    output: Path
    batch_size: int = 500
    limit: int | None = None

    def __post_init__(self) -> None:
        ending(self.source)
        ending(self.output)
        try:
            same = os.path.realpath(self.output) == os.path.realpath(self.source)
        except ValueError as error:
            raise unreadable(self.source, error) from error
        if same:
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
    rehearse(given.output, corpus)
    with Parts(given.output, digest(task.secret(), things), tell) as parts:
        todo = _Todo(corpus, parts)
        # The type of an engine does not say that it is a generator.
        with closing(run(task, todo.texts(), workers)) as found:  # type: ignore[type-var]
            for results in found:
                sent = todo.sent.popleft()
                parts.put(sent.number, sent.texts, results)
                if progress is not None:
                    progress(sent.done, corpus.total)
        if parts.refused:
            tell(
                f"of these, {parts.refused} had to be scanned again: damaged, of an earlier "
                f"version, or of other texts"
            )
        if file_identity(given.source) != before:
            raise _changed(given)
        summary = _write(given, corpus, parts)
        parts.remove()
    remove_leftovers(given.output.parent)
    return summary


class _Sent(NamedTuple):
    """A batch that was given out: its number, the digest of its texts, and the progress."""

    number: int
    texts: bytes
    done: int


class _Todo:
    """The batches that have no results yet.

    Attributes:
        sent: those that were given out, oldest first.
    """

    def __init__(self, corpus: Corpus, parts: Parts) -> None:
        self._corpus, self._parts = corpus, parts
        self.sent: deque[_Sent] = deque()

    def texts(self) -> Iterator[Sequence[Text]]:
        for index, batch in enumerate(self._corpus.batches()):
            texts = digest_of_texts(batch.texts)
            if not self._parts.holds(index, texts):
                self.sent.append(_Sent(index, texts, batch.done))
                yield batch.texts


def _write(given: Scan, corpus: Corpus, parts: Parts) -> Summary:
    """Put rows and results together."""
    verdicts: Counter[str | None] = Counter()
    with written_atomically(given.output, within=parts.folder) as file:
        writer = open_writer(given.output, file, corpus)
        try:
            for index, batch in enumerate(corpus.batches()):
                results = parts.get(index, digest_of_texts(batch.texts))
                if results is None:
                    raise _changed(given)
                verdicts.update(result.verdict for result in results)
                writer.write(batch, results)
            writer.close()
        except BaseException:
            writer.abandon()
            raise
    return Summary(
        rows=verdicts.total(),
        watermarked=verdicts["watermarked"],
        in_part=verdicts["watermarked in part"],
        without=verdicts["no watermark found"],
        errors=verdicts[None],
    )


def _changed(given: Scan) -> FileError:
    return FileError(
        f"{given.source} was changed while it was read, or what was kept of its results; run the "
        f"command again"
    )


def _require_regular(path: Path, what: str) -> None:
    # The output would take the place of a device, such as /dev/null, if its owner runs this.
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"expected {path} to be {what}, found something else; choose another name")
