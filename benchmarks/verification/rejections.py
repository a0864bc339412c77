"""How much of real text each mode forbids.

At every place i of ids = encode(text): may a text begin with ids[:i+1], as the mode has it? Where
not, the true token is *rejected* there, whatever came before. A writer that is kept to the mode
first meets such a place from a list which is still admissible: there he is *turned away*.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ticore.consistency import Mode, Verifier
from ticore.interfaces import Tokenizer

from .plan import CHARACTERS_A_TOKEN
from .texts import Texts, passage

_PASSAGE = 500  # tokens


@dataclass
class Count:
    """Places of some text, and at how many of them the mode says no.

    Attributes:
        places: tokens looked at.
        rejected: those with which no text may begin, given the tokens before them.
        asked: tokens whose list before them is admissible.
        turned_away: those of `asked` that are rejected.
        passages, clean: stretches of text, and those in which nothing is rejected.
    """

    places: int = 0
    rejected: int = 0
    asked: int = 0
    turned_away: int = 0
    passages: int = 0
    clean: int = 0

    def add(self, verifier: Verifier, ids: Sequence[int]) -> None:
        """Count one passage."""
        verification, before = verifier.start(), self.rejected
        for token in ids:
            was_admissible = verification.admissible
            verification.push(token)
            rejected = not verification.admissible
            self.places += 1
            self.rejected += rejected
            self.asked += was_admissible
            self.turned_away += was_admissible and rejected
        self.passages += 1
        self.clean += self.rejected == before


def rejections(
    tokenizer: Tokenizer, modes: Iterable[Mode], texts: Texts, places: int, seed: int
) -> Iterator[dict[str, Any]]:
    """A row for each mode and text, `places` tokens long."""
    for mode in modes:
        verifier = Verifier(tokenizer, mode)
        for label, text in texts.items():
            draw = random.Random(f"{seed} {label}")
            count = Count()
            while count.places < places:
                length = min(_PASSAGE, places - count.places)
                ids = tokenizer.encode(passage(text, CHARACTERS_A_TOKEN * length, draw))
                count.add(verifier, ids[:length])
            yield {"mode": mode, "text": label, "rung": verifier.rung, **asdict(count)}
