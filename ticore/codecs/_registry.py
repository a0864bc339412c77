"""The codecs by name. A name may have a number: `sparsamp:32` has blocks of 32 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._support.builders import builds_alike
from .._support.shared_randomness import SharedRandomness
from ..errors import CredentialError, SettingsError, shown
from ..registry import lookup
from ._arithmetic import ArithmeticCodec, StopRule
from ._base import Codec
from ._coupling import CouplingCodec
from ._discop import DiscopCodec
from ._huffman import HuffmanCodec
from ._meteor import MeteorCodec
from ._rotation_range import RotationRangeCodec
from ._sparsamp import SparSampCodec

ENTRY_POINTS = "ticore.codecs"
"""The group of entry points in which other packages declare a CodecSpec by name."""

_MOST_DIGITS = 9


@dataclass(frozen=True)
class CodecSpec:
    """How to make a codec.

    Attributes:
        name: what agreements record. Both sides use the same name for the same codec.
        build: makes the codec. It takes `randomness=` if the codec is `keyed`, and `stop=` if the
            codec has several stop rules.
        keyed: the codec needs random numbers that both sides share.
        stops: the stop rules of the codec.
        number: the argument of `build` that a number after the name sets; None if the name takes no
            number.
    """

    name: str
    build: Callable[..., Codec]
    keyed: bool = False
    stops: tuple[StopRule, ...] = ("exact",)
    number: str | None = None

    def make(self, stop: StopRule = "exact", randomness: SharedRandomness | None = None) -> Codec:
        """A codec for one text.

        Args:
            stop: one of `stops`.
            randomness: the random numbers that both sides share; used if the codec is `keyed`.

        Raises:
            SettingsError: the codec does not have this stop rule.
            CredentialError: the codec is keyed, and there is no randomness.
        """
        if stop not in self.stops:
            raise SettingsError(
                f"stop: expected {' or '.join(map(repr, self.stops))} with this codec, found "
                f"{stop!r}; the paper's rule belongs to arithmetic coding"
            )
        given: dict[str, Any] = {"stop": stop} if len(self.stops) > 1 else {}
        if self.keyed:
            if randomness is None:
                raise CredentialError(
                    "expected a key, since this codec draws random numbers that both sides share, "
                    "found neither key nor password; give key=ticore.Key.new()"
                )
            given["randomness"] = randomness
        return self.build(**given)


CODECS: Mapping[str, CodecSpec] = {
    spec.name: spec
    for spec in (
        CodecSpec("arithmetic", ArithmeticCodec, stops=("exact", "paper")),
        CodecSpec("discop", DiscopCodec, keyed=True),
        CodecSpec("huffman", HuffmanCodec),
        CodecSpec("mec", CouplingCodec, keyed=True, number="block_bits"),
        CodecSpec("meteor", MeteorCodec, keyed=True),
        CodecSpec("rrc", RotationRangeCodec, keyed=True),
        CodecSpec("sparsamp", SparSampCodec, keyed=True, number="block_bits"),
    )
}


def codec_spec(codec: str | CodecSpec) -> CodecSpec:
    """The codec of a name, or `codec` itself where it is a CodecSpec.

    Args:
        codec: a name as `codec_named` takes it, or a CodecSpec that need not be declared anywhere.

    Raises:
        SettingsError: the name is unknown or has a number with zeros before it, `codec` is neither,
            or it is a CodecSpec of your own with the name of a bundled codec.
        MissingExtraError: see `codec_named`.
    """
    if isinstance(codec, str):
        base, _, number = codec.partition(":")
        named = codec_named(codec)
        # The same codec under another name is another agreement, whose texts are read by it alone.
        if number and number != str(int(number)):
            raise SettingsError(
                f"codec: expected a number without zeros before it, found {codec!r}; "
                f"write '{base}:{int(number)}'; to read texts of {codec!r} give "
                f"ticore.codecs.codec_named({codec!r})"
            )
        return named
    if not isinstance(codec, CodecSpec):
        raise SettingsError(
            f"codec: expected a name or a CodecSpec, found {shown(codec)}; "
            f"for a codec of your own give ticore.codecs.CodecSpec('its-name', ItsClass)"
        )
    is_bundled = codec.name.partition(":")[0] in CODECS
    if is_bundled and not builds_alike(codec.build, codec_named(codec.name).build):
        raise SettingsError(
            f"codec: expected another name than {codec.name!r}, which a bundled codec has; "
            f"the reader would use that one"
        )
    return codec


def codec_named(name: str) -> CodecSpec:
    """The codec of a name: a bundled one, or one that another package declares.

    Args:
        name: of the codec, such as `sparsamp`, or with a number, such as `sparsamp:32`.

    Raises:
        SettingsError: the name is unknown, or its number is not one that the codec takes.
        MissingExtraError: the package that declares the codec cannot be imported.
    """
    base, colon, number = name.partition(":")
    spec = lookup("codec", CODECS, base, ENTRY_POINTS)
    if not colon:
        return spec
    if spec.number is None:
        raise SettingsError(f"codec {base!r} takes no number, found {name!r}; write {base!r}")
    if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
        raise SettingsError(
            f"codec: expected a whole number of at most {_MOST_DIGITS} digits after '{base}:' "
            f"({spec.number}), found {number[:40]!r}"
        )
    build = partial(spec.build, **{spec.number: int(number)})
    numbered = replace(spec, name=name, build=build, number=None)
    numbered.make(randomness=SharedRandomness(bytes(16), "none"))  # raises if it is out of range
    return numbered
