"""The tokens of an edited text, of which a verifier may say that nobody can have written them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import cast

from ...candidates import Pool
from ...consistency import Mode
from ...disambiguation import Choices, Disambiguation, PromptContext
from ...errors import CapacityError, InconsistentStateError
from .._setup import Setup


class ForgivingSession:
    """A Session that goes on after tokens that no writer can have written.

    Then it begins again with the window. What is filtered depends on few tokens, so after an edit
    the choices soon are the writer's again. Where they are not, a token is misread, as if it were
    edited.

    Args:
        setup: of the text; its agreement has a window.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._session = setup.session()
        self._ids: list[int] = []

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        """See `ticore.disambiguation.Session`."""
        try:
            return self._session.refine(pool, outside)
        except InconsistentStateError:
            self._session = self._anywhere.start()
            for token in self._ids[-(self._setup.agreement.window or 1) :]:
                self._session.push(token)
        try:
            return self._session.refine(pool, outside)
        except (InconsistentStateError, CapacityError):
            return Choices.of(pool)

    def push(self, token: int) -> None:
        """Take any token."""
        self._ids.append(token)
        self._session.push(token)

    def text(self) -> str:
        """The text so far."""
        return self._setup.model.tokenizer.decode(self._ids)

    def may_end(self) -> bool:
        """It may end anywhere."""
        return True

    @cached_property
    def _anywhere(self) -> Disambiguation:
        """For tokens whose beginning is not the text's."""
        setup = self._setup
        mode = cast(Mode, setup.agreement.mode)
        context = PromptContext(setup.model.tokenizer, "", [], "continuation", mode)
        return setup.disambiguation.make(context)
