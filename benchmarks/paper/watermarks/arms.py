"""The ways to write a text, and which scheme is measured with which of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ticore.schemes import SchemeSettings

SCHEMES: dict[str, SchemeSettings] = {
    "left_hash": {"context": 1, "gamma": 0.5, "delta": 2.0},
    "self_hash": {"context": 3, "gamma": 0.5, "delta": 2.0},
    "unigram": {"gamma": 0.5, "delta": 2.0},
    "gumbel": {"context": 5},
}
"""The paper's schemes and settings. Its h of SelfHash, 4, counts the candidate as well."""

UNMARKED = "unmarked"
"""Stands for the model without a watermark, in place of a scheme."""

ABLATED = "left_hash"
"""The scheme that is measured in every arm."""

OBSERVATIONS = (0, 1, 2, 3, 5, 10, 20)
"""The observation periods (q) that are compared, in tokens."""


@dataclass(frozen=True)
class Arm:
    """A way to write a text.

    Attributes:
        name: for tables and samples.
        way: one of `writing.WAYS`.
        observation: of rollback, in tokens; None where nothing is rolled back.
        end_of_text: whether the text may end before its full length.
    """

    name: str
    way: str
    observation: int | None = None
    end_of_text: bool = False


SAMPLING = Arm("no rollback", "sampling")
MASKING = Arm("masking", "masking")
WHOLE_TEXT = Arm("rollback of the whole text", "exact")
"""`rollback="exact"`: the text has the model's distribution among the consistent texts."""

ATTEMPTS = 50
"""Texts that `WHOLE_TEXT` begins at most, for one that is consistent; then it gives up."""


def rollback(observation: int) -> Arm:
    """The arm with rollback that observes an inconsistency for this number of tokens."""
    return Arm(f"rollback, q = {observation}", "rollback", observation)


def may_end(arm: Arm) -> Arm:
    """The same way to write, but the text may end before its full length."""
    return replace(arm, name=f"{arm.name}, may end", end_of_text=True)


def main_arms(observation: int) -> tuple[Arm, Arm]:
    """With rollback and without: the arms of every scheme.

    Args:
        observation: the model's q.
    """
    return rollback(observation), SAMPLING


def arms_of(scheme: str, observation: int) -> tuple[Arm, ...]:
    """The arms in which a scheme is measured, the main ones first.

    Another way to write is one more arm here and its writer in `writing.WAYS`.
    """
    main = main_arms(observation)
    if scheme != ABLATED:
        return main
    others = (rollback(q) for q in OBSERVATIONS if q != observation)
    return *main, *others, MASKING, WHOLE_TEXT, *map(may_end, main)
