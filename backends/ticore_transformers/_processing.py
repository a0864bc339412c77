"""The logits processors of `generate`, applied to the rows of a batch that are not in step.

After a rollback a text is shorter than its neighbours. Processors take ids int64[rows, n], where
all rows are equally long. So those that read ids are called with the rows of each length by
themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any

import torch
from transformers import LogitsProcessorList
from transformers.generation import logits_process as of_transformers

from ._sequences import Sequences, by_length

# What they do to scores does not depend on the ids, nor on the row.
_READ_NO_IDS = (
    of_transformers.EpsilonLogitsWarper,
    of_transformers.EtaLogitsWarper,
    of_transformers.InfNanRemoveLogitsProcessor,
    of_transformers.LogitNormalization,
    of_transformers.MinPLogitsWarper,
    of_transformers.SuppressTokensLogitsProcessor,
    of_transformers.TemperatureLogitsWarper,
    of_transformers.TopHLogitsWarper,
    of_transformers.TopKLogitsWarper,
    of_transformers.TopPLogitsWarper,
    of_transformers.TypicalLogitsWarper,
)


class RowProcessors:
    """The processors, called as `generate` would for each row.

    Most compute from scores and ids alone. SynthID's remembers in `state` what it was called with:
    before each call it gets the state that belongs to this row. The state before each token is
    kept, and is restored if the token is taken back. A prefix function is told the number of the
    row. With one of these, rows are processed one by one. A repetition penalty may hold how many
    ids it ignores of each row, its padding: it is called with the numbers of these rows.

    Args:
        processors: of transformers.
        sequences: the ids of the rows.

    Attributes:
        may_keep: whether a processor may look at scores of earlier calls.
    """

    def __init__(self, processors: LogitsProcessorList, sequences: Sequences) -> None:
        self._processors = processors
        self._sequences = sequences
        self._stateful = [processor for processor in processors if hasattr(processor, "state")]
        self._states: dict[int, _States] = {}
        self._read_no_ids = all(type(processor) in _READ_NO_IDS for processor in processors)
        self.may_keep = not self._read_no_ids
        self._one_by_one = bool(self._stateful) or any(map(_is_prefix_function, processors))

    def __call__(self, scores: torch.Tensor, rows: Sequence[int], lengths: Sequence[int]) -> Any:
        """The processed scores float[len(rows), width].

        Args:
            scores: float32[len(rows), width]; may be changed.
            rows: which rows of the batch they belong to.
            lengths: how many tokens each of their texts has.
        """
        if self._one_by_one:
            each = zip(scores, rows, lengths, strict=True)
            return torch.cat([self._of_row(*one) for one in each])
        if self._read_no_ids:  # then ids that do not belong to it do no harm
            return self._processors(self._sequences.of(rows, 0), scores)
        groups = by_length(lengths)
        if len(groups) == 1:
            return self._of_equal(scores, rows, lengths[0])
        found = torch.empty_like(scores)
        for length, places in groups:
            of_length = [rows[place] for place in places]
            found[places] = self._of_equal(scores[places], of_length, length)
        return found

    def _of_equal(self, scores: torch.Tensor, rows: Sequence[int], length: int) -> Any:
        """The processed scores of rows whose texts have this length."""
        processors = LogitsProcessorList(
            _for_rows(processor, rows) for processor in self._processors
        )
        return processors(self._sequences.of(rows, length), scores)

    def _of_row(self, scores: torch.Tensor, row: int, length: int) -> Any:
        states = self._states.setdefault(row, _States(len(self._stateful)))
        for processor, state in zip(self._stateful, states.at(length), strict=True):
            processor.state = state
        found = self._of_equal(scores[None], [row], length)
        states.last = [processor.state for processor in self._stateful]
        return found


class _States:
    """What the stateful processors of one row knew before each of its tokens."""

    def __init__(self, count: int) -> None:
        self._before: list[list[Any]] = []
        self.last: list[Any] = [None] * count

    def at(self, length: int) -> list[Any]:
        """What they knew when they were called at this length before; else what they know now."""
        states = self._before[length] if length < len(self._before) else self.last
        del self._before[length:]
        self._before.append(deepcopy(states))
        return states


def _is_prefix_function(processor: Any) -> bool:
    return isinstance(processor, of_transformers.PrefixConstrainedLogitsProcessor)


def _for_rows(processor: Any, rows: Sequence[int]) -> Any:
    """The processor as it is called with these rows; with one row if it has a prefix function."""
    if _is_prefix_function(processor):
        return _numbered(processor, rows[0])
    ignored = getattr(processor, "prompt_ignore_length", None)
    if isinstance(ignored, torch.Tensor) and list(rows) != list(range(len(ignored))):
        return _ignoring(processor, ignored[list(rows)])
    return processor


def _numbered(processor: Any, row: int) -> Any:
    """The same for one row, whose number the function is told."""

    def allowed(_: int, ids: torch.Tensor) -> list[int]:
        return list(processor._prefix_allowed_tokens_fn(row, ids))

    return of_transformers.PrefixConstrainedLogitsProcessor(allowed, 1)


def _ignoring(processor: Any, lengths: torch.Tensor) -> Any:
    """The same for some rows, whose first `lengths` ids it ignores; ids hold the padding, too."""
    of_rows = copy(processor)
    of_rows.prompt_ignore_length = lengths
    return of_rows
