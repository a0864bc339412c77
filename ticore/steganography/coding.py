"""The codec of one text, with the random numbers that its two sides share, if there are any.

Such numbers are drawn by a codec, by a disambiguation or by both. In a sealed message they come
behind its nonce, see `seam`; raw bits have none, so that their key has to serve one text alone.
"""

from __future__ import annotations

from ..codecs import (
    ArithmeticCodec,
    BitSource,
    Codec,
    CodecKind,
    RandomBits,
    Reader,
    StopRule,
    Writer,
)
from ..draws import Draws
from ..errors import KeyFormatError
from .framing import draws_key, nonce_length
from .keys import Secret
from .seam import SeamedReader, SeamedWriter
from .walk import Walk


class Coding:
    """Makes the writers and readers of a steganographer's texts.

    Args:
        codec: what was asked for.
        draws: whether the codec, or the disambiguation of the walks, needs shared numbers.
    """

    def __init__(self, codec: CodecKind, *, draws: bool) -> None:
        self._codec = codec
        self._draws = draws

    def frame_writer(self, frame: bytes, secret: Secret, tail: RandomBits, walk: Walk) -> Writer:
        """Writes a sealed message into the text of `walk`, and bits of `tail` behind it."""

        def source(data: bytes) -> BitSource:
            return BitSource(data, 8 * len(data), tail)

        if not self._draws:
            return self._codec.make().writer(source(frame))
        size = nonce_length(secret)
        nonce, rest = frame[:size], frame[size:]

        def go_on() -> Writer:
            return self._keyed(draws_key(secret, nonce), walk).writer(source(rest))

        return SeamedWriter(ArithmeticCodec().writer(source(nonce)), 8 * size, go_on)

    def frame_reader(self, secret: Secret, walk: Walk) -> Reader:
        """Reads what `frame_writer` wrote."""
        if not self._draws:
            return self._codec.make().reader()

        def go_on(nonce: bytes) -> Reader:
            return self._keyed(draws_key(secret, nonce), walk).reader()

        return SeamedReader(ArithmeticCodec().reader(), 8 * nonce_length(secret), go_on)

    def raw(self, stop: StopRule, secret: Secret | None, walk: Walk) -> Codec:
        """The codec of raw bits in the text of `walk`.

        Raises:
            SettingsError: it does not know the stop rule.
            KeyFormatError: it needs a key and there is none.
        """
        if not self._draws:
            return self._codec.make(stop)
        if secret is None or secret.salt_length:
            raise KeyFormatError(
                "expected a key, since these settings draw random numbers that both sides share, "
                "found none; give key=ticore.new_key(), a new one for each text of raw bits"
            )
        return self._keyed(secret.derive(b"").draws_key(b"raw bits"), walk, stop)

    def _keyed(self, key: bytes, walk: Walk, stop: StopRule = "exact") -> Codec:
        """The codec of what follows; from here on the walk draws too."""
        walk.share(Draws(key, "disambiguation"))
        return self._codec.make(stop, Draws(key, "codec"))
