"""What is written and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from benchmarks.workers import Found
from ticore.candidates import PoolSettings
from ticore.codecs import codec_named
from ticore.disambiguation import disambiguation_named

Method = tuple[str, str]
"""The names of a codec and of a disambiguation."""

ARITHMETIC, STEPWISE = "arithmetic", "stepwise"
NAIVE = "stepwise:oracle"
"""Stepwise verification that retokenises the whole text for each candidate."""


@dataclass(frozen=True)
class Plan:
    """How much to write, and how.

    Attributes:
        place: of the model.
        bits: of each message.
        temperature: as for `ticore.Steganographer`.
        top_k: how many candidates, each number by itself.
        codecs: their names, each with stepwise verification.
        disambiguations: their names, each with arithmetic coding.
        seed: of all random numbers, and of the keys: each sample has its own.

    Raises SettingsError where a name is unknown or a number out of range.
    """

    place: str = "tiny-en"
    bits: int = 128
    temperature: float = 1.0
    top_k: tuple[int, ...] = tuple(2**n for n in range(2, 13))
    codecs: tuple[str, ...] = ("arithmetic", "huffman", "sparsamp", "discop", "meteor")
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
        """Each of them once."""
        by_disambiguation = ((ARITHMETIC, name) for name in self.disambiguations)
        by_codec = ((name, STEPWISE) for name in self.codecs)
        return tuple(dict.fromkeys((*by_disambiguation, *by_codec)))

    def tasks(self, samples: int) -> list[tuple[str, str, int, int]]:
        """Codec, disambiguation, candidates and number of each sample.

        All kinds of a sample come before the next one, so that wherever it is cut all have as many.
        """
        kinds = list(product(self.methods, self.top_k))
        return [(*method, top_k, n) for n in range(samples) for method, top_k in kinds]

    def shared(self) -> Found:
        """What each sample depends on, whatever its method and candidates."""
        return {
            "place": self.place,
            "bits": self.bits,
            "temperature": self.temperature,
            "seed": self.seed,
        }
