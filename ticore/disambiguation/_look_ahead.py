"""Look-ahead: only tokens that no text can tell apart are chosen by shared random numbers.

    candidates    " the"  " there"  " a"    " the" begins " there", so the text cannot tell the two
                                            apart yet: the message chooses " the...", or " a"
    look ahead    " the": "re"  " man"      the model reads " the"; " there" is kept beside it
    candidates    " there"                  the message chooses again. Only the two ways to spell
                  " the" + "re"             " there" are one choice, where a shared random number
                  " the" + " man"           picks one of them

A *path* is the tokens of one way to go on. Paths that begin one another in bytes form a group, and
the message chooses a group by the probability of all its paths. All of them agree on the text up to
the end of the shortest. Of those that end there, which spell the same, a random number that both
sides share picks one, by their probabilities. The model reads it, and what can follow takes the
place of them all; the longer paths stay as they are.

Invariant: whatever was chosen, each path that is left has the probability that the model gives it,
in proportion to the others, on average over the shared numbers: the one that is picked takes over
the probability of those that spell the same, and is picked in proportion to its own. So tokens
follow the model exactly, as with SyncPool, but the message also chooses inside SyncPool's groups.

Source: the class LookAhead of <https://github.com/lxjf12138/stegtext-framework>, which rounds
probabilities to 12 decimal places; here they are integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from .._support.common_beginning import common_length
from .._support.shared_randomness import SharedRandomness
from ..candidates import PROB_BITS, Pool
from ._base import Choices, PromptContext
from ._fallback import keep_admitted
from ._mwis import keep_heaviest
from ._retokenizing import outside_pool, text_after_prompt
from ._spelling import SpelledSession, SpelledTexts

_DRAW_BITS = 128  # a draw, scaled to the mass of some paths, is uniform to 2^-128
_MASS_BITS = 96  # of all paths together; with fewer bits the least probable ones would be lost


class Path(NamedTuple):
    """One way to go on.

    Attributes:
        tokens: the path, from where the paths part.
        spelled: what it writes after the text so far.
        mass: its unnormalized probability.
    """

    tokens: tuple[int, ...]
    spelled: bytes
    mass: int


class Paths(NamedTuple):
    """All paths at one place of a text.

    Attributes:
        read: the tokens of the path that the model has read, which spells the text so far.
        mass: its unnormalized probability.
        longer: the other paths.
    """

    read: tuple[int, ...] = ()
    mass: int = 1
    longer: tuple[Path, ...] = ()

    def trimmed(self) -> Paths:
        """The same without what all paths begin with, and without bits that hardly matter."""
        every = [self.read, *(path.tokens for path in self.longer)]
        alike = common_length(min(every), max(every))
        total = self.mass + sum(path.mass for path in self.longer)
        excess = max(0, total.bit_length() - _MASS_BITS)
        longer = (Path(p.tokens[alike:], p.spelled, p.mass >> excess) for p in self.longer)
        return Paths(self.read[alike:], self.mass >> excess, tuple(longer))


@dataclass(frozen=True)
class PathChoices(Choices):
    """Choices that are groups of paths; `ids` has the last token of the path picked from each.

    Attributes:
        spelled: what each choice writes: the shortest text of its paths.
        after: the paths after each choice.
    """

    spelled: Sequence[bytes]
    after: Sequence[Paths]


class LookAhead:
    """A choice is a group of paths, and it writes what its shortest path spells.

    The random numbers need a key for this one text. That key depends on the nonce, with which the
    text itself begins. Until `share` is called, the choices are those of MWIS.

    Args:
        context: the prompt.
    """

    def __init__(self, context: PromptContext) -> None:
        self._texts = SpelledTexts(context)

    def start(self) -> LookAheadSession:
        return LookAheadSession(self._texts)

    def read(self, text: str) -> ReceivedPaths:
        return ReceivedPaths(text_after_prompt(self._texts.context, text).encode())


class LookAheadSession(SpelledSession):
    """A SharingSession and BranchingSession."""

    def __init__(self, texts: SpelledTexts) -> None:
        super().__init__(texts)
        self._paths = Paths()
        self._randomness: SharedRandomness | None = None
        self._step = 0

    def share(self, randomness: SharedRandomness) -> None:
        self._randomness = randomness

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> PathChoices:
        kept = keep_admitted(pool, outside, self.admits)
        if self._randomness is None:
            return self._tokens(keep_heaviest(kept, [self.spelling.forest]).kept)
        numbers = self._randomness.at(self._step)
        return grouped(self._paths, kept, self.spelling.tokens, numbers.take(_DRAW_BITS))

    def take(self, choices: Choices, index: int) -> tuple[int, Sequence[int]]:
        if not isinstance(choices, PathChoices):
            raise TypeError(f"expected choices of look-ahead, found {type(choices).__name__}")
        before, after = self._paths.read, choices.after[index]
        self._bytes += choices.spelled[index]
        self._paths = after.trimmed()
        self._step += 1
        alike = common_length(before, after.read)
        return len(before) - alike, after.read[alike:]

    def push(self, token: int) -> None:
        """Take a token that no other path begins with or spells."""
        super().push(token)
        self._paths = Paths()
        self._step += 1

    def _tokens(self, pool: Pool) -> PathChoices:
        """Each token is a choice."""
        plain, ids = Choices.of(pool), pool.ids.tolist()
        return PathChoices(
            plain.ids,
            plain.mass,
            plain.kept,
            plain.group,
            [self.spelling.tokens[token] for token in ids],
            [Paths(read=(*self._paths.read, token)) for token in ids],
        )


class ReceivedPaths:
    """A ReceivedText that is read byte by byte."""

    known_ids = None

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = self._step = 0

    @property
    def exhausted(self) -> bool:
        return self._at == len(self._data)

    def locate(self, choices: Choices) -> int:
        if not isinstance(choices, PathChoices):
            raise TypeError(f"expected choices of look-ahead, found {type(choices).__name__}")
        self._step += 1
        for index, spelled in enumerate(choices.spelled):
            if self._data.startswith(spelled, self._at):
                self._at += len(spelled)
                return index
        raise outside_pool(self._step)


def grouped(paths: Paths, pool: Pool, spell: Sequence[bytes], draw: int) -> PathChoices:
    """The groups of paths, each with the path that the draw picks.

    Args:
        paths: at this place.
        pool: the tokens that may follow the path that was read.
        spell: what each token writes.
        draw: a shared number of 128 bits. One serves all groups, as only one is chosen.
    """
    probs, ids = pool.unnormalized_probs.tolist(), pool.ids.tolist()
    whole = sum(probs)
    if not whole:  # none of the tokens has a probability to speak of
        probs, whole = [1] * len(ids), len(ids)
    every = [path._replace(mass=path.mass * whole) for path in paths.longer]
    held = len(every)
    every += [
        Path((*paths.read, token), spell[token], paths.mass * prob)
        for token, prob in zip(ids, probs, strict=True)
    ]
    groups = _groups(every)
    sums = [sum(every[place].mass for place in group) for group in groups]
    ranking = sorted(range(len(groups)), key=lambda n: (-sums[n], min(groups[n])))
    after, chosen = list[Paths](), np.empty(len(every), dtype=np.int64)
    for rank, n in enumerate(ranking):
        after.append(_after([every[place] for place in groups[n]], draw))
        chosen[groups[n]] = rank
    excess = max(0, (max(sums) - 1).bit_length() - PROB_BITS)
    return PathChoices(
        ids=np.array([each.read[-1] for each in after], dtype=np.int64),
        mass=np.array([sums[n] >> excess for n in ranking], dtype=np.int64),
        kept=pool,
        group=chosen[held:],
        spelled=[every[groups[n][0]].spelled for n in ranking],
        after=after,
    )


def _groups(paths: Sequence[Path]) -> list[list[int]]:
    """The places of the paths that begin one another, the shortest of each group first."""
    groups, root = list[list[int]](), None
    for place in sorted(range(len(paths)), key=lambda n: paths[n].spelled):  # a stable order
        if root is not None and paths[place].spelled.startswith(root):
            groups[-1].append(place)
        else:
            root = paths[place].spelled
            groups.append([place])
    return groups


def _after(group: Sequence[Path], draw: int) -> Paths:
    """The paths after a group was chosen, of which the first one is the shortest."""
    root = group[0].spelled
    same = [path for path in group if path.spelled == root]
    mass = sum(path.mass for path in same)
    target = draw * mass >> _DRAW_BITS
    through = accumulate(path.mass for path in same)
    picked = next((p for p, end in zip(same, through, strict=True) if target < end), same[0])
    longer = (
        path._replace(spelled=path.spelled[len(root) :]) for path in group if path.spelled != root
    )
    return Paths(picked.tokens, mass, tuple(longer))
