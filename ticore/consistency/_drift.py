"""How lists of ids drift, counted without their texts: only parts that change are read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import TicoreError
from ..interfaces import Tokenizer
from ._boundaries import parts as parts_of
from ._causes import Cause, Difference, first_difference
from ._compared_part import ComparedPart
from ._comparison import Comparison
from ._engines.list_check import ChangedPart, ListCheck

Ids = npt.NDArray[np.int64]


class Drift(NamedTuple):
    """How a list of ids differs from what is read again: a Comparison without text and spans.

    Attributes:
        tokens, tokens_again: how many ids each list has.
        sits, cits: how many of them are inconsistent, source and consequential ones.
        first: the first difference; None if the ids are the same, and only text is lost.
        lost_at: the position of the first id for unknown text; None if there is none.
    """

    tokens: int
    tokens_again: int
    sits: int
    cits: int
    first: Difference | None
    lost_at: int | None = None

    @classmethod
    def of(cls, found: Comparison) -> Drift:
        """That of a Comparison that is not consistent."""
        return cls(
            tokens=len(found.ids),
            tokens_again=len(found.again),
            sits=len(found.sits),
            cits=len(found.cits),
            first=found.first,
            lost_at=found.unknowns[0] if found.unknowns else None,
        )

    @property
    def cause(self) -> Cause:
        """The cause of the first difference; lost text counts as `normalizer`."""
        return "normalizer" if self.first is None else self.first.cause

    @property
    def at(self) -> int | None:
        """The position of the first id that differs or stands for lost text."""
        return self.lost_at if self.first is None else self.first.at


def drifts_by_parts(
    tokenizer: Tokenizer, check: ListCheck, lists: Sequence[Ids]
) -> dict[int, Drift | None]:
    """The lists that do not survive, by their position, and how each drifts.

    None: it must be compared as a whole. It holds unknown text, or a text that cannot be read, or
    what the check took for changed is read as the same ids.
    """
    changed = check.changed_parts(lists)
    ids: dict[int, list[int]] = {n: lists[n].tolist() for n in {part.number for part in changed}}
    cut = [ids[part.number][part.start : part.stop] for part in changed]
    texts = [*map(check.decode, cut)]
    try:
        again = tokenizer.encode_batch(texts)
    except TicoreError:  # one of the texts cannot be read
        return dict.fromkeys(ids)
    special = tokenizer.special_ids
    lossy = {
        part.number for part, here in zip(changed, cut, strict=True) if not special.isdisjoint(here)
    }
    compared = [ComparedPart.of(tokenizer, *one) for one in zip(cut, texts, again, strict=True)]
    pairs = zip(changed, compared, strict=True)
    return {
        n: None if n in lossy else _drift(tokenizer, ids[n], parts)
        for n, parts in groupby(pairs, key=lambda pair: pair[0].number)
    }


def _drift(
    tokenizer: Tokenizer, ids: list[int], parts: Iterable[tuple[ChangedPart, ComparedPart]]
) -> Drift | None:
    again, sits, cits, at = list[int](), 0, 0, 0
    changed = list(parts)
    for place, part in changed:
        again += ids[at : place.start]
        again += part.again
        at = place.stop
        sits += len(part.sits())
        cits += len(part.cits())
    again += ids[at:]
    if again == ids:
        return None
    place, part = next(each for each in changed if each[1].again != each[1].ids)
    before = sum(
        len(tokenizer.decode(ids[each.start : each.stop]))
        for each in parts_of(ids[: place.start], tokenizer.special_ids)
        if each
    )
    first = first_difference(
        tokenizer,
        ids,
        again,
        is_read=True,
        character_of=lambda at: before + part.first_character(at - place.start),
    )
    return Drift(len(ids), len(again), sits, cits, first)
