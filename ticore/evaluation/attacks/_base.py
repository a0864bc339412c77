"""The interface of attacks: each turns a text into another one that says about the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..._support.checks import is_number, require


@dataclass(frozen=True)
class Attacked:
    """A text after an attack.

    Attributes:
        text: the changed text.
        label: what was done; for a paraphrase, with the name that the model reports.
        changed: the share of the text's tokens or words that changed, 0 to 1; 0 for an empty text.
        positions: of the tokens or words of the original that were chosen, ascending; None if the
            whole text was rewritten.
        complete: False if the model was cut off before it ended the text.
    """

    text: str
    label: str
    changed: float
    positions: tuple[int, ...] | None = None
    complete: bool = True


@runtime_checkable
class Attack(Protocol):
    """Changes texts.

    Random numbers come from a generator that the attack is given, so the same texts in the same
    order give the same results.
    """

    @property
    def name(self) -> str:
        """What the attack does, and how strongly."""
        ...

    def __call__(self, text: str) -> Attacked:
        """Attack a text. An empty text stays empty."""
        ...


def require_share(name: str, value: float) -> None:
    """Check that `value` is a number from 0 to 1.

    Raises:
        SettingsError: it is not.
    """
    require(is_number(value) and 0 <= value <= 1, name, "a probability from 0 to 1", value)
