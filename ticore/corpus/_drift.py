"""The task of a scan for drift: do the ids of each rollout survive, and if not, why?"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple

from ..chat import Transcript, require_renderer
from ..consistency import Specials
from ..consistency._boundaries import specials_named
from ..consistency._causes import CAUSES, Cause
from ..consistency._drift import Drift, Ids
from ..consistency._drift_check import DriftCheck
from ..errors import SettingsError, TicoreError
from ..interfaces import ChatTemplate, Tokenizer
from ..registry import load_tokenizer
from ._base import CorpusText, Messages, Problem, Rollout
from ._columns import RolloutColumns
from ._scan import Scan, scan_one
from ._summary import first_error

_Reread = str | Ids | Transcript | None

MOST_EXAMPLES = 20
"""Of the worst rollouts that a summary holds."""


class DriftResult(NamedTuple):
    """The columns that a scan for drift adds. A row with an error has no other values.

    Attributes:
        drift_consistent: whether the ids survive.
        drift_cause: of the first difference, see `ticore.consistency.Difference`.
        drift_at, drift_character: where it is, in tokens and in characters of the text.
        drift_text, drift_text_again: what its ids spell.
        drift_ids, drift_again: these ids, with spaces between them.
        drift_tokens: how many ids the row has.
        drift_tokens_again: how many ids were read again.
        drift_sits, drift_cits: how many of them are inconsistent, see `ticore.compare`.
        drift_error: why the row could not be looked at.
    """

    drift_consistent: bool | None = None
    drift_cause: str | None = None
    drift_at: int | None = None
    drift_character: int | None = None
    drift_text: str | None = None
    drift_text_again: str | None = None
    drift_ids: str | None = None
    drift_again: str | None = None
    drift_tokens: int | None = None
    drift_tokens_again: int | None = None
    drift_sits: int | None = None
    drift_cits: int | None = None
    drift_error: str | None = None


class DriftExample(NamedTuple):
    """A rollout that drifts.

    Attributes:
        row: its number in the file, from 1.
        differing: how many tokens differ, |SIT| + |CIT|.
        result: the columns of the row.
        file: its name, where there are several.
    """

    row: int
    differing: int
    result: DriftResult
    file: str | None = None


@dataclass(frozen=True)
class DriftSummary:
    """What a scan for drift found.

    Attributes:
        rows: all rows.
        consistent, drifted, errors: rows of each kind.
        tokens, tokens_again: ids in all rows without an error, and ids that were read again.
        differing: source and consequential inconsistent tokens in all of them.
        causes: how many rows drift for each cause, all causes named.
        worst: the rows in which most tokens differ, the worst first; 20 at most.
        first_error: why the first row with an error could not be looked at.
    """

    rows: int
    consistent: int
    drifted: int
    errors: int
    tokens: int
    tokens_again: int
    differing: int
    causes: dict[Cause, int]
    worst: tuple[DriftExample, ...]
    first_error: str | None = None

    @property
    def rate(self) -> float:
        """The share of rows that drift, of those without an error; 0 if there are none."""
        looked_at = self.consistent + self.drifted
        return self.drifted / looked_at if looked_at else 0.0

    @property
    def token_rate(self) -> float:
        """The share of inconsistent tokens of both lists, as the paper's token level; 0 without."""
        both = self.tokens + self.tokens_again
        return self.differing / both if both else 0.0

    @classmethod
    def of(cls, parts: Mapping[str, DriftSummary]) -> DriftSummary:
        """The sum of several scans, by the names of their files."""
        summed = {name: sum(getattr(part, name) for part in parts.values()) for name in _COUNTS}
        worst = [one._replace(file=name) for name, part in parts.items() for one in part.worst]
        worst.sort(key=lambda one: -one.differing)  # the first of equals stays the first
        return cls(
            **summed,
            causes={cause: sum(part.causes[cause] for part in parts.values()) for cause in CAUSES},
            worst=tuple(worst[:MOST_EXAMPLES]),
            first_error=next((part.first_error for part in parts.values() if part.errors), None),
        )

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return asdict(self) | {
            "rate": self.rate,
            "token_rate": self.token_rate,
            "worst": [_example_values(one) for one in self.worst],
        }

    def kept(self) -> dict[str, Any]:
        """What `DriftTally.of_kept` needs, in types that JSON has."""
        return asdict(replace(self, worst=())) | {"worst": self.worst}


_COUNTS = ("rows", "consistent", "drifted", "errors", "tokens", "tokens_again", "differing")


def _example_values(one: DriftExample) -> dict[str, Any]:
    file = {} if one.file is None else {"file": one.file}
    return file | {"row": one.row, "differing": one.differing, **one.result._asdict()}


@dataclass(frozen=True)
class DriftTask:
    """With which tokenizer rollouts are compared. It is sent to every worker.

    Attributes:
        tokenizer: its place, which every worker must be able to open.
        specials: as for `ticore.compare`.
        template: writes the messages of each rollout; None where rollouts have none.
    """

    tokenizer: str
    specials: Specials = "gaps"
    template: ChatTemplate | None = None
    result: ClassVar = DriftResult

    def open(self) -> OpenedDriftTask:
        """Open the tokenizer.

        Raises:
            TicoreError: as `ticore.load_tokenizer`; or `specials` is unknown.
            MissingExtraError: there is a template, and the package jinja2 is not installed.
        """
        if self.template is not None:
            require_renderer()
        return OpenedDriftTask(load_tokenizer(self.tokenizer), specials_named(self.specials))

    def score(self, opened: OpenedDriftTask, texts: Sequence[CorpusText]) -> list[DriftResult]:
        """A result for each row, in order; one that cannot be looked at has an error."""
        rows = [*map(self._with_transcript, texts)]
        rollouts = [row for row in rows if isinstance(row, tuple)]
        answers = iter(opened.check.compare(*zip(*rollouts, strict=True)) if rollouts else ())
        return [
            _result(row[0], next(answers)) if isinstance(row, tuple) else _refused(row)
            for row in rows
        ]

    def _with_transcript(self, row: CorpusText) -> str | Problem | tuple[Ids, _Reread]:
        """The ids of a row and its `reread`, or what a row has that cannot be looked at."""
        if not isinstance(row, Rollout):
            return row
        if not isinstance(row.reread, Messages):
            return row.ids, row.reread
        try:
            assert self.template is not None  # as `scan_drift` requires
            return row.ids, Transcript(row.reread.messages, self.template, row.reread.tools)
        except TicoreError as error:
            return Problem(str(error))

    def tally(self) -> DriftTally:
        """Counts the results of a scan."""
        return DriftTally()

    def public_settings(self) -> dict[str, Any]:
        """All settings."""
        found = {"drift": 1, **asdict(self)}
        if self.template is None:
            del found["template"]  # a scan that an earlier version began goes on
        return found

    def depends_on(self, opened: OpenedDriftTask) -> list[object]:
        """The tokenizer, and the version of ticore."""
        return [opened.tokenizer.digest(), version("ticore")]

    def secret(self) -> bytes:
        """Nothing is secret."""
        return b""


@dataclass(frozen=True)
class OpenedDriftTask:
    """What a worker needs."""

    tokenizer: Tokenizer
    specials: Specials

    @cached_property
    def check(self) -> DriftCheck:
        """Made when the first rows come: the process that only writes needs none."""
        return DriftCheck(self.tokenizer, self.specials)


def scan_drift(
    given: Scan,
    task: DriftTask,
    *,
    executor: str = "processes",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> DriftSummary:
    """Look at every rollout and write the output, whole or not at all; as `scan` in all else.

    Args:
        given: what to scan; its `column` is a `RolloutColumns`.
        task: the tokenizer.
        executor, workers, progress, tell: as for `scan`.

    Returns:
        What was found.

    Raises:
        SettingsError: `given.column` names a column of texts, messages without a template, or
            tools without messages; or as `scan`.
        TicoreError: as `scan`.
    """
    if not isinstance(given.column, RolloutColumns):
        raise SettingsError(
            f"column: expected RolloutColumns(ids, reread), found {given.column!r}; texts have no "
            f"ids to compare"
        )
    if given.column.messages is not None and given.column.reread is not None:
        raise SettingsError(
            "column: expected a column of what was read again or one of messages, found both"
        )
    if given.column.messages is None and given.column.tools is not None:
        raise SettingsError(
            f"tools: expected a column of messages as well, found {given.column.tools!r} alone; "
            f"give RolloutColumns(messages=..., tools=...)"
        )
    if (given.column.messages is None) != (task.template is None):
        raise SettingsError(
            "expected a column of messages and a template that writes them, found one without the "
            "other; give RolloutColumns(messages=...) and DriftTask(template=...)"
        )
    return scan_one(given, task, executor, workers, progress, tell)


class DriftTally:
    """Counts results, and keeps the worst."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._causes: Counter[str | None] = Counter()
        self._worst: list[tuple[int, int, DriftResult]] = []
        self._first_error: str | None = None

    def see(self, before: int, results: Sequence[DriftResult]) -> None:
        """Count the results of a batch; `before` is the number of rows before it."""
        if self._first_error is None:
            self._first_error = first_error(before, (result.drift_error for result in results))
        for row, result in enumerate(results, before + 1):
            self._counts["rows"] += 1
            if result.drift_error is not None:
                self._counts["errors"] += 1
                continue
            self._counts["tokens"] += result.drift_tokens or 0
            self._counts["tokens_again"] += result.drift_tokens_again or 0
            if result.drift_consistent:
                continue
            differing = (result.drift_sits or 0) + (result.drift_cits or 0)
            self._counts["drifted"] += 1
            self._counts["differing"] += differing
            self._causes[result.drift_cause] += 1
            keep = heapq.heappushpop if len(self._worst) >= MOST_EXAMPLES else heapq.heappush
            keep(self._worst, (differing, -row, result))

    def summary(self) -> DriftSummary:
        """What was found in all batches so far."""
        counts = self._counts
        worst = sorted(self._worst, key=lambda one: (-one[0], -one[1]))
        return DriftSummary(
            rows=counts["rows"],
            consistent=counts["rows"] - counts["errors"] - counts["drifted"],
            drifted=counts["drifted"],
            errors=counts["errors"],
            tokens=counts["tokens"],
            tokens_again=counts["tokens_again"],
            differing=counts["differing"],
            causes={cause: self._causes[cause] for cause in CAUSES},
            worst=tuple(DriftExample(-row, count, result) for count, row, result in worst),
            first_error=self._first_error,
        )

    def of_kept(self, kept: Mapping[str, Any]) -> DriftSummary:
        """A summary as it was before `kept` and JSON."""
        worst = (
            DriftExample(row, differing, DriftResult(*result), file)
            for row, differing, result, file in kept["worst"]
        )
        return DriftSummary(**{**kept, "worst": tuple(worst)})


def _refused(row: str | Problem) -> DriftResult:
    return DriftResult(
        drift_error=row.error if isinstance(row, Problem) else "expected token ids, found text"
    )


def _result(ids: Ids, found: Drift | TicoreError | None) -> DriftResult:
    if found is None:
        return DriftResult(
            drift_consistent=True,
            drift_tokens=len(ids),
            drift_tokens_again=len(ids),
            drift_sits=0,
            drift_cits=0,
        )
    if isinstance(found, TicoreError):
        return DriftResult(drift_error=str(found))
    first = found.first
    return DriftResult(
        drift_consistent=False,
        drift_cause=found.cause,
        drift_at=found.at,
        drift_character=None if first is None else first.character,
        drift_text=None if first is None else first.text,
        drift_text_again=None if first is None else first.text_again,
        drift_ids=None if first is None else " ".join(map(str, first.ids)),
        drift_again=None if first is None else " ".join(map(str, first.again)),
        drift_tokens=found.tokens,
        drift_tokens_again=found.tokens_again,
        drift_sits=found.sits,
        drift_cits=found.cits,
    )
