"""A text that is being written, and what is known of it when it has been."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..consistency import Specials, View, compare
from ..interfaces import Tokenizer
from .rollback import End, Rollback


@dataclass(frozen=True)
class Generated:
    """A text and how it came about.

    Attributes:
        text: what the tokens written spell: in view `continuation` by themselves, so that with
            rollback `encode(text)` gives them back; in view `whole` behind the prompt.
        ids: these tokens.
        whole: the prompt and the text together, as the model read them. In view `whole`, with
            rollback, `encode(whole)` gives back the prompt's tokens and `ids`; or, where special
            tokens are boundaries, each part between them does.
        end: why it ended: `length`, `end of text`, `dead end` (nothing consistent may follow),
            `context` (the model can read no more).
        rollbacks: how often tokens were taken back since their inconsistency stayed.
        temporary: how often an inconsistency vanished by itself.
        undone: how often a consistent text was taken back, since nothing could follow it.
        forwards: tokens that the model read behind the prompt.
        consistent: whether the tokens survive being read back.
        seconds: wall-clock time; among others, from the beginning of all to the end of this one.
    """

    text: str
    ids: tuple[int, ...]
    whole: str
    end: End | Literal["context"]
    rollbacks: int
    temporary: int
    undone: int
    forwards: int
    consistent: bool
    seconds: float


class Writing:
    """A text that is being written.

    Iterate for its pieces as they are settled, or `run` it to its end; `result` says at any time
    what was written so far.

    Attributes:
        rollback: decides what is written.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        view: View,
        specials: Specials,
        prompt_ids: Sequence[int],
        rollback: Rollback,
        *,
        cut: bool,
    ) -> None:
        self._tokenizer = tokenizer
        self._view: View = view
        self._specials: Specials = specials
        self._prompt_ids = list(prompt_ids)
        self.rollback = rollback
        self._cut = cut
        self._started = time.perf_counter()

    def __iter__(self) -> Iterator[str]:
        shown = ""
        for _ in self.rollback.run():
            text = self._text()
            # The last character may be incomplete; it is shown with the next piece.
            if text.startswith(shown) and not text.endswith("\ufffd"):
                yield text[len(shown) :]
                shown = text
        yield self._text()[len(shown) :]

    def run(self) -> Generated:
        """Write to the end."""
        for _ in self.rollback.run():
            pass
        return self.result()

    def result(self) -> Generated:
        """What was written so far."""
        rollback, ids = self.rollback, tuple(self.rollback.committed)
        end = rollback.end or "length"
        return Generated(
            text=self._text(),
            ids=ids,
            whole=self._whole(),
            end="context" if self._cut and end == "length" else end,
            rollbacks=rollback.rollbacks,
            temporary=rollback.temporary,
            undone=rollback.undone,
            forwards=rollback.forwards,
            consistent=self._survives(),
            seconds=time.perf_counter() - self._started,
        )

    def _survives(self) -> bool:
        ids = self.rollback.committed
        if self._view == "continuation":
            return self._tokenizer.encode(self._text()) == ids
        whole = [*self._prompt_ids, *ids]
        if self._specials == "boundaries":
            return compare(self._tokenizer, whole).consistent
        return self._tokenizer.encode(self._whole()) == whole

    def _text(self) -> str:
        if self._view == "continuation":
            return self._tokenizer.decode(self.rollback.committed)
        return self._whole()[len(self._tokenizer.decode(self._prompt_ids)) :]

    def _whole(self) -> str:
        return self._tokenizer.decode([*self._prompt_ids, *self.rollback.committed])
