"""Many jobs at once: one forward pass reads the next id of each, and a job that ends makes room.

    row 0   "The morning was c|"    reads "old"
    row 1   "It was l|"             reads "ate"
    row 2   has ended: dropped, and the next job's prompt is read in a row of its own

Each job decides by itself, as if there were no other. What it returns or raises is its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from ..backend_kit._reading import RowDecoder, start_batch
from ..errors import TicoreError
from ..interfaces import Decoder, GrowingBatchDecoder, LanguageModel
from ._jobs import Job, NewText, decoder_of_its_own

T = TypeVar("T")


def run_together(
    model: LanguageModel, jobs: Sequence[Job[T]], batch_size: int
) -> list[T | TicoreError]:
    """Serve jobs with the rows of a batch.

    Args:
        model: any; one that cannot read several texts in a pass reads them one after the other.
        jobs: what to run.
        batch_size: how many at a time, at least 1.

    Returns:
        For each job what it returned, or the error that it raised.
    """
    rows = _Rows(model)
    results: dict[int, T | TicoreError] = {}
    waiting = ((number, _Running(model, job)) for number, job in enumerate(jobs))
    running: dict[int, _Running[T]] = {}
    while True:
        running |= islice(waiting, batch_size - len(running))
        for number, job in list(running.items()):
            job.go_on(rows)
            if job.results:
                (results[number],) = running.pop(number).results
        if not running and len(results) == len(jobs):
            return [results[number] for number in range(len(jobs))]
        # First the pass, then the new texts: those go on before the next pass.
        rows.read(
            {
                job.row: job.unread
                for job in running.values()
                if job.row is not None and job.unread is not None
            }
        )
        rows.begin([job for job in running.values() if job.wanted is not None])


class _Running(Generic[T]):
    """A job that is served.

    Attributes:
        row: of its text, if it has one.
        unread: the id that has to be read in this row before the job goes on, if any.
        wanted: the text that has to begin before the job goes on, if any.
        results: what the job returned or raised; empty while it runs.
    """

    def __init__(self, model: LanguageModel, job: Job[T]) -> None:
        self._model = model
        self._job = job
        self._answer: Decoder | None = None
        self._own: Decoder | None = None  # in place of a row
        self.row: int | None = None
        self.unread: int | None = None
        self.wanted: NewText | None = None
        self.results: list[T | TicoreError] = []

    def begin(self, row: int, decoder: Decoder) -> None:
        """Answer what was `wanted`."""
        self.row, self.wanted, self._answer = row, None, decoder

    def go_on(self, rows: _Rows) -> None:
        """Run until a pass or a row is needed, or to the end.

        What was needed before has been done, but for a text that is still `wanted`.
        """
        if self.wanted is not None:
            return
        self.unread = None
        try:
            while self.unread is None and self.wanted is None:
                self._ask_for(self._job.send(self._answer), rows)
        except StopIteration as end:
            self._end(end.value, rows)
        except TicoreError as error:
            self._end(error, rows)

    def _ask_for(self, request: NewText | int, rows: _Rows) -> None:
        """Do what needs no row, and note what does."""
        self._answer = None
        if isinstance(request, NewText):
            self._drop(rows)
            self._answer = self._own = decoder_of_its_own(self._model, request)
            self.wanted = None if self._own else request
        elif self._own is not None:
            self._own.push(request)
        else:
            self.unread = request

    def _end(self, result: T | TicoreError, rows: _Rows) -> None:
        self.results.append(result)
        self._drop(rows)

    def _drop(self, rows: _Rows) -> None:
        if self.row is not None:
            rows.drop(self.row)
        self.row = self._own = None


class _Rows:
    """The rows of a batch; if it cannot take further ones, of one batch after the other."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._batch = start_batch(model, [], rewindable=0)
        self._live: set[int] = set()

    def begin(self, jobs: Sequence[_Running[T]]) -> None:
        """Read the texts that jobs want to begin, where that is possible now."""
        if not jobs:
            return
        batch = self._batch
        if isinstance(batch, GrowingBatchDecoder) and batch.grows:
            begun = [batch.add(prompt) for prompt in _prompts(jobs)]
        elif not self._live:
            self._batch = start_batch(self._model, _prompts(jobs), rewindable=0)
            begun = list(range(len(jobs)))
        else:
            return
        self._live.update(begun)
        for job, row in zip(jobs, begun, strict=True):
            job.begin(row, RowDecoder(self._batch, row))

    def read(self, tokens: Mapping[int, int]) -> None:
        """Read one id in each of these rows."""
        self._batch.push(tokens)

    def drop(self, row: int) -> None:
        """Free a row."""
        self._batch.drop(row)
        self._live.remove(row)


def _prompts(jobs: Sequence[_Running[T]]) -> list[Sequence[int]]:
    return [job.wanted.prompt_ids for job in jobs if job.wanted is not None]
