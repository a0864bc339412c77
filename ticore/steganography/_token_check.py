"""What the reader of a text will find, known while the text is written, without a second pass.

A reader repeats the writer's steps. If the model gives it the same logits (see `_repeatable`), all
that remains to be seen is the tokens that it finds and the bits that it reads from them:

1. Before the first token both are at the prompt, with the same choices and weights.
2. If the reader finds the token that was written there, both go on with the same state.
3. So as long as it finds the same tokens, it has the writer's choices and weights at each step.
   They need not be computed again.

`see` reads the bits of each step as it is written, and `confirm` looks for the tokens in the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..codecs import Reader
from ..disambiguation import Choices, ReceivedText
from ..errors import ExtractionError
from ._extraction import Take
from ._nonce_first_codec import rest_begun
from ._step import Step

MOST_KEPT = 1 << 21
"""Choices that are kept until the text is complete, in 64 MB."""


class TokenCheck:
    """Reads one text while it is written.

    Args:
        reader: of the codec that writes.
        take: takes the bits; see `Take`.
    """

    def __init__(self, reader: Reader, take: Take) -> None:
        self._reader = reader
        self._take = take
        self._enough = False
        self._steps = 0
        # Where no tokenizer finds the tokens, each is found among the choices of its step.
        self._kept: list[tuple[Choices, int]] = []
        self._kept_size = 0

    def see(self, step: Step, index: int) -> None:
        """Read a step, unless enough was read.

        Args:
            step: the step.
            index: the choice that was taken.
        """
        if self._enough:
            return
        self._steps += 1
        self._kept_size += len(step.choices.kept)
        if self._kept_size <= MOST_KEPT:
            self._kept.append((step.choices, index))
        else:
            self._kept.clear()
        value, count = self._reader.observe(step.weights, index)
        rest_begun(self._reader)
        self._enough = self._take(value, count)

    def confirm(self, received: ReceivedText, ids: Sequence[int]) -> bool:
        """Look for the tokens in the complete text.

        Args:
            received: the text as its reader has it.
            ids: the tokens that were written.

        Returns:
            Whether that was possible; not if too many choices would have had to be kept. Then the
            text must be read with the model.

        Raises:
            ExtractionError: the reader finds other tokens.
        """
        if received.known_ids is not None:
            alike = list(received.known_ids[: self._steps]) == list(ids[: self._steps])
        elif self._kept_size > MOST_KEPT:
            return False
        else:
            alike = all(
                not received.exhausted and received.locate(choices) == index
                for choices, index in self._kept
            )
        if not alike:
            raise ExtractionError("the reader finds other tokens than those that were written")
        return True
