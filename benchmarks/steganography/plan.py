"""Which samples are taken."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ticore.candidates import PoolSettings
from ticore.codecs import codec_named
from ticore.disambiguation import disambiguation_named

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Method = tuple[str, str]
"""The names of a codec and of a disambiguation."""

ARITHMETIC, STEPWISE = "arithmetic", "stepwise"
NAIVE = "stepwise:oracle"
"""Stepwise verification that retokenizes the whole text for each candidate, as in the paper."""


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: what `ticore.load_model` opens.
        bits: per message.
        temperature: as for `ticore.Steganographer`.
        top_k: numbers of candidates per step; each number is measured by itself.
        codecs: their names; each is measured with stepwise verification.
        disambiguations: their names; each is measured with arithmetic coding.
        seed: of all random numbers and keys. Each sample has its own key.

    Raises:
        SettingsError: a name is not known, or a number is out of range.
    """

    model: str = "tiny-en"
    bits: int = 128
    temperature: float = 1.0
    top_k: tuple[int, ...] = tuple(2**n for n in range(2, 13))
    codecs: tuple[str, ...] = ("arithmetic", "huffman", "sparsamp", "rrc", "discop", "meteor")
    disambiguations: tuple[str, ...] = ("none", "basic", "mwis", "syncpool", "stepwise")
    seed: int = 0

    def __post_init__(self) -> None:
        for codec, disambiguation in self.methods:
            codec_named(codec)
            disambiguation_named(disambiguation)
        for top_k in self.top_k:
            PoolSettings(self.temperature, top_k)

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods to measure, each of them once."""
        by_disambiguation = ((ARITHMETIC, name) for name in self.disambiguations)
        by_codec = ((name, STEPWISE) for name in self.codecs)
        return tuple(dict.fromkeys((*by_disambiguation, *by_codec)))

    def tasks(self, samples: int) -> list[tuple[str, str, int, int]]:
        """Codec, disambiguation, number of candidates and index of each sample.

        All kinds of a sample come before the next sample. So a run that is interrupted has about as
        many samples of each kind.
        """
        kinds = list(product(self.methods, self.top_k))
        return [(*method, top_k, n) for n in range(samples) for method, top_k in kinds]

    def shared_settings(self) -> JsonObject:
        """The settings that a sample depends on besides its task."""
        return {
            "model": self.model,
            "bits": self.bits,
            "temperature": self.temperature,
            "seed": self.seed,
        }
