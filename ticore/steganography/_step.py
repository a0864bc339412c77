"""One step of a text, the same for writer and reader: what may come next, and with what weights.

The two loops over these steps are in `_embedding` (the writer's) and `_extraction` (the reader's).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from .._support.shared_randomness import SharedRandomness
from ..candidates import Candidates, Ints, Pool, to_weights
from ..channels import PassingText
from ..disambiguation import BranchingSession, Choices, Session, SharingSession
from ..errors import CapacityError
from ..interfaces import Decoder, Logits
from ._jobs import Job, NewText, begin_text
from ._window import Window

_MOST_KEPT = 1 << 20  # candidates of known steps, in 64 MB

Follower = Callable[[str], None]
"""`f(text)`: sees the text so far, after each token, without a character whose last byte is still
to come. A text that is begun again is shorter then."""


@dataclass(frozen=True)
class Step:
    """One position of a text. Valid until the text goes on.

    Attributes:
        pool: the candidates, before those are dropped that the channel would change or that
            disambiguation drops.
        choices: what the codec chooses from.
        weights: int64[n], the integer weights of the choices.
    """

    pool: Pool
    choices: Choices
    weights: Ints
    _candidates: Candidates
    _decoder: Decoder
    _used_fallback: bool

    @property
    def logits(self) -> Logits:
        """Logits float[logit_width] of the model. They may have to be fetched from a device."""
        return self._decoder.logits()

    @property
    def kl_filter(self) -> float:
        """The cost of channel and disambiguation: the divergence of what they keep, in bits.

        -log2 of the share of the candidates' probability that was kept. It is 0 where no candidate
        was kept and a token from outside takes their place, which no finite number describes.
        """
        before, after = self.pool, self.choices.kept
        if self._used_fallback:
            after = after.keep(np.isin(after.ids, before.ids))
        return divergence(before, after) if 0 < len(after) < len(before) else 0.0

    @property
    def chance_of_end(self) -> float:
        """The probability that the model, sampled freely, would end its text here."""
        return self._candidates.chance_of_end(self.logits, self.pool)

    def token(self, index: int) -> int:
        """The token id that choice `index` writes."""
        return int(self.choices.ids[index])

    def is_stable_within(self, tolerance: float) -> bool:
        """Whether a reader whose logits differ by at most `tolerance` has the same choices."""
        return self._candidates.stable_within(
            self.logits, tolerance, with_remaining=self._used_fallback
        )


class OutrunError(Exception):
    """The text being written has become as long as another one that was written already."""


class KnownSteps:
    """The steps of a text that was read, for other texts that begin with the same tokens."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._steps: list[Step] = []
        self._size = 0

    def after(self, ids: Sequence[int]) -> Step | None:
        """The step after these tokens, if it was added."""
        known = len(ids) < len(self._steps) and self._ids[: len(ids)] == ids
        return self._steps[len(ids)] if known else None

    def newest_first(self) -> Iterator[tuple[list[int], Step]]:
        """Each step with the tokens before it, from the last one back."""
        for n in reversed(range(len(self._steps))):
            yield self._ids[:n], self._steps[n]

    def add(self, ids: Sequence[int], step: Step) -> None:
        """Keep the step after these tokens, if it goes on where the last one was added."""
        goes_on = len(ids) == len(self._steps) and ids[: len(self._ids)] == self._ids
        if goes_on and self._size + len(step.pool) <= _MOST_KEPT:
            self._ids = list(ids)
            self._steps.append(step)
            self._size += len(step.pool)


class TextState:
    """A text that grows: the states of the model and of the disambiguation after the same token.

    Args:
        decoder: has read the prompt.
        candidates: of the decoder's model.
        session: of a text that begins with the same prompt.
        passing: of a text that begins with the prompt, if that is sent.
        room: how many tokens the text can have after the prompt.
        window: what the model sees before each token; None: all of the text.
        known: steps that need not be taken again; new ones are added.
        follower: see `Follower`.
        rival: the length in tokens of another text, before which this one must end; None: no other.

    Attributes:
        ids: the tokens after the prompt.
        room: as given.
        most_choices: an upper bound of a pool's size.
    """

    def __init__(
        self,
        decoder: Decoder,
        candidates: Candidates,
        session: Session,
        passing: PassingText,
        room: int,
        window: Window | None = None,
        known: KnownSteps | None = None,
        follower: Follower | None = None,
        rival: int | None = None,
    ) -> None:
        self.room = room
        self.most_choices = candidates.max_pool_size
        self._decoder = decoder
        self._candidates = candidates
        self._session = session
        self._passing = passing
        self._window = window
        # Tokens alone do not tell the step where some are taken back.
        self._known = None if isinstance(session, BranchingSession) else known
        self._unread: list[int] = []
        self._taken_back = 0
        self._passed = [passing]  # after each token, where tokens may be taken back
        self._follower = follower
        self._rival = rival
        self.ids: list[int] = []

    @property
    def is_full(self) -> bool:
        """Whether the model's context has no room for another token."""
        return len(self.ids) >= self.room

    def next_step(self) -> Job[Step]:
        """What may come next. The model reads the last token not before this is asked.

        Raises:
            CapacityError: nothing can, or the context is full.
        """
        if self.is_full:
            raise CapacityError(
                f"the model's context is full after {len(self.ids)} tokens; "
                f"send a shorter message or use a model with a longer context"
            )
        if self._known is not None and (step := self._known.after(self.ids)) is not None:
            return step
        yield from self._read()
        step = step_after(self._decoder, self._candidates, self._passing, self._session)
        if self._known is not None:
            self._known.add(self.ids, step)
        return step

    def _read(self) -> Job[None]:
        """Have the model read what it has not."""
        if self._window is None:
            if self._taken_back:
                self._decoder.rewind(self._taken_back)
                self._taken_back = 0
            yield from self._unread
        elif self._unread:
            self._decoder = yield from begin_text(NewText(self._window.before(self.ids)))
        self._unread.clear()

    def share(self, randomness: SharedRandomness) -> None:
        """Give the disambiguation the random numbers that both sides share, if it uses any."""
        if isinstance(self._session, SharingSession):
            self._session.share(randomness)

    def take(self, step: Step, index: int) -> None:
        """Go on with a choice of the last step. Raises OutrunError as `push`."""
        session = self._session
        if not isinstance(session, BranchingSession):
            return self.push(step.token(index))
        back, tokens = session.take(step.choices, index)
        kept = len(self.ids) - back
        if self._rival is not None and kept + len(tokens) >= self._rival:
            raise OutrunError
        self._taken_back, self._unread = back, list(tokens)
        del self.ids[kept:], self._passed[kept + 1 :]
        for token in tokens:
            passing = self._passed[-1].fork()
            passing.push(token)
            self._passed.append(passing)
            self.ids.append(token)
        self._passing = self._passed[-1]
        self._tell_follower()

    def push(self, token: int) -> None:
        """Go on with `token`. Raises OutrunError where that makes the text as long as its rival."""
        if self._rival is not None and len(self.ids) + 1 >= self._rival:
            raise OutrunError
        self._unread.append(token)
        self._session.push(token)
        self._passing.push(token)
        self.ids.append(token)
        self._tell_follower()

    def text(self) -> str:
        """The text so far."""
        return self._session.text()

    def _tell_follower(self) -> None:
        if self._follower is not None:
            # An unfinished character stands as U+FFFD at the end until its last byte comes.
            self._follower(self.text().rstrip("\ufffd"))

    def may_end(self) -> bool:
        """Whether the text can be read if it ends here; it cannot inside a character."""
        return self._session.may_end() and self._passing.may_end()


def step_after(
    decoder: Decoder, candidates: Candidates, passing: PassingText, session: Session
) -> Step:
    """What may come after the text that all of these are at.

    Args:
        decoder, candidates, passing, session: see `TextState`.

    Raises:
        CapacityError: nothing can.
    """
    pool = candidates.after(decoder)
    used_fallback = False

    def left_alone(pool: Pool) -> Pool:
        """Those tokens after which the channel leaves the text alone."""
        kept = passing.keeps(pool.ids)
        return pool if kept.all() else pool.keep(kept)

    def outside() -> Iterator[Pool]:
        nonlocal used_fallback
        used_fallback = True
        yield from map(left_alone, candidates.remaining(decoder.logits(), pool))

    kept = left_alone(pool)
    if not len(kept):
        kept = next((some.keep(slice(1)) for some in outside() if len(some)), kept)
    choices = session.refine(kept, outside())
    weights = to_weights(choices.mass, candidates.settings.weight_bits)
    return Step(pool, choices, weights, candidates, decoder, used_fallback)


def divergence(before: Pool, after: Pool) -> float:
    """-log2 of the share of the probability of `before` that its part `after` has, in bits.

    Neither is empty. Writer and reader need not agree on it, so floats will do.
    """
    return _log_mass(before) - _log_mass(after)


def _log_mass(pool: Pool) -> float:
    """log2 of the sum of exp(rounded logit)."""
    table, largest = _exponentials(pool.grid_bits), pool.rounded_logits.max()
    below = largest - pool.rounded_logits
    mass = table[np.minimum(below, len(table) - 1, out=below)].sum()
    return math.log2(mass) + float(largest) / (1 << pool.grid_bits) / math.log(2)


@cache
def _exponentials(grid_bits: int) -> npt.NDArray[np.float64]:
    """exp(-i / 2^grid_bits) for i = 0, 1, ...; the last one, below e^-40, stands for all others."""
    exponentials: npt.NDArray[np.float64] = np.exp(-np.arange(40 << grid_bits) / (1 << grid_bits))
    exponentials[-1] = 0
    return exponentials
