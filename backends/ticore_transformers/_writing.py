"""Many texts written together: one call chooses a token for all of them, one pass reads it.

each text that has nothing to read gets a token; it commits it, keeps it pending, or takes
tokens back, and then gets another one from the logits that it returns to
each text has a token to read now, or has ended
one pass reads these tokens; this is repeated
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from transformers import StoppingCriteriaList

from ._choosing import Chooser
from ._sequences import Sequences, by_length
from ._text import GeneratedText


class Reader(Protocol):
    """What reads tokens for all rows."""

    def push(self, tokens: Mapping[int, int]) -> None:
        """Read one id in each of these rows."""
        ...

    def drop(self, row: int) -> None:
        """Forget a row."""
        ...


def write(
    texts: Sequence[GeneratedText],
    chooser: Chooser,
    reader: Reader,
    criteria: StoppingCriteriaList,
    sequences: Sequences,
) -> None:
    """Write all texts to their ends.

    Args:
        texts: one for each row.
        chooser: of the same texts.
        reader: feeds their decoders.
        criteria: asked about each text whenever tokens of it are committed.
        sequences: the ids of the rows.

    Raises:
        CapacityError: no token is left for a text.
    """
    going = list(texts)
    while going:
        _choose_what_to_read(going, chooser, criteria, sequences)
        reading = {}
        for text in going:
            text.show()
            token = None if text.ended else text.rollback.next_read()
            if token is None:
                reader.drop(text.row)
            else:
                reading[text.row] = token
        going = [text for text in going if not text.ended]
        reader.push(reading)


def _choose_what_to_read(
    texts: Sequence[GeneratedText],
    chooser: Chooser,
    criteria: StoppingCriteriaList,
    sequences: Sequences,
) -> None:
    """Choose until each text has a token to read, or has ended."""
    again = False
    while texts:
        ready = _ready(texts, chooser)
        if ready:
            tokens = chooser.choose(ready, again)
            pairs = zip(ready, tokens, strict=True)
            _stop([text for text, token in pairs if text.take(token)], criteria, sequences)
        texts = [text for text in texts if not (text.ended or text.rollback.has_unread)]
        again = True


def _ready(texts: Sequence[GeneratedText], chooser: Chooser) -> list[GeneratedText]:
    """Those of these texts that need a choice; the others go back, or end."""
    some_banned = [text for text in texts if text.banned]
    left = dict(zip(some_banned, chooser.any_left(some_banned), strict=True)) if some_banned else {}
    return [text for text in texts if text.rollback.needs_choice(left.get(text, True))]


def _stop(
    texts: Sequence[GeneratedText], criteria: StoppingCriteriaList, sequences: Sequences
) -> None:
    """Stop those of these texts that the criteria want to stop."""
    for length, places in by_length([len(text.ids) for text in texts]):
        same = [texts[place] for place in places]
        ids = sequences.of([text.row for text in same], length)
        stopped: torch.Tensor = criteria(ids, None)
        for text, stop in zip(same, stopped.expand(len(same)).tolist(), strict=True):
            if stop:
                text.stop()
