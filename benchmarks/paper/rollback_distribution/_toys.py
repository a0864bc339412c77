"""Models and tokenizers that are so small that all texts can be listed.

Two kinds of inconsistency:

- *permanent*: "a", "b" is read as "ab", whatever follows.
- *temporary*: "<" is read as "?" until a ">" closes it, as the bytes of a character are until it is
  complete. It may be observed for long, and some are never closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Ids = tuple[int, ...]
Kind = Literal["permanent", "temporary"]

PIECES: dict[Kind, tuple[str, ...]] = {"permanent": ("a", "b", "ab"), "temporary": ("<", ">", "?")}
_UNCLOSED = re.compile("<(?![^<]*>)")
_RARE_END = -2.0  # about one token in ten ends the text


@dataclass(frozen=True)
class Toy:
    """A model and its tokenizer. The token `end`, after the pieces, ends a text.

    The logits are normally distributed. They depend on the seed, the position and the last two
    tokens.

    Attributes:
        kind: of its inconsistencies.
        seed: of its logits.
        length: the most tokens of a text.
        caution: how much lower the logits of tokens are that make a consistent list inconsistent;
            a trained model seldom writes such tokens.
        choices: at how many positions there is a choice, besides the first one and the end of the
            text; None: at all of them. With few, long texts can be listed. With one at the first
            position, every algorithm writes tokens.
    """

    kind: Kind
    seed: int
    length: int
    caution: float = 0.0
    choices: int | None = None

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text of each token but `end`."""
        return PIECES[self.kind]

    @property
    def end(self) -> int:
        """The token that ends a text."""
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """The longest pieces first, from the left."""
        if self.kind == "temporary":
            text = _UNCLOSED.sub("?", text)
        ids: list[int] = []
        at = 0
        while at < len(text):
            found = [n for n, piece in enumerate(self.pieces) if text.startswith(piece, at)]
            ids.append(max(found, key=lambda n: len(self.pieces[n])))
            at += len(self.pieces[ids[-1]])
        return ids

    def is_consistent(self, ids: Sequence[int]) -> bool:
        """Whether the ids without `end` survive retokenization."""
        return self.encode("".join(self.pieces[n] for n in ids)) == list(ids)

    def is_mendable(self, ids: Sequence[int]) -> bool:
        """Whether the ids are consistent, or tokens after them can make them so.

        A perfect verifier knows it. One token is enough: ">" closes what can be closed.
        """
        longer = ([*ids, token] for token in range(self.end))
        return self.is_consistent(ids) or any(map(self.is_consistent, longer))

    def logits_after(self, ids: Sequence[int]) -> npt.NDArray[np.float64]:
        """float64[end + 1] after fewer than `length` ids."""
        rng = np.random.default_rng([self.seed, len(ids), *(n + 1 for n in ids[-2:])])
        logits = rng.normal(size=self.end + 1)
        logits[self.end] += _RARE_END
        if not self._is_choice(len(ids)):
            only = int(np.argmax(logits[: self.end]))
            logits[: self.end] = np.where(np.arange(self.end) == only, logits[: self.end], -np.inf)
        if self.caution and self.is_consistent(ids):
            for token in range(self.end):
                if not self.is_consistent([*ids, token]):
                    logits[token] -= self.caution
        return logits

    def _is_choice(self, position: int) -> bool:
        if self.choices is None or position == 0:
            return True
        order = np.random.default_rng([self.seed, 1 << 20]).permutation(self.length)
        return position in order[: self.choices]


def make_toys(seed: int) -> Iterator[Toy]:
    """The toys of one seed: of both kinds, with likely and with unlikely inconsistencies."""
    for caution in (0.0, 3.0):
        yield Toy("permanent", seed, length=7, caution=caution)
        yield Toy("temporary", seed, length=7, caution=caution)
        yield Toy("temporary", seed, length=24, caution=caution, choices=4)
