"""What `embed` returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from .._support.deprecation import warn_deprecated
from .._support.notebooks import ShownInNotebooks

GivenUp = Literal["character", "misread", "borderline", "room"]
"""Why a text was not sent, see `Embedding.given_up`."""


@dataclass(frozen=True, eq=False)
class Embedding(ShownInNotebooks):
    """A text that holds a message, and what it cost. `str()` of it is the text.

    Two Embeddings are equal if their texts are equal. An Embedding also equals its text as a str.

    Attributes:
        text: what to send; in view `whole` it begins with the prompt.
        ids: the tokens written after the prompt.
        bits: how many bits were hidden: those of the sealed message, or the raw bits.
        token_count: how many tokens carry them; `ids` may go on to the end of a sentence.
        kl_filter: mean over these tokens of the divergence, in bits, that disambiguation causes.
        seconds: wall-clock time, checks included.
        given_up: why texts that were written before this one were not sent, one word each:
            `character` (their tokens break one), `misread` (the reader would not find the message),
            `borderline` (another machine might not), `room` (by chance too little was left).
            Where a share f of all texts is given up, that costs -log2(1 - f) bits of divergence.
    """

    text: str
    ids: tuple[int, ...] = field(repr=False)
    bits: int
    token_count: int
    kl_filter: float
    seconds: float = 0.0
    given_up: tuple[GivenUp, ...] = field(default=(), repr=False)

    @property
    def bits_per_token(self) -> float:
        """Hidden bits per token that carries them; 0 without any."""
        return self.bits / self.token_count if self.token_count else 0.0

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Embedding):
            return self.text == other.text
        return self.text == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __bool__(self) -> bool:
        return bool(self.text)

    # For one release an Embedding does most of what a str does, since `embed` used to return one.

    @property
    def tokens(self) -> int:
        """The former name of `token_count`."""
        warn_deprecated("Embedding.tokens", "Embedding.token_count")
        return self.token_count

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(str, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _warn_of_text(f"Embedding.{name}", f"Embedding.text.{name}")
        return getattr(self.text, name)

    def __len__(self) -> int:
        _warn_of_text("len(Embedding)")
        return len(self.text)

    def __iter__(self) -> Iterator[str]:
        _warn_of_text("iterating over an Embedding")
        return iter(self.text)

    def __contains__(self, part: str) -> bool:
        _warn_of_text("searching an Embedding")
        return part in self.text

    def __getitem__(self, place: int | slice) -> str:
        _warn_of_text("slicing an Embedding")
        return self.text[place]

    def __add__(self, other: str) -> str:
        _warn_of_text("Embedding + str")
        return self.text + other

    def __radd__(self, other: str) -> str:
        _warn_of_text("str + Embedding")
        return other + self.text


def _warn_of_text(old: str, new: str = "Embedding.text") -> None:
    warn_deprecated(old, new, stacklevel=4)
