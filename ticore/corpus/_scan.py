"""A scan: every row of a file is scored, and the file is written again with the results."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .._support.atomic_files import remove_leftovers, require_writable, written_atomically
from .._support.checks import require_integer
from .._support.deprecation import renamed_arguments
from .._support.input_files import unreadable
from ..errors import InputFileError, OutputFileError, SettingsError, WrongTypeError, shown
from ..registry import lookup
from ._any_scoring import AnyTask
from ._base import Corpus, CorpusText, CountedTask, ScanTask, Summary_co
from ._columns import Columns
from ._executors import EXECUTORS
from ._formats import ending, open_corpus, open_writer, rehearse, stem
from ._identity import digest, file_identity
from ._opened_task import OpenedTask
from ._processes import require_main_guard
from ._saved_batches import SavedBatches, require_usable
from ._scoring import Task
from ._summary import Summary

_MOST_ROWS = 10**12  # more than a file has; far more would not fit the integers of readers


@dataclass(frozen=True)
class Scan:
    """What to scan, and where to write.

    Attributes:
        source: the file, `.jsonl`, `.jsonl.gz` or `.parquet`.
        column: the column with the texts; or those with rollouts, for `scan_drift`.
        output: the file to write, in the format of its ending.
        batch_size: rows that a worker gets at a time.
        limit: read and write only the first `limit` rows.
        results_only: write only the results, one per row in the order of the rows, without the
            columns of the source.

    Raises:
        SettingsError: a name has another ending, the output is the source, or a number is not an
            integer from 1 to a trillion.
        FileError: no file can have such a name.
        WrongTypeError: source or output is no path, or column no name.
    """

    source: Path
    column: str | Columns
    output: Path
    batch_size: int = 500
    limit: int | None = None
    results_only: bool = False

    def __post_init__(self) -> None:
        for name in ("source", "output"):
            given = getattr(self, name)
            if not isinstance(given, str | os.PathLike):
                raise WrongTypeError(f"{name}: expected a path, found {shown(given)}")
            object.__setattr__(self, name, Path(given))
        if not isinstance(self.column, str | Columns):
            raise WrongTypeError(
                f"column: expected a name, or RolloutColumns, found {shown(self.column)}"
            )
        ending(self.source)
        ending(self.output)
        try:
            same = os.path.realpath(self.output) == os.path.realpath(self.source)
        except ValueError as error:
            raise unreadable(self.source, error) from error
        if same:
            raise SettingsError(
                "output: expected another file than the source, found the same; choose another name"
            )
        object.__setattr__(
            self, "batch_size", require_integer("batch_size", self.batch_size, 1, _MOST_ROWS)
        )
        if self.limit is not None:
            object.__setattr__(self, "limit", require_integer("limit", self.limit, 1, _MOST_ROWS))


def default_output(source: Path, what: str = "detected") -> Path:
    """The default output of a scan: a file beside the source.

    >>> default_output(Path("texts.jsonl")).name
    'texts.detected.jsonl'
    """
    return source.parent / f"{stem(source)}.{what}{source.name[len(stem(source)) :]}"


@renamed_arguments(engine="executor")
def scan(
    given: Scan,
    task: Task | AnyTask,
    *,
    executor: str = "processes",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Score every row and write the output, whole or not at all. Thread-safe.

    If a scan was interrupted, the same call goes on where it stopped. Two scans cannot write the
    same output at a time: the second one raises FileError.

    A script calls this under `if __name__ == "__main__":`, since each worker process runs the
    script as a module before it starts.

    Args:
        given: what to scan.
        task: what to look for: one configuration, or a list of them.
        executor: `processes`, on this machine, or `ray`.
        workers: how many; None: one per core. On Windows no more than 61 processes are started.
        progress: called with how much is done and how much there is, in bytes (JSONL) or rows
            (Parquet).
        tell: called with each sentence that a person should read, such as "going on: ...".

    Returns:
        How many rows there are of each kind.

    Raises:
        SettingsError: a setting is unknown or out of range.
        CredentialError: the key is too short or too long.
        FileError: a file cannot be read or written, or another scan writes the same output.
        MissingExtraError: a package is not installed that the format or the executor needs.
        TicoreError: a worker failed, or a script calls this without `if __name__ == "__main__":`.
    """
    return scan_one(given, task, executor, workers, progress, tell)


def scan_one(
    given: Scan,
    task: CountedTask[Summary_co],
    executor: str = "processes",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
    *,
    one_of_many: bool = False,
) -> Summary_co:
    """As `scan`. A file that is one of many is not scanned again before `forget` is called.

    So a command that was interrupted goes on with the file that it was scanning.
    """
    tally = task.tally()
    keep = (lambda: tally.summary().kept()) if one_of_many else None
    kept = scan_rows(given, task, tally.see, executor, workers, progress, tell, keep)
    return tally.summary() if kept is None else tally.of_kept(kept)


def opened_corpus(given: Scan, task: ScanTask) -> tuple[Corpus, list[str]]:
    """The file to scan, and its identity. Its beginning is written to memory as the output will be.

    So a file without the column, or an output that cannot be written, is refused before the work.

    Raises:
        SettingsError, FileError, MissingExtraError: as `scan`.
    """
    _require_regular(given.source, "a file that can be read twice")
    _require_regular(given.output, "a new or regular file")
    require_writable(given.output)
    require_usable(given.output)
    before = file_identity(given.source)
    added = () if given.results_only else task.result._fields
    corpus = open_corpus(given.source, given.column, given.batch_size, given.limit, added)
    rehearse(given.output, corpus, task.result, results_only=given.results_only)
    return corpus, before


def scan_rows(
    given: Scan,
    task: ScanTask,
    see: Callable[[int, Sequence[Any]], None],
    executor: str,
    workers: int | None,
    progress: Callable[[int, int], None] | None,
    tell: Callable[[str], None],
    keep: Callable[[], dict[str, Any]] | None = None,
) -> dict[str, Any] | None:
    """Do a task for every row and write the output, as `scan` does.

    Args:
        given, executor, workers, progress, tell: as for `scan`.
        task: what is done.
        see: called with the number of rows before a batch and the results of the batch, in order.
        keep: gives, in types that JSON has, what stays in the place of the saved results until
            `forget`; None: nothing stays.

    Returns:
        What was kept when the same scan was finished before, if its output is still there: then
        nothing is done. None if the output was written now.
    """
    require_main_guard()
    run = lookup("executor", EXECUTORS, executor)
    if workers is not None:
        workers = require_integer("workers", workers, 1)
    corpus, before = opened_corpus(given, task)
    opened = OpenedTask(task)
    things: list[object] = [
        before,
        corpus.traits(),
        task.public_settings(),
        given.column,
        given.batch_size,
        given.limit,
    ]
    if given.results_only:  # then a line may have the columns that the scan would add
        things.append("results only")
    things += opened.depends_on()
    name = digest(task.secret(), things)
    with SavedBatches(given.output, name, tell, task.result) as saved:
        finished = None if keep is None else saved.kept()
        # Earlier versions had one name for both kinds of output.
        if finished is not None and finished["results_only"] == given.results_only:
            tell(f"{given.output} was finished before")
            return dict(finished["kept"])
        if given.output.exists():
            tell(f"{given.output} is there already: it is replaced when this is done")
        unscored = _UnscoredBatches(corpus, saved)
        with closing(run(opened, unscored.texts(), workers, tell)) as found:
            for results in found:
                sent = unscored.sent.popleft()
                saved.put(sent.number, sent.texts, results)
                if progress is not None:
                    progress(sent.done, corpus.total)
        if saved.refused:
            some = "1 of these was" if saved.refused == 1 else f"{saved.refused} of these were"
            tell(
                f"{some} scanned again: the saved results were damaged, of an earlier version, or "
                f"of other texts"
            )
        if file_identity(given.source) != before:
            raise _changed(given)
        _write(given, corpus, saved, task, see)
        if keep is None:
            saved.remove()
        else:
            saved.keep({"kept": keep(), "results_only": given.results_only})
    remove_leftovers(given.output.parent)
    return None


class _SentBatch(NamedTuple):
    """A batch that was sent to the workers.

    Attributes:
        number: of the batch, from 0.
        texts: the digest of its texts.
        done: how much of the input has been read at its end.
    """

    number: int
    texts: bytes
    done: int


class _UnscoredBatches:
    """The batches without saved results.

    Attributes:
        sent: batches that were sent and have no results yet, oldest first.
    """

    def __init__(self, corpus: Corpus, saved: SavedBatches) -> None:
        self._corpus, self._saved = corpus, saved
        self.sent: deque[_SentBatch] = deque()

    def texts(self) -> Iterator[Sequence[CorpusText]]:
        for index, batch in enumerate(self._corpus.batches()):
            if not self._saved.holds(index, batch.digest):
                self.sent.append(_SentBatch(index, batch.digest, batch.done))
                yield batch.texts


def _write(
    given: Scan,
    corpus: Corpus,
    saved: SavedBatches,
    task: ScanTask,
    see: Callable[[int, Sequence[Any]], None],
) -> None:
    """Write the output from the rows and their saved results."""
    rows = 0
    with written_atomically(given.output, within=saved.folder) as file:
        writer = open_writer(
            given.output, file, corpus, task.result, results_only=given.results_only
        )
        try:
            for index, batch in enumerate(corpus.batches()):
                results = saved.get(index, batch.digest)
                if results is None:
                    raise _changed(given)
                see(rows, results)
                rows += len(results)
                writer.write(batch, results)
            writer.close()
        except BaseException:
            writer.abandon()
            raise


def _changed(given: Scan) -> InputFileError:
    return InputFileError(
        f"expected {given.source} and the saved results to stay as they are during the scan, "
        f"found a change; run the command again"
    )


def _require_regular(path: Path, what: str) -> None:
    # The output would replace a device, such as /dev/null, if this runs with the rights to do so.
    if os.path.exists(path) and not os.path.isfile(path):
        raise OutputFileError(
            f"expected {path} to be {what}, found something else; choose another name"
        )
