"""The codecs by name. One may go on with a number: `sparsamp:32` has blocks of 32 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..draws import Draws
from ..errors import KeyFormatError, SettingsError
from ..registry import choose
from .arithmetic import ArithmeticCodec, StopRule
from .base import Codec
from .discop import DiscopCodec
from .huffman import HuffmanCodec
from .meteor import MeteorCodec
from .sparsamp import SparSampCodec

_MOST_DIGITS = 9


@dataclass(frozen=True)
class CodecKind:
    """How to make a codec.

    Attributes:
        build: makes it; takes a stop rule if there is more than one, and draws if it is `keyed`.
        keyed: it needs random numbers that both sides share.
        stops: the stop rules that it knows.
        number: the argument that a number behind the codec's name sets, if it takes one.
    """

    build: Callable[..., Codec]
    keyed: bool = False
    stops: tuple[StopRule, ...] = ("exact",)
    number: str | None = None

    def make(self, stop: StopRule = "exact", draws: Draws | None = None) -> Codec:
        """A codec with a stop rule and, if it is `keyed`, the draws of one text.

        Raises:
            SettingsError: it does not know the stop rule.
            KeyFormatError: it needs draws and there are none.
        """
        if stop not in self.stops:
            raise SettingsError(
                f"stop: expected {' or '.join(map(repr, self.stops))} with this codec, found "
                f"{stop!r}; the paper's rule is one of arithmetic coding"
            )
        given: dict[str, Any] = {"stop": stop} if len(self.stops) > 1 else {}
        if self.keyed:
            if draws is None:
                raise KeyFormatError(
                    "this codec draws random numbers that both sides share, and found neither key "
                    "nor password to draw them from; give key=ticore.new_key()"
                )
            given["draws"] = draws
        return self.build(**given)


CODECS: Mapping[str, CodecKind] = {
    "arithmetic": CodecKind(ArithmeticCodec, stops=("exact", "paper")),
    "discop": CodecKind(DiscopCodec, keyed=True),
    "huffman": CodecKind(HuffmanCodec),
    "meteor": CodecKind(MeteorCodec, keyed=True),
    "sparsamp": CodecKind(SparSampCodec, keyed=True, number="block_bits"),
}


def codec_named(name: str) -> CodecKind:
    """The codec of a name.

    Raises SettingsError where the name is unknown, or goes on with what this codec does not take.
    """
    base, colon, number = name.partition(":")
    kind = choose("codec", CODECS, base)
    if not colon:
        return kind
    if kind.number is None:
        raise SettingsError(f"codec {base!r} takes no number, found {name!r}; write {base!r}")
    if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
        raise SettingsError(
            f"codec: expected a whole number of at most {_MOST_DIGITS} digits behind '{base}:' "
            f"({kind.number}), found {number[:40]!r}"
        )
    numbered = replace(kind, build=partial(kind.build, **{kind.number: int(number)}), number=None)
    numbered.make(draws=Draws(bytes(16), "none"))  # raises where the codec does not take it
    return numbered
