"""What a table answers, with one bit per token, and how an engine keeps it.

Lists that end alike differ in their last tokens alone. So a table's answers are made of rows that
many lists share: two rows for the end of the text, and one for the last token (`token_pairs`). With
the tokens "un" and "do", which merge, and " it":

    after "... un"       do      it
    yes                   0       1      the text is split before " it", whatever stands there
    if_unmerged           1       0      "do" would go on with the same part
    un: unmerged          0       .      and merges with "un"
    the answers           0       1      yes | (if_unmerged & unmerged)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...._support.packed_bits import Words, has_bit, pack, set_bit, take_bits
from ..._arrays import Bools, Ids
from .token_pairs import ChangedWords, TokenPairs


class AnswerRows(NamedTuple):
    """Answers after lists that end alike. Not to be changed.

    Attributes:
        yes: the tokens that may follow, whatever the last token is.
        if_unmerged: those that may follow if the last token does not merge with them; None where
            no token is of this kind.
        either: both.
    """

    yes: Words
    if_unmerged: Words | None
    either: Words


def answer_rows(yes: Bools, if_unmerged: Bools | None = None) -> AnswerRows:
    """The rows of answers about every id: bool[vocab_size]."""
    row = pack(yes)
    if if_unmerged is None or not if_unmerged.any():
        return AnswerRows(row, None, row)
    other = pack(if_unmerged)
    return AnswerRows(row, other, row | other)


def with_tokens(rows: AnswerRows, tokens: Sequence[int]) -> AnswerRows:
    """The same rows, where some more tokens may follow whatever the last token is."""
    yes, either = rows.yes.copy(), rows.either.copy()
    for token in tokens:
        set_bit(yes, token, True)
        set_bit(either, token, True)
    return AnswerRows(yes, rows.if_unmerged, either)


class TableAnswers(NamedTuple):
    """A table's answers after one list.

    Attributes:
        rows: of the list's end.
        last: the last token; -1 if there is none, then `rows.if_unmerged` admits nothing.
        also: more tokens that may follow, about which the tokenizer was asked.
    """

    rows: AnswerRows
    last: int = -1
    also: tuple[int, ...] = ()

    def write(self, unmerged: Words | ChangedWords | None, out: Words) -> None:
        """Write the answers for all ids, one bit each.

        Args:
            unmerged: the row of the last token; None if there is none.
            out: uint32[word_count(vocab_size)].
        """
        yes, if_unmerged, either = self.rows
        if if_unmerged is None or unmerged is None:
            out[:] = yes
        elif isinstance(unmerged, ChangedWords):
            at, words = unmerged
            out[:] = either
            changed = if_unmerged.take(at)
            changed &= words
            changed |= yes.take(at)
            out[at] = changed
        else:
            np.bitwise_and(if_unmerged, unmerged, out=out)
            np.bitwise_or(out, yes, out=out)
        for token in self.also:
            set_bit(out, token, True)

    def take(self, pairs: TokenPairs, candidates: Ids) -> Bools:
        """The answers about some ids: bool[n]."""
        yes, if_unmerged, _ = self.rows
        answers = take_bits(yes, candidates)
        if if_unmerged is not None and self.last >= 0:
            unmerged = take_bits(pairs.packed_unmerged_after(self.last), candidates)
            answers |= take_bits(if_unmerged, candidates) & unmerged
        for token in self.also:
            answers[candidates == token] = True
        return answers


def answer_of(rows: AnswerRows, pairs: TokenPairs, last: int, token: int) -> bool:
    """The answer about one id, without the row of the last token."""
    if has_bit(rows.yes, token):
        return True
    return (
        rows.if_unmerged is not None
        and last >= 0
        and has_bit(rows.if_unmerged, token)
        and pairs.do_not_merge(last, token)
    )
