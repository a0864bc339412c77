"""Which of many rollouts drift, and why: the fast way for a whole corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..chat import Transcript
from ..errors import PromptError, TicoreError
from ..interfaces import Tokenizer
from ._boundaries import Specials, boundary_ids
from ._comparison import compare, compare_batch
from ._drift import Drift, Ids, drifts_by_parts
from ._engines.list_check import ListCheck, list_check
from ._transcripts import read_transcripts
from ._unsupported import Unsupported


class DriftCheck:
    """Compares many lists of ids with what is read again. Use one per thread.

    Args:
        tokenizer: the receiver's.
        specials: as for `compare`.

    Attributes:
        why: why lists are encoded again one by one, where nothing else was read; empty if most of
            them are looked up in tables.
    """

    def __init__(self, tokenizer: Tokenizer, specials: Specials = "gaps") -> None:
        self._tokenizer, self._specials = tokenizer, specials
        self._lossy = [*tokenizer.special_ids - boundary_ids(tokenizer)]
        self._check: ListCheck | None = None
        self.why = ""
        try:
            if specials != "gaps":
                raise Unsupported("special tokens are read in the text")
            self._check = list_check(tokenizer)
        except Unsupported as why:
            self.why = str(why)

    def compare(
        self, lists: Sequence[Ids], rereads: Sequence[str | Ids | Transcript | None]
    ) -> list[Drift | TicoreError | None]:
        """For each list None if it is consistent, else its Drift, or an error.

        Args:
            lists: ids that were sampled.
            rereads: for each its `reread`, as for `compare`; None: its text is read.

        Raises:
            MissingExtraError: there is a transcript, and the package jinja2 is not installed.
        """
        found: list[Drift | TicoreError | None] = [None] * len(lists)
        plain = [n for n, reread in enumerate(rereads) if reread is None]
        for n, answer in zip(plain, self._plain([lists[n] for n in plain]), strict=True):
            found[n] = answer
        written = read_transcripts(self._tokenizer, lists, rereads)
        for n, reread in enumerate(rereads):
            read = written[n] if isinstance(reread, Transcript) else reread
            if isinstance(read, PromptError):
                found[n] = read
            elif read is not None:
                found[n] = self._reread(lists[n], read)
        return found

    def _plain(self, lists: list[Ids]) -> list[Drift | TicoreError | None]:
        found: list[Drift | TicoreError | None] = [None] * len(lists)
        whole = set(range(len(lists)))  # to be compared in full
        if self._check is not None:
            size = self._tokenizer.vocab_size
            known = [n for n, ids in enumerate(lists) if _all_below(ids, size)]
            whole.difference_update(known)
            drifts = drifts_by_parts(self._tokenizer, self._check, [lists[n] for n in known])
            for place, drift in drifts.items():
                found[known[place]] = drift
                if drift is None:
                    whole.add(known[place])
        rest = sorted(whole)
        answers = compare_batch(
            self._tokenizer, [lists[n].tolist() for n in rest], specials=self._specials
        )
        for n, answer in zip(rest, answers, strict=True):
            if isinstance(answer, TicoreError):
                found[n] = answer
            elif not answer.consistent:
                found[n] = Drift.of(answer)
        return found

    def _reread(self, ids: Ids, reread: str | Ids | list[int]) -> Drift | TicoreError | None:
        if not isinstance(reread, str) and np.array_equal(ids, reread) and self._loses_none(ids):
            return None
        read = reread.tolist() if isinstance(reread, np.ndarray) else reread
        try:
            found = compare(self._tokenizer, ids.tolist(), reread=read)
        except TicoreError as error:
            return error
        return None if found.consistent else Drift.of(found)

    def _loses_none(self, ids: Ids) -> bool:
        """Whether all of these are ids of the tokenizer, and none stands for unknown text."""
        return _all_below(ids, self._tokenizer.vocab_size) and not np.isin(ids, self._lossy).any()


def _all_below(ids: Ids, size: int) -> bool:
    return not len(ids) or (int(ids.min()) >= 0 and int(ids.max()) < size)
