"""What is compared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ticore.consistency import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks._harness.types import Task


@dataclass(frozen=True)
class Method:
    """One way to write.

    Attributes:
        codec, disambiguation, mode: as for `ticore.Steganographer`.
    """

    codec: str = "arithmetic"
    disambiguation: str = "stepwise"
    mode: Mode = "prefix"

    @property
    def name(self) -> str:
        """Of the disambiguation, or of the codec where it is not arithmetic coding."""
        if self.codec != "arithmetic":
            return self.codec
        return self.disambiguation if self.mode == "prefix" else f"stepwise, {self.mode}"


_DISAMBIGUATIONS = ("none", "basic", "mwis", "syncpool", "lookahead", "stepwise", "search")
_CODECS = ("huffman", "sparsamp", "rrc", "discop", "meteor", "mec")

METHODS = {
    method.name: method
    for method in (
        *(Method(disambiguation=name) for name in _DISAMBIGUATIONS),
        Method(mode="open"),
        Method(mode="viable"),
        *(Method(codec=name) for name in _CODECS),
    )
}
"""All methods by their names. `none` writes again until the reader finds the message."""


def tasks(
    models: Sequence[str], kinds: Sequence[str], methods: Sequence[str], samples: int
) -> list[Task]:
    """Index, model, kind of text and method of each sample.

    All kinds of a sample come before the next sample. So a run that is interrupted has about as
    many samples of each kind.
    """
    return list(product(range(samples), models, kinds, methods))
