"""Reading variants of one text: the model reads what they begin with in common only once.

    read   The old house stood        the model reads 4 tokens
    read   The old, house stood       it goes back to "old" and reads 3

Their steps are kept up to where they part, so that there the codec alone reads them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from .._support.common_beginning import common_length
from .._support.ticks import Tick, no_tick
from ..backend_kit._reading import start_decoder
from ..errors import ExtractionError
from ..interfaces import Decoder, Logits, ManyTokenDecoder
from ._block_decoder import BlockDecoder
from ._departure import text_of
from ._divergence import divergence
from ._jobs import NewText, new_decoder, run_alone
from ._payload import Payload
from ._sealed_reading import message_of, payload_from
from ._setup import Setup
from ._steps_taken import StepsTaken

_LIKELIEST = 256  # tokens of a step, among which line ends are looked for


class PassLimitError(Exception):
    """The model has read as many tokens as it may."""


class PassLimit:
    """Counts the tokens that are read, in one reading or several; not those of a block in vain.

    Args:
        most: how many may be read.
        tick: called before each.
    """

    def __init__(self, most: int, tick: Tick = no_tick) -> None:
        self._left, self._tick = most, tick

    def count(self) -> None:
        """One more will be read. Raises PassLimitError."""
        self._tick()
        self._left -= 1
        if self._left < 0:
            raise PassLimitError

    def progress(self, done: int, total: int) -> None:
        """As `count`: a Progress."""
        self.count()


class Rereading:
    """Reads texts that begin alike.

    Args:
        setup: of the texts.
        limit: of the tokens that the model may read.
        keeps: the steps of which text are kept, and taken again where another begins alike.
    """

    def __init__(
        self,
        setup: Setup,
        limit: PassLimit,
        keeps: Literal["first", "last"] = "first",
    ) -> None:
        self._setup, self._limit = setup, limit
        self._steps = StepsTaken(of=keeps)
        self._decoder = start_decoder(setup.model, setup.prompt_ids)
        self._read: Sequence[int] = setup.prompt_ids
        self._line_ends: dict[int, str | None] = {}

    def message(self, text: str) -> bytes:
        """The message that begins where this text does. Raises as `payload`."""
        return run_alone(self._setup.model, message_of(self._setup, self.payload(text)))

    def payload(self, text: str) -> Payload:
        """The payload that begins where this text does.

        Raises:
            ExtractionError: there is none.
            PassLimitError: the model has read too many tokens.
        """
        if not self._setup.passing.channel.leaves(text):
            raise ExtractionError("expected a text that the channel leaves alone, found another")
        reading = payload_from(self._setup, text, None, self._steps)
        # All readings use one decoder, one after the other.
        return run_alone(self._setup.model, reading, self._begun)

    def reached(self) -> int:
        """Offset in the text that was read last of the end of what the model has read of it.

        With a window the model reads no text from its beginning, and this means nothing.
        """
        count = len(self._setup.prompt_ids) if self._setup.agreement.view != "whole" else 0
        return len(self._setup.model.tokenizer.decode(self._read[count:]))

    def tokens_before(self, text: str, first: int) -> Iterator[tuple[int, list[str]]]:
        """What could have been written near the end of what was read of the first text.

        Args:
            text: the one that was read first.
            first: offset of the first token that is of interest.

        Yields:
            The offset of a token, from the last one back, and the tokens that could have been
            written there, as text, the most probable first; without those that are no text.
        """
        spell = self._setup.model.tokenizer.token_bytes
        for ids, step in self._steps.newest_first():
            written = self._written(ids)
            if len(written) < first:
                return
            if text.startswith(written):  # not if a character is unfinished
                spelled = map(spell, step.choices.kept.ids.tolist())
                yield len(written), [token for token in map(text_of, spelled) if token]

    def line_ends_in_place_of_spaces(
        self, text: str, first: int
    ) -> Iterator[tuple[int, str, float]]:
        """Line ends that could have been written where a text has a space.

        Args:
            text: the one whose steps are kept.
            first: offset of the first space that is of interest.

        Yields:
            The offset of the space, white space with a line end that could have been written there,
            and its probability.
        """
        for ids, step in self._steps.newest_first():
            kept = step.choices.kept
            found = [self._line_end(token) for token in kept.ids[:_LIKELIEST].tolist()]
            if not any(found):
                continue
            at = len(self._written(ids))
            if at < first:
                return
            if text[at : at + 1] == " ":
                probs = kept.unnormalized_probs / kept.unnormalized_probs.sum()
                for line_end, probability in zip(found, probs.tolist(), strict=False):
                    if line_end:
                        yield at, line_end, probability

    def surprise(self) -> float:
        """Bits of the tokens of the text whose steps are kept: what an ideal code takes for them.

        The less, the more it is like a text of the model.
        """
        bits, ids = 0.0, self._steps.ids
        for before, step in self._steps.newest_first():
            if len(before) < len(ids):
                kept = step.choices.kept
                bits += divergence(kept, kept.keep(kept.ids == ids[len(before)]))
        return bits

    def _written(self, ids: Sequence[int]) -> str:
        """The text up to these tokens, as a Steganographer reads it."""
        before = self._setup.prompt_ids if self._setup.agreement.view == "whole" else []
        return self._setup.model.tokenizer.decode([*before, *ids])

    def _line_end(self, token: int) -> str | None:
        """The text of a token that is white space with a line end."""
        if token not in self._line_ends:
            text = text_of(self._setup.model.tokenizer.token_bytes(token))
            is_one = bool(text) and "\n" in text and text.isspace()
            self._line_ends[token] = text if is_one else None
        return self._line_ends[token]

    def _begun(self, text: NewText) -> Decoder:
        if (size := self._setup.agreement.window) is not None:
            # The model reads a window again for each token, and only where no step is known.
            for _ in range(size):
                self._limit.count()
            return new_decoder(self._setup.model, text)
        return _LazyDecoder(self._decoder, text, self._limit.count, self._note)

    def _note(self, ids: Sequence[int]) -> None:
        """Note what the model has read for the reading that goes on."""
        self._read = ids


class _LazyDecoder:
    """A Decoder that reads, and goes back, only when its logits are asked for.

    Where its text is known it reads a block of it, of which the reading may need the beginning.

    Args:
        decoder: has read the prompt, and perhaps something after it.
        text: what it reads.
        count: is called for each id whose logits are needed, before they are.
        note: is called with the ids before these logits.
    """

    def __init__(
        self,
        decoder: Decoder,
        text: NewText,
        count: Callable[[], None],
        note: Callable[[Sequence[int]], None],
    ) -> None:
        self._decoder = decoder
        known = () if text.rewindable else text.known_ids  # else it may turn to other tokens
        self._known = [*text.prompt_ids, *known]
        self._count, self._note = count, note
        self._ids = list(text.prompt_ids)
        self._block: BlockDecoder | None = None  # reads on where the text parts from another

    @property
    def ids(self) -> Sequence[int]:
        return self._ids

    def logits(self) -> Logits:
        logits = self._next() if self._block is None else self._block.logits()
        self._note(tuple(self._ids))
        return logits

    def _next(self) -> Logits:
        read = list(self._decoder.ids)
        alike = common_length(read, self._ids)
        if alike < len(read):
            self._decoder.rewind(len(read) - alike)
        for token in self._ids[alike:]:
            self._count()
            self._decoder.push(token)
        ahead = self._known[len(self._ids) :]
        if ahead and isinstance(self._decoder, ManyTokenDecoder):
            self._block = BlockDecoder(self._decoder, ahead)
        return self._decoder.logits()

    def push(self, token: int) -> None:
        if self._block is not None:
            self._count()
            self._block.push(token)
        self._ids.append(token)

    def rewind(self, count: int) -> None:
        self._block = None
        del self._ids[len(self._ids) - count :]
