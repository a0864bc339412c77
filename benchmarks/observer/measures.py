"""Numbers by which kinds of texts may differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject


@dataclass(frozen=True)
class Measure:
    """A number that the observer computes of a text.

    Attributes:
        name: for the tables.
        of: gives it, of a text as `observing` has it.
        in_pool: whether all tokens must be candidates of the settings.
    """

    name: str
    of: Callable[[JsonObject], float]
    in_pool: bool = False


def last_sentence(text: JsonObject) -> int:
    """Tokens after the last end of a sentence but one: of the sentence that the text ends with."""
    return len(text["ids"]) - _before_last(text)


def bits_before_last(text: JsonObject) -> float:
    """Bits that the tokens before the last sentence can carry."""
    return float(sum(text["surprisals"][: _before_last(text)]))


def _before_last(text: JsonObject) -> int:
    ends = text["sentence_ends"]
    return int(ends[-2]) + 1 if len(ends) > 1 else 0


def _statistic(name: str) -> Callable[[JsonObject], float]:
    return lambda text: float(text["statistics"][name])


MEASURES = (
    Measure("log-likelihood per token", lambda t: -t["statistics"]["nll"]),
    Measure(
        "log-likelihood of the text", lambda t: -t["statistics"]["nll"] * t["statistics"]["tokens"]
    ),
    Measure("surprisal less entropy, per token", lambda t: -t["statistics"]["excess_mean"]),
    Measure(
        "the same among the candidates, in deviations",
        lambda t: t["excess"] / t["deviation"],
        in_pool=True,
    ),
    Measure("tokens", _statistic("tokens")),
    Measure("sentences", lambda t: len(t["sentence_ends"])),
    Measure("tokens of the last sentence", last_sentence),
    Measure("bits before the last sentence", bits_before_last, in_pool=True),
    Measure("bits of all tokens", lambda t: sum(t["surprisals"]), in_pool=True),
    Measure("tokens of a probability below 1 %", _statistic("rarer_than_0.01")),
    Measure("below 0.1 %", _statistic("rarer_than_0.001")),
    Measure("below 0.01 %", _statistic("rarer_than_0.0001")),
    Measure("tokens beyond the 64 most probable", _statistic("rank_above_64")),
    Measure("logits near a rounding boundary", lambda t: len(t["borderline"]), in_pool=True),
)


def all_numbers(text: JsonObject, in_pool: bool) -> dict[str, float]:
    """All that a classifier sees of a text.

    Args:
        text: as `observing` has it.
        in_pool: whether all tokens are candidates of the settings.
    """
    some = {each.name: each.of(text) for each in MEASURES if in_pool or not each.in_pool}
    return dict(text["statistics"]) | some
