"""A text while it is written, and the result when it is complete."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .._support.deprecation import warn_deprecated
from .._support.notebooks import ShownInNotebooks
from ..consistency import Specials, TokenStream, View, compare
from ..interfaces import Tokenizer
from ._changes import TextChange
from ._text_loop import End, TextLoop


@dataclass(frozen=True)
class Generated(ShownInNotebooks):
    """A text and how it was written. `str` gives the text.

    Attributes:
        text: what the written tokens spell. In view `continuation` they are decoded by themselves,
            so with rollback `encode(text)` gives them back; in view `whole` after the prompt.
        ids: the written tokens.
        whole: the prompt and the text together, as the model read them. In view `whole`, with
            rollback, `encode(whole)` gives back the prompt's tokens and `ids`. Where special tokens
            are boundaries, this holds for each part between them.
        end: why it ended: `length`, `end of text`, `dead end` (no consistent token may follow),
            `context` (the model's context is full), or `stopped` (a stream was not read to the
            end).
        rollbacks: how often tokens were taken back because their inconsistency stayed; with
            `rollback="exact"` those of a whole attempt.
        temporary: how often an inconsistency was mended by later tokens.
        backtracks: how often consistent tokens were taken back because nothing could follow them.
        forwards: how many tokens the model read after the prompt.
        consistent: whether the tokens survive retokenization.
        seconds: wall-clock time from the start of the call to the end of this text.
        seed: the same call with this seed writes this text again. None where there is no such seed:
            the sampler was given.
    """

    text: str
    ids: tuple[int, ...]
    whole: str
    end: End | Literal["context", "stopped"]
    rollbacks: int
    temporary: int
    backtracks: int
    forwards: int
    consistent: bool
    seconds: float
    seed: int | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def undone(self) -> int:
        """Deprecated: the old name of `backtracks`."""
        warn_deprecated("Generated.undone", "Generated.backtracks")
        return self.backtracks

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return asdict(self) | {"ids": list(self.ids)}


class TextStream:
    """A text while it is written. Use one per thread.

    Iterate over it for the pieces of the text, over its `changes` to see also what is taken back,
    or `run` it to the end; `result` gives at any time what was written so far. The pieces together
    are the text that `run` gives. Each is given out once: who stops and iterates again gets those
    that are left.

    A piece is given out once its tokens are settled, so that no piece is ever taken back. The last
    commits, mostly single tokens, are therefore held back: as many as there are backtracks left, 8
    at most. With `rollback="exact"` nothing is settled before the text is complete, so it is given
    out in one piece.

    Attributes:
        rollback: decides what is written.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        view: View,
        specials: Specials,
        prompt_ids: Sequence[int],
        rollback: TextLoop,
        *,
        fills_context: bool,
        seed: int | None = None,
    ) -> None:
        """
        Args:
            tokenizer: of the model.
            view, specials: see `Generator`.
            prompt_ids: what the model has read.
            rollback: of a text that begins with these ids.
            fills_context: whether the context has less room than the number of tokens asked for.
            seed: see `Generated`.
        """
        self._tokenizer = tokenizer
        self._view: View = view
        self._specials: Specials = specials
        self._prompt_ids = list(prompt_ids)
        self.rollback = rollback
        self._fills_context = fills_context
        self._seed = seed
        self._started = time.perf_counter()
        self._pieces: _Pieces | None = None
        self._given = 0  # tokens whose text was given out
        self._changes = deque[TextChange]()  # of the last step, not given out yet

    # What was given out is kept here and not by a generator, which would be at its end where a
    # caller is interrupted or closes it, and would keep this object and its decoder in memory.
    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._pieces is None:
            before = self._prompt_ids if self._view == "whole" else []
            self._pieces = _Pieces(self._tokenizer, before)
        while not self._pieces.finished:
            tokens = self.rollback.settled_after(self._given)
            self._given += len(tokens)
            if piece := self._pieces.push(tokens) if tokens else self._pieces.finish():
                return piece
        raise StopIteration

    def changes(self) -> Iterator[TextChange]:
        """Write to the end, and show how: each token that comes, and those that are taken back.

        Raises:
            CapacityError: as `Generator.generate`.
        """
        while self._changes or self.rollback.end is None:
            if not self._changes:
                self._changes.extend(self.rollback.step())
            while self._changes:
                yield self._changes.popleft()

    def run(self) -> Generated:
        """Write to the end, and return the result.

        Raises:
            CapacityError: as `Generator.generate`; iterating over the stream raises it as well.
        """
        for _ in self.rollback.run():
            pass
        return self.result()

    def result(self) -> Generated:
        """What was written so far."""
        rollback, ids = self.rollback, tuple(self.rollback.committed)
        end = rollback.end or "stopped"
        return Generated(
            text=self._text(ids),
            ids=ids,
            whole=self._whole(ids),
            end="context" if self._fills_context and end == "length" else end,
            rollbacks=rollback.rollbacks,
            temporary=rollback.temporary,
            backtracks=rollback.backtracks,
            forwards=rollback.forwards,
            consistent=self._survives(list(ids)),
            seconds=time.perf_counter() - self._started,
            seed=self._seed,
        )

    def _survives(self, ids: list[int]) -> bool:
        if self._view == "continuation":
            return self._tokenizer.encode(self._text(ids)) == ids
        whole = [*self._prompt_ids, *ids]
        return compare(self._tokenizer, whole, specials=self._specials).consistent

    def _text(self, ids: Sequence[int]) -> str:
        if self._view == "continuation":
            return self._tokenizer.decode(ids)
        return self._whole(ids)[len(self._tokenizer.decode(self._prompt_ids)) :]

    def _whole(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode([*self._prompt_ids, *ids])


class _Pieces:
    """The text of tokens that come one after the other, without that of those before them.

    Args:
        tokenizer: spells the tokens.
        before: tokens whose text is not given out.

    Attributes:
        finished: whether the last piece was given out.
    """

    def __init__(self, tokenizer: Tokenizer, before: Sequence[int]) -> None:
        self._stream, self.finished = TokenStream(tokenizer), False
        pushed = self._stream.push(before)
        self._before = len(tokenizer.decode(before)) - len(pushed)  # characters still to come

    def push(self, tokens: Sequence[int]) -> str:
        """The characters that are whole with these tokens."""
        piece, before = self._stream.push(tokens), self._before
        self._before = max(0, before - len(piece))
        return piece[before:]

    def finish(self) -> str:
        """The rest, in which bytes that are no character are U+FFFD."""
        self.finished = True
        return self._stream.finish()[self._before :]
