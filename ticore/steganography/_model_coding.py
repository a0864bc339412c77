"""Short messages of text, made shorter by the model: what it expects takes few bits.

The message is written in the model's tokens, and these are coded by arithmetic coding with the
model's probabilities: the codec that writes texts, with the roles of bits and tokens exchanged.
The whole vocabulary is in the pool, so every text can be coded that the tokenizer gives back.

    data   how many tokens (seven bits per byte) | the shortest bytes that lead to the tokens
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..candidates import Candidates, Ints, to_weights
from ..codecs import ArithmeticCodec, BitSource, Reader, zeros
from ..errors import CapacityError, ExtractionError, ModelError, SettingsError
from ..interfaces import Decoder
from ._jobs import Job, NewText, begin_text
from ._padding import leb128, read_leb128
from ._setup import Setup

MOST_TOKENS = 127
"""Longer messages are not tried: each token takes a pass of the model, on both sides."""

_WEIGHT_BITS = 32
_BREAK = "\n"  # between the prompt and a message that has nothing to do with it


def coded_by_model(setup: Setup, message: bytes) -> Job[bytes | None]:
    """The data that stands for a message; None if the model cannot code it.

    Args:
        setup: of the text. The model has read the prompt and a line break.
        message: any bytes.
    """
    ids = _tokens(setup, message)
    if ids is None:
        return None
    # Its `remainder` is what the bytes end with.
    reader = ArithmeticCodec("paper").reader()
    steps, value, count = list[tuple[Ints, int]](), 0, 0
    coder = yield from _Coder.begin(setup)
    for number, token in enumerate(ids):
        if not coder.is_stable():
            return None
        weights = coder.weights()
        index = coder.index(token)
        if index is None:
            return None
        steps.append((weights, index))
        settled, size = reader.observe(weights, index)
        value, count = value << size | settled, count + size
        if number + 1 < len(ids):
            yield token
    return leb128(len(ids)) + _shortest(reader, steps, value, count)


def decoded_by_model(setup: Setup, data: bytes) -> Job[bytes]:
    """The message that `coded_by_model` made `data` of.

    Raises:
        ExtractionError: `data` is nothing that it makes.
    """
    count, start = read_leb128(data) or (0, 0)
    if not 1 <= count <= MOST_TOKENS:
        raise _cannot_decode()
    writer = ArithmeticCodec().writer(_source(data[start:]))
    ids = list[int]()
    try:
        coder = yield from _Coder.begin(setup)
        for number in range(count):
            ids.append(coder.token(writer.choose(coder.weights())))
            if number + 1 < count:
                yield ids[-1]
    except (CapacityError, ModelError):
        raise _cannot_decode() from None
    return setup.model.tokenizer.decode(ids).encode()


def _tokens(setup: Setup, message: bytes) -> list[int] | None:
    """The message in the model's tokens; None if it is no text that they spell, or too long."""
    try:
        text = message.decode()
    except UnicodeDecodeError:
        return None
    tokenizer = setup.model.tokenizer
    if not text or len(message) > 16 * MOST_TOKENS:
        return None
    try:
        ids, context = tokenizer.encode(text), _context(setup)
    except SettingsError:  # there are no tokens for some characters
        return None
    # Not `setup.room`: a window makes room for the text, but here the model reads everything.
    room = setup.model.context_length - len(setup.prompt_ids) - len(context)
    fits = 0 < len(ids) <= min(MOST_TOKENS, room)
    return ids if fits and tokenizer.decode(ids).encode() == message else None


def _context(setup: Setup) -> list[int]:
    """What the model reads between the prompt and the message."""
    return setup.model.tokenizer.encode(_BREAK)


class _Coder:
    """The weights of a message's tokens, one after the other.

    Args:
        setup: of the text.
        decoder: at the message.
    """

    def __init__(self, setup: Setup, decoder: Decoder) -> None:
        settings = replace(
            setup.candidates.settings,
            temperature=1.0,
            top_k=None,
            top_p=1.0,
            weight_bits=_WEIGHT_BITS,
        )
        self._candidates = Candidates(setup.model, settings)
        self._tolerance = setup.tolerance
        self._decoder = decoder
        self._ids = np.empty(0, dtype=np.int64)

    @classmethod
    def begin(cls, setup: Setup) -> Job[_Coder]:
        """At the beginning of a message."""
        decoder = yield from begin_text(NewText([*setup.prompt_ids, *_context(setup)]))
        return cls(setup, decoder)

    def is_stable(self) -> bool:
        """Whether every reader has the same weights.

        A matter for the writer alone: a reader may be nearer to other weights, and has the same.
        """
        if not self._tolerance:
            return True
        return self._candidates.stable_within(self._decoder.logits(), self._tolerance)

    def weights(self) -> Ints:
        """int64[n], the weights of all tokens."""
        pool = self._candidates.pool(self._decoder.logits())
        self._ids = pool.ids
        return to_weights(pool.unnormalized_probs, _WEIGHT_BITS)

    def index(self, token: int) -> int | None:
        """Where a token stands among the weights; None if it is never a candidate."""
        found = np.flatnonzero(self._ids == token)
        return int(found[0]) if len(found) else None

    def token(self, index: int) -> int:
        """The token at a place among the weights."""
        return int(self._ids[index])


def _shortest(reader: Reader, steps: Sequence[tuple[Ints, int]], value: int, count: int) -> bytes:
    """The shortest bytes, followed by zeros, from which a writer takes these steps.

    Args:
        reader: has read the steps.
        steps: weights and indices.
        value: the bits that the steps settle.
        count: how many these are.
    """
    more = -count % 8
    while True:
        # The least number of this length that is not below the interval of the steps.
        number, size = (value << more) + reader.remainder(more), (count + more) // 8
        if number.bit_length() <= 8 * size:
            code = number.to_bytes(size)
            writer = ArithmeticCodec().writer(_source(code))
            if all(writer.choose(weights) == index for weights, index in steps):
                return code
        more += 8


def _source(code: bytes) -> BitSource:
    return BitSource(code, 8 * len(code), zeros)


def _cannot_decode() -> ExtractionError:
    return ExtractionError(
        "the message is authentic, but this model does not decode it; the program that wrote it "
        "is at fault"
    )
