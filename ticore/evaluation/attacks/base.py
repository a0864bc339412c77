"""What an attack is: a text goes in, and one that says about the same comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ...errors import SettingsError


@dataclass(frozen=True)
class Attacked:
    """A text after an attack.

    Attributes:
        text: what is left of it.
        label: what was done, and where a model did it, that model's own name.
        changed: the share of the text's tokens or words that are not as they were: 0 to 1, and 0
            for a text without any.
        positions: of the tokens or words of the original that were chosen, rising; None where the
            text as a whole was rewritten.
        complete: False where a model was cut off before it came to its end.
    """

    text: str
    label: str
    changed: float
    positions: tuple[int, ...] | None = None
    complete: bool = True


@runtime_checkable
class Attack(Protocol):
    """Does something to texts. What chance there is comes from a generator given to it, so that
    the same texts in the same order come out the same."""

    @property
    def name(self) -> str:
        """What is done, and how strongly."""
        ...

    def __call__(self, text: str) -> Attacked:
        """`text` after the attack; an empty one stays empty."""
        ...


def require_share(name: str, value: float) -> None:
    """Raises SettingsError unless `value` is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SettingsError(f"{name}: expected a probability from 0 to 1, found {value!r}")
