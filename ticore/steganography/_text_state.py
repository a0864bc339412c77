"""A text that grows by the steps of `_step`, written or read."""

from __future__ import annotations

from collections.abc import Callable

from .._support.shared_randomness import SharedRandomness
from ..candidates import Candidates
from ..channels import PassingText
from ..disambiguation import BranchingSession, Session, SharingSession
from ..errors import CapacityError
from ..interfaces import Decoder
from ._jobs import Job, NewText, begin_text
from ._step import Step, step_after
from ._steps_taken import StepsTaken
from ._window import Window

Follower = Callable[[str], None]
"""`f(text)`: sees the text so far, after each token, without a character whose last byte is still
to come. A text that is begun again is shorter then."""


class OutrunError(Exception):
    """The text being written has become as long as another one that was written already."""


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
        *,
        room: int,
        window: Window | None = None,
        known: StepsTaken | None = None,
        follower: Follower | None = None,
        rival: int | None = None,
    ) -> None:
        self.room = room
        self.most_choices = candidates.max_pool_size
        self._decoder = decoder
        self._candidates = candidates
        self._session = session
        # Asked once, not for each token: Python compares an object with a protocol slowly.
        self._branching = session if isinstance(session, BranchingSession) else None
        self._passing = passing
        self._window = window
        # Tokens alone do not tell the step where some are taken back.
        self._known = known if self._branching is None else None
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
        if self._branching is None:
            return self.push(step.token(index))
        back, tokens = self._branching.take(step.choices, index)
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
